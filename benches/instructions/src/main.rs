//! The program whose instructions `instructions.sh` counts. It runs one case per process; the argument
//! names the case.
//!
//! Only the work inside [`measured`] counts, after a warm-up with the same queries.
#![expect(clippy::unwrap_used, reason = "a benchmark")]
#![expect(clippy::print_stdout, reason = "it says how many queries it measured")]
#![expect(clippy::panic, reason = "a script that names no case is wrong")]

#[path = "../../support/catalog.rs"]
mod catalog;
#[path = "../../support/scan.rs"]
#[expect(dead_code, reason = "its answers are asserted where it is timed")]
mod scan;
#[path = "../../support/words.rs"]
mod words;

use std::hint::black_box;

use catalog::{Language, ids, index, queries, skills};
use repertoire::{DisclosureOptions, Engine, EngineBuilder};
use scan::BareScan;

/// Runs the work that callgrind counts.
#[inline(never)]
fn measured<T>(run: impl FnOnce() -> T) -> T {
    black_box(run())
}

const CASES: &[&str] = &[
    "disclose-10", "disclose-100", "disclose-1000", "disclose-10000", "plain-100", "plain-1000",
    "many-words-1000", "french-1000", "cjk-1000", "code-1000", "10kb-1000", "matches-1000",
    "explain-1000", "build-1000", "bare-scan-1000",
];

/// Runs each query three times unmeasured, then once measured.
fn each(queries: &[String], mut run: impl FnMut(&str)) {
    for _ in 0..3 {
        for query in queries {
            run(query);
        }
    }
    measured(|| queries.iter().for_each(|query| run(query)));
    println!("{}", queries.len());
}

fn disclose(engine: &Engine, queries: &[String]) {
    each(queries, |query| {
        black_box(engine.disclose(query));
    });
}

fn engine_with(n_skills: usize, options: DisclosureOptions) -> Engine {
    let builder = Engine::builder().disclosure(options);
    skills(n_skills).into_iter().fold(builder, EngineBuilder::skill).build().unwrap()
}

fn engine(n_skills: usize) -> Engine {
    engine_with(n_skills, DisclosureOptions::default())
}

/// Builds an engine that does not rank by relevance.
fn plain(n_skills: usize) -> Engine {
    let mut options = DisclosureOptions::default();
    options.max_lines = 0;
    options.relevance = None;
    engine_with(n_skills, options)
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    let english = |n_skills| queries(Language::English, 130, n_skills, 64);
    let other = |language| queries(language, 130, 1_000, 64);
    match case.as_str() {
        "cases" => println!("{}", CASES.join("\n")),
        "disclose-10" => disclose(&engine(10), &english(10)),
        "disclose-100" => disclose(&engine(100), &english(100)),
        "disclose-1000" => disclose(&engine(1_000), &english(1_000)),
        "disclose-10000" => disclose(&engine(10_000), &english(10_000)),
        "plain-100" => disclose(&plain(100), &english(100)),
        "plain-1000" => disclose(&plain(1_000), &english(1_000)),
        // More words than the caches and predictors of a processor remember.
        "many-words-1000" => {
            disclose(&engine(1_000), &queries(Language::English, 130, 1_000, 400));
        }
        "french-1000" => disclose(&engine(1_000), &other(Language::French)),
        "cjk-1000" => disclose(&engine(1_000), &other(Language::Cjk)),
        "code-1000" => disclose(&engine(1_000), &other(Language::Code)),
        "10kb-1000" => disclose(&engine(1_000), &queries(Language::English, 10_000, 1_000, 4)),
        "matches-1000" => {
            let engine = plain(1_000);
            each(&english(1_000), |query| {
                black_box(engine.matches(query));
            });
        }
        "explain-1000" => {
            let engine = plain(1_000);
            each(&english(1_000), |query| {
                black_box(engine.explain(query, 3));
            });
        }
        "build-1000" => {
            let skills = skills(1_000);
            let ids = ids(&skills);
            measured(|| index(&skills, &ids));
            println!("1");
        }
        "bare-scan-1000" => {
            let scan = BareScan::new(&skills(1_000));
            let mut folded = Vec::new();
            each(&english(1_000), |query| {
                black_box(scan.count(query, &mut folded));
            });
        }
        _ => panic!("there is no case {case:?}: `cases` lists them"),
    }
}
