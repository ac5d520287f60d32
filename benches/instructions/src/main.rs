//! The program whose instructions `instructions.sh` counts. It runs one case per process. The first
//! argument names the case, the second a directory for files that one process leaves for the next.
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

use std::fs::{self, File};
use std::hint::black_box;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use catalog::{Language, ids, index, queries, skills};
use repertoire::matcher::{Index, Selection};
use repertoire::{DisclosureOptions, Engine, EngineBuilder, Query};
use scan::BareScan;

/// Runs the work that callgrind counts.
#[inline(never)]
fn measured<T>(run: impl FnOnce() -> T) -> T {
    black_box(run())
}

/// The catalog sizes whose indexes are written in advance.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

const CASES: &[&str] = &[
    "select-10",
    "select-100",
    "select-1000",
    "select-10000",
    "many-words-1000",
    "french-1000",
    "cjk-1000",
    "code-1000",
    "10kb-1000",
    "all-1000",
    "plain-100",
    "disclose-10",
    "disclose-100",
    "disclose-1000",
    "disclose-10000",
    "explain-1000",
    "build-1000",
    "bare-scan-1000",
];

/// Returns the path of the index of `n_skills` skills.
fn path(dir: &str, n_skills: usize) -> PathBuf {
    Path::new(dir).join(format!("{n_skills}.json"))
}

fn prepare(dir: &str) {
    for n_skills in SIZES {
        let skills = skills(n_skills);
        let file = File::create(path(dir, n_skills)).unwrap();
        serde_json::to_writer(BufWriter::new(file), &index(&skills, &ids(&skills))).unwrap();
    }
}

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

/// Measures the selection that disclosures use: the best six, and the total number.
fn select(index: &Index, queries: &[String]) {
    let selection = Selection { limit: 6, ..Selection::default() };
    each(queries, |query| {
        black_box(index.select(black_box(&Query::new(query)), &selection));
    });
}

fn disclose(engine: &Engine, queries: &[String]) {
    each(queries, |query| {
        black_box(engine.disclose(query));
    });
}

fn engine(n_skills: usize, options: DisclosureOptions) -> Engine {
    let builder = Engine::builder().disclosure(options);
    skills(n_skills).into_iter().fold(builder, EngineBuilder::skill).build().unwrap()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_default();
    let dir = arguments.next().unwrap_or_else(|| ".".to_owned());
    let read = |n_skills| -> Index {
        serde_json::from_slice(&fs::read(path(&dir, n_skills)).unwrap()).unwrap()
    };
    let english = |n_skills| queries(Language::English, 130, n_skills, 64);
    match case.as_str() {
        "prepare" => prepare(&dir),
        "cases" => println!("{}", CASES.join("\n")),
        "select-10" => select(&read(10), &english(10)),
        "select-100" => select(&read(100), &english(100)),
        "select-1000" => select(&read(1_000), &english(1_000)),
        "select-10000" => select(&read(10_000), &english(10_000)),
        // More words than caches and predictors of a processor remember.
        "many-words-1000" => select(&read(1_000), &queries(Language::English, 130, 1_000, 400)),
        "french-1000" => select(&read(1_000), &queries(Language::French, 130, 1_000, 64)),
        "cjk-1000" => select(&read(1_000), &queries(Language::Cjk, 130, 1_000, 64)),
        "code-1000" => select(&read(1_000), &queries(Language::Code, 130, 1_000, 64)),
        "10kb-1000" => select(&read(1_000), &queries(Language::English, 10_000, 1_000, 4)),
        "all-1000" => {
            let index = read(1_000);
            each(&english(1_000), |query| {
                black_box(index.search(&Query::new(query), &[], 0));
            });
        }
        "plain-100" => {
            let mut options = DisclosureOptions::default();
            options.max_lines = 0;
            options.relevance = None;
            disclose(&engine(100, options), &english(100));
        }
        "disclose-10" => disclose(&engine(10, DisclosureOptions::default()), &english(10)),
        "disclose-100" => disclose(&engine(100, DisclosureOptions::default()), &english(100)),
        "disclose-1000" => disclose(&engine(1_000, DisclosureOptions::default()), &english(1_000)),
        "disclose-10000" => {
            disclose(&engine(10_000, DisclosureOptions::default()), &english(10_000));
        }
        "explain-1000" => {
            let engine = engine(1_000, DisclosureOptions::default());
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
