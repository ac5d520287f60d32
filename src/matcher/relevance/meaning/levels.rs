//! The levels of nearness: what is chance, and what is evidence.

use serde::{Deserialize, Serialize};

/// Messages for hardly any skill, in several languages: comments up to the first `--`, then a part for each
/// language.
const FOREIGN: &str = include_str!("foreign.txt");

/// The shares of foreign messages to which the nearest skill is less near than `floor` and `enough`.
const FLOOR_SHARE: f32 = 0.5;
const ENOUGH_SHARE: f32 = 0.9;

/// What the scores of one source of nearness mean. Cosines of unrelated texts are 0.1 with one model and 0.8
/// with another, so scores mean nothing without these.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Levels {
    /// The score up to which a skill is near by chance: half of the messages for no skill have one that is
    /// nearer.
    pub floor: f32,
    /// The score from which nearness is evidence of its own: one of ten messages for no skill has a skill that
    /// is nearer.
    pub enough: f32,
}

/// What a nearness of `enough` is worth, in the unit of [`Relevance`](super::super::Relevance).
const WEIGHT: f32 = 4.0;

impl Levels {
    /// Returns what a score is worth, in the unit of [`Relevance`](super::super::Relevance).
    pub(in crate::matcher::relevance) fn worth(self, score: f32) -> f32 {
        WEIGHT * (score - self.floor).max(0.0)
    }

    /// Measures the levels by each `step`th message for no skill, given the greatest score of any skill for
    /// a message. In a catalog of one language, its foreign messages are nearest; those of the nearest
    /// language decide. Fails if `greatest` does.
    pub(in crate::matcher::relevance) fn measured<E>(
        step: usize,
        mut greatest: impl FnMut(&str) -> Result<f32, E>,
    ) -> Result<Levels, E> {
        let mut levels = Levels { floor: f32::MIN, enough: f32::MIN };
        for messages in languages() {
            let scores: Result<Vec<f32>, E> = messages.step_by(step).map(&mut greatest).collect();
            let mut scores = scores?;
            scores.sort_unstable_by(f32::total_cmp);
            levels.floor = levels.floor.max(at_share(&scores, FLOOR_SHARE));
            levels.enough = levels.enough.max(at_share(&scores, ENOUGH_SHARE));
        }
        Ok(levels)
    }
}

/// The foreign messages of each language.
fn languages() -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
    let parts = FOREIGN.split("\n--").skip(1);
    parts.map(|part| part.lines().skip(1).filter(|line| !line.is_empty()))
}

#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a place in a short list")]
fn at_share(sorted: &[f32], share: f32) -> f32 {
    let place = (sorted.len().saturating_sub(1) as f32 * share).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}
