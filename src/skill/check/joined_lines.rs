//! Lines that YAML joins to the text above them, although they look like separate values.

use crate::diagnostic::Code;
use crate::skill::document;
use crate::skill::fields::excerpt;
use crate::skill::finding::Finding;
use crate::skill::front_matter::FrontMatter;
use crate::skill::keys::normalized;
use crate::skill::yaml::{Node, Value};

/// Finds the lines of the front matter of `text` that YAML joins to the text above them although they
/// look like entries of a list, or start with one of `keys`. Returns one finding for each text.
pub(super) fn find(text: &str, keys: &[&str]) -> Vec<Finding> {
    let Ok(document) = document::split(text) else { return Vec::new() };
    let entries = FrontMatter::read(text, &document).entries.into_iter().flatten();
    let mut nodes: Vec<Node> = entries.map(|(_, node)| node).collect();
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

/// Returns the finding for the lines of the scalar `node` that look like separate values.
fn joined_to(node: &Node, text: &str, keys: &[&str]) -> Option<Finding> {
    let written = text.get(node.span.clone())?;
    // Quotes or a block mark such as `|` show that the author meant all of it as text.
    if !node.is_plain_in_source(text) {
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
        _ => format!("`{line}` and other lines like it are read as a part of the text above them"),
    };
    let help = "indent entries and keys like those beside them, below a line that ends with `:`; \
                if all of it is text, write `|` before its first line";
    Some(Finding::new(Code::JoinedLines, first, message, help))
}

/// Tells whether a line looks like an entry of a list, or starts with a known key.
fn looks_like_a_value(line: &str, keys: &[&str]) -> bool {
    let key = line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    let is_key = |(key, _)| keys.iter().any(|known| normalized(known) == normalized(key));
    line == "-" || line.starts_with("- ") || key.is_some_and(is_key)
}
