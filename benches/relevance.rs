//! How long a message takes to be ranked by relevance, by the size of the catalog, and what the
//! index costs to make; `cargo bench --bench relevance`.
#![expect(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a benchmark of made-up words"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use repertoire::matcher::RelevanceIndex;
use repertoire::{Skill, SkillId};

const MESSAGE: &str = "Could you please draft the quarterly report for our client and tell me which \
    of the invoices changed since the last release of the billing cluster?";

/// Words as frequent as those of a language: the n-th is n times rarer than the first.
struct Words(u64);

impl Words {
    const KNOWN: [&str; 12] = [
        "report",
        "invoice",
        "cluster",
        "release",
        "draft",
        "client",
        "changed",
        "billing",
        "quarterly",
        "the",
        "for",
        "which",
    ];

    fn word(&mut self) -> String {
        // Constants of Knuth's MMIX.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (self.0 >> 33) as f64 / f64::from(1_u32 << 31);
        let rank = 20_000_f64.powf(share) as usize;
        Self::KNOWN.get(rank).map_or_else(|| format!("word{rank}"), |word| (*word).to_owned())
    }

    fn text(&mut self, n_words: usize) -> String {
        (0..n_words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// Skills as long as published ones are: 40 words of description, 1,000 of body.
fn skills(n_skills: usize) -> Vec<(SkillId, Skill)> {
    let mut words = Words(1);
    let skill = |i: usize| {
        let (description, body) = (words.text(40), words.text(1_000));
        let text =
            format!("---\nname: skill-{i:05}\ndescription: {description}\n---\n# Steps\n{body}\n");
        (SkillId::new(&format!("skill-{i:05}")), text.parse().unwrap())
    };
    (0..n_skills).map(skill).collect()
}

fn index(skills: &[(SkillId, Skill)]) -> RelevanceIndex {
    RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)))
}

fn queries(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("relevance");
    for n_skills in [100, 1_000] {
        let skills = skills(n_skills);
        let mut index = index(&skills);
        assert_eq!(index.rank(MESSAGE, 3).len(), 3);
        group.bench_function(BenchmarkId::new("top 3", n_skills), |b| {
            b.iter(|| index.rank(black_box(MESSAGE), 3));
        });
        group.bench_function(BenchmarkId::new("order", n_skills), |b| {
            b.iter(|| index.order(black_box(MESSAGE)));
        });
        let (id, skill) = &skills[n_skills / 2];
        group.bench_function(BenchmarkId::new("replace one", n_skills), |b| {
            b.iter(|| index.add(id, skill));
        });
    }
    group.finish();
}

fn builds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("relevance index");
    group.sample_size(10);
    let skills = skills(1_000);
    group.bench_function(BenchmarkId::from_parameter(1_000), |b| {
        b.iter(|| index(black_box(&skills)));
    });
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
