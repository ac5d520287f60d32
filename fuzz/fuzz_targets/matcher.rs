//! Fuzzes the index of a few skills: for any message it must agree with the plain matcher of
//! `tests/matching/differential`.
#![no_main]
#![expect(clippy::unwrap_used, reason = "the fuzzer looks for panics")]

#[path = "../../tests/support/index.rs"]
mod index;
#[path = "../../tests/matching/differential/reference.rs"]
mod reference;

use std::collections::BTreeSet;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use repertoire::matcher::Index;
use repertoire::{Query, Skill};
use serde_json::json;

#[derive(Debug, Arbitrary)]
struct Input {
    skills: Vec<Triggers>,
    message: String,
}

#[derive(Debug, Arbitrary)]
struct Triggers {
    keywords: Vec<String>,
    verbs: Vec<String>,
    patterns: Vec<String>,
    exclude: Vec<String>,
}

fuzz_target!(|input: Input| {
    let Input { skills, message } = input;
    let skills: Vec<Skill> = skills.iter().take(4).enumerate().filter_map(load).collect();
    let (index, ids) = index::index_of(&skills);
    let query = Query::new(&*message);
    let answer = index.search(&query, &[], usize::MAX);
    for hit in answer.matches.iter().flat_map(|found| &found.hits) {
        assert!(message.get(hit.span.clone()).is_some(), "{hit:?}");
    }

    let expected: Vec<_> =
        skills.iter().map(|skill| reference::expected_hits(skill, &message, &[])).collect();
    for (id, expected) in ids.iter().zip(&expected) {
        let found = answer.matches.iter().find(|found| found.id == *id);
        let hits = found.iter().flat_map(|found| &found.hits);
        let hits: BTreeSet<_> = hits.map(|hit| (hit.kind, hit.trigger.clone())).collect();
        assert_eq!(hits, expected.clone().unwrap_or_default(), "{id}");
    }
    let order: Vec<_> = answer.matches.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(order, reference::expected_order(&skills, &expected));

    let best = index.search(&query, &[], 2);
    assert_eq!(best.matches[..], answer.matches[..answer.matches.len().min(2)]);
    let written = serde_json::to_vec(&index).unwrap();
    let read: Index = serde_json::from_slice(&written).unwrap();
    assert_eq!(read.search(&query, &[], usize::MAX), answer);
});

/// Loads a skill with those triggers of the input that are valid. No message is likely to contain its
/// name.
fn load((place, triggers): (usize, &Triggers)) -> Option<Skill> {
    let Triggers { keywords, verbs, patterns, exclude } = triggers;
    let front = json!({
        "name": format!("zqxj{place:02}"),
        "description": "d",
        "triggers": [{"keywords": keywords, "verbs": verbs, "patterns": patterns, "exclude": exclude}],
    });
    format!("---\n{front}\n---\n").parse().ok()
}
