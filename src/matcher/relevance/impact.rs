//! Impacts: the weight of each term of a skill, in one byte.
//!
//! BM25F adds the occurrences of a term over the fields of a skill, each weighted by its field and by
//! the length of that field, and saturates the sum (Robertson, Zaragoza and Taylor, *Simple BM25
//! extension to multiple weighted fields*, 2004). The front matter (name, description and the like) is
//! also saturated without the body, and added, so that a long body cannot drown what the skill is for.
//! The result is one byte; rarity is applied at query time.

#![expect(clippy::cast_sign_loss, reason = "impacts are not negative")]

/// The saturation of repetitions (`k1` of BM25): a sum of this value counts half as much as endless
/// repetition.
pub(super) const SATURATION: f32 = 1.4;

/// The limit of a saturated sum in BM25: `k1 + 1`.
pub(super) const FULL: f32 = SATURATION + 1.0;

/// The greatest impact.
pub(super) const MAX_IMPACT: u8 = 127;

/// The impact of a term in a skill: seven bits of weight, and one bit that is set if a field of the
/// front matter has the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Impact(pub(super) u8);

impl Impact {
    /// The greatest impact: that of a complete phrase.
    pub(super) const GREATEST: Impact = Impact(MAX_IMPACT << 1 | 1);

    /// No impact: that of the beginning of a phrase.
    pub(super) const NONE: Impact = Impact(0);

    pub(super) fn new(share: f32, in_head: bool) -> Impact {
        let impact = (share * f32::from(MAX_IMPACT)).round().clamp(0.0, f32::from(MAX_IMPACT));
        Impact((impact as u8) << 1 | u8::from(in_head))
    }

    /// The weight, from 0 to [`MAX_IMPACT`].
    pub(super) fn value(self) -> u8 {
        self.0 >> 1
    }

    /// Tells whether a field of the front matter has the term.
    pub(super) fn in_head(self) -> bool {
        self.0 & 1 == 1
    }
}
