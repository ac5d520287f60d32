//! The compiled index against a plain matcher that is obviously correct: every trigger of every
//! skill is looked for by itself, at every place of the text.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use caseless::Caseless;
use proptest::prelude::*;
use proptest::sample::select;
use regex::{Regex, RegexBuilder};
use repertoire::matcher::{Index, IndexOptions, IndexedSkill};
use repertoire::{HitKind, Query, Skill, SkillId, Spanned};
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

/// What texts and triggers are put together from: few enough to meet often, odd enough to hurt.
const PIECES: &[&str] = &[
    "git",
    "Git",
    "hub",
    "a",
    "aa",
    "b",
    "_",
    "-",
    ".",
    "c++",
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\t ",
    "é",
    "e\u{301}",
    "É",
    "ß",
    "SS",
    "ss",
    "ﬁ",
    "fi",
    "使",
    "用",
    "天气",
    "배포",
    "를",
    "ー",
    "ﾊﾞ",
    "バ",
    "’",
    "'",
    "İ",
    "i",
    "K",
    "k",
    "ſ",
    "s",
    "０",
    "0",
    "\u{301}",
    "ก",
    "ข",
    "Σ",
    "ς",
    "pull request",
    "PULL  REQUEST",
    "🚀",
    "\u{a0}",
    "ǅ",
    "ŉ",
];

/// Triggers that start and end with one another: words and phrases, and what is no word.
const NESTED: &[&str] = &[
    "a", "b", "a b", "b a", "a-b", "b-a", "ab", "ba", "a b a", "a-b a", "-b", "a b-a", "-aba",
    "-abab", "-aba b", "-aba-", "b-aba", "-ab", "aba-",
];

/// Patterns whose literals do, with which others stand in between.
const NESTED_PATTERNS: &[&str] =
    &["abab", "abab.*a", "aba.*abab", "-aba.*?(b|ab)", "(aba|abab-).*ba", "bab", "abab?-"];

/// What texts for them are put together from.
const NESTED_PIECES: &[&str] = &["a", "b", " ", " ", "-", "a b", "a-b", "b a", "-a", "aba", "bab"];

/// What patterns are put together from.
const PATTERN_PIECES: &[&str] = &[
    "git",
    "hub",
    "a",
    "(a|b)",
    "(git|pull request)",
    ".*",
    ".*?",
    r"\s+",
    r"\s*",
    r"\b",
    "é",
    "ß",
    "ss",
    "k",
    "[a-c]",
    "[^a]",
    r"\d",
    r"\w+",
    "(?:hub)?",
    "a{2,3}",
    "^",
    "$",
    "使用",
    "(?-i:Git)",
    "(?i)",
    "ﬁ",
    "s",
    "’",
    "'",
    "-",
    r"[\s_-]",
    "İ",
    "(天气|배포)",
    r"\W",
    "(foo|bar|baz)",
    r"(?:a\s)+",
    "b+",
    "\\.",
    "Σ",
];

fn text(n_pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES), n_pieces).prop_map(|pieces| pieces.concat())
}

fn triggers(n_triggers: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(1..4), n_triggers)
}

fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PATTERN_PIECES), 1..5).prop_map(|pieces| pieces.concat())
}

prop_compose! {
    fn skill()(
        keywords in triggers(0..4),
        verbs in triggers(0..3),
        exclude in triggers(0..2),
        patterns in prop::collection::vec(pattern(), 0..3),
    ) -> serde_json::Value {
        json!({"keywords": keywords, "verbs": verbs, "exclude": exclude, "patterns": patterns})
    }
}

/// Words that many skills declare, alone, in phrases and in patterns.
const SHARED: &[&str] =
    &["git", "hub", "commit", "push", "c++", "git push", "hub commit", "x", "\n"];

const SHARED_PATTERNS: &[&str] = &[
    "git.*push",
    "(git|hub).*?(commit|push)",
    "commit.*git",
    "gi",
    "hub|push",
    r"\bgit\s+push",
    r"hub[\s_-]*commit",
    r"\w+\s\w+",
    "push.*(hub|ub)",
    "(?-i)git.*x",
    "Git.+X",
];

prop_compose! {
    fn competing()(
        keywords in prop::collection::vec(select(SHARED), 0..3),
        exclude in prop::collection::vec(select(&["x", "hub commit", "zz"][..]), 0..2),
        patterns in prop::collection::vec(select(SHARED_PATTERNS), 0..3),
    ) -> serde_json::Value {
        json!({"keywords": keywords, "exclude": exclude, "patterns": patterns})
    }
}

/// A skill with a name that no text holds.
fn load(place: usize, triggers: &serde_json::Value) -> Skill {
    // A list of maps keeps a comma in a trigger from splitting it.
    format!("---\nname: zq{place:02}\ndescription: d\ntriggers: [{triggers}]\n---\n")
        .parse()
        .unwrap()
}

mod reference {
    use super::*;

    pub(super) fn nfkc(text: &str) -> String {
        text.nfkc().collect()
    }

    pub(super) fn fold(text: &str) -> String {
        static BLANKS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\s+").unwrap());
        let text = nfkc(text).replace('’', "'");
        let folded: String =
            text.chars().flat_map(|c| [c].into_iter().default_case_fold()).collect();
        BLANKS.replace_all(&folded, " ").into_owned()
    }

    /// Whether a trigger stands in a folded text as a word of its own.
    pub(super) fn has_literal(folded: &str, trigger: &str) -> bool {
        let trigger = fold(trigger).trim().to_owned();
        (0..folded.len()).filter(|&at| folded.is_char_boundary(at)).any(|at| {
            let Some(after) = folded[at..].strip_prefix(&trigger) else { return false };
            let before = folded[..at].chars().next_back();
            is_edge(before, trigger.chars().next(), false)
                && is_edge(after.chars().next(), trigger.chars().next_back(), true)
        })
    }

    fn is_edge(neighbour: Option<char>, own: Option<char>, right: bool) -> bool {
        static WORD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"[\p{L}\p{M}\p{Nd}_]").unwrap());
        static UNSPACED: LazyLock<Regex> = LazyLock::new(|| {
            let scripts = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"];
            Regex::new(&format!("[ー{}]", scripts.map(|s| format!(r"\p{{{s}}}")).concat())).unwrap()
        });
        static HANGUL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{Hangul}").unwrap());
        let is = |class: &Regex, c: char| class.is_match(c.encode_utf8(&mut [0; 4]));
        let Some(neighbour) = neighbour else { return true };
        let touching = [neighbour, own.unwrap()];
        !is(&WORD, neighbour)
            || touching.iter().any(|&c| is(&UNSPACED, c))
            || (right && touching.iter().any(|&c| is(&HANGUL, c)))
    }

    pub(super) fn has_pattern(normalized: &str, pattern: &str) -> bool {
        let pattern = RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
        pattern.is_match(normalized)
    }
}

/// The triggers found of one skill, each once; `None` if the skill is vetoed.
type Hits = Option<BTreeSet<(HitKind, String)>>;

/// What the reference finds of one skill.
fn expected_hits(skill: &Skill, query: &str) -> Hits {
    let (folded, normalized) = (reference::fold(query), reference::nfkc(query));
    let triggers = skill.triggers();
    if triggers.exclude.iter().any(|t| reference::has_literal(&folded, &t.value)) {
        return None;
    }
    let literal = |t: &str| reference::has_literal(&folded, t);
    let pattern = |t: &str| reference::has_pattern(&normalized, t);
    let mut hits = BTreeSet::new();
    let mut add = |kind, triggers: &[Spanned<String>], is_found: &dyn Fn(&str) -> bool| {
        let found = triggers.iter().filter(|t| is_found(&t.value));
        hits.extend(found.map(|t| (kind, t.value.clone())));
    };
    add(HitKind::Keyword, &triggers.keywords, &literal);
    add(HitKind::Verb, &triggers.verbs, &literal);
    add(HitKind::Pattern, &triggers.patterns, &pattern);
    Some(hits)
}

/// The documented order (DESIGN §4), from the hits of all skills, without recency.
fn expected_order(skills: &[Skill], hits: &[Hits]) -> Vec<String> {
    let literal = |text: &str| reference::fold(text).trim().to_owned();
    let declared_by = |kind: HitKind, trigger: &str| {
        skills
            .iter()
            .filter(|skill| {
                let t = skill.triggers();
                let mut literals = t.keywords.iter().chain(&t.verbs).map(|t| literal(&t.value));
                match kind {
                    HitKind::Pattern => t.patterns.iter().any(|p| p.value == trigger),
                    _ => literals.any(|t| t == literal(trigger)),
                }
            })
            .count()
    };
    let words = |(kind, trigger): &(HitKind, String)| match kind {
        HitKind::Pattern => 0,
        _ => literal(trigger).split(' ').count(),
    };
    let mut keyed: Vec<_> = (0..skills.len())
        .filter_map(|skill| {
            let hits = hits[skill].as_ref().filter(|hits| !hits.is_empty())?;
            let longest = hits.iter().map(words).max();
            let rarest = hits.iter().map(|(kind, t)| declared_by(*kind, t)).min();
            let subject = |(kind, trigger): &(HitKind, String)| match kind {
                HitKind::Pattern => format!("pattern {trigger}"),
                _ => literal(trigger),
            };
            let n_subjects = hits.iter().map(subject).collect::<BTreeSet<_>>().len();
            Some((Reverse(longest), rarest, Reverse(n_subjects), skills[skill].name().to_owned()))
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(.., name)| name).collect()
}

/// The index of these skills, and their ids.
fn index_of(triggers: &[serde_json::Value]) -> (Index, Vec<SkillId>) {
    let skills: Vec<Skill> = triggers.iter().enumerate().map(|(i, t)| load(i, t)).collect();
    let ids: Vec<SkillId> = skills.iter().map(|skill| SkillId::new(skill.name())).collect();
    let indexed: Vec<_> = skills
        .iter()
        .zip(&ids)
        .map(|(skill, id)| IndexedSkill { id, name: skill.name(), triggers: skill.triggers() })
        .collect();
    (Index::new(&indexed, &IndexOptions::default()).unwrap(), ids)
}

/// Every number in `json`.
fn collect_numbers<'a>(
    json: &'a mut serde_json::Value,
    numbers: &mut Vec<&'a mut serde_json::Value>,
) {
    match json {
        serde_json::Value::Array(values) => {
            for value in values {
                collect_numbers(value, numbers);
            }
        }
        serde_json::Value::Object(fields) => {
            for value in fields.values_mut() {
                collect_numbers(value, numbers);
            }
        }
        serde_json::Value::Number(_) => numbers.push(json),
        _ => {}
    }
}

#[test]
fn an_index_with_any_one_number_at_its_largest_is_refused_or_answers_without_a_panic() {
    let (index, ids) = index_of(&[
        json!({"keywords": ["git push", "c++"], "exclude": ["zz"], "paths": ["src/*.rs"]}),
        json!({"keywords": ["c++"], "verbs": ["push"], "patterns": ["git.*push", r"\d{3}"]}),
    ]);
    let intact = serde_json::to_value(&index).unwrap();
    let of = |mut json: serde_json::Value, place: usize| {
        let mut numbers = Vec::new();
        collect_numbers(&mut json, &mut numbers);
        *numbers.into_iter().nth(place)? = u32::MAX.into();
        Some(json)
    };
    let query = Query::new("git push c++ push 123").path("src/git.rs");
    let mut n_read = 0;
    for damaged in (0..).map_while(|place| of(intact.clone(), place)) {
        if let Ok(read) = serde_json::from_value::<Index>(damaged) {
            let _ = (read.search(&query, &ids, 2), read.best(&query, &ids, 1));
            let _ = read.count_matching(&query);
            n_read += 1;
        }
    }
    assert!(n_read > 0, "some numbers matter little");
}

fn check(triggers: &[serde_json::Value], query: &str) -> Result<(), TestCaseError> {
    let skills: Vec<Skill> = triggers.iter().enumerate().map(|(i, t)| load(i, t)).collect();
    let (index, ids) = index_of(triggers);
    let answer = index.search(&Query::new(query), &[], usize::MAX);

    let expected: Vec<_> = skills.iter().map(|skill| expected_hits(skill, query)).collect();
    for (id, expected) in ids.iter().zip(&expected) {
        let found = answer.matches.iter().find(|found| found.id == *id);
        let hits: BTreeSet<_> = found
            .iter()
            .flat_map(|found| &found.hits)
            .map(|hit| (hit.kind, hit.trigger.clone()))
            .collect();
        prop_assert_eq!(&hits, &expected.clone().unwrap_or_default(), "{} in {:?}", id, query);
    }
    let order: Vec<_> = answer.matches.iter().map(|found| found.id.as_str()).collect();
    prop_assert_eq!(order, expected_order(&skills, &expected), "order in {:?}", query);

    for hit in answer.matches.iter().flat_map(|found| &found.hits) {
        let span = query.get(hit.span.clone());
        prop_assert!(span.is_some_and(|s| !s.is_empty()), "{:?} in {:?}", hit, query);
        // A character may stand for several in the folded form ("㍿"); then it is all in the span.
        if hit.kind != HitKind::Pattern {
            let (span, trigger) = (reference::fold(span.unwrap()), reference::fold(&hit.trigger));
            prop_assert!(span.contains(trigger.trim()), "{:?} in {:?}", hit, query);
        }
    }
    // The best three are the first three of all.
    let best = index.search(&Query::new(query), &[], 3);
    prop_assert_eq!(&best.matches[..], &answer.matches[..answer.matches.len().min(3)]);
    let beyond: Vec<_> = answer.matches.iter().skip(3).map(|found| found.id.clone()).collect();
    prop_assert_eq!(best.beyond, beyond);
    check_best(&index, &ids, query)?;
    check_read_back(&index, &ids, query)
}

/// An index that was written and read again gives the same answers.
fn check_read_back(index: &Index, ids: &[SkillId], query: &str) -> Result<(), TestCaseError> {
    let written = serde_json::to_vec(index).unwrap();
    let read: Index = serde_json::from_slice(&written).unwrap();
    let query = Query::new(query).path("src/git.rs");
    let recent = &ids[ids.len() / 2..];
    prop_assert_eq!(read.search(&query, recent, 3), index.search(&query, recent, 3));
    Ok(())
}

/// Any number of best matches, found with as little proof as possible, are the first of all, also
/// when some skills were used recently.
fn check_best(index: &Index, ids: &[SkillId], query: &str) -> Result<(), TestCaseError> {
    let query = Query::new(query);
    let mut ranked = Vec::new();
    for recent in [&[], &ids[ids.len() / 2..]] {
        let all = index.search(&query, recent, usize::MAX).matches;
        for limit in [0, 1, 2, 3, all.len(), all.len() + 1] {
            let expected = &all[..limit.min(all.len())];
            prop_assert_eq!(&index.best(&query, recent, limit)[..], expected, "best {}", limit);
            index.matches_into(&query, recent, limit, &mut ranked);
            prop_assert!(ranked.iter().map(|r| r.id).eq(expected.iter().map(|found| &found.id)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_plain_matcher_finds(
        triggers in prop::collection::vec(skill(), 1..8),
        query in text(0..24),
    ) {
        check(&triggers, &query)?;
    }

    #[test]
    fn triggers_that_nest_and_overlap_are_told_apart(
        keywords in prop::collection::vec(select(NESTED), 1..8),
        exclude in prop::collection::vec(select(NESTED), 0..2),
        patterns in prop::collection::vec(select(NESTED_PATTERNS), 0..4),
        query in prop::collection::vec(select(NESTED_PIECES), 0..14),
    ) {
        let triggers = json!({"keywords": keywords, "exclude": exclude, "patterns": patterns});
        check(&[triggers], &query.concat())?;
    }

    #[test]
    fn a_pattern_matches_if_and_only_if_the_regex_crate_finds_it(
        patterns in prop::collection::vec(pattern(), 1..12),
        query in text(0..40),
    ) {
        check(&[json!({"patterns": patterns})], &query)?;
    }

    #[test]
    fn an_index_that_was_damaged_is_refused_or_answers_without_a_panic(
        triggers in prop::collection::vec(skill(), 1..4),
        query in text(0..12),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..12_u64), 1..4),
    ) {
        let (index, ids) = index_of(&triggers);
        let mut written = serde_json::to_value(&index).unwrap();
        for (place, to) in damage {
            let mut numbers = Vec::new();
            collect_numbers(&mut written, &mut numbers);
            let n_numbers = numbers.len();
            if n_numbers > 0 {
                *numbers[place.index(n_numbers)] = if to == 11 { u64::from(u32::MAX) } else { to }.into();
            }
        }
        if let Ok(read) = serde_json::from_value::<Index>(written) {
            let query = Query::new(query).path("src/git.rs");
            let _ = (read.search(&query, &ids, 2), read.best(&query, &ids, 2));
            let _ = read.count_matching(&query);
        }
    }

    #[test]
    fn one_index_answers_many_queries_without_memory_of_the_last(
        triggers in prop::collection::vec(skill(), 1..5),
        queries in prop::collection::vec(text(0..12), 2..6),
    ) {
        let (reused, _) = index_of(&triggers);
        for query in &queries {
            let (fresh, _) = index_of(&triggers);
            let query = Query::new(query);
            prop_assert_eq!(reused.search(&query, &[], 9), fresh.search(&query, &[], 9));
        }
    }

    #[test]
    fn words_that_were_in_earlier_queries_are_found_in_all_their_places(
        keywords in prop::collection::vec(select(NESTED), 1..8),
        patterns in prop::collection::vec(select(NESTED_PATTERNS), 0..4),
        queries in prop::collection::vec(prop::collection::vec(select(NESTED_PIECES), 0..14), 2..6),
    ) {
        let triggers = [json!({"keywords": keywords, "patterns": patterns})];
        let (reused, _) = index_of(&triggers);
        for query in queries.iter().map(|pieces| pieces.concat()) {
            let (fresh, _) = index_of(&triggers);
            let query = Query::new(&query);
            prop_assert_eq!(reused.search(&query, &[], 9), fresh.search(&query, &[], 9));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_best_of_many_skills_that_share_triggers_are_the_first_of_all(
        triggers in prop::collection::vec(competing(), 20..60),
        query in prop::collection::vec((select(SHARED), select(&[" ", " ", "\n", "\t", ""][..])), 1..9),
    ) {
        let query: String = query.into_iter().flat_map(|(piece, blank)| [piece, blank]).collect();
        check(&triggers, &query)?;
    }
}

#[test]
fn a_huge_query_is_answered_as_a_small_one() {
    let triggers = [json!({"keywords": ["pull request", "使用", "c++"]}), json!({"verbs": ["fi"]})];
    let filler = "lorem ipsum dolor ﬁx 天气 ".repeat(4_000);
    check(&triggers, &format!("{filler}PULL  REQUEST 使用 {filler}")).unwrap();
}

#[test]
fn a_query_is_answered_alike_before_and_after_thousands_of_other_words() {
    let triggers = [
        json!({"keywords": ["git", "c#", "longest word"], "patterns": ["(add|make) (a )?note"]}),
        json!({"patterns": [r"interestingly\.(csv|pdf)", "data.*use", "abcdefgh(i|.j)"]}),
    ];
    let queries = [
        "git c# longest word, longest  words",
        "madd note; make a note, addanote",
        "interestingly.csv, uninterestingly.pdf and interestingly csv",
        "metadata is used, use data",
        "xabcdefghi abcdefgh.j abcdefghj",
    ];
    let (index, ids) = index_of(&triggers);
    for round in 0..3 {
        for query in queries {
            check_alike(&index, &ids, &triggers, query);
        }
        // Short ones, long ones, and some that are too long to be kept.
        let other = |i: usize| format!("{}{round}x{i} ", "averylongword".repeat(i % 7));
        let others: String = (0..3_000).map(other).collect();
        check_alike(&index, &ids, &triggers, &others);
    }
}

/// An index that has answered other queries answers this one as the plain matcher does.
fn check_alike(index: &Index, ids: &[SkillId], triggers: &[serde_json::Value], query: &str) {
    let answer = index.search(&Query::new(query), &[], usize::MAX);
    for ((place, triggers), id) in triggers.iter().enumerate().zip(ids) {
        let expected = expected_hits(&load(place, triggers), query).unwrap();
        let found = answer.matches.iter().find(|found| found.id == *id);
        let hits = found.iter().flat_map(|found| &found.hits);
        let hits: BTreeSet<_> = hits.map(|hit| (hit.kind, hit.trigger.clone())).collect();
        assert_eq!(hits, expected, "{id} in {query:?}");
    }
}
