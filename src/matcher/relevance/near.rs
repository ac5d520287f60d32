//! Why a skill is near to a message in meaning, for people.

use std::fmt;

use repertoire_meaning::Scratch;
use serde::Serialize;

use super::fields::FieldTexts;
use super::index::RelevanceIndex;
use super::meaning::{Meaning, vectors};
use crate::skill::{Skill, SkillId};

/// The maximum number of words that are named.
const MAX_WORDS: usize = 3;

/// The nearness of a skill to a message in meaning, and its reasons. Its text is `near in meaning to “ship”, “parcel”
/// (0.71, by its body)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Near {
    /// The cosine of the meanings of message and skill, from -1 to 1.
    pub cosine: f32,
    /// The words of the message that bring both nearest, the first one most.
    pub words: Vec<String>,
    /// True if the body of the skill is nearer than its name and description.
    pub by_body: bool,
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|word| format!("“{word}”")).collect();
        let part = if self.by_body { "body" } else { "name and description" };
        write!(f, "near in meaning to {} ({:.2}, by its {part})", words.join(", "), self.cosine)
    }
}

impl RelevanceIndex {
    /// Tells how near the skill `id` is to `message` in meaning, and by what; `None` without a table, if the skill
    /// is not indexed, or if it is not nearer than any skill is. Reads the texts of the skill.
    pub fn near(&self, message: &str, id: &SkillId, skill: &Skill) -> Option<Near> {
        let meaning = self.meaning.as_ref()?;
        let number = self.ids.binary_search(id).ok()?;
        let body = skill.clone();
        let texts = FieldTexts::new(id, skill, body.body().unwrap_or_default());
        near(meaning, message, number as u32, &texts)
    }
}

/// Tells how near a skill with these texts is to a message.
fn near(meaning: &Meaning, message: &str, skill: u32, texts: &FieldTexts<'_>) -> Option<Near> {
    let mut scratch = Scratch::default();
    let said = meaning.table().vector(message, &mut scratch);
    let cosine = said.query().cosine(meaning.of_skill(skill)?.as_bytes());
    if cosine <= meaning.levels().floor {
        return None;
    }
    let [head, body] = vectors(meaning.table(), texts, &mut scratch);
    let by_body = said.cosine(&body) > said.cosine(&head);
    let nearer = if by_body { &body } else { &head };
    let mut words: Vec<String> = Vec::new();
    for word in meaning.table().contributions(message, nearer, &mut scratch) {
        let text = message.get(word.range).unwrap_or_default().to_owned();
        if word.share > 0.0 && words.len() < MAX_WORDS && !words.contains(&text) {
            words.push(text);
        }
    }
    Some(Near { cosine, words, by_body })
}
