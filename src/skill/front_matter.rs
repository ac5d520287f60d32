//! Parses the front matter into entries, and mends it where it is not valid YAML.

use std::ops::Range;

use super::fields::{Reader, duplicate_key};
use super::finding::Finding;
use super::yaml::{self, Node, Tree, Value, YamlError, YamlErrorKind};
use super::{repair, salvage};
use crate::diagnostic::{Code, position};

/// The longest line that a help text suggests. A longer line is left out, not cut: half of it would not
/// load.
const MAX_REMEDY_CHARS: usize = 160;

/// The help text for indentation with tabs.
const TABS: &str = "indent with blanks, not with tabs";

/// The parsed front matter of a file.
#[derive(Debug)]
pub(super) struct FrontMatter {
    /// The top-level entries; `None` if the front matter cannot be parsed.
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
        self.entries.is_some() && !self.has(Code::SalvagedYaml) && !self.has(Code::NotAMapping)
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
            return mended(source, offset, &error, reader);
        }
        Err(error) => {
            reader.report(
                Code::YamlTooComplex,
                place(&error, source, offset),
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
) -> Option<Vec<(Node, Node)>> {
    let Fault { span, message, help } = Fault::of(error, source, offset, reader.file);
    if let Some(repaired) = repair::repair(source)
        && let Ok(tree) = yaml::parse(&repaired.text, &|at| offset + repaired.original(at))
        && matches!(&tree.root, Some(Node { value: Value::Mapping(_), .. }))
    {
        let help = help.unwrap_or_else(|| match &repaired.remedy {
            None => TABS.to_owned(),
            Some(line) if line.is_empty() || line.chars().count() > MAX_REMEDY_CHARS => {
                "indent alike what belongs together, or put all of the value in quotes".to_owned()
            }
            Some(line) => format!("write `{line}`"),
        });
        let message = format!("not valid YAML, repaired: {message}");
        reader.report(Code::RepairedYaml, span, message, help);
        return Some(mapping(tree, offset, reader));
    }
    let entries = salvage::salvage(source, offset);
    let help = help.unwrap_or_else(|| {
        let help = if repair::tab_indent(source, error.at).is_some() {
            TABS
        } else if ["escape", "hexadecimal"].iter().any(|part| message.contains(part)) {
            "write it in single quotes: in double quotes a `\\` begins an escape"
        } else {
            "put quotes around values that hold `: `, ` #` or start with a special character"
        };
        help.to_owned()
    });
    if entries.iter().any(|(key, _)| key.text() == Some("description")) {
        let message =
            format!("not valid YAML, only `name` and `description` were saved: {message}");
        reader.report(Code::SalvagedYaml, span, message, help);
        return Some(entries);
    }
    reader.report(Code::InvalidYaml, span, format!("not valid YAML: {message}"), help);
    None
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
            let span = place(error, source, offset);
            return Fault { span, message: error.message.clone(), help: None };
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
}

/// The character the error is about, as bytes of the file.
fn place(error: &YamlError, source: &str, offset: usize) -> Range<usize> {
    // The parser reports a tab at the place where it cannot continue, so look for the tab itself.
    let at = repair::tab_indent(source, error.at).unwrap_or(error.at).min(source.len());
    let len = source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    offset + at..offset + at + len
}
