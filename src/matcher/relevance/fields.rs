//! The fields of a skill in which terms are looked for.

#![expect(clippy::cast_precision_loss, reason = "lengths are estimates")]

use std::borrow::Cow;

use serde::Serialize;

use super::impact::MeanLengths;
use crate::skill::{Skill, SkillId};

/// A part of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The name.
    Name,
    /// The id, if it is not the same as the name.
    Id,
    /// The description.
    Description,
    /// `when_to_use`.
    WhenToUse,
    /// The declared keywords and verbs, and `trigger_phrases`.
    Triggers,
    /// The example messages that should route to the skill (`examples`).
    Examples,
    /// The body.
    Body,
}

impl Field {
    /// The number of fields.
    pub(super) const COUNT: usize = 7;

    /// All of them, in the order in which they are reported.
    pub(super) const ALL: [Field; Field::COUNT] = [
        Field::Name,
        Field::Id,
        Field::Description,
        Field::WhenToUse,
        Field::Triggers,
        Field::Examples,
        Field::Body,
    ];

    /// Tells whether the field is part of the front matter, in which the skill describes itself.
    pub(super) fn is_head(self) -> bool {
        self != Field::Body
    }

    /// Returns the worth of an occurrence of a term in a field of `length` bytes: more in a field that
    /// says what the skill is for, less in a long one.
    pub(super) fn occurrence(self, length: u32, means: &MeanLengths) -> f32 {
        let (weight, length_matters) = match self {
            Field::Name | Field::Id => (3.0, 0.2),
            Field::Description | Field::WhenToUse => (2.0, 0.4),
            Field::Triggers | Field::Examples => (2.0, 0.3),
            Field::Body => (0.35, 0.75),
        };
        let mean = means[self as usize];
        if mean > 0.0 {
            weight / (1.0 - length_matters + length_matters * length as f32 / mean)
        } else {
            0.0
        }
    }

    /// The name of the field, to tell people where a term is.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Id => "id",
            Field::Description => "description",
            Field::WhenToUse => "when_to_use",
            Field::Triggers => "triggers",
            Field::Examples => "examples",
            Field::Body => "body",
        }
    }
}

/// The texts of a skill's fields, and their lengths.
#[derive(Debug)]
pub(super) struct FieldTexts<'a> {
    texts: [Cow<'a, str>; Field::COUNT],
    lengths: [u32; Field::COUNT],
    skill: &'a Skill,
}

impl<'a> FieldTexts<'a> {
    /// The texts of a skill with this body.
    pub(super) fn new(id: &'a SkillId, skill: &'a Skill, body: &'a str) -> FieldTexts<'a> {
        let texts = Field::ALL.map(|field| text(field, id, skill, body));
        FieldTexts { texts, lengths: lengths(id, skill), skill }
    }

    pub(super) fn get(&self, field: Field) -> &str {
        &self.texts[field as usize]
    }

    /// The length of a field in bytes.
    pub(super) fn length(&self, field: Field) -> u32 {
        self.lengths[field as usize]
    }

    /// The phrases in the skill's `trigger_phrases`.
    pub(super) fn trigger_phrases(&self) -> impl Iterator<Item = &'a str> {
        self.skill.manifest().trigger_phrases.iter().map(|phrase| phrase.value.as_str())
    }
}

/// The lengths of a skill's fields in bytes, known without reading its body.
pub(super) fn lengths(id: &SkillId, skill: &Skill) -> [u32; Field::COUNT] {
    Field::ALL.map(|field| {
        let length = match field {
            Field::Name => skill.name().len(),
            Field::Id => id_text(id, skill).len(),
            Field::Description => written_description(skill).len(),
            Field::WhenToUse => when_to_use(skill).len(),
            Field::Triggers => literals(skill).map(|literal| literal.len() + 1).sum(),
            Field::Examples => examples(skill).map(|example| example.len() + 1).sum(),
            Field::Body => skill.body_bytes(),
        };
        length as u32
    })
}

/// The text of a field.
fn text<'a>(field: Field, id: &'a SkillId, skill: &'a Skill, body: &'a str) -> Cow<'a, str> {
    match field {
        Field::Name => Cow::Borrowed(skill.name()),
        Field::Id => Cow::Borrowed(id_text(id, skill)),
        Field::Description => Cow::Owned(what_it_is_for(written_description(skill))),
        Field::WhenToUse => Cow::Owned(what_it_is_for(when_to_use(skill))),
        Field::Triggers => Cow::Owned(literals(skill).collect::<Vec<_>>().join("\n")),
        Field::Examples => Cow::Owned(examples(skill).collect::<Vec<_>>().join("\n")),
        Field::Body => Cow::Borrowed(body),
    }
}

/// Returns the id if it is not the same as the name, otherwise an empty text.
fn id_text<'a>(id: &'a SkillId, skill: &Skill) -> &'a str {
    if id == skill.name() { "" } else { id.as_str() }
}

fn written_description(skill: &Skill) -> &str {
    let written = skill.manifest().description.as_ref();
    written.map_or_else(|| skill.description(), |description| &description.value)
}

fn when_to_use(skill: &Skill) -> &str {
    skill.manifest().when_to_use.as_ref().map_or("", |when| &when.value)
}

fn literals(skill: &Skill) -> impl Iterator<Item = &str> {
    let triggers = skill.triggers();
    let literals = triggers.keywords.iter().chain(&triggers.verbs);
    literals.chain(&skill.manifest().trigger_phrases).map(|literal| literal.value.as_str())
}

fn examples(skill: &Skill) -> impl Iterator<Item = &str> {
    skill.manifest().examples.should.iter().map(|example| example.value.as_str())
}

/// Returns `description` without the parts that say what the skill is not for, as they name the subjects
/// of other skills.
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
}
