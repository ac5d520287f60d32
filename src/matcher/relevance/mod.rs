//! Relevance: the ranking of skills for a message by the words they share (DESIGN §6).
//!
//! One ranking serves `disclose`, `find_skills` and `eval`. It is BM25F: a term is worth more where
//! few skills have it, in a field that says what a skill is for (`fields.rs`), and less with each
//! repetition. Terms are words, parts of identifiers, and pairs of characters where a script has no
//! spaces (`terms.rs`), in their stems (`stem.rs`); two words one after the other; and the phrases
//! by which descriptions say when their skill is wanted (`phrases.rs`).
//!
//! Each term of a skill is folded into one byte of impact (`impact.rs`). These lie in flat postings
//! (`postings.rs`) behind a hash dictionary (`flat.rs`), which `search.rs` reads; `shared.rs`
//! reports the terms that a skill and a message share, for the few that are shown.
//!
//! The weights were fitted on one half of the catalogs of `docs/routing.md` and are reported on
//! the other.

mod everyday;
mod fields;
mod flat;
mod impact;
mod index;
mod phrases;
mod postings;
mod retriever;
mod search;
mod shared;
mod stem;
mod stop_words;
mod terms;

pub(crate) use everyday::{has_word, is_everyday};
pub use fields::Field;
pub use index::RelevanceIndex;
pub(crate) use retriever::fuse;
pub use retriever::{Candidate, Retriever};
pub use shared::Shared;
pub(crate) use stop_words::STOP_WORDS;
pub(crate) use terms::is_paired;

use serde::Serialize;

use crate::skill::SkillId;

/// The relevance of a skill to a message. Words count by their rarity: the unit is a word as rare
/// as can be in the catalog, so that figures compare among messages and catalogs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Relevance {
    /// The weight of the words that skill and message share: above 0, without an upper bound.
    pub worth: f32,
    /// The lead of `worth` over the next skill.
    pub lead: f32,
    /// Number of distinct words they share, stop words not counted. This and the next are counted for
    /// the first skill only, on which a margin decides.
    pub words: usize,
    /// The number of these in the skill's name, description or another field of its front matter,
    /// less those that the message denies.
    pub head_words: usize,
    /// The evidence that the message has to do with the skill at all: 1 for each shared word of its
    /// front matter and 1/2 for one of its body, or half of that for everyday words ("build", "time") and
    /// numbers; and 2 if a [`Retriever`] finds it. Counted for the first skill only; with less than 1, or
    /// 1.5 among 64 skills or more, no line is shown.
    pub evidence: f32,
    /// True if a shared word tells skills apart: fewer than half of them have it.
    pub is_telling: bool,
    /// True if the message has a phrase by which the description says when the skill is wanted.
    pub says_phrase: bool,
    /// True if the message denies a word of its name: "this is not about Terraform". Only known for
    /// the first skill.
    pub is_denied: bool,
    /// True if a [`Retriever`] of the host is sure of it.
    pub is_sure: bool,
}

/// The least evidence that a message has to do with any skill, in catalogs of less than [`MANY`] and of
/// more skills: less is mostly chance (`docs/routing.md`, *Messages for no skill*).
const ENOUGH_EVIDENCE: [f32; 2] = [1.0, 1.5];

/// The number of skills from which on one of them shares a word with most messages.
const MANY: usize = 64;

impl Relevance {
    /// Tells whether the message has to do with the skill at all, the first of `n_skills`, and so perhaps
    /// with the next ones.
    pub(crate) fn is_plausible(&self, n_skills: usize) -> bool {
        let enough = ENOUGH_EVIDENCE[usize::from(n_skills >= MANY)];
        self.says_phrase || self.evidence >= enough
    }
}

/// A skill that has to do with a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relevant {
    /// Its id.
    pub id: SkillId,
    /// Its relevance.
    #[serde(flatten)]
    pub relevance: Relevance,
}
