//! The levels of nearness: what is chance, and what is evidence.

use serde::{Deserialize, Serialize};

/// Messages for hardly any skill, in several languages: comments up to the first `--`, then a part for each
/// language.
const FOREIGN: &str = include_str!("foreign.txt");

/// The share of foreign messages to which the nearest skill is less near than `enough`.
const ENOUGH_SHARE: f32 = 0.9;

/// The meaning of the scores of one source of nearness. Cosines of unrelated texts are 0.1 with one model and 0.8
/// with another, so scores mean nothing without these.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Levels {
    /// The score of a skill that a message has nothing to do with: half of all skills score less for a message
    /// for no skill.
    pub floor: f32,
    /// The score from which nearness is evidence of its own: one of ten messages for no skill has a skill that
    /// is nearer.
    pub enough: f32,
}

/// The worth of a score of `enough`, in the unit of [`Relevance`](super::super::Relevance).
const ENOUGH_WORTH: f32 = 1.3;

/// The evidence of a nearness of `enough`, in the unit of [`Relevance::evidence`](super::super::Relevance).
const ENOUGH_EVIDENCE: f32 = 1.1;

impl Levels {
    /// Returns the evidence of a score.
    pub(in crate::matcher::relevance) fn evidence(self, score: f32) -> f32 {
        ENOUGH_EVIDENCE * self.share(score)
    }

    /// Tells whether a skill with this score is near enough to be shown for that alone.
    pub(in crate::matcher::relevance) fn is_near(self, score: f32) -> bool {
        score >= self.enough && score > self.floor
    }

    /// Returns the score from which a skill is found without a shared word: halfway from chance to evidence.
    pub(in crate::matcher::relevance) fn found(self) -> f32 {
        f32::midpoint(self.floor, self.enough)
    }

    /// Returns what a score is worth, in the unit of [`Relevance`](super::super::Relevance).
    pub(in crate::matcher::relevance) fn worth(self, score: f32) -> f32 {
        ENOUGH_WORTH * self.share(score)
    }

    /// Returns how far a score is from `floor`, where `enough` is 1; at least 0, at most 3.
    fn share(self, score: f32) -> f32 {
        let range = (self.enough - self.floor).max(f32::MIN_POSITIVE);
        ((score - self.floor) / range).clamp(0.0, 3.0)
    }

    /// Measures the levels by each `step`th message for no skill, given the scores of all skills for a message.
    /// In a catalog of one language, its foreign messages are nearest; those of the nearest language decide.
    /// Fails if `score` does.
    pub(in crate::matcher::relevance) fn measured<E>(
        step: usize,
        mut score: impl FnMut(&str, &mut Vec<f32>) -> Result<(), E>,
    ) -> Result<Levels, E> {
        let mut levels = Levels { floor: f32::MIN, enough: f32::MIN };
        let mut scores = Vec::new();
        for messages in foreign() {
            let (mut medians, mut greatest) = (Vec::new(), Vec::new());
            for message in messages.step_by(step) {
                score(message, &mut scores)?;
                greatest.extend(scores.iter().copied().reduce(f32::max));
                medians.push(at_share(&mut scores, 0.5));
            }
            levels.floor = levels.floor.max(at_share(&mut medians, 0.5));
            levels.enough = levels.enough.max(at_share(&mut greatest, ENOUGH_SHARE));
        }
        Ok(levels)
    }
}

/// The foreign messages of each language.
pub(super) fn foreign() -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
    let parts = FOREIGN.split("\n--").skip(1);
    parts.map(|part| part.lines().skip(1).filter(|line| !line.is_empty()))
}

/// Returns the score below which this share of the scores lies; 0 of none.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a place in a list")]
fn at_share(scores: &mut [f32], share: f32) -> f32 {
    let place = (scores.len().saturating_sub(1) as f32 * share) as usize;
    if place >= scores.len() {
        return 0.0;
    }
    *scores.select_nth_unstable_by(place, f32::total_cmp).1
}
