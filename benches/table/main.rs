//! The matcher and its rivals, measured in one run and printed as Markdown tables. Run it with `cargo
//! bench -p repertoire --bench table`; `REPERTOIRE_BENCH=all` measures all sizes.
//!
//! Rivals take turns, so that a busy machine disturbs all of them alike. Each counts with its shortest
//! of many passes over the same queries. Answers are asserted before they are timed.
#![expect(clippy::unwrap_used, reason = "a benchmark")]
#![expect(clippy::print_stdout, reason = "the tables are what it is for")]
#![expect(clippy::cast_precision_loss, reason = "figures are shown in three digits")]

mod compiled;
mod measure;
#[path = "../support/mod.rs"]
mod support;
mod threads;

use std::hint::black_box;
use std::time::{Duration, Instant};

use compiled::{Compiled, PLAIN};
use measure::{Figures, Rival, measure, print_table, rival, time};
use repertoire::HitKind;
use support::adversary;
use support::catalog::{Language, ids, index, queries, skills};
use support::scan::{BareScan, fold};
use support::usual::{Contains, Filtered, OneSet, RegexLoop};
use threads::speed_up;

/// Measures typical queries, by the size of the catalog.
fn by_size(sizes: &[usize], budget: Duration) {
    let mut columns: Vec<Figures> = Vec::new();
    for &n_skills in sizes {
        let compiled = Compiled::of_size(n_skills);
        let queries = queries(Language::English, 130, n_skills, 64);
        queries.iter().take(8).for_each(|query| compiled.assert_first(query));
        let scan = BareScan::new(&compiled.skills);
        let mut folded = Vec::new();
        assert_eq!(scan.count(&queries[0], &mut folded), scan.expected_count(&queries[0]));
        let mut more = Vec::new();
        let engine = compiled.engine_with_relevance();
        let relevance = engine.relevance();
        let mut relevant = Vec::new();
        let contains = Contains::new(&compiled.skills);
        for query in &queries[..4] {
            assert_found_by_contains(&compiled, &contains, query);
        }
        let mut rivals = vec![
            rival("folding alone", |query| {
                fold(query, &mut folded);
                folded.len()
            }),
            rival("bare scan", |query| scan.count(query, &mut more)),
            compiled.plain(),
            rival("relevance alone", |query| {
                relevance.rank_into(query, 6, &mut relevant);
                relevant.len()
            }),
            rival("disclosure", |query| engine.disclose(query).full.len()),
            compiled.matches(),
            rival("explanation of the best three", |query| {
                compiled.engine.explain(query, 3).matches.len()
            }),
            rival("lower-cased `contains`", |query| contains.matching(query).len()),
        ];
        let mut figures: Figures = Vec::new();
        for (place, figure) in measure(&mut rivals, &queries, budget).into_iter().enumerate() {
            figures.push((rivals[place].name, figure));
        }
        drop(rivals);
        if n_skills <= 1_000 {
            figures.extend(by_regex(&compiled, &queries, n_skills <= 100, budget));
        }
        figures.extend(by_many(&compiled, &scan, n_skills, budget));
        columns.push(figures);
    }
    let names: Vec<&str> = columns[0].iter().map(|(name, _)| *name).collect();
    let mut header = vec!["µs a query".to_owned()];
    header.extend(sizes.iter().map(ToString::to_string));
    let get = |column: &Figures, name: &str| {
        column.iter().find(|(of, _)| *of == name).map(|(_, figure)| *figure)
    };
    let cells = |name: &&str, show: &dyn Fn(&Figures, f64) -> String| {
        let cell = |column: &Figures| {
            get(column, name).map_or_else(|| "–".to_owned(), |figure| show(column, figure))
        };
        [(*name).to_owned()].into_iter().chain(columns.iter().map(cell)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = names.iter().map(|name| cells(name, &|_, figure| time(figure))).collect();
    print_table("Typical queries (English, 130 bytes), by number of skills", &header, &rows);
    "times the bare scan".clone_into(&mut header[0]);
    let ratio = |column: &Figures, figure: f64| {
        format!("{:.2}", figure / get(column, "bare scan").unwrap())
    };
    let rows: Vec<_> = names.iter().map(|name| cells(name, &ratio)).collect();
    print_table("The same, as multiples of the bare scan", &header, &rows);
}

/// Measures with so many messages that a thread cannot remember all of their words, and a processor
/// cannot predict their branches.
fn by_many(compiled: &Compiled, scan: &BareScan, n_skills: usize, budget: Duration) -> Figures {
    let queries = queries(Language::English, 130, n_skills, 400);
    let mut folded = Vec::new();
    let mut rivals = [
        rival("400 messages: bare scan", |query| scan.count(query, &mut folded)),
        Rival { name: "400 messages: disclosure without relevance", ..compiled.plain() },
    ];
    let figures = measure(&mut rivals, &queries, budget);
    rivals.iter().map(|rival| rival.name).zip(figures).collect()
}

/// Measures the rivals that compile every trigger as a regular expression.
fn by_regex(
    compiled: &Compiled,
    queries: &[String],
    assert_all: bool,
    budget: Duration,
) -> Figures {
    let each = RegexLoop::new(&compiled.skills);
    let set = OneSet::new(&compiled.skills);
    let filtered = Filtered::new(&compiled.skills);
    for query in if assert_all { queries } else { &queries[..2] } {
        let expected = compiled.matching(query);
        assert_eq!(each.matching(query), expected, "one by one: {query}");
        assert_eq!(set.matching(query), expected, "one set: {query}");
        assert_eq!(filtered.matching(query), expected, "regex-filtered: {query}");
    }
    let mut rivals = [
        rival("a compiled regex a trigger", |query| each.matching(query).len()),
        rival("one `RegexSet`", |query| set.matching(query).len()),
        rival("crate `regex-filtered`", |query| filtered.matching(query).len()),
    ];
    let figures = measure(&mut rivals, &queries[..16], budget);
    rivals.iter().map(|rival| rival.name).zip(figures).collect()
}

/// Asserts that every keyword found as a whole word is also found by the substring search.
fn assert_found_by_contains(compiled: &Compiled, contains: &Contains, query: &str) {
    let found = contains.matching(query);
    for of in compiled.engine.matches(query) {
        let is_word = |kind| matches!(kind, HitKind::Keyword | HitKind::Verb);
        let place = compiled.skills.iter().position(|skill| of.id == *skill.name()).unwrap();
        assert!(found.contains(&place) || !of.hits.iter().any(|hit| is_word(hit.kind)));
    }
}

/// Measures queries of all lengths and languages.
fn by_query(n_skills: usize, budget: Duration) {
    let compiled = Compiled::of_size(n_skills);
    let scan = BareScan::new(&compiled.skills);
    let cases = [
        ("English", Language::English, 10),
        ("English", Language::English, 130),
        ("English", Language::English, 1_000),
        ("English", Language::English, 10_000),
        ("English", Language::English, 100_000),
        ("French", Language::French, 130),
        ("Chinese, Japanese, Korean", Language::Cjk, 130),
        ("code", Language::Code, 130),
        ("code", Language::Code, 10_000),
    ];
    let mut rows = Vec::new();
    for (name, language, n_bytes) in cases {
        let queries = queries(language, n_bytes, n_skills, if n_bytes > 1_000 { 4 } else { 64 });
        queries.iter().take(8).for_each(|query| match language {
            Language::Code => compiled.assert_order(query),
            _ => compiled.assert_first(query),
        });
        let mut folded = Vec::new();
        let mut rivals = [
            rival("bare scan", |query| scan.count(query, &mut folded)),
            compiled.plain(),
            compiled.matches(),
        ];
        let figures = measure(&mut rivals, &queries, budget);
        let mut row = vec![name.to_owned(), n_bytes.to_string()];
        row.extend(figures.iter().map(|figure| time(*figure)));
        row.push(format!("{:.2}", figures[1] / figures[0]));
        rows.push(row);
    }
    let header =
        ["query", "bytes", "bare scan", PLAIN, "every match, with hits", "disclosure / scan"];
    let title = format!("Queries by language and length, {n_skills} skills");
    print_table(&title, &header.map(str::to_owned), &rows);
}

/// Measures hostile skills and queries, compared with a benign query of the same length.
fn by_adversary(budget: Duration) {
    let benign = Compiled::of_size(1_000);
    let mut rows = Vec::new();
    for (name, skills, query) in adversary::cases() {
        let compiled = Compiled::new(skills);
        compiled.assert_order(&query);
        let usual = queries(Language::English, query.len(), 1_000, 1);
        let slow = measure(&mut [compiled.plain()], std::slice::from_ref(&query), budget)[0];
        let usual = measure(&mut [benign.plain()], &usual, budget)[0];
        rows.push(vec![
            name.to_owned(),
            query.len().to_string(),
            time(slow),
            time(usual),
            format!("{:.2}", slow / usual),
        ]);
    }
    let header = ["case", "bytes", PLAIN, "benign", "ratio"];
    print_table("Adversaries", &header.map(str::to_owned), &rows);
}

/// Measures the time to build, compared with `aho-corasick`'s automaton for the literals alone.
fn by_build(sizes: &[usize]) {
    let shortest = |n_runs: usize, build: &dyn Fn()| {
        let times = (0..n_runs).map(|_| {
            let start = Instant::now();
            build();
            start.elapsed().as_nanos() as f64
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let mut rows = Vec::new();
    for &n_skills in sizes {
        let skills = skills(n_skills);
        let ids = ids(&skills);
        let n_runs = if n_skills > 10_000 { 1 } else { 3 };
        let build = shortest(n_runs, &|| drop(black_box(index(&skills, &ids))));
        let scan = shortest(n_runs, &|| drop(black_box(BareScan::new(&skills))));
        rows.push(vec![n_skills.to_string(), time(build), time(scan)]);
    }
    let header = ["skills", "index", "contiguous NFA"];
    print_table("The time to build", &header.map(str::to_owned), &rows);
}

/// Measures queries with cold caches, and queries from two threads at once.
fn by_circumstance(sizes: &[usize], budget: Duration) {
    let mut rows = Vec::new();
    for &n_skills in sizes {
        let compiled = Compiled::of_size(n_skills);
        let queries = queries(Language::English, 130, n_skills, 64);
        let warm = measure(&mut [compiled.plain()], &queries, budget)[0];
        let scan = BareScan::new(&compiled.skills);
        rows.push(vec![
            n_skills.to_string(),
            time(warm),
            time(cold(&compiled, &queries)),
            format!("{:.2}", speed_up(&queries, || compiled.plain())),
            format!("{:.2}", speed_up(&queries, || bare_scan(&scan))),
        ]);
    }
    let header =
        ["skills", "warm", "cold caches", "throughput of 2 threads / of 1", "the same, bare scan"];
    print_table(
        "Disclosures without relevance in other circumstances",
        &header.map(str::to_owned),
        &rows,
    );
}

/// Returns the median time of a query when 32 MiB of other memory is touched before each.
fn cold(compiled: &Compiled, queries: &[String]) -> f64 {
    let mut other = vec![1_u8; 32 << 20];
    let mut plain = compiled.plain();
    let mut times: Vec<Duration> = queries
        .iter()
        .map(|query| {
            other.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
            black_box(&other);
            let start = Instant::now();
            black_box((plain.run)(query));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64
}

fn bare_scan(scan: &BareScan) -> Rival<'_> {
    let mut folded = Vec::new();
    rival("bare scan", move |query| scan.count(query, &mut folded))
}

fn main() {
    let all = std::env::var("REPERTOIRE_BENCH").is_ok_and(|which| which == "all");
    let budget = Duration::from_millis(if all { 1_500 } else { 300 });
    let sizes: &[usize] = if all { &[10, 100, 1_000, 10_000, 100_000] } else { &[10, 100, 1_000] };
    // The tables named in the arguments (`size`, `query`, `adversary`, `build`, `circumstance`), or
    // else all.
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |table: &str| named.is_empty() || named.iter().any(|name| name == table);
    if is_wanted("size") {
        by_size(sizes, budget);
    }
    if is_wanted("query") {
        by_query(1_000, budget / 3);
    }
    if is_wanted("adversary") {
        by_adversary(budget / 3);
    }
    if is_wanted("build") {
        by_build(sizes);
    }
    if is_wanted("circumstance") {
        by_circumstance(&sizes[1..], budget);
    }
}
