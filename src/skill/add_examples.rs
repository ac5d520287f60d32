//! Adds messages to the `examples` of a `SKILL.md`, and leaves all other bytes as they are.

use std::ops::Range;

use serde_json::Value as Json;

use super::Skill;
use super::document::{self, Fences};
use super::examples::{Examples, are_examples};
use super::json::to_json;
use super::keys::normalized;
use super::trigger::{MAX_TRIGGER_BYTES, MAX_TRIGGERS};
use super::yaml::{self, Node, Value};
use crate::error::{Error, ErrorCode};

/// Returns `text`, a `SKILL.md`, with these messages added to `examples.should` and `examples.should_not`,
/// but for those that are there already. What the author wrote stays byte for byte.
///
/// Fails with `INVALID_PARAM`, and the reason, if a message is too long to be an example, or if the front
/// matter has a form to which nothing can be added safely.
pub fn with_examples(
    text: &str,
    should: &[String],
    should_not: &[String],
) -> Result<String, Error> {
    let mut text = text.to_owned();
    for (kind, messages) in [("should", should), ("should_not", should_not)] {
        for message in messages {
            text = with_example(&text, kind, message)?;
        }
    }
    Ok(text)
}

fn with_example(text: &str, kind: &str, message: &str) -> Result<String, Error> {
    let known = |skill: &Skill| {
        let Examples { should, should_not } = &skill.manifest().examples;
        let list = if kind == "should" { should } else { should_not };
        list.iter().map(|example| example.value.clone()).collect::<Vec<_>>()
    };
    let mut wanted = known(&text.parse()?);
    if wanted.iter().any(|known| known == message) {
        return Ok(text.to_owned());
    }
    if message.len() > MAX_TRIGGER_BYTES {
        let why = format!("a message of {} bytes is too long", message.len());
        return Err(refused(&why, "write a shorter one by hand, of at most 256 bytes"));
    }
    if wanted.len() == MAX_TRIGGERS {
        return Err(refused("the list is full", "remove those that differ least"));
    }
    wanted.push(message.to_owned());
    let front_matter = Entries::read(text)?;
    let Edit { span, text: inserted } = front_matter.edit(text, kind, message)?;
    let mut edited = text.to_owned();
    edited.replace_range(span, &inserted);
    // YAML has many forms: what was written must be what is read, and all else what it was.
    let is_sound = edited.parse().is_ok_and(|skill| known(&skill) == wanted)
        && Entries::read(&edited).is_ok_and(|after| after.others() == front_matter.others());
    if is_sound { Ok(edited) } else { Err(refused(UNUSUAL, BY_HAND)) }
}

const UNUSUAL: &str = "its YAML has an unusual form";
const BY_HAND: &str = "write them below `examples:` by hand";

fn refused(why: &str, help: &str) -> Error {
    Error::new(ErrorCode::InvalidParam, format!("cannot add to the examples: {why}"), help)
}

/// The bytes to replace, and what comes in their place.
struct Edit {
    span: Range<usize>,
    text: String,
}

/// The entries of a front matter.
struct Entries {
    root: Option<Node>,
    /// The bytes of the front matter in the file.
    range: Range<usize>,
}

impl Entries {
    fn read(text: &str) -> Result<Entries, Error> {
        let document = document::split(text).ok().filter(|found| found.fences == Fences::Both);
        let range = document.map(|document| document.front_matter).ok_or_else(|| {
            refused("its front matter is not between two lines `---`", "write those lines first")
        })?;
        let root = yaml::parse(&text[range.clone()], &|at| range.start + at).map_err(|error| {
            let why = format!("its front matter is not valid YAML: {}", error.message);
            refused(&why, "repair it first")
        })?;
        Ok(Entries { root: root.root, range })
    }

    /// The entries but for examples.
    fn others(&self) -> Json {
        let mut json = self.root.as_ref().map(to_json).unwrap_or_default();
        for path in ["", "/metadata"] {
            if let Some(Json::Object(map)) = json.pointer_mut(path) {
                map.remove("examples");
            }
        }
        if json.is_null() { Json::Object(serde_json::Map::new()) } else { json }
    }

    /// Returns the edit that adds a message to the file `text`.
    fn edit(&self, text: &str, kind: &str, message: &str) -> Result<Edit, Error> {
        let end = if text[self.range.clone()].contains("\r\n") { "\r\n" } else { "\n" };
        let quoted = Json::from(message).to_string();
        let top = self.root.as_ref().and_then(|root| entry(root, "examples"));
        let metadata = self.root.as_ref().and_then(|root| entry(root, "metadata"));
        let of_metadata = metadata.and_then(|node| entry(node, "examples"));
        let Some(examples) =
            [top, of_metadata].into_iter().flatten().find(|node| are_examples(node))
        else {
            if top.is_some() {
                return Err(refused("its `examples` hold something else", BY_HAND));
            }
            let text = format!("examples:{end}  {kind}:{end}    - {quoted}{end}");
            return Ok(Edit { span: self.range.end..self.range.end, text });
        };
        self.edit_examples(text, examples, kind, &quoted, end)
            .ok_or_else(|| refused(UNUSUAL, BY_HAND))
    }

    /// Returns the edit that adds the text `quoted` to the map `examples`; lines end with `end`.
    fn edit_examples(
        &self,
        text: &str,
        examples: &Node,
        kind: &str,
        quoted: &str,
        end: &str,
    ) -> Option<Edit> {
        Some(match key_and_value(examples, kind) {
            Some((_, known @ Node { value: Value::Sequence(items), span })) => match items.last() {
                None => insert(span.start + 1, quoted.to_owned()),
                Some(last) if is_flow(text, known) => insert(last.span.end, format!(", {quoted}")),
                Some(last) => {
                    let start = line_start(text, last.span.start);
                    insert(
                        self.below(text, last),
                        format!("{}{quoted}{end}", &text[start..last.span.start]),
                    )
                }
            },
            Some((key, known)) => {
                let old = known.text().unwrap_or_default().lines().map(str::trim);
                let old =
                    old.filter(|line| !line.is_empty()).map(|line| Json::from(line).to_string());
                let all: Vec<String> = old.chain([quoted.to_owned()]).collect();
                // The span of a block scalar may begin below its `|`.
                let colon = text[key.span.end..].find(':')? + key.span.end + 1;
                let end_of_value = text[..known.span.end].trim_end().len().max(colon);
                Edit { span: colon..end_of_value, text: format!(" [{}]", all.join(", ")) }
            }
            None if is_flow(text, examples) => {
                insert(entries_end(examples), format!(", {kind}: [{quoted}]"))
            }
            None => {
                let start = line_start(text, examples.span.start);
                let indent = &text[start..examples.span.start];
                let text_of = format!("{indent}{kind}:{end}{indent}  - {quoted}{end}");
                insert(self.below(text, examples), text_of)
            }
        })
    }

    /// The start of the line below the last line of a node.
    fn below(&self, text: &str, node: &Node) -> usize {
        let end = text[..last_end(text, node)].trim_end().len();
        text[end..self.range.end].find('\n').map_or(self.range.end, |at| end + at + 1)
    }
}

fn insert(at: usize, text: String) -> Edit {
    Edit { span: at..at, text }
}

/// The byte at which the last value of a map in brackets ends.
fn entries_end(node: &Node) -> usize {
    match &node.value {
        Value::Mapping(entries) => {
            entries.last().map_or(node.span.start + 1, |(_, of)| of.span.end)
        }
        _ => node.span.end,
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// Returns the value of `key` in a map.
fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    key_and_value(node, key).map(|(_, value)| value)
}

fn key_and_value<'n>(node: &'n Node, key: &str) -> Option<&'n (Node, Node)> {
    let Value::Mapping(entries) = &node.value else { return None };
    entries.iter().find(|(of, _)| of.text().is_some_and(|of| normalized(of) == key))
}

/// Tells whether a list or a map is written in brackets.
fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.start..].starts_with(['[', '{'])
}

/// The byte at which the last value in a node ends.
fn last_end(text: &str, node: &Node) -> usize {
    let last = match &node.value {
        _ if is_flow(text, node) => None,
        Value::Sequence(items) => items.last(),
        Value::Mapping(entries) => entries.last().map(|(_, value)| value),
        Value::Scalar { .. } => None,
    };
    last.map_or(node.span.end, |last| last_end(text, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(front_matter: &str) -> String {
        format!("---\nname: a\ndescription: d\n{front_matter}---\n\n# A\n")
    }

    fn added(front_matter: &str, should: &[&str], should_not: &[&str]) -> Result<String, Error> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        with_examples(&file(front_matter), &owned(should), &owned(should_not))
    }

    #[test]
    fn messages_are_added_in_the_form_that_the_file_has() {
        for (before, after) in [
            ("", "examples:\n  should:\n    - \"x: y\"\n  should_not:\n    - \"n\"\n"),
            (
                "examples:\n  should:\n  - a\nversion: 1.0.0\n",
                "examples:\n  should:\n  - a\n  - \"x: y\"\n  should_not:\n    - \"n\"\nversion: 1.0.0\n",
            ),
            (
                "examples:\n    should-not:\n      -   a # why\n      # last\nversion: 1.0.0\n",
                "examples:\n    should-not:\n      -   a # why\n      -   \"n\"\n    should:\n      - \"x: y\"\n      # last\nversion: 1.0.0\n",
            ),
            (
                "examples: {should: [a, 'b']}\n",
                "examples: {should: [a, 'b', \"x: y\"], should_not: [\"n\"]}\n",
            ),
            (
                "examples:\n  should: []\n  should_not: go\n",
                "examples:\n  should: [\"x: y\"]\n  should_not: [\"go\", \"n\"]\n",
            ),
            (
                "examples:\n  should:\n  should_not: |\n    one\n    two, three\n",
                "examples:\n  should: [\"x: y\"]\n  should_not: [\"one\", \"two, three\", \"n\"]\n",
            ),
            (
                "metadata:\n  examples:\n    should: [a]\n",
                "metadata:\n  examples:\n    should: [a, \"x: y\"]\n    should_not:\n      - \"n\"\n",
            ),
            (
                "examples:\n  should: [a,\n    b]   # both\n",
                "examples:\n  should: [a,\n    b, \"x: y\"]   # both\n  should_not:\n    - \"n\"\n",
            ),
        ] {
            let edited =
                added(before, &["x: y"], &["n"]).unwrap_or_else(|error| panic!("{before}{error}"));
            assert_eq!(edited, file(after), "{before}");
            assert_eq!(with_examples(&edited, &["x: y".to_owned()], &[]).unwrap(), edited);
        }
    }

    #[test]
    fn line_ends_and_any_text_survive() {
        let crlf = file("version: 1.0.0\n").replace('\n', "\r\n");
        let odd = "say \"ü\" \\ # 使用 {a: [b]} - 'c'".to_owned();
        let edited = with_examples(&crlf, std::slice::from_ref(&odd), &[]).unwrap();
        assert!(!edited.replace("\r\n", "").contains('\n'), "{edited:?}");
        let skill: Skill = edited.parse().unwrap();
        assert_eq!(skill.manifest().examples.should[0].value, odd);
    }

    #[test]
    fn what_cannot_be_added_safely_is_refused_with_the_reason() {
        let long = "x".repeat(257);
        for (front_matter, message, why) in [
            ("", &*long, "257 bytes is too long"),
            ("examples: [ship it]\n", "x", "hold something else"),
            ("examples:\n", "x", "hold something else"),
            ("version: a: b\n", "x", "not valid YAML"),
            ("other: &a [b]\nexamples:\n  should: *a\n", "x", "unusual form"),
        ] {
            let error = added(front_matter, &[message], &[]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam);
            assert!(error.message().contains(why), "{front_matter}: {error}");
        }
        let error = with_examples("---\nname: a\n\nText", &["x".to_owned()], &[]).unwrap_err();
        assert!(error.message().contains("two lines `---`"), "{error}");
    }
}
