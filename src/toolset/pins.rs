//! The texts of a toolset, and their comparison with those that the user saw when the toolset was trusted.

use std::collections::BTreeMap;

use repertoire_plugin::{ToolSpec, ToolsetDescription};
use serde_json::{Value, json};

use crate::trust::ContentHash;

/// The hashes of what a model is told of the tools of a class, by the tools' names.
pub(super) type Pins = BTreeMap<String, ContentHash>;

/// Returns what a model is told of a tool, as the toolset wrote it.
pub(super) fn told(tool: &ToolSpec) -> Value {
    json!([tool.description, tool.parameters, tool.annotations])
}

pub(super) fn pins(description: &ToolsetDescription) -> Pins {
    let pin =
        |tool: &ToolSpec| (tool.name.clone(), ContentHash::of(told(tool).to_string().as_bytes()));
    description.tools.iter().map(pin).collect()
}

/// Returns the texts of a tool as the toolset wrote them, each with its place: first the description, with
/// an empty place, then those of the schema and the annotations by their JSON pointers. Names of types are
/// left out.
pub(super) fn texts(tool: &ToolSpec) -> Vec<(String, String)> {
    let mut texts = vec![(String::new(), tool.description.clone())];
    add_texts(&tool.parameters, String::new(), &mut texts);
    for (name, value) in &tool.annotations {
        add_texts(value, format!("/{name}"), &mut texts);
    }
    texts
}

fn add_texts(value: &Value, place: String, texts: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => texts.push((place, text.clone())),
        Value::Array(items) => {
            for (idx, item) in items.iter().enumerate() {
                add_texts(item, format!("{place}/{idx}"), texts);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let is_type = name == "type" && is_type_name(member);
                // The names that it lists are those of properties, which are shown with their texts.
                let is_list_of_names = name == "required" && member.is_array();
                if !is_type && !is_list_of_names {
                    add_texts(member, format!("{place}/{name}"), texts);
                }
            }
            if members.is_empty() {
                texts.push((place, String::new()));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_type_name(value: &Value) -> bool {
    let names = ["array", "boolean", "integer", "null", "number", "object", "string"];
    value.as_str().is_some_and(|name| names.contains(&name))
}

/// Lists the first differences between two sets of tools.
pub(super) fn differences(trusted: &Pins, now: &Pins) -> String {
    const LISTED: usize = 5;
    let new_or_changed = now.iter().filter_map(|(name, pin)| match trusted.get(name) {
        None => Some(format!("`{name}` (new)")),
        Some(known) if known != pin => Some(format!("`{name}` (changed)")),
        Some(_) => None,
    });
    let is_gone = |name: &&String| !now.contains_key(*name);
    let gone = trusted.keys().filter(is_gone).map(|name| format!("`{name}` (gone)"));
    let all: Vec<String> = new_or_changed.chain(gone).collect();
    let more = if all.len() > LISTED { ", …" } else { "" };
    all[..all.len().min(LISTED)].join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_its_place() {
        let parameters = json!({
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "string", "description": "An a.", "enum": ["x"]}, "b": {}},
        });
        let mut spec = ToolSpec::default();
        (spec.description, spec.parameters) = ("Does.".to_owned(), parameters);
        spec.annotations.insert("title".to_owned(), "T".into());
        let shown = texts(&spec);
        let shown: Vec<_> = shown.iter().map(|(place, text)| (&**place, &**text)).collect();
        let wanted = [
            ("", "Does."),
            ("/properties/a/description", "An a."),
            ("/properties/a/enum/0", "x"),
            ("/properties/b", ""),
            ("/title", "T"),
        ];
        assert_eq!(shown, wanted);
    }
}
