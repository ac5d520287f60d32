//! The `SKILL.md` of a skill in the strict form of the Agent Skills specification.
//!
//! Skills load leniently: without a `name`, with a label instead of an identifier, with YAML that had to
//! be repaired. Readers that follow the specification refuse such a file. [`Skill::portable`] returns a
//! file that these readers accept unchanged, and any other file with new front matter above the same
//! body.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::limits::MAX_DESCRIPTION_CHARS;
use super::load;
use super::strict::{exact_fields, front_matter};
use super::{Skill, is_identifier};
use crate::error::Error;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A `SKILL.md` that is accepted by every reader that follows the specification.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Portable {
    /// The whole file.
    pub text: String,
    /// The front matter, as a YAML 1.2 parser reads it from `text`.
    pub front_matter: Map<String, Json>,
}

impl Skill {
    /// Returns the name of the skill if the specification allows it as an identifier, otherwise an
    /// identifier made from the name.
    pub fn portable_name(&self) -> String {
        let name = self.name();
        if is_identifier(name) { name.to_owned() } else { identifier(name) }
    }

    /// Returns the description, cut to the length that the specification allows.
    pub fn portable_description(&self) -> String {
        let manifest = self.manifest().description.as_ref().map(|field| field.value.trim());
        let written = manifest.filter(|text| !text.is_empty()).unwrap_or(self.description());
        if written.chars().count() <= MAX_DESCRIPTION_CHARS {
            return written.to_owned();
        }
        written.chars().take(MAX_DESCRIPTION_CHARS - 1).chain(['…']).collect()
    }

    /// Returns the file unchanged if it follows the specification, otherwise with new front matter that
    /// does.
    ///
    /// Fails for the same reasons as [`Skill::body`].
    pub fn portable(&self) -> Result<Portable, Error> {
        let name = self.portable_name();
        let text = self.path().and_then(|path| load::read(path).ok());
        if let Some(text) = &text
            && let Some(front_matter) = front_matter(text)
            && front_matter.get("name").is_some_and(|written| *written == name.as_str())
            && is_description(front_matter.get("description"))
        {
            return Ok(Portable { text: text.clone(), front_matter });
        }
        let mut front_matter = text.as_deref().map(exact_fields).unwrap_or_default();
        front_matter.insert("name".to_owned(), name.into());
        front_matter.insert("description".to_owned(), self.portable_description().into());
        Ok(Portable { text: written(&front_matter, self.body()?), front_matter })
    }
}

fn is_description(field: Option<&Json>) -> bool {
    field.and_then(Json::as_str).is_some_and(|text| {
        !text.trim().is_empty() && text.chars().count() <= MAX_DESCRIPTION_CHARS
    })
}

/// Makes an identifier from a label: `Code Review` becomes `code-review`.
fn identifier(label: &str) -> String {
    let lower = label.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(MAX_NAME_BYTES);
    match name.trim_end_matches('-') {
        "" => "skill".to_owned(),
        name => name.to_owned(),
    }
}

/// Writes a `SKILL.md` with these fields, one line for each. Values are written as JSON, which is valid
/// YAML once the characters that YAML does not print are escaped.
fn written(front_matter: &Map<String, Json>, body: &str) -> String {
    let mut text = String::from("---\n");
    // Authors usually write these two first.
    let first = ["name", "description"];
    let others = front_matter.keys().map(String::as_str).filter(|key| !first.contains(key));
    for key in first.into_iter().chain(others) {
        let Some(value) = front_matter.get(key) else { continue };
        let is_plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if is_plain && key.starts_with(|c: char| c.is_ascii_alphabetic()) {
            text.push_str(key);
        } else {
            text.push_str(&escaped(&Json::from(key).to_string()));
        }
        text.push_str(": ");
        text.push_str(&escaped(&value.to_string()));
        text.push('\n');
    }
    text.push_str("---\n");
    text.push_str(body);
    text
}

/// Escapes each character of the JSON that some YAML parser takes for a line end, or refuses.
fn escaped(json: &str) -> String {
    let is_printed = |c: char| {
        let is_control = ('\u{7f}'..='\u{9f}').contains(&c);
        !is_control && !['\u{2028}', '\u{2029}', '\u{feff}', '\u{fffe}', '\u{ffff}'].contains(&c)
    };
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_printed(c) {
            escaped.push(c);
        } else {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Loads a skill from a file with this text, in a directory of this name.
    fn skill(dir: &str, text: &str) -> Portable {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(dir).join("SKILL.md");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        Skill::load(&path, "repertoire").unwrap().portable().unwrap()
    }

    #[test]
    fn a_file_that_follows_the_specification_is_given_as_it_is() {
        for text in [
            "---\nname: plan\ndescription: Plans.\n---\nDo it.\n",
            "---\r\nname: plan\r\ndescription: Plans.\r\n---\r\nDo it.\r\n",
            "---\nname: 'plan'\ndescription: >\n  Plans\n  things.\nlicense: MIT # free\n\
             metadata:\n  version: 1.0\n  list: [1, ~, yes, 0x1F]\n---\n",
            "--- \nname: plan\ndescription: a\nx: &a {b: 1}\ny: *a\n---",
        ] {
            let portable = skill("plan", text);
            assert_eq!(portable.text, text);
            assert_eq!(portable.front_matter["name"], "plan", "{text}");
        }
        let portable = skill("p", "---\nname: p\ndescription: d\nmetadata: {a: 1.0, b: no}\n---\n");
        assert_eq!(portable.front_matter["metadata"], serde_json::json!({"a": 1.0, "b": "no"}));
    }

    #[test]
    fn any_other_file_has_its_front_matter_written_anew() {
        let long = format!("---\nname: plan\ndescription: {}\n---\nDo it.\n", "d".repeat(1025));
        for (dir, text, name, description) in [
            ("My Plan", "---\ndescription: Plans.\n---\nDo it.\n", "my-plan", "Plans."),
            ("x", "---\nname: Größter Plan!\ndescription: P.\n---\nDo it.\n", "gr-ter-plan", "P."),
            ("计划", "---\ndescription: Plans.\n---\nDo it.\n", "skill", "Plans."),
            ("plan", "Do it.\n", "plan", "Do it."),
            ("plan", "\n---\nname: plan\ndescription: P.\n---\nDo it.\n", "plan", "P."),
            ("plan", "\u{feff}---\nname: plan\ndescription: P.\n---\nDo it.\n", "plan", "P."),
            ("plan", "---\nname: plan\ndescription: use: it\n---\nDo it.\n", "plan", "use: it"),
            (
                "plan",
                "---\nname: plan\ndescription: a\ndescription: P.\n---\nDo it.\n",
                "plan",
                "P.",
            ),
            ("plan", "---\nname: plan\ndescription: P.\nbig: .inf\n---\nDo it.\n", "plan", "P."),
            ("plan", "---\nname: plan\ndescription: P.\n1: x\n---\nDo it.\n", "plan", "P."),
            (
                "plan",
                "---\nname: plan\ndescription: P.\nbig: 99999999999999999999\n---\nDo it.\n",
                "plan",
                "P.",
            ),
            ("plan", &long, "plan", &format!("{}…", "d".repeat(1023))),
        ] {
            let portable = skill(dir, text);
            assert_ne!(portable.text, text);
            assert!(portable.text.starts_with(&format!("---\nname: \"{name}\"\n")), "{portable:?}");
            assert!(portable.text.ends_with("---\nDo it.\n"), "{portable:?}");
            assert_eq!(portable.front_matter["description"], description, "{text}");
            // The new text follows the specification, so it is returned unchanged.
            assert_eq!(skill("x", &portable.text), portable);
        }
    }

    #[test]
    fn other_fields_are_kept_and_odd_characters_survive() {
        let text = "---\nname: A B\ndescription: \"a\\u2028b\\x85c\\\"\"\nmetadata: {\"k k\": [1, x]}\n\
                    \"odd key\": ~\n---\n";
        let portable = skill("x", text);
        assert_eq!(portable.front_matter["metadata"], serde_json::json!({"k k": [1, "x"]}));
        assert_eq!(portable.front_matter["odd key"], Json::Null);
        assert!(portable.text.contains("\\u2028") && portable.text.contains("\\u0085"));
        assert_eq!(skill("x", &portable.text), portable);
    }

    #[test]
    fn fields_of_a_file_that_strict_readers_refuse_are_kept() {
        let head = "name: plan\ndescription: P.\n";
        let more = "license: MIT\nmetadata: {a: 1, b: .inf, 2: x}\n";
        let kept = serde_json::json!({"license": "MIT", "metadata": {"a": 1}});
        for (before, fields) in [
            ("---\n", "x: .inf\nlist: [1, .nan]\n"),
            ("\u{feff}---\n", ""),
            ("\n---\n", ""),
            ("---\n", "description: Again.\n"),
            ("---\n", "1: x\n"),
            ("---\n", "n: 123456789012345678901234567890\n"),
            ("---\ndescription: Use when: it is broken\n", ""),
        ] {
            let text = format!("{before}{head}{more}{fields}---\nDo it.\n");
            let mut front_matter = skill("plan", &text).front_matter;
            front_matter.retain(|name, _| !["name", "description"].contains(&name.as_str()));
            assert_eq!(serde_json::Value::from(front_matter), kept, "{text}");
        }
        let text =
            "---\nname: fix\ndescription: Use when: it is broken\nallowed-tools: Read, Grep\n---\n";
        assert_eq!(skill("fix", text).front_matter["allowed-tools"], "Read, Grep");
    }

    #[test]
    fn a_skill_in_memory_has_a_file_too() {
        let skill: Skill = "---\nname: plan\ndescription: Plans.\n---\nDo it.".parse().unwrap();
        let portable = skill.portable().unwrap();
        assert_eq!(portable.text, "---\nname: \"plan\"\ndescription: \"Plans.\"\n---\nDo it.");
    }
}
