//! Parses the front matter into entries: as YAML, as repaired YAML, or line by line.

use std::ops::Range;

use super::closing;
use super::cut_text::cut_texts;
use super::document::{Document, Fences};
use super::extract;
use super::fields::{Reader, duplicate_key, excerpt};
use super::finding::Finding;
use super::keys::normalized;
use super::quirk::{Quirk, Quirks};
use super::repair::{self, Repaired};
use super::repair_quirks::repair_quirks;
use super::yaml::{self, Node, Tree, Value, YamlError, YamlErrorKind};
use crate::diagnostic::Code;

/// The longest line that a help text suggests. A longer line is left out, not cut: half of it would not
/// load.
const MAX_REMEDY_CHARS: usize = 160;

/// The parsed front matter of a file.
#[derive(Debug)]
pub(super) struct FrontMatter {
    /// The top-level entries; `None` if the front matter is too complex to be parsed.
    pub(super) entries: Option<Vec<(Node, Node)>>,
    /// The entries that a later one with the same key replaced, in whatever map.
    pub(super) replaced: Vec<(Node, Node)>,
    /// The lines that are written like fields that close the skill; most are among the entries.
    pub(super) closing: Vec<(Node, Node)>,
    pub(super) findings: Vec<Finding>,
    /// The faults of the YAML for which some agents refuse it.
    pub(super) quirks: Quirks,
}

/// The parts of the front matter beside its entries.
#[derive(Debug, Default)]
struct Beside {
    replaced: Vec<(Node, Node)>,
    quirks: Quirks,
}

impl FrontMatter {
    /// Parses the front matter of `file`, which `document` was split from.
    pub(super) fn read(file: &str, document: &Document) -> FrontMatter {
        let range = document.front_matter.clone();
        let mut reader = Reader { file, findings: Vec::new() };
        let mut beside = Beside::default();
        let is_delimited = document.fences == Fences::Both;
        let closing = closing::lines(file, range.clone(), is_delimited);
        let entries = match document.fences {
            Fences::Both => entries(range, &closing, &mut beside, &mut reader),
            Fences::Opening => Some(extract::fields(file, range)),
            Fences::None => {
                let entries = extract::restrictions(file, range);
                for (key, _) in &entries {
                    report_restriction(key, &mut reader);
                }
                Some(entries)
            }
        };
        let Beside { replaced, quirks } = beside;
        FrontMatter { entries, replaced, closing, findings: reader.findings, quirks }
    }
}

fn report_restriction(key: &Node, reader: &mut Reader<'_>) {
    let message = format!(
        "`{}` counts although it is not in front matter",
        excerpt(key.text().unwrap_or_default())
    );
    let help = "write it between two lines `---` at the top of the file, or remove it";
    reader.report(Code::NoFrontMatter, key.span.clone(), message, help);
}

fn entries(
    range: Range<usize>,
    closing: &[(Node, Node)],
    beside: &mut Beside,
    reader: &mut Reader<'_>,
) -> Option<Vec<(Node, Node)>> {
    let (file, offset) = (reader.file, range.start);
    let source = &file[range.clone()];
    let error = match yaml::parse(source, &|at| offset + at) {
        Ok(tree) => return Some(mapping(tree, range, closing, beside, reader)),
        Err(error) => error,
    };
    if error.kind == YamlErrorKind::TooComplex {
        let message = format!("the front matter is too complex: {}", error.message);
        let help = "write the values out flat, without anchors and aliases";
        reader.report(Code::YamlTooComplex, char_at(file, offset + error.at), message, help);
        return None;
    }
    if let Some(repaired) = repair::repair(source)
        && let Ok(tree) = yaml::parse(&repaired.text, &|at| offset + repaired.original(at))
        && matches!(&tree.root, Some(Node { value: Value::Mapping(_), .. }))
    {
        let (at, help) = remedy(&repaired, &error);
        let message = format!("not valid YAML, repaired: {}", error.message);
        reader.report(Code::RepairedYaml, char_at(file, offset + at), message, help);
        beside.quirks.extend(repair_quirks(&repaired, source));
        return Some(mapping(tree, range, closing, beside, reader));
    }
    let mut entries = extract::fields(file, range.clone());
    extract::add_mentioned(file, range, closing, &mut entries);
    let names = entries.iter().filter_map(|(key, _)| key.text());
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let (code, read) = if names.is_empty() {
        (Code::InvalidYaml, String::new())
    } else {
        (Code::SalvagedYaml, format!(", no more was read than {}", names.join(", ")))
    };
    let message = format!("not valid YAML{read}: {}", error.message);
    let at = offset + fault(source, &error);
    reader.report(code, char_at(file, at), message, help(&error.message));
    Some(entries)
}

fn mapping(
    tree: Tree,
    range: Range<usize>,
    closing: &[(Node, Node)],
    beside: &mut Beside,
    reader: &mut Reader<'_>,
) -> Vec<(Node, Node)> {
    for duplicate in tree.duplicates {
        let key = duplicate.replaced.0.text().unwrap_or_default();
        reader.findings.push(duplicate_key(key, duplicate.span));
        beside.replaced.push(duplicate.replaced);
    }
    beside.quirks.insert_if(tree.has_own_tag, Quirk::OwnTag);
    match tree.root {
        None => Vec::new(),
        Some(Node { value: Value::Mapping(mut entries), .. }) => {
            put_back_words(&mut entries, &range, reader);
            let cut = cut_texts(&entries, reader.file);
            let findings = cut.iter().map(|text| text.finding(reader.file, MAX_REMEDY_CHARS));
            reader.findings.extend(findings);
            entries
        }
        Some(node) if node.is_null() => Vec::new(),
        Some(node) => {
            reader.report(
                Code::NotAMapping,
                range.start.max(node.span.start)..node.span.end,
                format!("the front matter is {}, not keys with values", node.kind()),
                "write lines such as `name: code-review` and `description: …`",
            );
            let mut entries = Vec::new();
            extract::add_mentioned(reader.file, range, closing, &mut entries);
            entries
        }
    }
}

/// Puts the first word back into texts for people that begin with `&word` or `!word`, which YAML takes for the
/// name or the type of what follows.
fn put_back_words(entries: &mut [(Node, Node)], range: &Range<usize>, reader: &mut Reader<'_>) {
    const TEXTS: [&str; 4] = ["name", "description", "brief_description", "when_to_use"];
    for (key, value) in entries {
        if !key.text().is_some_and(|key| TEXTS.contains(&&*normalized(key))) {
            continue;
        }
        let written = &reader.file[key.span.end..value.span.end.max(key.span.end)];
        let written = written.trim_start_matches(|c: char| c.is_whitespace() || "\"':".contains(c));
        let word = written.split_whitespace().next().unwrap_or_default();
        let is_lost = match word.strip_prefix('&') {
            Some(name) => !reader.file[range.clone()].contains(&format!("*{name}")),
            None => word.len() > 1 && word.starts_with('!') && !word.starts_with("!!"),
        };
        let Value::Scalar { text, plain: true } = &mut value.value else { continue };
        if is_lost && !text.starts_with(word) {
            *text = format!("{word} {text}");
            value.span.start = value.span.end - written.len();
            let span = value.span.start..value.span.start + word.len();
            let message = format!("`{}` has a meaning in YAML; it is read as text", excerpt(word));
            reader.report(Code::RepairedYaml, span, message, "put all of the value in quotes");
        }
    }
}

/// Returns the byte of the original front matter where `error` was repaired, and the help text.
fn remedy(repaired: &Repaired, error: &YamlError) -> (usize, String) {
    let text = &repaired.text;
    let scalar = repaired.scalar_at(error.at);
    let is_in_scalar = error.at <= repaired.original(scalar.end);
    let at = if is_in_scalar { error.at } else { repaired.original(scalar.start) };
    let line_start = text[..scalar.start].rfind('\n').map_or(0, |end| end + 1);
    let line_end = text[scalar.end..].find('\n').map_or(text.len(), |end| scalar.end + end);
    let line = text[line_start..line_end].trim();
    let is_whole =
        !scalar.is_empty() && !line.contains('\n') && yaml::parse(line, &|at| at).is_ok();
    let help = if is_whole && line.chars().count() <= MAX_REMEDY_CHARS {
        format!("write `{line}`")
    } else if error.message.contains("tab") {
        help(&error.message).to_owned()
    } else {
        "indent alike what belongs together, or put all of the value in quotes".to_owned()
    };
    (at, help)
}

/// Returns the byte of the fault. If it is a tab or another control character, the parser reports the
/// start of the value before it.
fn fault(source: &str, error: &YamlError) -> usize {
    let is_control = ["tab", "\\u{"].iter().any(|part| error.message.contains(part));
    let is_of_line = |c: char| matches!(c, '\n' | '\r');
    let rest = source.get(error.at..).filter(|_| is_control).unwrap_or_default();
    let control = rest.find(|c: char| c.is_control() && !is_of_line(c));
    error.at + control.unwrap_or(0)
}

/// Returns the help text for an error that the parser reports with this message.
fn help(message: &str) -> &'static str {
    let helps: [(&[&str], &str); 3] = [
        (&["mismatched bracket"], "close `[` with `]`, and `{` with `}`"),
        (&["tab"], "indent with blanks, not with tabs"),
        (
            &["simple key", "expected key", "indentation", "expected <document start>"],
            "begin each line with a key or `- `, and indent alike what belongs together",
        ),
    ];
    let help = helps.iter().find(|(parts, _)| parts.iter().any(|part| message.contains(part)));
    help.map_or(
        "put quotes around values that hold `: `, ` #` or start with a special character, and remove \
         control characters",
        |(_, help)| help,
    )
}

/// The character at byte `at` of the file; empty at its end.
fn char_at(file: &str, at: usize) -> Range<usize> {
    let at = at.min(file.len());
    let len = file.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    at..at + len
}
