//! Completions in the front matter: fields at the start of a line, tools and ids as values.

use repertoire::skill::KEYS;
use serde_json::{Value as Json, json};

/// The kinds of triggers, below `triggers`.
const TRIGGERS: [&str; 5] = ["keywords", "verbs", "patterns", "exclude", "paths"];

/// The kinds of messages, below `examples`.
const EXAMPLES: [&str; 2] = ["should", "should_not"];

/// The names of tools that agents share.
const TOOLS: [&str; 9] =
    ["Bash", "Edit", "Glob", "Grep", "Read", "Task", "WebFetch", "WebSearch", "Write"];

/// The numbers by which the protocol names the kinds of items.
const FIELD: u8 = 5;
const VALUE: u8 = 12;

/// Returns the completions at byte `at` of `text`, as items of the protocol.
pub(super) fn items(text: &str, at: usize, ids: &[String]) -> Json {
    let before = &text[..at];
    if !is_in_front_matter(before) {
        return json!([]);
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let item = |label: &str, kind: u8, more: &str| json!({"label": label, "kind": kind, "insertText": format!("{label}{more}")});
    let key = |line: &str| line.trim_start().split_once(':').map(|(key, _)| key.to_owned());
    let fields = |names: &[&str]| names.iter().map(|name| item(name, FIELD, ": ")).collect();
    let values = |key: &str| match key {
        "allowed-tools" | "allowed_tools" => {
            TOOLS.iter().map(|name| item(name, VALUE, "")).collect()
        }
        "requires_skills" | "depends" => ids.iter().map(|id| item(id, VALUE, "")).collect(),
        "context" => ["inline", "fork"].iter().map(|name| item(name, VALUE, "")).collect(),
        _ => json!([]),
    };
    if let Some(key) = key(line) {
        return values(&key);
    }
    // The nearest line above that is less indented says where this one belongs.
    let indent = |line: &str| line.len() - line.trim_start().len();
    let above = before
        .lines()
        .rev()
        .skip(1)
        .find(|above| !above.trim().is_empty() && indent(above) < indent(line));
    match above.and_then(key).as_deref() {
        None => fields(&KEYS),
        Some("metadata") => fields(&["version", "triggers", "examples", "toolsets"]),
        Some("triggers") => fields(&TRIGGERS),
        Some("examples") => fields(&EXAMPLES),
        Some(key) => values(key),
    }
}

/// Tells whether a text ends inside the front matter that it begins with.
pub(super) fn is_in_front_matter(before: &str) -> bool {
    let mut fences = before.lines().filter(|line| line.trim_end() == "---");
    before.trim_start().starts_with("---") && fences.next().is_some() && fences.next().is_none()
}
