//! The time of a query, by the size of the catalog; `cargo bench --bench matching`, all sizes with
//! `REPERTOIRE_BENCH=all`. `table.rs` has the tables.
//!
//! Each answer is asserted before it is timed.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

mod support;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use repertoire::{Engine, Query};
use support::adversary;
use support::catalog::{Language, ids, index, queries, skills};
use support::scan::{BareScan, fold};
use support::usual::{Contains, Filtered, OneSet, RegexLoop};

fn sizes() -> &'static [usize] {
    let all = std::env::var("REPERTOIRE_BENCH").is_ok_and(|which| which == "all");
    if all { &[10, 100, 1_000, 10_000, 100_000] } else { &[10, 100, 1_000] }
}

fn by_size(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("query");
    for &n_skills in sizes() {
        let skills = skills(n_skills);
        let index = index(&skills, &ids(&skills));
        let queries = queries(Language::English, 130, n_skills, 64);
        for query in &queries {
            let query = Query::new(query);
            let all = index.search(&query, &[], usize::MAX).matches;
            assert_eq!(index.best(&query, &[], 3)[..], all[..all.len().min(3)]);
        }
        // Each run takes the next query, so that no cache learns one by heart.
        let mut turn = queries.iter().cycle();
        let mut next = || Query::new(turn.next().unwrap());
        let mut best = Vec::new();
        group.bench_function(BenchmarkId::new("top 3", n_skills), |b| {
            b.iter(|| index.matches_into(black_box(&next()), &[], 3, &mut best));
        });
        group.bench_function(BenchmarkId::new("all", n_skills), |b| {
            b.iter(|| index.search(black_box(&next()), &[], usize::MAX));
        });
        let scan = BareScan::new(&skills);
        let mut folded = Vec::new();
        assert_eq!(scan.count(&queries[0], &mut folded), scan.expected_count(&queries[0]));
        group.bench_function(BenchmarkId::new("bare scan", n_skills), |b| {
            b.iter(|| scan.count(black_box(&next().text), &mut folded));
        });
        group.bench_function(BenchmarkId::new("folding alone", n_skills), |b| {
            b.iter(|| fold(black_box(&next().text), &mut folded));
        });
        let contains = Contains::new(&skills);
        group.bench_function(BenchmarkId::new("contains", n_skills), |b| {
            b.iter(|| contains.matching(black_box(&next().text)));
        });
        let engine =
            skills.iter().cloned().fold(Engine::builder(), repertoire::EngineBuilder::skill);
        let engine = engine.build().unwrap();
        let shown = engine.disclose(&*queries[0]).full.len();
        assert_eq!(shown, index.best(&Query::new(&queries[0]), &[], 3).len());
        group.bench_function(BenchmarkId::new("disclose", n_skills), |b| {
            b.iter(|| engine.disclose(black_box(next())));
        });
    }
    group.finish();
}

fn by_regex(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("the usual ways, 100 skills");
    let skills = skills(100);
    let (each, set, filtered) =
        (RegexLoop::new(&skills), OneSet::new(&skills), Filtered::new(&skills));
    let queries = queries(Language::English, 130, 100, 64);
    for query in &queries {
        let expected = each.matching(query);
        assert_eq!(set.matching(query), expected);
        assert_eq!(filtered.matching(query), expected);
    }
    let mut turn = queries.iter().cycle();
    let mut next = || turn.next().unwrap();
    group.bench_function("a regex a trigger", |b| b.iter(|| each.matching(black_box(next()))));
    group.bench_function("one `RegexSet`", |b| b.iter(|| set.matching(black_box(next()))));
    group.bench_function("`regex-filtered`", |b| b.iter(|| filtered.matching(black_box(next()))));
    group.finish();
}

fn by_language(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("130 bytes of, 1,000 skills");
    let skills = skills(1_000);
    let index = index(&skills, &ids(&skills));
    for language in [Language::English, Language::French, Language::Cjk, Language::Code] {
        let queries = queries(language, 130, 1_000, 64);
        let mut turn = queries.iter().cycle();
        let mut best = Vec::new();
        group.bench_function(format!("{language:?}"), |b| {
            b.iter(|| {
                let query = Query::new(turn.next().unwrap());
                index.matches_into(black_box(&query), &[], 3, &mut best);
            });
        });
    }
    group.finish();
}

fn adversaries(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("adversaries");
    for (name, skills, query) in adversary::cases() {
        let index = index(&skills, &ids(&skills));
        let query = Query::new(query);
        let answer = index.search(&query, &[], 3);
        assert_eq!(index.best(&query, &[], 3), answer.matches, "{name}");
        let mut best = Vec::new();
        group.bench_function(name, |b| {
            b.iter(|| index.matches_into(black_box(&query), &[], 3, &mut best));
        });
    }
    group.finish();
}

fn builds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    for &n_skills in sizes() {
        let skills = skills(n_skills);
        let ids = ids(&skills);
        group.bench_function(BenchmarkId::new("index", n_skills), |b| {
            b.iter(|| index(black_box(&skills), &ids));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20);
    targets = by_size, by_regex, by_language, adversaries, builds
}
criterion_main!(benches);
