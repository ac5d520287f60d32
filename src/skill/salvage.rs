//! Salvages name and description from front matter that is beyond repair.

use std::ops::Range;

use super::repair::{key_length, lines};
use super::scalar::is_block_header;
use super::yaml::{Node, Value};

/// Returns the entries `name` and `description` of front matter that is beyond repair. `source` starts
/// at byte `offset` of the file.
pub(super) fn salvage(source: &str, offset: usize) -> Vec<(Node, Node)> {
    let lines = lines(source);
    let mut entries: Vec<(Node, Node)> = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let key_length = key_length(&source[line.content.clone()]).unwrap_or(0);
        let key = line.content.start..line.content.start + key_length;
        if line.content.start > line.start
            || !matches!(&source[key.clone()], "name" | "description")
            || entries.iter().any(|(earlier, _)| earlier.text() == Some(&source[key.clone()]))
        {
            continue;
        }
        let rest = lines[n + 1..].iter().take_while(|next| next.continues(line));
        let end = rest.last().map_or(line.content.end, |last| last.content.end);
        let span = line.value.start..end.max(line.value.start);
        let text = salvaged_text(&source[span.clone()]);
        if !text.is_empty() {
            let scalar = |text: String, span: Range<usize>| Node {
                value: Value::Scalar { text, plain: false },
                span: offset + span.start..offset + span.end,
            };
            entries.push((scalar(source[key.clone()].to_owned(), key), scalar(text, span)));
        }
    }
    entries
}

fn salvaged_text(value: &str) -> String {
    let value = value.trim();
    let first_line = value.lines().next().unwrap_or_default();
    let value = match value.chars().next() {
        Some('|' | '>') if is_block_header(first_line) => &value[first_line.len()..],
        Some(quote @ ('"' | '\'')) => value[1..].strip_suffix(quote).unwrap_or(&value[1..]),
        _ => value,
    };
    // Some files are invalid because of control characters, so these are replaced.
    let visible: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_description_are_saved_from_rubble() {
        let cases = [
            ("name: a\n]\ndescription: b\n", "a", "b"),
            ("\ré: \ndescription: b\nname: a", "a", "b"),
            ("name: 'a'\ndescription: >\n  b: c\n\n  d\n]", "a", "b: c d"),
            ("description: \"b\n  c\nname: a", "a", "b c"),
            ("x:\n  name: no\ndescription: \0b\u{7}c\nname: a\nname: z", "a", "b c"),
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
