//! The page of reports about other tools: each row has a link to a report and names tests that exist.

use std::fs;
use std::path::Path;

use crate::prose::quoted;

/// The title row of each table of the page.
const TITLES: &str = "| reported | Repertoire | shown by |";

/// The minimum number of reports on the page.
const N_ROWS: usize = 45;

/// Returns the rows of all tables of the page, without their titles and the lines below these.
fn rows(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.starts_with("| ") && *line != TITLES).collect()
}

/// Returns the fault of a row, as a phrase.
fn fault(root: &Path, row: &str) -> Option<String> {
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let [reported, answer, tests] = cells[..] else {
        return Some("has not three cells".to_owned());
    };
    if !reported.contains("](https://github.com/") {
        return Some("has no link to a report".to_owned());
    }
    if answer.is_empty() {
        return Some("does not say what Repertoire does".to_owned());
    }
    let tests = quoted(tests);
    if tests.is_empty() {
        return Some("names no test".to_owned());
    }
    let missing = tests.into_iter().find(|test| !exists(root, test));
    missing.map(|test| format!("names `{test}`, which does not exist"))
}

/// Tells whether `test`, in the form `FILE::FUNCTION`, is in the repository.
fn exists(root: &Path, test: &str) -> bool {
    test.split_once("::").is_some_and(|(file, function)| {
        let source = fs::read_to_string(root.join(file)).unwrap_or_default();
        source.contains(&format!("fn {function}("))
    })
}

#[test]
fn every_report_has_a_link_and_a_test_that_exists() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = fs::read_to_string(root.join("docs/reports.md")).unwrap();
    let rows = rows(&page);
    assert!(rows.len() >= N_ROWS, "{} rows", rows.len());
    let faults: Vec<String> = rows
        .iter()
        .filter_map(|row| fault(root, row).map(|fault| format!("{fault}: {row}")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn faults_of_rows_are_found() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let link = "lost: [a/b#1](https://github.com/a/b/issues/1)";
    let test = "`crates/cli/tests/repository/reports.rs::faults_of_rows_are_found`";
    let missing = test.replace("faults", "no_faults");
    for (row, is_fault) in [
        (format!("| {link} | kept | {test} |"), false),
        (format!("| {link} | kept | {test}, {missing} |"), true),
        (format!("| {link} | kept | `no/such/file.rs::test` |"), true),
        (format!("| {link} | kept | `reports.rs` |"), true),
        (format!("| {link} | kept |  |"), true),
        (format!("| {link} |  | {test} |"), true),
        (format!("| {link} | {test} |"), true),
        (format!("| lost: a/b#1 | kept | {test} |"), true),
    ] {
        assert_eq!(fault(root, &row).is_some(), is_fault, "{row}");
    }
    let page = format!("# T\n\n{TITLES}\n|---|---|---|\n| a |\n");
    assert_eq!(rows(&page), ["| a |"]);
}
