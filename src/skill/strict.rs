//! Front matter that all YAML 1.2 parsers read in the same way.

use serde_json::{Map, Value as Json};

use super::document;
use super::front_matter::FrontMatter;
use super::json::to_json;
use super::yaml::{Node, Value};

/// Returns the front matter of a text, or `None` if strict readers might split or parse it differently.
pub fn front_matter(text: &str) -> Option<Map<String, Json>> {
    let document = document::split(text).ok()?;
    let FrontMatter { entries, findings, .. } = FrontMatter::read(text, &document);
    let is_strict =
        text.starts_with("---") && document.tolerated_fault.is_none() && findings.is_empty();
    let entries = entries.filter(|entries| is_strict && are_exact(entries))?;
    (!entries.is_empty()).then(|| exact_entries(&entries))
}

/// Returns the fields of a text that the loader reads, repaired where it repairs them, without the values
/// that JSON cannot hold.
pub(super) fn exact_fields(text: &str) -> Map<String, Json> {
    let document = document::split(text).ok();
    let entries = document.and_then(|document| FrontMatter::read(text, &document).entries);
    exact_entries(&entries.unwrap_or_default())
}

fn exact_entries(entries: &[(Node, Node)]) -> Map<String, Json> {
    let field = |(key, value): &(Node, Node)| {
        let Json::String(name) = to_json(key) else { return None };
        let value = match &value.value {
            Value::Mapping(entries) => exact_entries(entries).into(),
            _ if is_exact(value) => to_json(value),
            _ => return None,
        };
        is_exact_key(key).then_some((name, value))
    };
    entries.iter().filter_map(field).collect()
}

/// Returns whether JSON can hold the value without a loss, and with the same keys in every parser.
fn is_exact(node: &Node) -> bool {
    match &node.value {
        Value::Scalar { text, plain: true } => {
            !to_json(node).is_string() || !is_number_beyond_json(text)
        }
        Value::Scalar { plain: false, .. } => true,
        Value::Sequence(entries) => entries.iter().all(is_exact),
        Value::Mapping(entries) => are_exact(entries),
    }
}

fn are_exact(entries: &[(Node, Node)]) -> bool {
    entries.iter().all(|(key, value)| is_exact_key(key) && is_exact(value))
}

/// Returns whether a key is a text in YAML, too.
fn is_exact_key(key: &Node) -> bool {
    matches!(key.value, Value::Scalar { .. }) && to_json(key).is_string() && is_exact(key)
}

/// Returns whether a plain scalar may be a number in YAML that JSON cannot represent: `.nan`, or too many
/// digits.
fn is_number_beyond_json(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-', '.']);
    digits.parse::<f64>().is_ok() || ["0x", "0o"].iter().any(|prefix| text.starts_with(prefix))
}
