//! The examples of a skill: messages that should and should not lead to it.

use super::fields::{Fields, Reader, at_lines, excerpt};
use super::keys::normalized;
use super::spanned::Spanned;
use super::trigger::{MAX_TRIGGER_BYTES, MAX_TRIGGERS};
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// Messages that should, and messages that should not, lead to the skill. `repertoire check` routes
/// them against the catalog.
///
/// Each message has at most 256 bytes, and each list at most 512 messages.
///
/// ```
/// use repertoire::Skill;
///
/// let text = "---\nname: notes\ndescription: Writes release notes\nexamples:\n  should: [draft the \
///             notes]\n  should-not: take a note\n---\n";
/// let skill: Skill = text.parse()?;
/// let examples = &skill.manifest().examples;
/// assert_eq!(examples.should[0].value, "draft the notes");
/// assert_eq!(examples.should_not[0].value, "take a note");
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Examples {
    /// Messages for which the skill is disclosed in full or in a line.
    pub should: Vec<Spanned<String>>,
    /// Messages for which the skill is not disclosed in full.
    pub should_not: Vec<Spanned<String>>,
}

impl Examples {
    /// Tells whether there is no message of either kind.
    pub fn is_empty(&self) -> bool {
        self.should.is_empty() && self.should_not.is_empty()
    }
}

/// Tells whether `node` is a map with one of the keys of [`Examples`]. Other programs use the name
/// `examples` for other things.
pub(super) fn are_examples(node: &Node) -> bool {
    let Value::Mapping(entries) = &node.value else { return false };
    entries.iter().filter_map(|(key, _)| key.text()).any(is_kind)
}

/// Tells whether a key names a kind of example.
pub(super) fn is_kind(key: &str) -> bool {
    matches!(normalized(key).as_str(), "should" | "should_not")
}

/// Reads the examples from all places where they may be declared.
pub(super) fn read(places: [Option<&Node>; 2], reader: &mut Reader<'_>) -> Examples {
    let mut examples = Examples::default();
    for node in places.into_iter().flatten() {
        let Value::Mapping(entries) = &node.value else { continue };
        let mut fields = Fields::new(entries, reader);
        for (field, target) in
            [("should", &mut examples.should), ("should_not", &mut examples.should_not)]
        {
            if let Some(node) = fields.take(field) {
                // A message may contain commas, so only line ends separate messages.
                let messages = reader.list(field, node, at_lines);
                append(target, messages, "examples", reader);
            }
        }
        for field in fields.rest() {
            let key = field.key.text().unwrap_or_default();
            reader.report(
                Code::UnknownKey,
                field.key.span.clone(),
                format!("`{}` is not a kind of example", excerpt(key)),
                "the kinds are `should` and `should_not`",
            );
        }
    }
    examples
}

/// Adds the entries that are new. Entries that are too long or too many are reported instead.
pub(super) fn append(
    target: &mut Vec<Spanned<String>>,
    entries: Vec<Spanned<String>>,
    field: &str,
    reader: &mut Reader<'_>,
) {
    for entry in entries {
        if target.iter().any(|known| known.value == entry.value) {
            continue;
        }
        if entry.value.len() > MAX_TRIGGER_BYTES {
            reader.report(
                Code::InvalidValue,
                entry.span,
                format!(
                    "entry of `{field}` of {} bytes is longer than {MAX_TRIGGER_BYTES}: `{}`",
                    entry.value.len(),
                    excerpt(&entry.value)
                ),
                "write it shorter; the entry is ignored",
            );
        } else if target.len() == MAX_TRIGGERS {
            reader.report(
                Code::InvalidValue,
                entry.span,
                format!(
                    "more than {MAX_TRIGGERS} entries of `{field}`; the rest is ignored from here"
                ),
                "keep those that differ most",
            );
            return;
        } else {
            target.push(entry);
        }
    }
}
