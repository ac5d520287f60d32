//! Located values: the values in a file, with the byte offsets where they begin.

use serde_json::Value;

use repertoire::skill::json::to_json;
use repertoire::skill::yaml::{self, Node};

/// A value in a list or a map, with its key and the byte offset where it begins in the file.
pub(super) struct Located<'n> {
    pub(super) key: String,
    pub(super) at: usize,
    pub(super) value: Value,
    /// The node of the value, if the file is YAML.
    node: Option<&'n Node>,
}

impl<'n> Located<'n> {
    /// The JSON value that begins at byte `at`.
    pub(super) fn json(at: usize, value: Value) -> Located<'n> {
        Located { key: String::new(), at, value, node: None }
    }

    /// The value of a YAML node.
    pub(super) fn yaml(key: String, node: &'n Node) -> Located<'n> {
        Located { key, at: node.span.start, value: to_json(node), node: Some(node) }
    }

    /// The parts of this value, if it is a list or a map. `text` is the content of the file.
    pub(super) fn parts(&self, text: &str) -> Vec<Located<'n>> {
        match self.node {
            Some(node) => yaml_parts(node),
            None => json_parts(text, self.at),
        }
    }
}

/// The values in the JSON list or map that begins at byte `start`. Stops at a syntax error.
pub(super) fn json_parts<'n>(text: &str, start: usize) -> Vec<Located<'n>> {
    let is_map = text[start..].starts_with('{');
    let mut parts = Vec::new();
    let mut at = start + 1;
    while let Some((part, end)) = json_part(text, at, is_map) {
        parts.push(part);
        at = end + blanks(&text[end..]);
        if !text[at..].starts_with(',') {
            break;
        }
        at += 1;
    }
    parts
}

/// Reads the next entry of a list or a map, from byte `at`. Returns it with the byte offset of its end.
fn json_part<'n>(text: &str, at: usize, is_map: bool) -> Option<(Located<'n>, usize)> {
    let (key, at) = if is_map {
        let (key, end) = json_value(text, at)?;
        (key.as_str()?.to_owned(), end + blanks(&text[end..]) + 1)
    } else {
        (String::new(), at)
    };
    let at = at + blanks(text.get(at..)?);
    let (value, end) = json_value(text, at)?;
    Some((Located { key, at, value, node: None }, end))
}

fn json_value(text: &str, at: usize) -> Option<(Value, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
    let value = stream.next()?.ok()?;
    Some((value, at + stream.byte_offset()))
}

/// The number of bytes of white space at the start of a text.
pub(super) fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

pub(super) fn yaml_parts(node: &Node) -> Vec<Located<'_>> {
    match &node.value {
        yaml::Value::Scalar { .. } => Vec::new(),
        yaml::Value::Sequence(entries) => {
            entries.iter().map(|entry| Located::yaml(String::new(), entry)).collect()
        }
        yaml::Value::Mapping(entries) => {
            let key = |key: &Node| key.text().unwrap_or_default().to_owned();
            entries.iter().map(|(name, value)| Located::yaml(key(name), value)).collect()
        }
    }
}
