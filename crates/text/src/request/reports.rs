//! Lines of the reports of compilers, builds and tests.

use super::entries::{begins_with, is_entry};

/// Tells whether a line belongs to the report of a compiler, a build or a test run.
pub(super) fn is_report(line: &str, text: &str) -> bool {
    const STARTS: [&str; 54] = [
        "##[",
        "* Try:",
        "* What went wrong:",
        "* Where:",
        "** (",
        "+ CategoryInfo",
        "+ FullyQualifiedErrorId",
        "--- FAIL: ",
        "--- PASS: ",
        "--- SKIP: ",
        "---> ",
        "--> ",
        "@ ./",
        "[plugin:",
        "assertion `",
        "BEGIN:",
        "BUILD FAILED",
        "BUILD SUCCESSFUL",
        "CONTEXT:  ",
        "DETAIL:  ",
        "e: file:",
        "END:",
        "error[",
        "Execution error (",
        "Execution failed for task ",
        "Execution halted",
        "exit status ",
        "exited with code ",
        "FAILURE: ",
        "Fatal error: ",
        "fatal: ",
        "HINT:  ",
        "Internal Server Error: /",
        "make: *** ",
        "Module not found: ",
        "not ok ",
        "npm ERR!",
        "npm error ",
        "npm warn ",
        "npm WARN",
        "panic: ",
        "PHP Fatal error",
        "PHP Warning",
        "PLAY [",
        "PLAY RECAP ",
        "Requirement already satisfied: ",
        "short test summary",
        "Successfully installed ",
        "Syntax error (",
        "TASK [",
        "test result: ",
        "Uncaught ",
        "w: file:",
        "WEBVTT",
    ];
    const RESULTS: [&str; 4] = ["ok", "FAILED", "ignored", "bench:"];
    let is_start = begins_with(text, &STARTS);
    let result = text.strip_prefix("test ").and_then(|test| test.rsplit_once(" ... "));
    let is_test = result.is_some_and(|(_, end)| RESULTS.iter().any(|of| end.starts_with(of)))
        || text.starts_with("FAILED ") && text.contains("::");
    // `HTTP/1.1 200 OK`
    let status = text.strip_prefix("HTTP/").and_then(|rest| rest.split(' ').nth(1));
    let is_status = status.is_some_and(|code| code.len() == 3 && code.parse::<u16>().is_ok());
    let is_sum = is_sum(line, text);
    let is_pointer = text.starts_with(['|', '^', '=']) || is_numbered_source(text);
    // `src/main.rs:12:5: expected …`, `lua: main.lua:12: attempt …`, `main.py|12 col 9| E302 …`
    let behind_program = text.split_once(':').and_then(|(name, rest)| {
        rest.strip_prefix(' ').filter(|_| !name.contains([' ', '.', '/']))
    });
    let is_place = is_at_place(text, ':')
        || behind_program.is_some_and(|rest| is_at_place(rest, ':'))
        || is_at_place(text, '|') && text.contains(" col ");
    // `src/api.ts(12,5): error`
    let is_place = is_place || is_place_in_brackets(text);
    // `   Compiling serde v1.0.2`: verbs of cargo are aligned at their right.
    let is_step = line.starts_with("  ")
        && text.split_ascii_whitespace().next_back().is_some_and(is_version)
        && text.starts_with(|c: char| c.is_ascii_uppercase());
    // `error: pathspec 'x' did not match`, `FAIL src/x.test.js`
    let is_start = is_start || is_entry(text) && names_something(text);
    is_start && !text.ends_with('?')
        || is_test
        || is_sum
        || is_status
        || is_pointer
        || is_place
        || is_step
}

/// Tells whether a text has a name in quotes, or a path as its second word.
fn names_something(text: &str) -> bool {
    let second = text.split_whitespace().nth(1).unwrap_or_default();
    text.contains('`') || text.contains(" '") || second.contains(['.', '/'])
}

/// Tells whether a text begins with a place in a file: `src/api.ts(12,5): error`.
fn is_place_in_brackets(text: &str) -> bool {
    if !text.as_bytes().contains(&b')') {
        return false;
    }
    let place = text.split_once("): ").and_then(|(place, _)| place.split_once('('));
    place.is_some_and(|(path, place)| {
        path.contains('.')
            && !path.contains(' ')
            && !place.is_empty()
            && place.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    })
}

/// Tells whether a text begins with a path and the number of a line behind `mark`.
fn is_at_place(text: &str, mark: char) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    let Some((path, rest)) = word.split_once(mark) else { return false };
    let row = rest.split(mark).next().unwrap_or_default();
    path.contains(['.', '/']) && !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether a text sums up a run of tests, a check or a plan, or compares what a test expected.
fn is_sum(line: &str, text: &str) -> bool {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let has_number = rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    match first {
        "Tests:" | "Suites:" => has_number && text.ends_with(" total"),
        "✖" => has_number,
        "Test" => begins_with(rest, &["Suites: ", "Files  "]),
        "running" => has_number && (rest.ends_with(" tests") || rest.ends_with(" test")),
        "failures:" => rest.is_empty(),
        "PING" => text.ends_with(" bytes of data."),
        "Started" => rest.contains("\" for "),
        "Processing" => rest.starts_with("by ") && rest.contains('#'),
        "Completed" => has_number && rest.contains(" in "),
        "ERROR" => rest.starts_with("in ./"),
        "LINE" => has_number && rest.contains(": "),
        "top" => text.contains("load average"),
        "Thread" => has_number && rest.contains(" Crashed"),
        "collected" => has_number && text.ends_with(" items"),
        "Found" => has_number && text.contains(" error") && text.contains(" file"),
        "Plan:" => text.contains(" to add, "),
        "Expected:" | "Received:" => line.starts_with("  "),
        "Error" => rest.starts_with("in ") && text.contains(") : "),
        "Calls:" => text.contains(" -> "),
        "At" => rest.starts_with("line:") && text.contains(" char:"),
        // `  # aws_instance.web will be created`
        "#" => line.starts_with("  ") && text.contains(" will be "),
        _ => {
            let is_count = first.bytes().all(|byte| byte.is_ascii_digit()) && !first.is_empty();
            is_count && line.starts_with(' ') && ["failed", "passed", "skipped"].contains(&rest)
                || is_count && rest.starts_with("bytes from ")
                || is_count && rest.contains(" transmitted, ")
                || text.ends_with("%]")
                || text.ends_with("... Done")
                || text.contains(" › ")
                || text.contains(" blocked by CORS policy")
                || is_cmdlet(first, rest)
        }
    }
}

/// Tells whether a cmdlet of PowerShell reports an error: `Get-Content : Cannot find path`.
fn is_cmdlet(first: &str, rest: &str) -> bool {
    let is_capital = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    rest.starts_with(": ")
        && first.split_once('-').is_some_and(|(verb, noun)| is_capital(verb) && is_capital(noun))
}

/// Tells whether a text is a line of source in the report of a compiler: `12 | let x = 1;`.
fn is_numbered_source(text: &str) -> bool {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < text.len() && after.trim_start().starts_with('|')
}

fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit())
}
