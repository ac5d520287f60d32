//! The compiled index, compared with a plain matcher that is obviously correct: it searches for every
//! trigger of every skill separately, at every position of the text.

mod names;
mod pieces;
mod reference;

use std::collections::BTreeSet;

use names::Named;
use pieces::{
    NESTED, NESTED_PATTERNS, NESTED_PIECES, SHARED, catalog_of_names, competing, message_of_names,
    pattern, skill, text,
};
use proptest::prelude::*;
use proptest::sample::select;
use reference::{expected_hits, expected_order};
use repertoire::matcher::{Answer, Index, IndexOptions, IndexedSkill, Selection, attachments};
use repertoire::{HitKind, Query, Skill, SkillId};
use serde::Deserialize as _;
use serde_json::json;

use crate::{assert_selected, index};

/// Builds a skill whose name occurs in no text.
fn load(place: usize, triggers: &serde_json::Value) -> Skill {
    // A list of maps, so that a comma in a trigger does not split it.
    format!("---\nname: zq{place:02}\ndescription: d\ntriggers: [{triggers}]\n---\n")
        .parse()
        .unwrap()
}

/// Returns the index of these skills, and their ids.
fn index_of(triggers: &[serde_json::Value]) -> (Index, Vec<SkillId>) {
    let skills: Vec<Skill> = triggers.iter().enumerate().map(|(i, t)| load(i, t)).collect();
    index::index_of(&skills)
}

/// Collects every number in `json`.
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

/// Collects the JSON Pointer of every number in `json`.
fn pointers(json: &serde_json::Value, here: &str, pointers: &mut Vec<String>) {
    match json {
        serde_json::Value::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                self::pointers(value, &format!("{here}/{i}"), pointers);
            }
        }
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                self::pointers(value, &format!("{here}/{name}"), pointers);
            }
        }
        serde_json::Value::Number(_) => pointers.push(here.to_owned()),
        _ => {}
    }
}

/// Tries every eighth number, starting differently in each run; if `PROPTEST_CASES` is set, all of
/// them.
#[test]
fn an_index_with_any_one_number_at_its_largest_is_refused_or_answers_without_a_panic() {
    let (index, ids) = index_of(&[
        json!({"keywords": ["git push", "c++"], "exclude": ["zz"], "paths": ["src/*.rs"]}),
        json!({"keywords": ["c++"], "verbs": ["push"], "patterns": ["git.*push", r"\d{3}"]}),
    ]);
    let mut json = serde_json::to_value(&index).unwrap();
    let query = Query::new("git push c++ push 123").path("src/git.rs");
    let mut places = Vec::new();
    pointers(&json, "", &mut places);
    let (first, step) = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => (0, 1),
        None => (std::process::id() as usize % 8, 8),
    };
    let mut n_read = 0;
    for place in places.iter().skip(first).step_by(step) {
        let intact = std::mem::replace(json.pointer_mut(place).unwrap(), u32::MAX.into());
        if let Ok(read) = Index::deserialize(&json) {
            let _ = (read.search(&query, &ids, 2), best(&read, &query, &ids, 1));
            n_read += 1;
        }
        *json.pointer_mut(place).unwrap() = intact;
    }
    assert!(n_read > 0, "some numbers matter little");
    assert!(Index::deserialize(&json).is_ok(), "all of it is as it was");
}

/// Returns the settings for tests with `few` random cases, or with `PROPTEST_CASES` if that is set.
fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = asked.unwrap_or(few);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn check(triggers: &[serde_json::Value], query: &str) -> Result<(), TestCaseError> {
    let skills: Vec<Skill> = triggers.iter().enumerate().map(|(i, t)| load(i, t)).collect();
    let (index, ids) = index_of(triggers);
    let answer = index.search(&Query::new(query), &[], usize::MAX);

    // `attachments.rs` has what counts in attachments.
    if !attachments(query).is_empty() {
        return Ok(());
    }
    let expected: Vec<_> = skills.iter().map(|skill| expected_hits(skill, query, &[])).collect();
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
        // One character may become several when it is folded ("㍿"); the span then covers the whole
        // character.
        if hit.kind != HitKind::Pattern {
            let (span, trigger) = (reference::fold(span.unwrap()), reference::fold(&hit.trigger));
            prop_assert!(span.contains(trigger.trim()), "{:?} in {:?}", hit, query);
        }
    }
    // The best three must be the first three of all matches.
    let best = index.search(&Query::new(query), &[], 3);
    prop_assert_eq!(&best.matches[..], &answer.matches[..answer.matches.len().min(3)]);
    let beyond: Vec<_> = answer.matches.iter().skip(3).map(|found| found.id.clone()).collect();
    prop_assert_eq!(best.beyond, beyond);
    check_best(&index, &ids, query);
    check_read_back(&index, &ids, query)
}

/// Checks that an index gives the same answers after it was written and read again.
fn check_read_back(index: &Index, ids: &[SkillId], query: &str) -> Result<(), TestCaseError> {
    let written = serde_json::to_vec(index).unwrap();
    let read: Index = serde_json::from_slice(&written).unwrap();
    let query = Query::new(query).path("src/git.rs");
    let recent = &ids[ids.len() / 2..];
    prop_assert_eq!(read.search(&query, recent, 3), index.search(&query, recent, 3));
    Ok(())
}

/// Checks that any number of best matches are the first of all matches, with and without recently used
/// skills.
fn check_best(index: &Index, ids: &[SkillId], query: &str) {
    let query = Query::new(query);
    for recent in [&[], &ids[ids.len() / 2..]] {
        assert_selected(index, &query, recent, &[], &[0, 1, 2, 3, ids.len()]);
    }
}

fn best(index: &Index, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Answer {
    index.select(query, &Selection { recent, limit, hits: true, ..Selection::default() })
}

proptest! {
    #![proptest_config(cases(100))]

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
            let _ = (read.search(&query, &ids, 2), best(&read, &query, &ids, 2));
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
    #![proptest_config(cases(16))]

    #[test]
    fn the_best_of_many_skills_that_share_triggers_are_the_first_of_all(
        triggers in prop::collection::vec(competing(), 20..60),
        query in prop::collection::vec((select(SHARED), select(&[" ", " ", "\n", "\u{b}", ""][..])), 1..9),
    ) {
        let query: String = query.into_iter().flat_map(|(piece, blank)| [piece, blank]).collect();
        check(&triggers, &query)?;
    }
}

/// The id, the name and the triggers of a skill.
type NamedSkill = (&'static str, &'static str, serde_json::Value);

/// Compares mentions, and matches of skills by name, with the plain rules.
fn check_names(skills: &[NamedSkill], query: &str) -> Result<(), TestCaseError> {
    let ids: Vec<SkillId> = skills.iter().map(|(id, ..)| SkillId::new(id)).collect();
    let loaded: Vec<Skill> = skills.iter().map(|(.., triggers)| load(0, triggers)).collect();
    let indexed = skills
        .iter()
        .zip(&ids)
        .zip(&loaded)
        .map(|(((_, name, _), id), skill)| IndexedSkill { id, name, triggers: skill.triggers() });
    let indexed: Vec<IndexedSkill<'_>> = indexed.collect();
    let index = Index::new(&indexed, &IndexOptions::default()).unwrap();
    let answer = index.search(&Query::new(query), &[], usize::MAX);

    if !attachments(query).is_empty() {
        return Ok(());
    }
    let names: Vec<[&str; 2]> = skills.iter().map(|(id, name, _)| [*id, *name]).collect();
    let (verdicts, denied_places) = names::named(&names, query);
    let (mut weak, mut denied) = (Vec::new(), Vec::new());
    for ((id, skill), named) in ids.iter().zip(&loaded).zip(&verdicts) {
        let context = format!("{id} in {query:?}: {named:?}, {answer:#?}");
        // A strong mention overrides an exclude.
        let hits = match (expected_hits(skill, query, &denied_places), named) {
            (None, Named::Strong) => expected_hits(&without_exclude(skill), query, &denied_places),
            (hits, _) => hits,
        };
        let is_named = [Named::Weak, Named::Strong].contains(named);
        let found = answer.matches.iter().find(|found| found.id == *id);
        let expected = hits.as_ref().is_some_and(|hits| is_named || !hits.is_empty());
        prop_assert_eq!(found.is_some(), expected, "{}", context);
        let of_found = |is_name| {
            let hits = found.iter().flat_map(|found| &found.hits);
            hits.filter(move |hit| (hit.kind == HitKind::Name) == is_name)
                .map(|hit| (hit.kind, hit.trigger.clone()))
                .collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(found.is_some_and(|found| found.explicit), *named == Named::Strong);
        prop_assert_eq!(!of_found(true).is_empty(), expected && is_named, "{}", context);
        prop_assert_eq!(of_found(false), hits.clone().unwrap_or_default(), "{}", context);
        if *named == Named::Weak && hits.is_some_and(|hits| hits.is_empty()) {
            weak.push(id.clone());
        }
        if *named == Named::Denied {
            denied.push(id.clone());
        }
    }
    weak.sort_unstable();
    denied.sort_unstable();
    prop_assert_eq!(&answer.weak, &weak, "weak in {:?}", query);
    prop_assert_eq!(&answer.denied, &denied, "denied in {:?}", query);
    let ranks = answer.matches.iter().map(|found| (found.explicit, found.phrase_words));
    prop_assert!(ranks.rev().is_sorted(), "{answer:#?}");
    check_best(&index, &ids, query);
    check_read_back(&index, &ids, query)
}

/// Returns a copy of the skill without its excludes.
fn without_exclude(skill: &Skill) -> Skill {
    let texts = |of: &[repertoire::skill::Spanned<String>]| -> Vec<String> {
        of.iter().map(|trigger| trigger.value.clone()).collect()
    };
    load(0, &json!({"keywords": texts(&skill.triggers().keywords)}))
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn mentions_are_strong_weak_silenced_or_denied_as_plain_rules_have_it(
        skills in catalog_of_names(),
        query in message_of_names(),
    ) {
        check_names(&skills, &query)?;
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
        // Short words, long words, and words that are too long for the cache.
        let other = |i: usize| format!("{}{round}x{i} ", "averylongword".repeat(i % 7));
        let others: String = (0..3_000).map(other).collect();
        check_alike(&index, &ids, &triggers, &others);
    }
}

/// Checks that an index that has answered other queries still agrees with the plain matcher on this
/// one.
fn check_alike(index: &Index, ids: &[SkillId], triggers: &[serde_json::Value], query: &str) {
    let answer = index.search(&Query::new(query), &[], usize::MAX);
    for ((place, triggers), id) in triggers.iter().enumerate().zip(ids) {
        let expected = expected_hits(&load(place, triggers), query, &[]).unwrap();
        let found = answer.matches.iter().find(|found| found.id == *id);
        let hits = found.iter().flat_map(|found| &found.hits);
        let hits: BTreeSet<_> = hits.map(|hit| (hit.kind, hit.trigger.clone())).collect();
        assert_eq!(hits, expected, "{id} in {query:?}");
    }
}
