//! Writes triggers into the text of a file and keeps every other byte.

use std::fmt::Write as _;
use std::ops::Range;

use crate::diagnostic::Code;
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::document::{self, Document};
use crate::skill::load::{self, Loaded};
use crate::skill::yaml::{self, Node, Value};

/// Returns `text`, a whole `SKILL.md`, with `keywords` as its only triggers. They are a block at the end
/// of the front matter or, if `replace` is true, in place of the key `triggers`.
///
/// Verifies the result by loading it: it must have exactly these triggers, and no findings that `text`
/// does not have. Otherwise fails with the reason.
pub(super) fn with_keywords(text: &str, keywords: &[&str], replace: bool) -> Result<String, Error> {
    if keywords.is_empty() {
        return refuse("there are no triggers to write", "write some by hand");
    }
    let document = match document::split(text) {
        Ok(document) => document,
        Err(finding) => return refuse(&finding.message, &finding.help),
    };
    if let Some(finding) = &document.tolerated_fault {
        return refuse(&finding.message, &finding.help);
    }
    let entries = entries(text, &document)?;
    let before = load::load(text, BRAND);
    let old = old_triggers(text, &document, &entries, &before, replace)?;
    let at = old.unwrap_or(document.front_matter.end..document.front_matter.end);
    let indent = entries.first().map_or(0, |(key, _)| column(text, key.span.start));
    let opening_fence = &text[..document.front_matter.start];
    let line_end = if opening_fence.ends_with("\r\n") { "\r\n" } else { "\n" };
    let block = block(keywords, indent, line_end);
    let written = format!("{}{block}{}", &text[..at.start], &text[at.end..]);
    verify(text, &before, &written, keywords)?;
    Ok(written)
}

/// A brand that has no block in the front matter, so that triggers in a host's own block do not count.
const BRAND: &str = "repertoire";

fn refuse<T>(message: &str, help: &str) -> Result<T, Error> {
    Err(Error::new(
        ErrorCode::ExecutionError,
        format!("triggers cannot be written: {message}"),
        help,
    ))
}

/// The entries of the front matter. Fails unless it is valid YAML with one key a line.
fn entries(text: &str, document: &Document) -> Result<Vec<(Node, Node)>, Error> {
    let source = &text[document.front_matter.clone()];
    let offset = document.front_matter.start;
    let help = "write it as lines `key: value`, as the findings about the file say";
    let tree = match yaml::parse(source, &|at| offset + at) {
        Ok(tree) => tree,
        Err(error) => {
            return refuse(&format!("the front matter is not valid YAML: {}", error.message), help);
        }
    };
    match tree.root {
        None => Ok(Vec::new()),
        Some(Node { value: Value::Mapping(entries), span }) => {
            if text[span.start..].starts_with(['{', '&', '!']) {
                return refuse("the front matter is not a block of lines `key: value`", help);
            }
            Ok(entries)
        }
        Some(_) => refuse("the front matter is not a map", help),
    }
}

/// The range of the lines of the key `triggers`, if the file has it. Fails if the file declares triggers
/// that may not be replaced.
fn old_triggers(
    text: &str,
    document: &Document,
    entries: &[(Node, Node)],
    before: &Loaded,
    replace: bool,
) -> Result<Option<Range<usize>>, Error> {
    let place = entries.iter().find(|(key, _)| key.text() == Some("triggers"));
    let lines = place.map(|(key, value)| lines_of(text, document, key, value));
    let is_declared = |loaded: &Loaded| {
        loaded.manifest.triggers.declared || !loaded.manifest.triggers.exclude.is_empty()
    };
    let has_others = match &lines {
        None => is_declared(before),
        Some(Range { start, end }) => {
            is_declared(&load::load(&format!("{}{}", &text[..*start], &text[*end..]), BRAND))
        }
    };
    // Check this first: `replace` would not help, so the error must not suggest it.
    if has_others {
        return refuse(
            "the file declares triggers under another key than `triggers`",
            "move what is under `metadata`, `activation` or `paths` to `triggers` by hand, or \
             remove it",
        );
    }
    match place {
        Some((_, value)) if !replace && !value.is_null() => refuse(
            "the file declares triggers already",
            "remove them, or have the new ones written in their place",
        )
        .map_err(|error| error.with_remedy(Remedy::ReplaceTriggers)),
        _ => Ok(lines),
    }
}

/// The range of the lines of a key and its value.
fn lines_of(text: &str, document: &Document, key: &Node, value: &Node) -> Range<usize> {
    let start = text[..key.span.start].rfind('\n').map_or(0, |at| at + 1);
    let last = value.span.end.max(key.span.end).min(document.front_matter.end);
    // If the block ends with a line end, it ends there; otherwise, include the rest of its last line.
    let end = if text[..last].ends_with('\n') {
        last
    } else {
        text[last..].find('\n').map_or(document.front_matter.end, |at| last + at + 1)
    };
    start..end.min(document.front_matter.end)
}

/// The number of bytes before `at` on its line.
fn column(text: &str, at: usize) -> usize {
    at - text[..at].rfind('\n').map_or(0, |line_end| line_end + 1)
}

fn block(keywords: &[&str], indent: usize, line_end: &str) -> String {
    let mut block = String::new();
    let indent = " ".repeat(indent);
    // Writing to a `String` cannot fail.
    let _ = write!(block, "{indent}triggers:{line_end}{indent}  keywords:{line_end}");
    for keyword in keywords {
        let _ = write!(block, "{indent}    - {}{line_end}", scalar(keyword));
    }
    block
}

/// Writes a keyword as YAML: in quotes, unless all versions of YAML read it as plain text.
fn scalar(keyword: &str) -> String {
    const NOT_TEXT: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = keyword.starts_with(|c: char| c.is_ascii_alphabetic())
        && keyword.ends_with(|c: char| c.is_ascii_alphanumeric())
        && keyword.chars().all(|c| c.is_ascii_alphanumeric() || " -.".contains(c))
        && !NOT_TEXT.contains(&keyword);
    if is_plain { keyword.to_owned() } else { format!("'{}'", keyword.replace('\'', "''")) }
}

/// Checks that the written text has exactly these triggers, the same body and description, and no new
/// findings.
fn verify(text: &str, before: &Loaded, written: &str, keywords: &[&str]) -> Result<(), Error> {
    let after = load::load(written, BRAND);
    let found = |loaded: &Loaded| -> Vec<(Code, String)> {
        let mut codes: Vec<_> =
            loaded.findings.iter().map(|f| (f.code, f.message.clone())).collect();
        codes.sort();
        codes
    };
    let triggers = &after.manifest.triggers;
    let n_triggers: usize = triggers.kinds().iter().map(|(_, entries)| entries.len()).sum();
    let has_triggers = n_triggers == triggers.keywords.len()
        && triggers.keywords.iter().map(|keyword| &*keyword.value).eq(keywords.iter().copied());
    let body = |text: &str, loaded: &Loaded| {
        loaded
            .parts
            .as_ref()
            .map(|parts| (parts.description.clone(), text[parts.body..].to_owned()))
    };
    let old = found(before);
    let is_new = |finding: &(Code, String)| !old.contains(finding);
    let is_kept = body(text, before).is_some() && body(text, before) == body(written, &after);
    if has_triggers && is_kept && !found(&after).iter().any(is_new) {
        return Ok(());
    }
    refuse(
        "the front matter has a form into which nothing can be inserted exactly",
        "write the `triggers` by hand",
    )
}
