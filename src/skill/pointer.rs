//! Stand-ins: files named `SKILL.md` that only say where a skill is, that a failed download left, or that are of
//! another kind.
//!
//! Where symbolic links are turned off (`core.symlinks`, as on Windows), git checks out a link as a file
//! whose text is the link's target. Authors also leave a line behind when they move a skill. If such a
//! file were loaded as a skill, its description and instructions would be a path, or "Moved to …". Without
//! Git LFS, git checks out a pointer of three lines. A download that nobody checked may be a page of HTML,
//! or the error of a server; and a file of another kind may have got the name by mistake.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::fields::excerpt;
use super::finding::Finding;
use super::yaml;
use crate::diagnostic::Code;

/// The longest target of a link, in bytes.
const MAX_TARGET_BYTES: usize = 4096;

/// The longest line that is taken for a notice of a move, in characters.
const MAX_NOTICE_CHARS: usize = 240;

/// The beginnings of files of other kinds, in lower case, with the kind and the remedy.
const OTHERS: [(&[&str], &str, &str); 10] = [
    (
        &["version https://git-lfs.github.com/spec/"],
        "a pointer of Git LFS",
        "run `git lfs pull` where the skill comes from",
    ),
    (
        &[
            "<!doctype html", "<html", "<head", "<body", "<title", "<meta ", "<?xml", "<error>",
            "<svg",
        ],
        "a page of HTML or XML",
        AGAIN,
    ),
    (
        &["pk\u{3}\u{4}", "pk\u{5}\u{6}"],
        "a ZIP archive",
        "unpack it, and put its `SKILL.md` in place of this file",
    ),
    (&["%pdf-"], "a PDF", "write a Markdown file, and put this one beside it"),
    (&["{\\rtf"], "a document in RTF", "save it as plain text, in Markdown"),
    (
        &["#!/"],
        "a script",
        "put it into `scripts/`, and write a Markdown file that says when to run it",
    ),
    (&["diff --git ", "--- a/"], "a diff", "apply it to the file that it changes"),
    (
        &["<<<<<<< "],
        "left from a merge that has conflicts",
        "choose one of the two sides, and remove the lines of marks",
    ),
    (
        &["age-encryption.org/", "-----begin age ", "-----begin pgp message", "$ansible_vault;"],
        "encrypted",
        "decrypt it, and put the text in its place",
    ),
    (
        &["gitdir: ", "subproject commit "],
        "a pointer of a submodule of git",
        "run `git submodule update --init` where the skill comes from",
    ),
];

const AGAIN: &str = "download the file again, from the address of its raw text";

/// The beginnings of a file of one line that is the error of a server, in lower case.
const ERRORS: [&str; 23] = [
    "not found",
    "access denied",
    "accessdenied",
    "nosuchkey",
    "internal server error",
    "api rate limit exceeded",
    "rate limit exceeded",
    "too many requests",
    "error code: ",
    "moved permanently",
    "found. redirecting",
    "temporary redirect",
    "permanent redirect",
    "redirecting to ",
    "upstream connect error",
    "an error occurred",
    "bad credentials",
    "error 404",
    "error: ",
    "fatal: ",
    "file not found",
    "repository not found",
    "this repository is empty",
];

/// Answers of a server that are all of a file, in lower case and without their full stop.
const ANSWERS: [&str; 10] = [
    "bad gateway", "bad request", "conflict", "forbidden", "gateway timeout", "gateway time-out",
    "gone", "request timeout", "service unavailable", "unauthorized",
];

/// Programs by which files are fetched, at the beginning of a line that is the error of one, and parts of such a line.
const PROGRAMS: [&str; 7] = ["curl: ", "wget: ", "bash: ", "sh: ", "cat: ", "gh: ", "aws: "];
const FAILURES: [&str; 5] =
    ["could not ", "no such file", "not found", "permission denied", "unable to "];

/// The beginning of a notice of a move.
static MOVED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?i)^\W*(?:(?:this |the )?(?:skill|file|content) |deprecated: )?(?:has |was |been )*(?:(?:moved|renamed|relocated|migrated|merged) (?:to|into)|(?:replaced|superseded) by)\b";
    Regex::new(pattern).ok()
});

/// Returns a finding if `text`, a file without front matter, only says where its skill is, or is what a
/// server sent in its place.
pub(super) fn elsewhere(text: &str) -> Option<Finding> {
    let content = text.trim_start_matches('\u{feff}').trim();
    let span = |part: &str| {
        let start = text.find(part).unwrap_or(0);
        start..start + part.len()
    };
    if is_target(content) {
        return Some(Finding::new(
            Code::LinkAsText,
            span(content),
            format!(
                "the file is a symbolic link that was checked out as text: `{}`",
                excerpt(content)
            ),
            "turn `core.symlinks` on in git and check the file out again, or copy the skill's files \
             here",
        ));
    }
    if let Some((kind, help)) = foreign(content) {
        let line = content.lines().next().unwrap_or_default();
        let message = format!("the file is {kind}, not a skill: `{}`", excerpt(line));
        return Some(Finding::new(Code::NotASkill, span(line), message, help));
    }
    let notice = address(content).or_else(|| notice(content))?;
    Some(Finding::new(
        Code::MovedSkill,
        span(notice),
        format!("the file only says where its skill went: `{}`", excerpt(notice)),
        "remove the file, or write the skill into it, with front matter",
    ))
}

/// Returns what a file is that tools wrote in place of a skill, and the remedy.
fn foreign(content: &str) -> Option<(&'static str, &'static str)> {
    let head: String =
        without_comments(content).chars().take(200).flat_map(char::to_lowercase).collect();
    let starts_with = |starts: &[&str]| starts.iter().any(|start| head.starts_with(start));
    if let Some((_, kind, help)) = OTHERS.iter().find(|(starts, ..)| starts_with(starts)) {
        return Some((kind, help));
    }
    if is_encoded(content) {
        return Some(("text in Base64", "decode it, and put the text in its place"));
    }
    if content.contains('\0') {
        return Some(("a binary file", AGAIN));
    }
    let is_one_line = !content.contains('\n') && content.len() <= 400;
    let status = head.get(..4).filter(|start| start.ends_with([':', ' ']));
    let is_status = status.is_some_and(|start| {
        start.starts_with(['4', '5']) && start[..3].bytes().all(|b| b.is_ascii_digit())
    });
    let is_answer =
        head.starts_with('{') && (head.contains("\"message\"") || head.contains("\"error\""));
    let is_whole = ANSWERS.contains(&head.trim_end_matches(['.', '!']));
    let is_failure =
        starts_with(&PROGRAMS) && FAILURES.iter().any(|failure| head.contains(failure));
    let is_error = is_one_line && (is_status || is_whole || is_failure || starts_with(&ERRORS));
    if is_error || is_answer || starts_with(&["http/1.", "http/2 "]) {
        return Some(("the error of a server or of a program", AGAIN));
    }
    is_json(content).then_some((
        "JSON",
        "write a Markdown file that starts with a line `---`, then `name: …` and `description: …`",
    ))
}

/// Returns `content` without the comments of HTML at its beginning.
fn without_comments(content: &str) -> &str {
    let mut rest = content;
    while let Some((_, after)) =
        rest.strip_prefix("<!--").and_then(|inside| inside.split_once("-->"))
    {
        rest = after.trim_start();
    }
    rest
}

/// Tells whether `content` is Base64 of a text that begins with a fence: interfaces of servers have files so.
fn is_encoded(content: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || "+/=\n\r".contains(c);
    ["LS0tC", "LS0tDQ", "77u/LS0t"].iter().any(|start| content.starts_with(start))
        && content.chars().all(is_digit)
}

/// Tells whether all of `content` is a map or a list of JSON, perhaps with the liberties of YAML.
fn is_json(content: &str) -> bool {
    let is_within = |open, close| content.starts_with(open) && content.ends_with(close);
    (is_within('{', '}') || is_within('[', ']')) && yaml::parse(content, &|at| at).is_ok()
}

/// Tells whether the whole text is the target of a link, as git writes it.
fn is_target(content: &str) -> bool {
    let is_path = content.starts_with("./") || content.starts_with("../");
    content.len() <= MAX_TARGET_BYTES
        && !content
            .contains(|c: char| c.is_control() || c.is_whitespace() || "`<>()*\"".contains(c))
        && !content.contains("://")
        && (is_path || content.to_ascii_lowercase().ends_with(".md"))
}

/// Returns the address that is all of `content`, or that of a shortcut of a desktop.
fn address(content: &str) -> Option<&str> {
    let is_shortcut =
        ["[InternetShortcut]", "[Desktop Entry]"].iter().any(|start| content.starts_with(start));
    let shortcut = || content.lines().find_map(|line| line.strip_prefix("URL=")).map(str::trim);
    let address = if is_shortcut { shortcut()? } else { content };
    let (scheme, _) = address.split_once("://")?;
    let is_word = |text: &str| !text.contains(|c: char| c.is_whitespace() || "`<>\"".contains(c));
    (is_word(address) && scheme.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(address)
}

/// Returns the only line of `content`, or the only one below a heading, if it says where the skill went.
fn notice(content: &str) -> Option<&str> {
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let line = if first.starts_with('#') { lines.next().unwrap_or(first) } else { first };
    let is_only_one = lines.next().is_none() && line.chars().count() <= MAX_NOTICE_CHARS;
    let moved = MOVED.as_ref().filter(|_| is_only_one)?;
    moved.is_match(line).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_written_as_text_and_notices_are_told_from_instructions() {
        for (text, code, quoted) in [
            ("../../skills/x/SKILL.md", Code::LinkAsText, "../../skills/x/SKILL.md"),
            ("\u{feff}../x/SKILL.md\r\n", Code::LinkAsText, "../x/SKILL.md"),
            ("SKILL.en.md\n", Code::LinkAsText, "SKILL.en.md"),
            ("../shared/plan/skill.MD", Code::LinkAsText, "../shared/plan/skill.MD"),
            ("../plan/instructions", Code::LinkAsText, "../plan/instructions"),
            ("/opt/skills/plan/SKILL.md", Code::LinkAsText, "/opt/skills/plan/SKILL.md"),
            ("Moved to ../plan.\n", Code::MovedSkill, "Moved to ../plan."),
            ("\n> **Moved to** `plan`\n", Code::MovedSkill, "> **Moved to** `plan`"),
            ("# Moved to plan", Code::MovedSkill, "# Moved to plan"),
            ("https://example.org/SKILL.md\n", Code::MovedSkill, "https://example.org/SKILL.md"),
            ("[InternetShortcut]\r\nURL=https://x.org/a\r\n", Code::MovedSkill, "https://x.org/a"),
            (
                "# Plan\n\nThis skill has moved to plan-all.",
                Code::MovedSkill,
                "This skill has moved to plan-all.",
            ),
            (
                "Deprecated: replaced by plan-all",
                Code::MovedSkill,
                "Deprecated: replaced by plan-all",
            ),
        ] {
            let finding = elsewhere(text).expect(text);
            assert_eq!((finding.code, &text[finding.span.unwrap()]), (code, quoted));
        }
        for text in [
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            "404: Not Found",
            "400: Invalid request\n",
            "403 Forbidden",
            "Not Found",
            "<!DOCTYPE html>\n<html>\n<p>x</p></html>",
            "\n<HTML lang=\"en\">\n",
            "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code></Error>",
            "{\n  \"message\": \"Not Found\",\n  \"status\": \"404\"\n}",
            "{\"name\": \"a\", \"description\": \"J\", \"disable-model-invocation\": true}\n",
            "[{\"a\": 1}]",
            "PK\u{3}\u{4}\u{14}\0\0",
            "\u{7f}ELF\u{2}\0",
            "Internal Server Error",
            "API rate limit exceeded for 1.2.3.4. (But here's the good news.)",
            "error code: 1015",
            "Moved Permanently. Redirecting to https://x/",
            "Service Unavailable.",
            "Forbidden",
            "HTTP/1.1 302 Found\r\nLocation: /x\r\n",
            "<Error><Code>NoSuchKey</Code><Message>no key</Message></Error>",
            "NoSuchKey",
            "%PDF-1.7\n%abc",
            "<svg xmlns=\"x\"><path/></svg>",
            "error: pathspec 'SKILL.md' did not match any file(s) known to git",
            "fatal: not a git repository (or any of the parent directories): .git",
            "Error 404",
            "File not found.",
            "curl: (6) Could not resolve host: example.org",
            "cat: SKILL.md: No such file or directory",
            "#!/usr/bin/env bash\necho plan\n",
            "#!/bin/sh",
            "diff --git a/SKILL.md b/SKILL.md\n--- a/SKILL.md\n+++ b/SKILL.md\n",
            "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n",
            "<<<<<<< HEAD\n---\nname: a\n=======\n---\nname: b\n>>>>>>> main\n---\nB\n",
            "age-encryption.org/v1\n-> X25519 abc\n",
            "-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n",
            "gitdir: ../.git/modules/plan\n",
            "Subproject commit 0123456789abcdef0123456789abcdef01234567\n",
            "LS0tCm5hbWU6IHgKZGVzY3JpcHRpb246IHkKLS0tCg==\n",
            "<!-- saved from url=(0014)about:internet -->\n<html>\n<p>Sign in</p>",
            "{\\rtf1\\ansi Plan}",
        ] {
            assert_eq!(
                elsewhere(text).map(|finding| finding.code),
                Some(Code::NotASkill),
                "{text}"
            );
        }
        let long = format!("Moved to {}", "x".repeat(MAX_NOTICE_CHARS));
        for text in [
            "Read the plan first.",
            "404: Not Found\n\nExplain what this answer means.",
            "500 words at most.\n\nWrite it short.",
            "Write HTML that begins with `<!DOCTYPE html>`.",
            "Version https links by hand.",
            "Forbidden words are listed below.",
            "Error codes: explain each of them.",
            "Error: say what it means.\n\nThen how to mend it.",
            "Fatal errors come first.",
            "Internal Server Error\n\nExplain what this answer means.",
            "[Plan](plan.md) first, then [write](write.md)",
            "{{name}} writes the plan.",
            "Moved to ../plan.\n\nThat one also plans releases.",
            "Use when a file has been moved to `archive/`.",
            "Finds out where files were moved, and by whom.",
            "https://example.org/SKILL.md is the newest one",
            "[Desktop Entry] files are written so",
            "<!-- a comment -->\n# Plan\n\nWrite it.",
            "<div align=\"center\">\n# Plan\n</div>\n\nWrite it.",
            "#!plan: how to write it",
            "LS0tC is what Base64 begins with",
            "Diffs are read first.",
            "Cat: describe the picture",
            "See [the plan](../plan/SKILL.md)",
            "Run `./plan.md`",
            "Follow ../plan.md and report.md",
            &long,
            "",
        ] {
            assert_eq!(elsewhere(text), None, "{text:?}");
        }
    }
}
