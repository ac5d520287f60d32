//! A query allocates nothing but its answer once a similar one was answered, and a span without a
//! listener allocates nothing. This is a binary of its own, because its global allocator counts.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/allocations.rs"]
mod allocations;
#[path = "../support/index.rs"]
mod index;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use allocations::{allocations, held_bytes};
use index::index_of;
use repertoire::matcher::{RelevanceIndex, Selection};
use repertoire::{Allowlist, Engine, Query, Session, Skill, SkillId, Source};

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

/// Builds an engine of the skills in `dir`, and has it answer, so that all that is built on first use exists.
fn engine(dir: &std::path::Path) -> Engine {
    let engine = Engine::builder().source(Source::project(dir)).build().unwrap();
    engine.explain("pull request for word7", 5);
    engine
}

#[test]
fn ten_views_cost_little_more_than_their_engine() {
    const N_SKILLS: usize = 400;
    let dir = tempfile::tempdir().unwrap();
    for n in 0..N_SKILLS {
        let mut text = format!(
            "---\nname: skill-{n}\ndescription: Writes notes for product{n}.\ntriggers:\n  keywords: \
             [word{n}, pull request]\n  patterns: ['(create|add).*?word{n}']\n---\n"
        );
        for line in 0..60 {
            writeln!(text, "Step {line} of {n}: read the changes of part{}.", line * n % 997)
                .unwrap();
        }
        std::fs::create_dir(dir.path().join(format!("s{n}"))).unwrap();
        std::fs::write(dir.path().join(format!("s{n}/SKILL.md")), text).unwrap();
    }
    let role = |nth: usize| -> Allowlist {
        let skills: Vec<String> =
            (0..N_SKILLS).filter(|n| n % 10 != nth).map(|n| format!("skill-{n}")).collect();
        Allowlist::from_entries(Some(&skills))
    };
    drop(engine(dir.path()));
    let (mut of_engine, mut of_views) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let (before, start) = (held_bytes(), Instant::now());
        let engine = engine(dir.path());
        of_engine = of_engine.min(start.elapsed());
        let held_by_engine = held_bytes() - before;
        let start = Instant::now();
        let views: Vec<Engine> = (0..10).map(|nth| engine.view(role(nth))).collect();
        of_views = of_views.min(start.elapsed());
        for view in &views {
            assert!(!view.explain("pull request for word7", 5).matches.is_empty());
        }
        let held = held_bytes() - before;
        assert!(held * 10 < held_by_engine * 13, "{held} of {held_by_engine} bytes");
    }
    assert!(of_views * 20 < of_engine, "{of_views:?} beside {of_engine:?}");
    eprintln!("10 views take {of_views:?} more than {of_engine:?}");
}
