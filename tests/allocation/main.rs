//! A query allocates nothing but its answer once a similar one was answered, and a span without a
//! listener allocates nothing. This is a binary of its own, because its global allocator counts.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/allocations.rs"]
mod allocations;
#[path = "../support/index.rs"]
mod index;

use allocations::allocations;
use index::index_of;
use repertoire::matcher::{RelevanceIndex, Selection};
use repertoire::{Query, Session, Skill, SkillId};

#[test]
fn a_query_allocates_nothing_but_its_answer_once_one_like_it_was_answered() {
    let skills: Vec<Skill> = (0..200)
        .map(|i| {
            format!(
                "---\nname: skill-{i}\ndescription: d\ntriggers:\n  keywords: [word{i}, pull request]\n  \
                 verbs: [deploy]\n  patterns: ['(create|add).*?word{i}', '\\bword{i}\\s+now', '\\d+x']\n---\n"
            )
            .parse()
            .unwrap()
        })
        .collect();
    let (index, ids) = index_of(&skills);
    // More words than the cache holds.
    let many = (0..3_000).map(|i| format!("word{i} something{i}")).collect::<Vec<_>>().join(" ");
    let queries = [
        "please create a pull request for word17, and deploy",
        // Lines would be listed, to tell what is attached.
        "word42 now, then word43  now",
        "使用 word9 ２x ÉTÉ e\u{301}",
        "Skill-12 and the skill skill-13",
        "not /skill-3, use skill 14 and skill-15 for skill-3 instead of skill 16",
        "nothing at all",
    ];
    let recent = [ids[5].clone(), ids[170].clone()];
    let selection = Selection { recent: &recent, limit: 3, ..Selection::default() };
    let search = || queries.map(|query| index.select(&Query::new(query), &selection));
    index.select(&Query::new(&many), &selection);
    let answers = [search(), search(), search()].concat();
    let n_found: usize = answers.iter().map(|answer| answer.n_matches).sum();
    assert!(n_found >= 3 * 8, "{n_found}");
    let before = allocations();
    let answers = search();
    let of_search = allocations() - before;
    let copies = answers.clone();
    assert_eq!(of_search, allocations() - before - of_search, "{copies:?}");
}

#[test]
fn ranking_by_relevance_allocates_nothing_once_a_message_like_it_was_ranked() {
    let skill = |i: usize| -> (SkillId, Skill) {
        let text = format!(
            "---\nname: skill-{i}\ndescription: Writes \"release notes {i}\" for product{}.\n---\n\
             Read the changes of product{i}, then write 提交 and ÉTÉ.\n",
            i % 7
        );
        (SkillId::new(&format!("skill-{i}")), text.parse().unwrap())
    };
    let skills: Vec<(SkillId, Skill)> = (0..300).map(skill).collect();
    let index = RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)));
    let messages = [
        "please write the release notes for product3 and product17",
        "使用 提交 ２x ÉTÉ e\u{301}",
        "not about product5, nor skill-12",
        "nothing at all",
    ];
    let mut ranked = Vec::new();
    let mut n_found = 0;
    let mut pass = || {
        for message in messages {
            index.rank_into(message, 5, &mut ranked);
            n_found += ranked.len();
        }
    };
    for _ in 0..2 {
        pass();
    }
    let before = allocations();
    pass();
    assert_eq!(allocations() - before, 0);
    assert_eq!(n_found, 3 * 3 * 5);
}

#[test]
fn a_span_that_nobody_listens_to_allocates_nothing() {
    let session = Session::in_memory("chat-7");
    let pass = || session.state().unwrap().skills.len();
    pass();
    let before = allocations();
    assert_eq!(pass(), 0);
    assert_eq!(allocations() - before, 0);
}
