//! Extracts the help of a script: the comment that it starts with, or its docstring.

/// The longest help, in characters.
const MAX_CHARS: usize = 2000;

/// The first block of comments of a script, or its docstring; `None` if it has neither.
pub(super) fn help(path: &str, head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_python =
        path.to_ascii_lowercase().ends_with(".py") || text.lines().next()?.contains("python");
    let rest = skip(text, is_python);
    let block = enclosed(rest).or_else(|| lines(rest))?;
    let block = block.trim_matches('\n').trim_end();
    let mut help: String = block.chars().take(MAX_CHARS).collect();
    if help.len() < block.len() {
        help.push('…');
    }
    Some(help).filter(|help| !help.trim().is_empty())
}

/// Skips text that says nothing: the interpreter line, notes to tools, and blank lines. Before a
/// docstring, comments are skipped, too.
fn skip(text: &str, is_python: bool) -> &str {
    let is_note = |line: &str| {
        let line = line.trim();
        let comment = line.trim_start_matches(['#', '/', ' ']);
        let notes = ["-*-", "vim:", "shellcheck ", "eslint", "@ts-", "frozen_string_literal"];
        line.is_empty()
            || line.starts_with("#!")
            || line.starts_with("#Requires")
            || notes.iter().any(|note| comment.starts_with(note))
    };
    let rest = skip_lines(text, is_note);
    if is_python {
        let after = skip_lines(rest, |line| is_note(line) || line.starts_with('#'));
        if enclosed(after).is_some() {
            return after;
        }
    }
    rest
}

fn skip_lines(text: &str, is_skipped: impl Fn(&str) -> bool) -> &str {
    let skipped = text.split_inclusive('\n').take_while(|line| is_skipped(line));
    &text[skipped.map(str::len).sum::<usize>()..]
}

/// The text of a docstring, or of a comment that has an end mark.
fn enclosed(text: &str) -> Option<String> {
    let marks =
        [("\"\"\"", "\"\"\""), ("'''", "'''"), ("r\"\"\"", "\"\"\""), ("/*", "*/"), ("<#", "#>")];
    let (open, close) = marks.iter().find(|(open, _)| text.starts_with(open))?;
    let text = &text[open.len()..];
    // The end may lie beyond the bytes that were read.
    let text = &text[..text.find(close).unwrap_or(text.len())];
    let lines = text.trim_start_matches('*').lines().map(|line| {
        let line = line.trim_end();
        let star = line.trim_start().strip_prefix('*').filter(|_| *open == "/*");
        star.map_or(line, |line| line.strip_prefix(' ').unwrap_or(line))
    });
    Some(unindented(&lines.collect::<Vec<_>>()))
}

/// The text of a comment that consists of lines.
fn lines(text: &str) -> Option<String> {
    let mark = ["#", "//", "--"].into_iter().find(|mark| text.starts_with(mark))?;
    let lines = text.lines().map_while(|line| line.trim_end().strip_prefix(mark));
    let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

/// Joins lines, without the indentation that all but the first have in common.
fn unindented(lines: &[&str]) -> String {
    let indents = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let indent = indents.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let cut = lines.iter().enumerate().map(|(at, line)| match at {
        0 => line.trim_start(),
        _ => line.get(indent..).unwrap_or_default(),
    });
    cut.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_the_first_comment_or_the_docstring() {
        let long = format!("# {}\n", "é".repeat(3000));
        let cut = format!("{}…", "é".repeat(MAX_CHARS));
        let cases = [
            (
                "a.sh",
                "#!/bin/sh\n# Says hello.\n#\n# usage: a.sh NAME\n\n# not this\necho",
                Some("Says hello.\n\nusage: a.sh NAME"),
            ),
            ("a.sh", "#!/bin/sh\n# shellcheck disable=SC1\n\n# This\necho", Some("This")),
            ("a.sh", "#!/bin/sh\r\n# This\r\n# too\r\necho", Some("This\ntoo")),
            ("a.sh", "#!/bin/sh\necho", None),
            ("a.sh", "", None),
            ("a.sh", "#\n#\n", None),
            (
                "a.py",
                "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n# License\n\"\"\"Counts.\n\n    usage: a.py\n    \"\"\"\nx = \"\"\"no\"\"\"",
                Some("Counts.\n\nusage: a.py"),
            ),
            ("a.py", "'''One line.'''", Some("One line.")),
            ("a.py", "# Only a comment.\nimport os", Some("Only a comment.")),
            ("a", "#!/usr/bin/env python3\nr\"\"\"Raw.\"\"\"", Some("Raw.")),
            ("a.py", "import os\n\"\"\"no\"\"\"", None),
            ("a.js", "/**\n * Renders.\n *   more\n */\nx", Some("Renders.\n  more")),
            ("a.js", "/* never closed", Some("never closed")),
            ("a.ts", "#!/usr/bin/env bun\n// One\n// two\nx", Some("One\ntwo")),
            (
                "a.ps1",
                "#Requires -Version 7\n<#\n.SYNOPSIS\n  Hello\n#>",
                Some(".SYNOPSIS\n  Hello"),
            ),
            ("a.sh", &*long, Some(&*cut)),
        ];
        for (path, text, expected) in cases {
            assert_eq!(help(path, text.as_bytes()).as_deref(), expected, "{text:?}");
        }
    }
}
