//! The fields of a skill in which terms are looked for.

#![expect(clippy::cast_precision_loss, reason = "lengths are estimates")]

use std::borrow::Cow;

use repertoire_text::normalize;
use repertoire_text::words::languages::Languages;
use repertoire_text::words::terms::Tokenizer;
use serde::Serialize;

use super::purpose::what_it_is_for;
use crate::skill::{Skill, SkillId};

/// A part of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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

/// Mean lengths of the fields of a catalog, in bytes.
pub(super) type MeanLengths = [f32; Field::COUNT];

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

    /// Returns the language of the texts, told by those in whole sentences.
    pub(super) fn languages(&self, tokenizer: &mut Tokenizer) -> Languages {
        const BODY_CHARS: usize = 1_000;
        let body = self.get(Field::Body);
        let end = body.char_indices().nth(BODY_CHARS).map_or(body.len(), |(at, _)| at);
        let start = &body[..end];
        let texts = [self.get(Field::Description), self.get(Field::WhenToUse), start];
        let texts = texts.map(normalize);
        tokenizer.languages(texts.iter().map(AsRef::as_ref))
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
