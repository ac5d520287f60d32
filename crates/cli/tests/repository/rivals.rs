//! The table that compares Repertoire with other programs: `benches/rivals/run.py` writes it to the page
//! on routing, between markers, with a row for each contestant.

use std::fs;
use std::path::Path;

/// The titles of the table's columns.
const TITLES: [&str; 7] = [
    "", "authors' prompts", "people's messages", "people's, in German", "a message", "start",
    "memory",
];

/// Returns the text between the markers of a page.
fn between_markers(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("<!-- rivals -->\n")?;
    Some(rest.split_once("<!-- end of rivals -->")?.0)
}

/// Returns the cells of each row of a table, the row of titles first.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with("| "));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Returns the names of the contestants, from the lines `"key": "name",` of `CONTESTANTS` in `run.py`.
fn contestants(program: &str) -> Vec<&str> {
    let (_, list) = program.split_once("CONTESTANTS = {\n").unwrap();
    let lines = list.lines().take_while(|line| *line != "}");
    lines.filter_map(|line| line.split('"').nth(3)).collect()
}

/// Tells whether a cell holds the three shares of messages with the right skill among the first.
fn is_three_shares(cell: &str) -> bool {
    let shares: Vec<f64> = cell.split(" / ").filter_map(|share| share.parse().ok()).collect();
    shares.len() == 3 && shares.is_sorted() && shares.iter().all(|s| (0.0..=100.0).contains(s))
}

#[test]
fn the_table_of_rivals_has_all_contestants_and_columns() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = fs::read_to_string(root.join("docs/routing.md")).unwrap();
    let program = fs::read_to_string(root.join("benches/rivals/run.py")).unwrap();
    let text = between_markers(&page).unwrap();
    let rows = rows(text);
    assert_eq!(rows[0], TITLES);
    let named: Vec<&str> = rows[1..].iter().map(|row| row[0]).collect();
    assert_eq!(named, contestants(&program), "run benches/rivals/run.py --write docs/routing.md");
    assert!(named.len() > 10, "{named:?}");
    for row in &rows[1..] {
        assert_eq!(row.len(), TITLES.len(), "{row:?}");
        assert!(row[1..4].iter().all(|cell| is_three_shares(cell)), "{row:?}");
        assert!(row[4..].iter().all(|cell| cell.starts_with(|c: char| c.is_ascii_digit())));
    }
    assert!(text.contains("load average") && text.contains("Versions: "), "{text}");
}

#[test]
fn faults_of_a_table_of_rivals_are_found() {
    assert!(is_three_shares("76.3 / 85.1 / 88.6"));
    for cell in ["76.3 / 85.1", "76.3 / 85.1 / 8.6", "–", "76.3 / 85.1 / 108.6"] {
        assert!(!is_three_shares(cell), "{cell}");
    }
    assert_eq!(between_markers("<!-- rivals -->\na\n<!-- end of rivals -->\nb"), Some("a\n"));
    assert_eq!(between_markers("<!-- rivals -->\na\nb"), None);
    assert_eq!(rows("|  | a |\n|---|---:|\n| b | 1 |\n"), [["", "a"], ["b", "1"]]);
}
