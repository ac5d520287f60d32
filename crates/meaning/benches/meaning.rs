//! The cost of a message: its vector, the estimates over all skills, and the cosines of the best; each with
//! its answer checked. `cargo bench -p repertoire-meaning`; `-- cold` is for a fresh process.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and fails by panicking"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use repertoire_meaning::{Compact, Query, Scratch, Table, Vectors};

/// As long as a message of 120 bytes.
const MESSAGES: [&str; 3] = [
    "hey, since the update last night our checkout page takes ages to load, can you find out what is slow and fix it please?",
    "die Kundin ist sauer, weil die Rechnung zweimal kam. Kannst du ihr eine nette Antwort schreiben und das Geld erstatten?",
    "数据库昨晚又挂了,客户都在抱怨。请帮我写一份事故报告,说明原因和以后怎么避免。",
];
/// The skill that is nearest to each message, among those of [`skills`].
const NEAREST: [usize; 3] = [0, 1, 2];
const ROUNDS: usize = 2_000;

fn skills(n: usize) -> Vec<String> {
    let first = [
        "Improve the loading time of web pages and find what makes them slow",
        "Reply to a customer complaint and refund an invoice",
        "Write an incident postmortem after an outage of a database",
    ];
    let subjects = ["tax law", "violin", "chess", "gardening", "astronomy", "knitting", "geology"];
    (0..n)
        .map(|at| match first.get(at) {
            Some(skill) => (*skill).to_owned(),
            None => format!("Exercise {at} about {}", subjects[at % subjects.len()]),
        })
        .collect()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn time(n: usize, mut run: impl FnMut(usize)) -> f64 {
    let times = (0..n).map(|round| {
        let start = Instant::now();
        run(round);
        start.elapsed()
    });
    median(times.collect())
}

/// The number of the nearest vector: exactly, among the 200 with the best estimates.
fn nearest(
    vectors: Vectors<'_>,
    query: &Query,
    estimates: &mut Vec<f32>,
    best: &mut Vec<u32>,
) -> usize {
    vectors.estimates(query, estimates);
    best.clear();
    best.extend(0..vectors.len() as u32);
    let most = best.len().min(200);
    if best.len() > most {
        best.select_nth_unstable_by(most, |a, b| {
            estimates[*b as usize].total_cmp(&estimates[*a as usize])
        });
    }
    let best = best[..most].iter().map(|at| *at as usize);
    best.max_by(|a, b| vectors.cosine(query, *a).total_cmp(&vectors.cosine(query, *b))).unwrap()
}

fn cold() {
    let start = Instant::now();
    let vector = Table::bundled().vector(MESSAGES[0], &mut Scratch::default());
    println!("cold: first vector {:.0} µs", start.elapsed().as_secs_f64() * 1e6);
    assert!(!vector.is_zero());
}

fn main() {
    cold();
    if std::env::args().any(|argument| argument == "cold") {
        return;
    }
    let (table, mut scratch) = (Table::bundled(), Scratch::default());
    println!("{}: {} pieces, {} dimensions", table.name(), table.pieces(), table.dimensions());
    for message in MESSAGES {
        let expected = table.vector(message, &mut scratch);
        let us = time(ROUNDS, |_| {
            assert_eq!(black_box(table.vector(black_box(message), &mut scratch)), expected);
        });
        println!("vector of {} bytes: {us:.1} µs", message.len());
    }
    for n in [10, 100, 1_000, 10_000] {
        let compact: Vec<Compact> =
            skills(n).iter().map(|skill| table.vector(skill, &mut scratch).compact()).collect();
        let bytes = Vectors::pack(&compact);
        let vectors = Vectors::new(&bytes, table.dimensions()).unwrap();
        let queries = MESSAGES.map(|message| table.vector(message, &mut scratch).query());
        let (mut estimates, mut best) = (Vec::new(), Vec::new());
        let scan = time(ROUNDS, |round| {
            vectors.estimates(&queries[round % 3], &mut estimates);
            black_box(&estimates);
        });
        let all = time(ROUNDS, |round| {
            let found = nearest(vectors, &queries[round % 3], &mut estimates, &mut best);
            assert_eq!(found, NEAREST[round % 3]);
        });
        println!("{n} skills: estimates {scan:.1} µs, nearest of all {all:.1} µs");
    }
}
