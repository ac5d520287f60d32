//! Parses the front matter into entries, and mends it where it is not valid YAML.

use std::ops::Range;

use super::fields::{Reader, duplicate_key};
use super::finding::Finding;
use super::keys::is_known;
use super::repair::{self, Remedy};
use super::salvage;
use super::yaml::{self, Node, Tree, Value, YamlError, YamlErrorKind};
use super::yaml_lines::tab_indent;
use crate::diagnostic::{Code, position};

/// The longest line that a help text suggests. A longer line is left out, not cut: half of it would not
/// load.
const MAX_REMEDY_CHARS: usize = 160;

/// The help text for indentation with tabs.
const TABS: &str = "indent with blanks, not with tabs";

/// The parsed front matter of a file.
#[derive(Debug)]
pub(super) struct FrontMatter {
    /// The top-level entries; `None` if the front matter is too complex to be parsed.
    pub(super) entries: Option<Vec<(Node, Node)>>,
    pub(super) findings: Vec<Finding>,
}

impl FrontMatter {
    /// Parses the front matter at the bytes `range` of `file`.
    pub(super) fn read(file: &str, range: Range<usize>) -> FrontMatter {
        let mut reader = Reader { file, findings: Vec::new() };
        let entries = entries(range, &mut reader);
        FrontMatter { entries, findings: reader.findings }
    }

    /// Tells whether all of the front matter was parsed into entries, repaired or not.
    pub(super) fn is_whole(&self) -> bool {
        let losses = [Code::SalvagedYaml, Code::InvalidYaml, Code::NotAMapping];
        self.entries.is_some() && !losses.iter().any(|code| self.has(*code))
    }

    /// Tells whether the front matter was parsed without a repair.
    pub(super) fn is_valid(&self) -> bool {
        !self.has(Code::RepairedYaml)
    }

    fn has(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }
}

fn entries(range: Range<usize>, reader: &mut Reader<'_>) -> Option<Vec<(Node, Node)>> {
    let offset = range.start;
    let source = &reader.file[range];
    let tree = match yaml::parse(source, &|at| offset + at) {
        Ok(tree) => tree,
        Err(error) if error.kind == YamlErrorKind::Invalid => {
            return Some(mended(source, offset, &error, reader));
        }
        Err(error) => {
            reader.report(
                Code::YamlTooComplex,
                char_at(source, tab_indent(source, error.at).unwrap_or(error.at), offset),
                format!("the front matter is too complex: {}", error.message),
                "write the values out flat, without anchors and aliases",
            );
            return None;
        }
    };
    Some(mapping(tree, offset, reader))
}

fn mapping(tree: Tree, offset: usize, reader: &mut Reader<'_>) -> Vec<(Node, Node)> {
    let duplicates = tree.duplicates.into_iter().map(|(key, span)| duplicate_key(&key, span));
    reader.findings.extend(duplicates);
    match tree.root {
        None => Vec::new(),
        Some(Node { value: Value::Mapping(entries), .. }) => entries,
        Some(node) if node.is_null() => Vec::new(),
        Some(node) => {
            reader.report(
                Code::NotAMapping,
                offset.max(node.span.start)..node.span.end,
                format!("the front matter is {}, not keys with values", node.kind()),
                "write lines such as `name: code-review` and `description: …`",
            );
            Vec::new()
        }
    }
}

/// Repairs invalid front matter, or salvages parts of it if that fails.
fn mended(
    source: &str,
    offset: usize,
    error: &YamlError,
    reader: &mut Reader<'_>,
) -> Vec<(Node, Node)> {
    let fault = Fault::of(error, source, offset, reader.file);
    if let Some(repaired) = repair::repair(source)
        && let Ok(tree) = yaml::parse(&repaired.text, &|at| offset + repaired.original(at))
        && matches!(&tree.root, Some(Node { value: Value::Mapping(_), .. }))
    {
        let Fault { span, message, help } = match repaired.remedy(error.at) {
            Some((remedy, at)) if fault.help.is_none() => Fault {
                help: Some(help_of(&remedy)),
                ..if at == error.at { fault } else { fault.moved(source, at, offset, reader.file) }
            },
            _ => fault,
        };
        let message = format!("not valid YAML, repaired: {message}");
        reader.report(Code::RepairedYaml, span, message, help.unwrap_or_else(|| TABS.to_owned()));
        return mapping(tree, offset, reader);
    }
    let entries = salvage::salvage(source, offset);
    let Fault { span, message, help } = fault;
    let help = help
        .or_else(|| Some(format!("write a blank after `{}:`", key_without_blank(source)?)))
        .unwrap_or_else(|| help_of_message(&message).to_owned());
    let saved: Vec<String> =
        entries.iter().filter_map(|(key, _)| Some(format!("`{}`", key.text()?))).collect();
    let (code, result) = match &saved[..] {
        [] => (Code::InvalidYaml, "not valid YAML".to_owned()),
        [one] => (Code::SalvagedYaml, format!("not valid YAML, only {one} was saved")),
        [all @ .., last] => {
            let all = all.join(", ");
            (Code::SalvagedYaml, format!("not valid YAML, only {all} and {last} were saved"))
        }
    };
    reader.report(code, span, format!("{result}: {message}"), help);
    entries
}

fn help_of(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Line(line) if line.chars().count() <= MAX_REMEDY_CHARS => format!("write `{line}`"),
        Remedy::Brackets(brackets) => format!("end the value with `{brackets}`"),
        _ => "indent alike what belongs together, or put all of the value in quotes".to_owned(),
    }
}

/// Returns the first field whose value follows the `:` without a blank.
fn key_without_blank(source: &str) -> Option<&str> {
    source.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let has_blank = value.is_empty() || value.starts_with([' ', '\t']);
        (!has_blank && is_known(key)).then_some(key)
    })
}

/// Returns the help text for an error that the parser reports with this message.
fn help_of_message(message: &str) -> &'static str {
    let helps: [(&[&str], &str); 5] = [
        (
            &["escape", "hexadecimal"],
            "write it in single quotes: in double quotes a `\\` begins an escape",
        ),
        (&["mismatched bracket"], "close `[` with `]`, and `{` with `}`"),
        (&["alias"], "write the value out, without `&` and `*`"),
        (
            &["after double-quoted", "after single-quoted"],
            "put all of the value in one pair of quotes",
        ),
        (
            &["simple key", "expected key", "indentation", "expected <document start>"],
            "begin each line with a key or `- `, and indent alike what belongs together",
        ),
    ];
    let help = helps.iter().find(|(parts, _)| parts.iter().any(|part| message.contains(part)));
    help.map_or(
        "put quotes around values that hold `: `, ` #` or start with a special character",
        |(_, help)| help,
    )
}

/// The fault that makes front matter invalid.
struct Fault {
    /// The character the error is about, as bytes of the file.
    span: Range<usize>,
    message: String,
    /// The help text, if it follows from the error alone.
    help: Option<String>,
}

impl Fault {
    fn of(error: &YamlError, source: &str, offset: usize, file: &str) -> Fault {
        // The parser reports the start of the value as the position, and the character in its message
        // only.
        let forbidden = repair::forbidden(source, error.at)
            .filter(|(_, c)| error.message.contains(&c.escape_unicode().to_string()));
        let Some((at, c)) = forbidden else {
            // The parser reports a tab at the place where it cannot continue, so look for the tab itself.
            let tab = tab_indent(source, error.at);
            let span = char_at(source, tab.unwrap_or(error.at), offset);
            let help = tab.map(|_| TABS.to_owned());
            return Fault { span, message: error.message.clone(), help };
        };
        let (line, _) = position(file, offset + at);
        let name = format!("U+{:04X}", u32::from(c));
        Fault {
            span: offset + at..offset + at + c.len_utf8(),
            message: format!("the character {name} is not allowed"),
            help: Some(format!(
                "remove the character {name} from line {line}; editors may not show it"
            )),
        }
    }

    /// Moves the fault to byte `at` of the front matter. The parser notices some faults only below the
    /// value that has them, so the message says where.
    fn moved(self, source: &str, at: usize, offset: usize, file: &str) -> Fault {
        let (line, _) = position(file, self.span.start);
        let message = format!("{} on line {line}", self.message);
        Fault { span: char_at(source, at, offset), message, ..self }
    }
}

/// The character at byte `at` of the front matter, as bytes of the file; empty at its end.
fn char_at(source: &str, at: usize, offset: usize) -> Range<usize> {
    let at = at.min(source.len());
    let len = source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    offset + at..offset + at + len
}
