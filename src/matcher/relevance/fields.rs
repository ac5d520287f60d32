//! The parts of a skill in which terms are looked for.

use std::borrow::Cow;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::Serialize;

use crate::skill::{Skill, SkillId};

/// A part of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The name.
    Name,
    /// The id, where it says more than the name.
    Id,
    /// The description.
    Description,
    /// `when_to_use`.
    WhenToUse,
    /// The declared keywords and verbs.
    Triggers,
    /// The headings of the body.
    Headings,
    /// The body.
    Body,
}

impl Field {
    /// All of them, in the order in which they are told.
    pub(super) const ALL: [Field; 7] = [
        Field::Name,
        Field::Id,
        Field::Description,
        Field::WhenToUse,
        Field::Triggers,
        Field::Headings,
        Field::Body,
    ];

    /// What an occurrence of a term is worth in a field of `length` terms where `usual` are usual:
    /// more in a field that says what the skill is for, less in a long one (the *simple BM25
    /// extension to multiple weighted fields*, Robertson, Zaragoza and Taylor 2004).
    pub(super) fn occurrence(self, length: f32, usual: f32) -> f32 {
        let (weight, length_matters) = match self {
            Field::Name | Field::Id => (3.0, 0.2),
            Field::Description | Field::WhenToUse => (2.0, 0.4),
            Field::Triggers => (2.0, 0.3),
            Field::Headings => (0.5, 0.6),
            Field::Body => (0.35, 0.75),
        };
        if usual > 0.0 {
            weight / (1.0 - length_matters + length_matters * length / usual)
        } else {
            0.0
        }
    }

    /// For people: where a term stands.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Id => "id",
            Field::Description => "description",
            Field::WhenToUse => "when_to_use",
            Field::Triggers => "triggers",
            Field::Headings => "headings",
            Field::Body => "body",
        }
    }
}

/// The text of `field`. A body that cannot be read counts as empty; whoever discloses the skill is
/// told why.
pub(super) fn text<'a>(
    field: Field,
    id: &'a SkillId,
    skill: &'a Skill,
    body: &'a str,
) -> Cow<'a, str> {
    let manifest = skill.manifest();
    match field {
        Field::Name => Cow::Borrowed(skill.name()),
        Field::Id if id == skill.name() => Cow::Borrowed(""),
        Field::Id => Cow::Borrowed(id.as_str()),
        Field::Description => {
            let written = manifest.description.as_ref().map(|description| &*description.value);
            Cow::Owned(what_it_is_for(written.unwrap_or_else(|| skill.description())))
        }
        Field::WhenToUse => {
            let written = manifest.when_to_use.as_ref().map(|when| &*when.value);
            Cow::Owned(what_it_is_for(written.unwrap_or_default()))
        }
        Field::Triggers => {
            let triggers = skill.triggers();
            let literals = triggers.keywords.iter().chain(&triggers.verbs);
            Cow::Owned(literals.map(|t| t.value.as_str()).collect::<Vec<_>>().join("\n"))
        }
        Field::Headings => Cow::Owned(headings(body)),
        Field::Body => Cow::Borrowed(body),
    }
}

/// `description` without what it says the skill is not for, which names what others are for.
fn what_it_is_for(description: &str) -> String {
    const SENTENCE_ENDS: [&str; 7] = [". ", "! ", "? ", "; ", "\n", " — ", "。"];
    const DENIALS: [&str; 15] = [
        "do not use",
        "don't use",
        "don’t use",
        "never use",
        "do not trigger",
        "don't trigger",
        "not for",
        "not intended for",
        "not suitable for",
        "not needed for",
        "does not handle",
        "does not cover",
        "out of scope",
        "skip when",
        "skip for",
    ];
    let mut kept = String::with_capacity(description.len());
    let mut rest = description;
    while !rest.is_empty() {
        let ends = SENTENCE_ENDS.iter().filter_map(|end| Some(rest.find(end)? + end.len()));
        let (sentence, after) = rest.split_at(ends.min().unwrap_or(rest.len()));
        let lower = sentence.to_ascii_lowercase();
        let starts_word = |at: &usize| !lower[..*at].ends_with(|c: char| c.is_alphanumeric());
        let denials = DENIALS.iter().filter_map(|denial| lower.find(denial).filter(starts_word));
        kept.push_str(&sentence[..denials.min().unwrap_or(sentence.len())]);
        kept.push('\n');
        rest = after;
    }
    kept
}

fn headings(body: &str) -> String {
    let mut headings = String::new();
    let mut in_heading = false;
    for event in Parser::new(body) {
        match event {
            Event::Start(Tag::Heading { .. }) => in_heading = true,
            Event::End(TagEnd::Heading(_)) => {
                in_heading = false;
                headings.push('\n');
            }
            Event::Text(text) | Event::Code(text) if in_heading => headings.push_str(&text),
            _ => {}
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_skill_is_not_for_is_left_out() {
        for (description, expected) in [
            ("Reads PDF files.", "Reads PDF files."),
            ("Writes tests. Do not use for debugging. Use in CI.", "Writes tests. Use in CI."),
            ("Reviews code, not for prose; also diffs", "Reviews code, also diffs"),
            ("Skip when asked to deploy", ""),
            ("A knot for ropes", "A knot for ropes"),
            ("写代码。DON’T USE for 测试。部署", "写代码。 部署"),
        ] {
            let kept = what_it_is_for(description);
            let kept: Vec<&str> = kept.split_whitespace().collect();
            assert_eq!(kept.join(" "), expected, "{description}");
        }
    }

    #[test]
    fn headings_are_those_a_reader_sees() {
        let body = "# One `two`\ntext\n```\n# comment\n```\nThree\n---\n#nothing\n";
        assert_eq!(headings(body), "One two\nThree\n");
    }
}
