//! Scratch: the working memory of a search, kept for the next one.

use std::cmp::Ordering;

use repertoire_text::words::terms::{Term, Tokenizer};

use super::meaning::Nearness;

/// The working memory of a search, kept for the next one.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) tokenizer: Tokenizer,
    pub(super) normalized: String,
    /// The normalised text with its ASCII letters in lower case; each byte keeps its position.
    pub(super) folded: String,
    pub(super) words: Vec<Word>,
    /// The factor by which scores are multiplied in `sums`.
    pub(super) scale: f32,
    /// A sum for each skill, and zeros up to a whole number of blocks.
    pub(super) sums: Vec<u16>,
    /// The greatest sum of each block of skills; `best_maxima` is a copy in which the best are selected.
    pub(super) maxima: Vec<u16>,
    pub(super) best_maxima: Vec<u16>,
    pub(super) ranked: Vec<Ranked>,
    pub(super) nearness: Nearness,
}

/// A skill and its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub(super) skill: u32,
    pub(super) score: f32,
}

impl Ranked {
    /// Orders better skills first, equal ones by id.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as sorting calls it")]
    pub(super) fn compare(&self, other: &Ranked) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.skill.cmp(&other.skill))
    }
}

/// A distinct term of the message that at least one skill has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) term: Term,
    pub(super) kind: WordKind,
    /// The position of the term in the index.
    pub(super) place: u32,
    /// True if the term distinguishes skills: fewer than half of them have it.
    pub(super) is_telling: bool,
    /// The score that an impact of 1 adds.
    pub(super) weight: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    Telling,
    Common,
    /// A part of an identifier that no skill has.
    Part,
    /// The first letters of a word.
    Beginning,
    Pair,
    Phrase,
}

impl WordKind {
    /// Tells whether sharing a term of this kind is evidence that a message concerns a skill.
    pub(super) fn is_evidence(self) -> bool {
        matches!(self, WordKind::Telling | WordKind::Beginning | WordKind::Part)
    }
}
