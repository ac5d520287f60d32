//! What `instructions.sh` counts the instructions of: one case a process, named by the first
//! argument; the second is a directory for what one process leaves for the next.
//!
//! Only what runs below [`measured`] counts, after a warm-up with the same queries.
#![expect(clippy::unwrap_used, reason = "a benchmark")]
#![expect(clippy::print_stdout, reason = "it says how many queries it measured")]

mod support;

use std::hint::black_box;

use repertoire::matcher::Index;
use repertoire::{Engine, Query};
use support::catalog::{Language, ids, index, queries, skills};

/// What callgrind is told to count.
#[inline(never)]
fn measured<T>(run: impl FnOnce() -> T) -> T {
    black_box(run())
}

fn compiled(n_skills: usize) -> Index {
    let skills = skills(n_skills);
    index(&skills, &ids(&skills))
}

/// Runs each query three times unmeasured, then once measured.
fn each(queries: &[String], mut run: impl FnMut(&str)) {
    for _ in 0..3 {
        queries.iter().for_each(|query| run(query));
    }
    measured(|| queries.iter().for_each(|query| run(query)));
    println!("{}", queries.len());
}

fn top_3(index: &Index, queries: &[String]) {
    let mut best = Vec::new();
    each(queries, |query| {
        index.matches_into(black_box(&Query::new(query)), &[], 3, &mut best);
        black_box(&best);
    });
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    let english = |n_skills| queries(Language::English, 130, n_skills, 64);
    match case.as_str() {
        "top-3-10" => top_3(&compiled(10), &english(10)),
        "top-3-100" => top_3(&compiled(100), &english(100)),
        "top-3-1000" => top_3(&compiled(1_000), &english(1_000)),
        "top-3-10000" => top_3(&compiled(10_000), &english(10_000)),
        "all-1000" => {
            let index = compiled(1_000);
            each(&english(1_000), |query| {
                black_box(index.search(&Query::new(query), &[], 0));
            });
        }
        "french-1000" => top_3(&compiled(1_000), &queries(Language::French, 130, 1_000, 64)),
        "cjk-1000" => top_3(&compiled(1_000), &queries(Language::Cjk, 130, 1_000, 64)),
        "10kb-1000" => top_3(&compiled(1_000), &queries(Language::English, 10_000, 1_000, 4)),
        "disclose-1000" => {
            let add = repertoire::EngineBuilder::skill;
            let engine = skills(1_000).into_iter().fold(Engine::builder(), add).build().unwrap();
            each(&english(1_000)[..8], |query| {
                black_box(engine.disclose(query));
            });
        }
        "build-1000" => {
            let skills = skills(1_000);
            let ids = ids(&skills);
            measured(|| index(&skills, &ids));
            println!("1");
        }
        _ => {}
    }
}
