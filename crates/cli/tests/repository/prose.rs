//! Prose is in plain English: a doc comment opens with a noun or a verb in the third person. Lines of
//! Markdown are short.

use std::fs;
use std::path::Path;

use crate::sources::rust_files;

/// Words that a doc comment must not open with: "The skills that …", not "Which skills …".
const OPENERS: [&str; 6] = ["How many", "Of", "So", "What", "Whether", "Which"];

/// Words before the verb that make a negated noun correct: "there is no limit".
const BEFORE: [&str; 2] = ["There", "there"];

/// Words after the negation that make it correct: "is no longer", "is no more than".
const AFTER: [&str; 4] = ["less", "longer", "more", "other"];

/// Directories whose texts are checked.
const CODE: [&str; 13] = [
    "src", "crates/agents/src", "crates/authoring/src", "crates/cli/src", "crates/config/src",
    "crates/fetch/src", "crates/mcp/src", "crates/meaning/src", "crates/sessions/src",
    "crates/system/src", "crates/text/src", "crates/worker/src", "plugin-api/src",
];

/// Directories whose comments are checked.
const DIRS: [&str; 5] = ["benches", "crates", "examples", "src", "tests"];

/// The maximum length of a line of Markdown, in characters; lines of tables and code may be longer.
const MARKDOWN_WIDTH: usize = 120;

/// A run of consecutive comment lines with the same mark.
struct Comment {
    /// The number of the first line, from 1.
    line: usize,
    mark: &'static str,
    /// The text of all lines, joined by blanks.
    text: String,
}

fn comments(source: &str) -> Vec<Comment> {
    let mut comments: Vec<Comment> = Vec::new();
    let mut goes_on = false;
    for (nth, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let mark = ["//!", "///", "//"].into_iter().find(|mark| line.starts_with(*mark));
        let Some(mark) = mark else {
            goes_on = false;
            continue;
        };
        let text = line[mark.len()..].trim();
        match comments.last_mut().filter(|last| goes_on && last.mark == mark) {
            Some(last) => last.text = format!("{} {text}", last.text),
            None => comments.push(Comment { line: nth + 1, mark, text: text.to_owned() }),
        }
        goes_on = true;
    }
    comments
}

/// Returns the faults of a comment, each as a phrase.
fn faults(comment: &Comment) -> Vec<String> {
    let mut faults = Vec::new();
    for opener in OPENERS {
        let rest = comment.text.strip_prefix(opener).unwrap_or_default();
        if comment.mark != "//" && rest.starts_with(' ') {
            faults.push(format!("opens with \"{opener}\": begin with a noun or a verb"));
        }
    }
    let words: Vec<&str> = comment.text.split_whitespace().map(plain).collect();
    for (nth, three) in words.windows(3).enumerate() {
        let before = nth.checked_sub(1).map_or("", |nth| words[nth]);
        let is_correct = BEFORE.contains(&before) || AFTER.contains(&three[2]);
        if three[..2] == ["is", "no"] && !is_correct {
            faults.push(format!("has \"is no {}\": write \"is not a\" or the like", three[2]));
        }
    }
    faults
}

/// Returns the faults of the string literals in code (errors and help), line by line.
fn faults_of_texts(source: &str) -> Vec<String> {
    let lines = source.lines().enumerate();
    let texts =
        lines.filter(|(_, line)| line.contains('"') && !line.trim_start().starts_with("//"));
    let comments = texts.map(|(nth, line)| Comment {
        line: nth + 1,
        mark: "//",
        text: line.replace('"', " "),
    });
    comments.flat_map(|text| faults(&text)).collect()
}

/// Returns a word without the punctuation around it.
fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

#[test]
fn doc_comments_open_with_nouns_or_verbs() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let files = DIRS.iter().flat_map(|dir| rust_files(&root.join(dir)));
    let mut found = Vec::new();
    let mut n_comments = 0;
    for path in files {
        let read = comments(&fs::read_to_string(&path).unwrap());
        n_comments += read.len();
        for comment in read {
            let place = format!("{}:{}", path.display(), comment.line);
            found.extend(faults(&comment).into_iter().map(|fault| format!("{place} {fault}")));
        }
    }
    assert!(n_comments > 4_000, "{n_comments} comments were read");
    assert!(found.is_empty(), "{} comments to reword:\n{}", found.len(), found.join("\n"));
}

#[test]
fn errors_and_help_say_is_not_a() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut found = Vec::new();
    for path in CODE.iter().flat_map(|dir| rust_files(&root.join(dir))) {
        let faults = faults_of_texts(&fs::read_to_string(&path).unwrap());
        found.extend(faults.into_iter().map(|fault| format!("{} {fault}", path.display())));
    }
    assert!(found.is_empty(), "{} texts to reword:\n{}", found.len(), found.join("\n"));
}

/// Returns the numbers, from 1, of the lines of a Markdown page that are too long.
fn long_lines(page: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut long = Vec::new();
    for (nth, line) in page.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let is_prose = !is_code && !is_fence && !line.trim_start().starts_with('|');
        if is_prose && line.chars().count() > MARKDOWN_WIDTH {
            long.push(nth + 1);
        }
    }
    long
}

#[test]
fn lines_of_markdown_are_short() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut n_pages = 0;
    let mut found = Vec::new();
    for dir in [root.to_owned(), root.join("benches"), root.join("docs")] {
        let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.extension().is_some_and(|end| end == "md")) {
            n_pages += 1;
            let long = long_lines(&fs::read_to_string(&path).unwrap());
            found.extend(long.into_iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    assert!(n_pages > 12, "{n_pages} pages were read");
    assert!(found.is_empty(), "over {MARKDOWN_WIDTH} characters:\n{}", found.join("\n"));
}

#[test]
fn every_promise_of_security_md_names_tests_that_exist() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let mut n_tests = 0;
    for row in page.lines().filter(|line| line.starts_with('|') && line.contains(".rs`")) {
        let named = row.rsplit_once(" | ").unwrap().1;
        let mut source = String::new();
        for name in quoted(named) {
            if Path::new(name).extension().is_some_and(|extension| extension == "rs") {
                source = fs::read_to_string(root.join(name)).unwrap();
            } else {
                assert!(source.contains(&format!("fn {name}(")), "no test `{name}`: {row}");
                n_tests += 1;
            }
        }
    }
    assert!(n_tests > 30, "{n_tests} tests are named");
}

/// Returns the names in back-ticks in a text.
pub(crate) fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the table rows below the heading that begins with `heading`, without the title row and the
/// line below it.
fn rows<'p>(page: &'p str, heading: &str) -> Vec<&'p str> {
    let (_, section) = page.split_once(&format!("\n## {heading}")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    section.lines().filter(|line| line.starts_with('|')).skip(2).collect()
}

/// Tells whether a name in back-ticks is the name of a file or a directory of the repository.
fn is_path(name: &str) -> bool {
    let end = Path::new(name).extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_below = name.contains('/') && ["md", "py", "ts", "txt"].contains(&end);
    is_below || end == "rs" || name.ends_with('/') || name == "Cargo.toml"
}

#[test]
fn tables_of_where_things_are_name_files_that_exist() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let (architecture, contributing) = (page("ARCHITECTURE.md"), page("CONTRIBUTING.md"));
    let tables = [
        rows(&architecture, "Which room to change"),
        rows(&architecture, "The modules of the heart"),
        rows(&architecture, "The tests"),
        rows(&contributing, "Where do I add"),
    ];
    let mut n_paths = 0;
    for row in tables.concat() {
        let paths: Vec<&str> = quoted(row).into_iter().filter(|name| is_path(name)).collect();
        for path in &paths {
            // In the row of a module, paths may be relative to the directory of the module.
            let is_there = root.join(path).exists() || root.join(paths[0]).join(path).exists();
            assert!(is_there, "`{path}` does not exist: {row}");
        }
        n_paths += paths.len();
    }
    assert!(n_paths > 70, "{n_paths} paths are named");
}

#[test]
fn each_folder_of_tests_is_in_the_table_of_the_architecture() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let listed: Vec<&str> = rows(&architecture, "The tests").into_iter().flat_map(quoted).collect();
    let folders = |dir: &'static str| {
        fs::read_dir(root.join(dir)).unwrap().map(move |entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            format!("{dir}/{name}/")
        })
    };
    let found =
        ["tests", "crates/cli/tests", "crates/sessions/tests"].into_iter().flat_map(folders);
    let missing: Vec<String> = found.filter(|name| !listed.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "in no row: {missing:?}");
}

#[test]
fn each_question_of_a_newcomer_is_answered_by_a_file_of_the_architecture() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let rooms = rows(&architecture, "Which room to change");
    let rooms: Vec<&str> = rooms.iter().flat_map(|row| quoted(row)).collect();
    let contributing = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let questions = rows(&contributing, "Where do I add");
    assert_eq!(questions.len(), 10);
    for row in questions {
        let start = quoted(row.split('|').nth(2).unwrap())[0];
        assert!(rooms.contains(&start), "ARCHITECTURE.md does not name `{start}`: {row}");
    }
}
