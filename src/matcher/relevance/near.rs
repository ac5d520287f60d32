//! Why a skill is near to a message in meaning, for people.

use std::fmt;

use repertoire_meaning::{Scratch, Vector};
use repertoire_text::words::languages::class_of;
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
    /// True if the body of the skill is nearer than its name and description; `None` if it is not known, as with a
    /// sentence transformer.
    pub by_body: Option<bool>,
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|word| format!("“{word}”")).collect();
        let part = match self.by_body {
            Some(true) => ", by its body",
            Some(false) => ", by its name and description",
            None => "",
        };
        write!(f, "near in meaning to {} ({:.2}{part})", words.join(", "), self.cosine)
    }
}

impl RelevanceIndex {
    /// Tells how near the skill `id` is to `message` in meaning, and by what; `None` without a model, if the skill
    /// is not indexed, or if it is not nearer than any skill is. Reads the texts of the skill.
    pub fn near(&self, message: &str, id: &SkillId, skill: &Skill) -> Option<Near> {
        let meaning = self.meaning.as_ref()?;
        let number = self.ids.binary_search(id).ok()?;
        let body = skill.clone();
        let texts = FieldTexts::new(id, skill, body.body().unwrap_or_default());
        self.with_scratch(|scratch| {
            near(meaning, message, number as u32, &texts, &mut scratch.nearness.scratch)
        })
    }
}

/// Tells how near a skill with these texts is to a message.
fn near(
    meaning: &Meaning,
    message: &str,
    skill: u32,
    texts: &FieldTexts<'_>,
    scratch: &mut Scratch,
) -> Option<Near> {
    let model = meaning.model();
    let said = model.query_vector(message, scratch);
    let known = meaning.of_skill(skill)?;
    let cosine = said.query().cosine(known.as_bytes());
    if cosine <= meaning.levels().floor {
        return None;
    }
    let (nearer, by_body) = if model.is_slow() {
        // The vectors of the parts take longer than ranking ten messages.
        (Vector::from_compact(known.as_bytes()), None)
    } else {
        let [head, body] = vectors(model, texts, scratch);
        let by_body = said.cosine(&body) > said.cosine(&head);
        (if by_body { body } else { head }, Some(by_body))
    };
    let mut words: Vec<String> = Vec::new();
    for word in model.contributions(message, &nearer, scratch) {
        let text = message.get(word.range).unwrap_or_default().to_owned();
        if word.share > 0.0 && !words.contains(&text) {
            words.push(text);
        }
    }
    // A reader learns nothing from "the", unless there is nothing else.
    if words.iter().any(|word| !is_function_word(word)) {
        words.retain(|word| !is_function_word(word));
        words.truncate(MAX_WORDS);
    } else {
        words.truncate(1);
    }
    Some(Near { cosine, words, by_body })
}

fn is_function_word(word: &str) -> bool {
    class_of(word.to_lowercase().as_bytes()).is_function_word()
}
