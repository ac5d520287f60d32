//! Relevance: the ranking of skills for a message by the words they share (`docs/routing.md`).
//!
//! One ranking serves `disclose`, `find_skills` and `eval`. It is BM25F: a term is worth more if few
//! skills have it, and more in a field that says what a skill is for (`fields.rs`); each repetition adds
//! less. Terms are the stems (`stem.rs`) of words and of parts of identifiers, and pairs of characters
//! in scripts without spaces (`terms.rs`); pairs of adjacent words; and the phrases by which
//! descriptions say when their skill is wanted (`phrases.rs`).
//!
//! The weight of a term in a skill is one byte, its impact (`impact.rs`, `fold.rs`). Impacts are stored in flat
//! postings (`postings.rs`) behind a hash dictionary (`flat.rs`), which `search.rs` reads. `shared.rs`
//! reports the terms that a skill and a message share, for the few skills that are shown.
//!
//! The weights were fitted on one half of the catalogs of `docs/routing.md` and are reported on
//! the other.

mod adjacent;
#[cfg(feature = "snapshot")]
mod bytes;
mod fields;
mod flat;
mod fold;
mod impact;
mod index;
mod meaning;
mod near;
mod phrases;
mod postings;
mod purpose;
mod retriever;
mod scratch;
mod search;
mod shared;

pub use fields::Field;
pub use index::RelevanceIndex;
pub use meaning::Levels;
pub use near::Near;
pub(crate) use purpose::denies;
pub use repertoire_meaning::Model as MeaningModel;
pub(crate) use retriever::Retrieval;
pub use retriever::{Candidate, Retriever};
pub use shared::Shared;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::skill::SkillId;

/// The relevance of a skill to a message. Words count by their rarity. The unit is the weight of a word
/// that is as rare as possible in the catalog, so that figures compare among messages and catalogs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
#[non_exhaustive]
pub struct Relevance {
    /// The weight of the words that skill and message share: above 0, without an upper bound.
    pub worth: f32,
    /// The lead of `worth` over the next skill.
    pub lead: f32,
    /// Number of distinct words that skill and message share, without stop words. `words` and
    /// `head_words` are counted for the first skill only, as a margin decides on that one.
    pub words: usize,
    /// Number of the shared words that are in the skill's name, description or another field of its
    /// front matter, without words that the message denies.
    pub head_words: usize,
    /// The evidence that the message concerns the skill at all: 1 for each shared word of its front
    /// matter and 1/2 for one of its body, half of that for everyday words ("build", "time") and
    /// numbers; and what its nearness is. Counted for the first skill only. Below 1, or 1.5 among 64 skills or
    /// more, and half more where nearness adds to it, relevance shows no line unless `says_phrase` is true.
    pub evidence: f32,
    /// True if a shared word distinguishes skills: fewer than half of them have it.
    pub is_telling: bool,
    /// True if the message contains a phrase by which the skill's description says when it is wanted.
    pub says_phrase: bool,
    /// True if the message denies a word of the skill's name: "this is not about Terraform". Only known
    /// for the first skill.
    pub is_denied: bool,
    /// True if the words are in attachments only, as the request shares none with any skill.
    pub is_attached: bool,
    /// The nearness of the skill to the message: the cosine of their meanings, from -1 to 1, or the score that
    /// the host's [`Retriever`] gives it. `None` if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearness: Option<f32>,
    /// True if that is near enough for a skill to be found without a shared word.
    pub is_near: bool,
    /// True if the nearness is part of `worth`, `lead` and `evidence`, as in catalogs of 12 skills or more. One
    /// of fewer skills is near to many messages, so there it only brings lines.
    pub is_summed: bool,
}

/// The minimum evidence that a message concerns any skill, in catalogs of fewer than [`MANY`] skills and
/// in larger ones. Less is mostly chance (`docs/routing.md`, *Messages for no skill*).
const ENOUGH_EVIDENCE: [f32; 2] = [1.0, 1.5];

/// The evidence that is needed in addition where nearness adds to it.
const NEARNESS_EVIDENCE: f32 = 0.5;

/// The number of skills at which at least one of them shares a word with most messages.
const MANY: usize = 64;

impl Relevance {
    /// Tells whether the message concerns the skill, which must be the first of `n_skills`, at all. If
    /// so, it may also concern the next ones.
    pub(crate) fn is_plausible(&self, n_skills: usize) -> bool {
        let enough = ENOUGH_EVIDENCE[usize::from(n_skills >= MANY)];
        let nearness = if self.is_summed { NEARNESS_EVIDENCE } else { 0.0 };
        // A message in another language shares no word.
        let is_alone = self.is_near && self.words == 0;
        self.says_phrase || is_alone || self.evidence >= enough + nearness
    }

    /// Tells whether nearness alone brings the skill, whatever the first one is.
    pub(crate) fn is_near_alone(&self) -> bool {
        self.is_near && !self.is_summed
    }
}

/// A skill that is relevant to a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Relevant {
    /// The id of the skill.
    pub id: SkillId,
    /// The relevance of the skill.
    #[serde(flatten)]
    pub relevance: Relevance,
}
