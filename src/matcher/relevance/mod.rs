//! How much a skill has to do with a message, by the words they share (DESIGN §6).
//!
//! Declared triggers decide; relevance orders, for the many skills that declare none. It is BM25F:
//! a term is worth more where few skills have it, in a field that says what a skill is for
//! (`fields.rs`), and less with each repetition. Terms are words, parts of identifiers, and pairs
//! of characters where a script has no spaces (`terms.rs`), in their stems (`stem.rs`). The best
//! are then looked at more closely: whether they say two words of the message one after the other,
//! and whether the message says all of their name.
//!
//! The weights were chosen over all catalogs of `docs/routing.md`, which says how far that holds.

mod fields;
mod index;
mod search;
mod stem;
mod terms;

pub use fields::Field;
pub use index::RelevanceIndex;
pub(super) use terms::{STOP_WORDS, is_paired};

use serde::Serialize;

use crate::skill::SkillId;

/// A skill that has to do with a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relevant {
    /// Its id.
    pub id: SkillId,
    /// How much it has to do with the message: above 0, without an upper bound; comparable among
    /// the skills of one answer only.
    pub score: f32,
    /// How far it is ahead of the next one, as a share of its score: from 0 to 1.
    pub margin: f32,
    /// The score in words as rare as can be in this catalog: comparable among messages and
    /// catalogs.
    pub worth: f32,
    /// How far it is ahead of the next one, in the same measure.
    pub lead: f32,
    /// Number of distinct words they share, common ones not counted.
    pub words: usize,
    /// What they share, weightiest first.
    pub terms: Vec<Shared>,
}

/// A term that a skill and a message share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shared {
    /// As the message has it; two words stand for both in this order.
    pub term: String,
    /// Whether it is a stop word or the like, which says little in any catalog.
    pub is_common: bool,
    /// Where the skill has it.
    pub fields: Vec<Field>,
    /// Its part of the score.
    pub score: f32,
}
