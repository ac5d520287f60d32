//! How long a query takes, by the size of the catalog; `cargo bench`.
//!
//! Each answer is asserted before it is timed. `contains` is the usual way: every keyword looked
//! for in the lower-cased message, which finds parts of words and no patterns.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use repertoire::matcher::{Index, IndexOptions, IndexedSkill};
use repertoire::{Engine, Query, Skill, SkillId};

const QUERY: &str = "Could you please draft the quarterly invoice17 for our client, and tell me \
    which of the report42 numbers changed since the last release?";

/// Skills of eight triggers, two of them patterns, from a fixed list of words.
fn skills(n_skills: usize) -> Vec<Skill> {
    let nouns = ["report", "invoice", "cluster", "schema", "ticket", "release", "budget"];
    let verbs = ["draft", "audit", "migrate", "tune", "archive", "publish"];
    let word =
        |i: usize, salt: usize| format!("{}{}", nouns[(i + salt) % 7], (i * 31 + salt) % 997);
    let skill = |i: usize| {
        let (verb, other) = (verbs[i % 6], verbs[(i + 1) % 6]);
        format!(
            "---\nname: skill-{i:05}\ndescription: d\ntriggers:\n  keywords: [{}, {}, {verb} {}, {} plan]\n  \
             verbs: [{verb}, {other}]\n  patterns: ['({verb}|plan).*?{}', '\\b{}s?\\b']\n---\n",
            word(i, 1),
            word(i, 2),
            word(i, 3),
            word(i, 4),
            word(i, 5),
            word(i, 6),
        )
    };
    (0..n_skills).map(|i| skill(i).parse().unwrap()).collect()
}

fn index(skills: &[Skill]) -> Index {
    let ids: Vec<SkillId> = skills.iter().map(|skill| SkillId::new(skill.name())).collect();
    let indexed: Vec<_> = skills
        .iter()
        .zip(&ids)
        .map(|(skill, id)| IndexedSkill { id, name: skill.name(), triggers: skill.triggers() })
        .collect();
    Index::new(&indexed, &IndexOptions::default()).unwrap()
}

fn queries(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("query");
    for n_skills in [10, 100, 1_000, 10_000] {
        let skills = skills(n_skills);
        let index = index(&skills);
        let query = Query::new(QUERY);
        let all = index.search(&query, &[], usize::MAX);
        let best = index.search(&query, &[], 3);
        assert_eq!(best.matches[..], all.matches[..all.matches.len().min(3)]);
        assert!(n_skills < 100 || best.matches.len() == 3);
        group.bench_function(BenchmarkId::new("top 3", n_skills), |b| {
            b.iter(|| index.search(black_box(&query), &[], 3));
        });
        group.bench_function(BenchmarkId::new("all", n_skills), |b| {
            b.iter(|| index.search(black_box(&query), &[], usize::MAX));
        });
        group.bench_function(BenchmarkId::new("contains", n_skills), |b| {
            b.iter(|| {
                let text = black_box(QUERY).to_lowercase();
                let found = skills.iter().filter(|skill| {
                    let triggers = skill.triggers();
                    triggers.keywords.iter().chain(&triggers.verbs).any(|t| text.contains(&t.value))
                });
                found.count()
            });
        });
        let engine = skills.into_iter().fold(Engine::builder(), repertoire::EngineBuilder::skill);
        let engine = engine.build().unwrap();
        assert_eq!(engine.disclose(QUERY).full.len(), best.matches.len());
        group.bench_function(BenchmarkId::new("disclose", n_skills), |b| {
            b.iter(|| engine.disclose(black_box(QUERY)));
        });
    }
    group.finish();
}

fn builds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    for n_skills in [100, 1_000] {
        let skills = skills(n_skills);
        group.bench_function(BenchmarkId::new("index", n_skills), |b| {
            b.iter(|| index(black_box(&skills)));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(2))
        .sample_size(30);
    targets = queries, builds
}
criterion_main!(benches);
