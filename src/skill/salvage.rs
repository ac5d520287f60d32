//! Salvages the name, the description and the restrictions from front matter that is beyond repair.

use std::ops::Range;

use super::brief::one_line;
use super::fields::normalized;
use super::scalar::is_block_header;
use super::yaml::{self, Node, Value};
use super::yaml_lines::{key_length, lines};

/// The flags that restrict who may invoke a skill. If they were lost, the model would be shown a skill
/// that is meant for the user alone.
const FLAGS: [&str; 3] = ["disable_model_invocation", "user_invocable_only", "user_invocable"];

/// Returns the entries `name` and `description`, and the [`FLAGS`], of front matter that is beyond
/// repair. `source` starts at byte `offset` of the file.
pub(super) fn salvage(source: &str, offset: usize) -> Vec<(Node, Node)> {
    let lines = lines(source);
    let mut entries: Vec<(Node, Node)> = Vec::new();
    let mut indent = usize::MAX;
    for (n, line) in lines.iter().enumerate() {
        let content = &source[line.content.clone()];
        let with_blank = key_length(content);
        // `name:a` is clear, although YAML requires a blank after the `:`.
        let without_blank = || content.find(':').filter(|at| is_saved(&content[..*at]));
        let Some(length) = with_blank.or_else(without_blank) else { continue };
        let key = line.content.start..line.content.start + length;
        let name = source[key.clone()].trim_matches(['"', '\'']);
        let column = line.content.start - line.start;
        let is_nested = column > indent;
        indent = indent.min(column);
        if is_nested
            || !is_saved(name)
            || entries.iter().any(|(earlier, _)| earlier.text() == Some(name))
        {
            continue;
        }
        let start = if with_blank.is_some() { line.value.start } else { key.end + 1 };
        let is_flag = is_flag(name);
        // A flag counts as it stands on its line, whatever is wrong below it.
        let is_alone = is_flag && start < line.content.end;
        let rest = lines[n + 1..].iter().take_while(|next| !is_alone && next.continues(line));
        let end = rest.last().map_or(line.content.end, |last| last.content.end);
        let span = start..end.max(start);
        let text = salvaged_text(&source[span.clone()]);
        if !text.is_empty() {
            let scalar = |text: String, span: Range<usize>| Node {
                value: Value::Scalar { text, plain: false },
                span: offset + span.start..offset + span.end,
            };
            entries.push((scalar(name.to_owned(), key), scalar(text, span)));
        }
    }
    entries
}

fn is_flag(key: &str) -> bool {
    FLAGS.contains(&&*normalized(key))
}

/// Tells whether the value of `key` is saved.
fn is_saved(key: &str) -> bool {
    matches!(key, "name" | "description") || is_flag(key)
}

/// Returns a value as YAML reads it, if it is valid by itself, else as it is written without its quotes;
/// in both cases on one line.
fn salvaged_text(value: &str) -> String {
    let value = without_comma(value.trim());
    let read = yaml::parse(&format!("key: {value}"), &|at| at).ok().and_then(|tree| tree.root);
    let read = match read.map(|root| root.value) {
        Some(Value::Mapping(entries)) => entries.into_iter().next().map(|(_, node)| node),
        _ => None,
    };
    match read {
        Some(node) if node.is_null() => String::new(),
        Some(Node { value: Value::Scalar { text, .. }, .. }) => visible_line(&text),
        _ => visible_line(without_marks(value)),
    }
}

/// Returns a value without the comma that follows it in JSON.
fn without_comma(value: &str) -> &str {
    let is_of_json = |value: &&str| {
        let quotes = ['"', '\''];
        let is_quoted = value.starts_with(quotes) && value.ends_with(quotes);
        is_quoted || matches!(*value, "true" | "false")
    };
    value.strip_suffix(',').filter(is_of_json).unwrap_or(value)
}

/// Returns a text without the quotes around it, or without the header of a block scalar.
fn without_marks(value: &str) -> &str {
    let first_line = value.lines().next().unwrap_or_default();
    match value.chars().next() {
        Some('|' | '>') if is_block_header(first_line) => &value[first_line.len()..],
        Some(quote @ ('"' | '\'')) => value[1..].strip_suffix(quote).unwrap_or(&value[1..]),
        _ => value,
    }
}

/// Returns a text on one line, without control characters.
fn visible_line(text: &str) -> String {
    // Some files are invalid because of control characters, so these are replaced.
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    one_line(&visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_saved_from_rubble() {
        for (source, expected) in [
            ("]\ndisable-model-invocation: true\n", &[("disable-model-invocation", "true")][..]),
            (
                "user_invocable: 'false' # why\n  ]\nuser-invocable-only:\n  true\n",
                &[("user_invocable", "false"), ("user-invocable-only", "true")],
            ),
            ("a: [\n  user-invocable: false\nalways: true", &[]),
            ("{\n  \"user-invocable\": false,\n  x", &[("user-invocable", "false")]),
            ("user-invocable:false\n]", &[("user-invocable", "false")]),
        ] {
            let saved = salvage(source, 0);
            let saved: Vec<_> = saved.iter().map(|(k, v)| (k.text(), v.text())).collect();
            let expected: Vec<_> = expected.iter().map(|(k, v)| (Some(*k), Some(*v))).collect();
            assert_eq!(saved, expected, "{source}");
        }
    }

    #[test]
    fn name_and_description_are_saved_from_rubble() {
        let cases = [
            ("name: a\n]\ndescription: b\n", "a", "b"),
            ("\ré: \ndescription: b\nname: a", "a", "b"),
            ("name: 'a'\ndescription: >\n  b: c\n\n  d\n]", "a", "b: c d"),
            ("description: \"b\n  c\nname: a", "a", "b c"),
            ("x:\n  name: no\ndescription: \0b\u{7}c\nname: a\nname: z", "a", "b c"),
            ("name: a # mine\n]\ndescription: 'it''s b' # note", "a", "it's b"),
            (" name: a\ndescription: b", "a", "b"),
            ("  name: a\nx:\n  description: no\ndescription: b", "a", "b"),
            ("name:a\nx: y\ndescription:b: c\n  d", "a", "b: c d"),
            ("{\n  \"name\": \"a\",\n  \"description\": \"b, \\\"c\\\",\",\n  ]", "a", "b, \"c\","),
            ("\"name\": \"a\" # mine\n]\n'description': b: c", "a", "b: c"),
        ];
        for (source, name, description) in cases {
            let saved = salvage(source, 100);
            let value = |wanted: &str| {
                let entry = saved.iter().find(|(key, _)| key.text() == Some(wanted));
                entry.map(|(_, value)| (value.text().unwrap(), value.span.clone())).unwrap()
            };
            assert_eq!((value("name").0, value("description").0), (name, description), "{source}");
            let span = value("name").1;
            assert!(source[span.start - 100..span.end - 100].contains(name));
        }
    }
}
