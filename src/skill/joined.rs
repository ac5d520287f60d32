//! Lines that YAML joins to the text above them, although they look like values of their own.

use super::document;
use super::fields::{Reader, excerpt};
use super::finding::Finding;
use super::load::front_matter;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// Finds the lines of the front matter of `text` that were joined to the text above them and look
/// like entries of a list, or like one of `keys`: one finding for each text.
pub(super) fn joined_lines(text: &str, keys: &[&str]) -> Vec<Finding> {
    let Ok(document) = document::split(text) else { return Vec::new() };
    let mut reader = Reader { file: text, findings: Vec::new() };
    let mut nodes: Vec<Node> = Vec::new();
    nodes.extend(front_matter(&document, &mut reader).into_iter().flatten().map(|(_, node)| node));
    let mut found = Vec::new();
    while let Some(node) = nodes.pop() {
        match node.value {
            Value::Sequence(entries) => nodes.extend(entries),
            Value::Mapping(entries) => nodes.extend(entries.into_iter().map(|(_, value)| value)),
            Value::Scalar { .. } => found.extend(joined_to(&node, text, keys)),
        }
    }
    found
}

/// The finding for lines that were joined to the beginning of `node`.
fn joined_to(node: &Node, text: &str, keys: &[&str]) -> Option<Finding> {
    let written = text.get(node.span.clone())?;
    // With a mark, the author wanted all of it to be text.
    if !is_unmarked(node, text) {
        return None;
    }
    let mut start = node.span.start;
    let mut joined = Vec::new();
    for (n, line) in written.split_inclusive('\n').enumerate() {
        let content = line.trim();
        if n > 0 && looks_like_a_value(content, keys) {
            let at = start + line.len() - line.trim_start().len();
            joined.push(at..at + content.len());
        }
        start += line.len();
    }
    let first = joined.first()?.clone();
    let line = excerpt(&text[first.clone()]);
    let message = match joined.len() {
        1 => format!("`{line}` is read as a part of the text above it"),
        2 => format!("`{line}` and another line like it are read as a part of the text above them"),
        n => format!("`{line}` and {} lines like it are read as a part of the text above", n - 1),
    };
    let help = "indent entries and keys like those beside them, below a line that ends with `:`; \
                if all of it is text, write `|` before its first line";
    Some(Finding::new(Code::JoinedLines, first, message, help))
}

/// Tells whether the text of `node` stands in `text` without quotes, `|` or `>`.
pub(super) fn is_unmarked(node: &Node, text: &str) -> bool {
    let is_marked = text[node.span.start..].starts_with(['"', '\'', '|', '>']);
    let line_start = text[..node.span.start].rfind('\n').map_or(0, |at| at + 1);
    let is_below_its_key = text[line_start..node.span.start].trim().is_empty();
    let is_plain = matches!(node.value, Value::Scalar { plain: true, .. });
    // Below a `|` or `>` it is not seen any more.
    !is_marked && (is_plain || !is_below_its_key)
}

/// Tells whether a line is written like an entry of a list, or like a key that is known.
fn looks_like_a_value(line: &str, keys: &[&str]) -> bool {
    let key = line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    let is_key = |(key, _): (&str, &str)| {
        let key = key.replace('-', "_");
        keys.iter().any(|known| known.len() == key.len() && known.replace('-', "_") == key)
    };
    line == "-" || line.starts_with("- ") || key.is_some_and(is_key)
}
