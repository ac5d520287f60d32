//! The terms that a skill and a message share, for display.

use repertoire_text::normalize;
use repertoire_text::words::hash::pair_hash;
use repertoire_text::words::terms::Tokenizer;
use serde::Serialize;

use super::adjacent::Adjacent;
use super::fields::{Field, FieldTexts};
use super::index::RelevanceIndex;
use super::scratch::WordKind;
use super::search::share;
use crate::skill::{Skill, SkillId};

/// A term that a skill and a message share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shared {
    /// The term as the message has it; a pair is both words, in this order.
    pub term: String,
    /// True if it is a stop word or the like, which says little in any catalog.
    pub is_common: bool,
    /// The fields of the skill that have it.
    pub fields: Vec<Field>,
    /// The part of the skill's score that the term adds.
    pub score: f32,
}

impl RelevanceIndex {
    /// Returns the terms that `message` shares with the skill `id`, the greatest score first; none if
    /// the skill is not indexed. Reads the texts of the skill, as the index does not store in which
    /// field a term is.
    pub fn shared(&self, message: &str, id: &SkillId, skill: &Skill) -> Vec<Shared> {
        let Ok(number) = self.ids.binary_search(id) else { return Vec::new() };
        let body = skill.clone();
        let texts = FieldTexts::new(id, skill, body.body().unwrap_or_default());
        let normalized = normalize(message);
        let mut shared = self.with_scratch(|scratch| {
            scratch.read(message, &self.flat, self.languages);
            let words = scratch.words.iter().filter(|word| word.kind != WordKind::Phrase);
            // A word and its beginning are one term for people.
            let mut told = 0..0;
            let shared = words.filter_map(|word| {
                let list = self.flat.list_at(word.place)?;
                let score = word.weight * share(&list, number as u32);
                let term = normalized.get(word.term.span())?.to_owned();
                let is_common = word.kind == WordKind::Common;
                let found = (word.term.hash, Shared { term, is_common, fields: Vec::new(), score });
                let is_new = score > 0.0 && told != word.term.span();
                told = if is_new { word.term.span() } else { told.clone() };
                is_new.then_some(found)
            });
            shared.collect::<Vec<_>>()
        });
        let mut tokenizer = Tokenizer::default();
        let languages = texts.languages(&mut tokenizer);
        for field in Field::ALL {
            let mut adjacent = Adjacent::default();
            tokenizer.read(&normalize(texts.get(field)), languages, &mut |term| {
                let pair = adjacent.before(term).map(|before| pair_hash(before.hash, term.hash));
                for (hash, found) in &mut shared {
                    let is_it = *hash == term.hash || pair == Some(*hash);
                    if is_it && found.fields.last() != Some(&field) {
                        found.fields.push(field);
                    }
                }
            });
        }
        shared.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
        shared.into_iter().map(|(_, shared)| shared).collect()
    }
}
