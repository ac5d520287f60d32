//! Extracts single fields, line by line, from front matter that cannot be parsed or is not delimited.

use std::ops::Range;

use repertoire_text::compared;

use super::brief::one_line;
use super::keys::{CLOSING_KEYS, normalized};
use super::yaml::{self, Node, Value};
use super::yaml_lines::{lines, value};

/// Returns the name, the description and the restrictions in the bytes `range` of `file`.
pub(super) fn fields(file: &str, range: Range<usize>) -> Vec<(Node, Node)> {
    let wanted = [&["name", "description"], &CLOSING_KEYS[..]].concat();
    extract(file, range, &wanted)
}

/// Returns the restrictions in the bytes `range` of `file`.
pub(super) fn restrictions(file: &str, range: Range<usize>) -> Vec<(Node, Node)> {
    extract(file, range, &CLOSING_KEYS)
}

/// Adds a value that cannot be read for each restriction that is mentioned in the bytes `range` of `file`,
/// at whatever place, and is neither among `entries` nor among `lines`.
pub(super) fn add_mentioned(
    file: &str,
    range: Range<usize>,
    lines: &[(Node, Node)],
    entries: &mut Vec<(Node, Node)>,
) {
    for restriction in CLOSING_KEYS {
        let is_it =
            |(key, _): &(Node, Node)| key.text().is_some_and(|key| normalized(key) == restriction);
        if entries.iter().chain(lines).any(is_it) {
            continue;
        }
        if let Some(span) = mention(&file[range.clone()], restriction) {
            let span = range.start + span.start..range.start + span.end;
            entries.push((text(restriction, span.clone()), text("", span)));
        }
    }
}

/// The number of bytes before a separator in which a key is looked for: more than any spelling has.
const MAX_KEY_BYTES: usize = 256;

/// Returns the first place of `source` where `field` stands before `:` or `=`, on one line.
fn mention(source: &str, field: &str) -> Option<Range<usize>> {
    let letters = |text: &str| text.chars().filter(|c| !matches!(c, '-' | '_')).count();
    let n_letters = letters(field);
    let mut ends = source.match_indices([':', '=', '：']).map(|(at, _)| at);
    let key_before = |end: usize| {
        let mut from = end.saturating_sub(MAX_KEY_BYTES);
        while !source.is_char_boundary(from) {
            from += 1;
        }
        let end = from + source[from..end].trim_end_matches(['"', '\'', ' ', '\t']).len();
        // A key has blanks inside, and none of these.
        let is_border = |c: char| "\n\r{[,;:\"'".contains(c);
        let border = source[from..end].rfind(is_border).map(|at| from + at + 1);
        let outermost = border.or_else(|| (from == 0).then_some(0));
        let from = outermost.unwrap_or(from);
        let blanks = source[from..end].rmatch_indices(char::is_whitespace);
        let starts = blanks.map(|(at, blank)| from + at + blank.len());
        let mut starts = starts
            .chain(outermost)
            .filter(|start| end - start >= n_letters)
            .take_while(|start| letters(&compared(&source[*start..end])) <= n_letters);
        Some(starts.find(|start| normalized(&source[*start..end]) == field)?..end)
    };
    ends.find_map(key_before)
}

/// Returns those of the outermost keys that are `wanted`, with their values. If a key occurs twice, the
/// first one counts, because text may follow.
fn extract(file: &str, range: Range<usize>, wanted: &[&str]) -> Vec<(Node, Node)> {
    let (source, offset) = (&file[range.clone()], range.start);
    let lines = lines(source);
    let mut entries: Vec<(Node, Node)> = Vec::new();
    let mut outermost = usize::MAX;
    for (n, line) in lines.iter().enumerate() {
        let Some(key) = line.key.clone() else { continue };
        let name = source[key.clone()].trim_matches(['"', '\'']);
        outermost = outermost.min(line.indent);
        let is_known = entries.iter().any(|(earlier, _)| earlier.text() == Some(name));
        if line.indent == outermost && wanted.contains(&&*normalized(name)) && !is_known {
            let (span, _) = value(source, &lines[n..]);
            let span = offset + span.start..offset + span.end;
            entries.push((text(name, offset + key.start..offset + key.end), parsed(file, span)));
        }
    }
    entries
}

fn text(text: &str, span: Range<usize>) -> Node {
    Node { value: Value::Scalar { text: text.to_owned(), plain: false }, span }
}

/// Returns a value as YAML reads it, if it is valid by itself; otherwise its text without quotes and
/// control characters, on one line.
pub(super) fn parsed(file: &str, span: Range<usize>) -> Node {
    const KEY: &str = "key: ";
    let place = |at: usize| span.start + at.saturating_sub(KEY.len());
    let tree = yaml::parse(&format!("{KEY}{}", &file[span.clone()]), &place);
    match tree.map(|tree| tree.root.map(|root| root.value)) {
        Ok(Some(Value::Mapping(mut entries))) if entries.len() == 1 && !entries[0].1.is_null() => {
            entries.swap_remove(0).1
        }
        _ => {
            let written = file[span.clone()].trim_matches(['"', '\'']);
            text(&one_line(&written.replace(char::is_control, " ")), span)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(entries: &[(Node, Node)]) -> Vec<(&str, &str)> {
        entries.iter().map(|(key, value)| (key.text().unwrap(), value.text().unwrap())).collect()
    }

    #[test]
    fn name_and_description_are_extracted() {
        for (source, name, description) in [
            ("name: a\n]\ndescription: b\n", "a", "b"),
            ("\ré: \ndescription: b\nname: a", "a", "b"),
            ("name: 'a'\ndescription: >\n  b: c\n\n  d\n]", "a", "b: c\nd"),
            ("description: \"b\n  c\nname: a", "a", "b c"),
            ("x:\n  name: no\ndescription: \0b\u{7}c\nname: a\nname: z", "a", "b c"),
            ("name: a # mine\n]\ndescription: 'it''s b' # note", "a", "it's b"),
            ("  name: a\nx:\n  description: no\ndescription: b", "a", "b"),
            ("\"name\": \"a\" # mine\n]\n'description': b: c", "a", "b: c"),
        ] {
            let file = format!("---\n{source}");
            let found = fields(&file, 4..file.len());
            let value = |wanted: &str| {
                let entry = found.iter().find(|(key, _)| key.text() == Some(wanted));
                entry.map(|(_, value)| (value.text().unwrap().trim(), value.span.clone())).unwrap()
            };
            assert_eq!((value("name").0, value("description").0), (name, description), "{source}");
            assert!(file[value("name").1].contains(name));
        }
    }

    #[test]
    fn restrictions_are_extracted_or_cannot_be_read() {
        for (source, expected) in [
            ("]\ndisable-model-invocation: true\n", &[("disable-model-invocation", "true")][..]),
            (
                "user_invocable: 'false' # why\n]\nuser-invocable-only:\n  true\n",
                &[("user_invocable", "false"), ("user-invocable-only", "true")],
            ),
            ("allowed-tools: [Read, x: y: z]\n", &[("allowed-tools", "[Read, x: y: z]")]),
            ("allowed-tools:\n- Read\n]", &[("allowed-tools", "")]),
            ("sven: [\n  user-invocable: false\nname: a", &[("name", "a"), ("user_invocable", "")]),
            ("{a: b, disable-model-invocation: true]", &[("disable_model_invocation", "")]),
            ("disable-model-invocation:true", &[("disable_model_invocation", "")]),
            (
                "description: of user-invocable skills",
                &[("description", "of user-invocable skills")],
            ),
        ] {
            let mut found = fields(source, 0..source.len());
            add_mentioned(source, 0..source.len(), &[], &mut found);
            assert_eq!(texts(&found), expected, "{source}");
        }
        let read = restrictions("x: [\nallowed-tools:\n  - Read\nname: a", 0..36);
        let [(_, Node { value: Value::Sequence(tools), .. })] = &read[..] else {
            panic!("{read:?}")
        };
        assert_eq!(tools[0].text(), Some("Read"));
    }
}
