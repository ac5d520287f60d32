//! An index that follows changes answers as one compiled anew would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use repertoire::matcher::{Index, IndexOptions, IndexedSkill, LayeredIndex};
use repertoire::{Query, Skill, SkillId};
use serde_json::json;

/// Words that ids, names and triggers are made of, so that they count for each other.
const WORDS: &[&str] =
    &["git", "test", "testing", "c++", "push", "git push", "push-all", "部署", "all skills"];

const PATTERNS: &[&str] = &[
    "git.*push",
    "(test|push).*?all",
    r"\bpush\s+\w+",
    r"\d{2,}",
    r"[a-z]{5}\s\d",
    "c..",
    "(?-i)Git",
];

const PATHS: &[&str] = &["*.rs", "src/**", "docs/*.md"];

const IDS: &[&str] =
    &["git", "push", "push-all", "test", "zeta", "alpha-beta", "me/git", "c++", "plain", "last"];

const NAMES: &[&str] = &["git", "test", "push all", "Beta", "c++"];

/// What a skill is made of.
type Source = (String, serde_json::Value);

fn some(of: &'static [&'static str], n: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(select(of), 0..n)
}

prop_compose! {
    fn source()(
        name in select(NAMES),
        keywords in some(WORDS, 3),
        verbs in some(WORDS, 3),
        patterns in some(PATTERNS, 3),
        paths in some(PATHS, 2),
        exclude in some(&["all", "c++", "zz", "zz"], 2),
    ) -> Source {
        let triggers = json!({
            "keywords": keywords, "verbs": verbs, "patterns": patterns, "paths": paths,
            "exclude": exclude,
        });
        (name.to_owned(), triggers)
    }
}

/// What happens to a catalog at once.
#[derive(Debug, Clone)]
enum Step {
    /// Skills are put or, without a source, removed.
    Change(Vec<(&'static str, Option<Source>)>),
    Merge,
}

fn step() -> impl Strategy<Value = Step> {
    let change = (select(IDS), prop::option::weighted(0.7, source()));
    prop_oneof![
        5 => prop::collection::vec(change, 1..4).prop_map(Step::Change),
        1 => Just(Step::Merge),
    ]
}

fn query() -> impl Strategy<Value = String> {
    let more = [
        "and",
        "12 7",
        "skill",
        "/git",
        "what can you do?",
        "Git",
        "pushes 3",
        "tested,",
        "use",
        "not",
        "done with",
        "@x:test",
        "`push-all`",
        "`git`",
        "`/push`",
        "the push all skill",
    ];
    let piece = prop_oneof![3 => select(WORDS), 1 => select(IDS), 2 => select(more.to_vec())];
    prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.join(" "))
}

fn load((name, triggers): &Source) -> Skill {
    format!("---\nname: {name}\ndescription: d\ntriggers: [{triggers}]\n---\n").parse().unwrap()
}

fn indexed<'a>(catalog: &'a BTreeMap<SkillId, Skill>) -> Vec<IndexedSkill<'a>> {
    let indexed = |(id, skill): (&'a SkillId, &'a Skill)| IndexedSkill {
        id,
        name: skill.name(),
        triggers: skill.triggers(),
    };
    catalog.iter().map(indexed).collect()
}

fn check(layered: &LayeredIndex, whole: &Index, text: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(layered.len(), whole.len());
    let recent = [SkillId::new("test"), SkillId::new("gone"), SkillId::new("git")];
    let mut best = Vec::new();
    let mut expected = Vec::new();
    for query in [Query::new(text), Query::new(text).path("src/main.rs").path("docs/a.md")] {
        for recent in [&[], &recent[..]] {
            for limit in [0, 1, 2, 3, usize::MAX] {
                prop_assert_eq!(
                    layered.search(&query, recent, limit),
                    whole.search(&query, recent, limit)
                );
                prop_assert_eq!(
                    layered.best(&query, recent, limit),
                    whole.best(&query, recent, limit)
                );
                layered.matches_into(&query, recent, limit, &mut best);
                whole.matches_into(&query, recent, limit, &mut expected);
                prop_assert_eq!(&best, &expected);
            }
        }
        prop_assert_eq!(layered.count_matching(&query), whole.count_matching(&query));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_edits_the_answers_are_those_of_an_index_compiled_anew(
        first in prop::collection::vec((select(IDS), source()), 0..8),
        steps in prop::collection::vec(step(), 1..8),
        queries in prop::collection::vec(query(), 3),
        inflect: bool,
        mask_quoted: bool,
    ) {
        let mut options = IndexOptions::default();
        (options.inflect, options.mask_quoted) = (inflect, mask_quoted);
        let mut catalog: BTreeMap<SkillId, Skill> =
            first.iter().map(|(id, source)| (SkillId::new(id), load(source))).collect();
        let base = Index::new(&indexed(&catalog), &options).unwrap();
        let mut layered = LayeredIndex::new(Arc::new(base), &options);
        for step in &steps {
            let before = layered.clone();
            let n_before = before.len();
            match step {
                Step::Merge => layered = layered.merged().unwrap(),
                Step::Change(edits) => {
                    let edits: BTreeMap<SkillId, Option<Skill>> = edits
                        .iter()
                        .map(|(id, source)| (SkillId::new(id), source.as_ref().map(load)))
                        .collect();
                    let (put, removed): (BTreeMap<_, _>, BTreeMap<_, _>) =
                        edits.into_iter().partition(|(_, skill)| skill.is_some());
                    let removed: Vec<SkillId> = removed.into_keys().collect();
                    let put: BTreeMap<SkillId, Skill> =
                        put.into_iter().filter_map(|(id, skill)| Some((id, skill?))).collect();
                    layered = layered.with_changes(&indexed(&put), &removed).unwrap();
                    catalog.retain(|id, _| !removed.contains(id));
                    catalog.extend(put);
                }
            }
            prop_assert_eq!(before.len(), n_before, "who has the old index sees no change");
            let whole = Index::new(&indexed(&catalog), &options).unwrap();
            for query in &queries {
                check(&layered, &whole, query)?;
            }
        }
    }
}

#[test]
fn many_changes_make_a_merge_due_and_a_merge_makes_few_layers_of_them() {
    let options = IndexOptions::default();
    let source = |word: &str| load(&("n".to_owned(), json!({"keywords": [word, "shared"]})));
    let catalog = |range: std::ops::Range<usize>, word: &str| -> BTreeMap<SkillId, Skill> {
        range
            .map(|i| (SkillId::new(&format!("skill-{i:04}")), source(&format!("{word}{i}"))))
            .collect()
    };
    let first = catalog(0..2_000, "old");
    let base = Arc::new(Index::new(&indexed(&first), &options).unwrap());
    let mut layered = LayeredIndex::new(base, &options);
    let mut all = first.clone();
    let mut n_merges = 0;
    for i in (1_900..2_200).step_by(3) {
        let changed = catalog(i..i + 3, "new");
        layered = layered.with_changes(&indexed(&changed), &[]).unwrap();
        all.extend(changed);
        if layered.needs_merge() {
            layered = layered.merged().unwrap();
            assert!(!layered.needs_merge());
            n_merges += 1;
        }
    }
    assert!((1..10).contains(&n_merges), "{n_merges}");
    let whole = Index::new(&indexed(&all), &options).unwrap();
    for text in ["old17 shared", "new1950 old1950", "new2100 shared and new12 skill-1999", "shared"]
    {
        check(&layered, &whole, text).unwrap();
    }
}
