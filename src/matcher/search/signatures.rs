//! Signatures: the common items of a skill as 63 bits, so that two sets are compared at once.
//!
//! A word of everyday language may be a trigger of thousands of skills, few of which have another
//! match. The signature of a skill tells without a look at its triggers how many of a message's
//! common words it can have: at most as many as bits are set in both.

use serde::{Deserialize, Serialize};

use crate::matcher::arena::Lists;

/// Stands for the bit of an item without one.
const NO_BIT: u8 = 64;

/// The number of bits. The last of 64 is a flag; see [`SmallSet`](super::small_set::SmallSet).
const N_BITS: u8 = 63;

/// Items of fewer skills have no bit: their skills are visited one by one.
const MIN_MARKED: usize = 9;

/// The signatures of all skills.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::matcher) struct Signatures {
    /// The bit of each item, or [`NO_BIT`].
    #[serde(with = "crate::matcher::rows")]
    bits: Vec<u8>,
    /// The bits of each skill.
    #[serde(with = "crate::matcher::rows")]
    skills: Vec<u64>,
}

impl Signatures {
    /// Signatures `n_skills` skills; `postings` are the skills of each of `n_items` items.
    pub(in crate::matcher) fn new(
        postings: &Lists<u32>,
        n_items: usize,
        n_skills: usize,
    ) -> Signatures {
        let n_uses: Vec<usize> = (0..n_items).map(|item| postings.of(item as u32).len()).collect();
        let bits = bits_by_use(&n_uses, MIN_MARKED, N_BITS);
        let mut skills = vec![0; n_skills];
        for (item, &bit) in bits.iter().enumerate().filter(|(_, bit)| **bit != NO_BIT) {
            for &skill in postings.of(item as u32) {
                skills[skill as usize] |= 1 << bit;
            }
        }
        Signatures { bits, skills }
    }

    /// The bit of an item, if it is common.
    pub(in crate::matcher) fn bit(&self, item: u32) -> Option<u8> {
        Some(self.bits[item as usize]).filter(|&bit| bit != NO_BIT)
    }

    /// The bits of items: those of the rare ones are any.
    pub(in crate::matcher) fn of_all(&self, items: impl Iterator<Item = u32>) -> u64 {
        let any = |item: u32| (item % u32::from(N_BITS)) as u8;
        items.fold(0, |all, item| all | 1 << self.bit(item).unwrap_or_else(|| any(item)))
    }

    /// The bits of a skill's common items.
    pub(in crate::matcher) fn of(&self, skill: u32) -> u64 {
        self.skills[skill as usize]
    }

    /// Tells whether what was read is of `n_items` items and `n_skills` skills.
    pub(in crate::matcher) fn is_sound(&self, n_items: usize, n_skills: usize) -> bool {
        self.bits.len() == n_items
            && self.bits.iter().all(|&bit| bit <= NO_BIT)
            && self.skills.len() == n_skills
    }

    /// Heap memory in bytes.
    pub(in crate::matcher) fn memory_usage(&self) -> usize {
        self.bits.len() + size_of_val(&*self.skills)
    }
}

/// A bit below `n_bits` for each thing used at least `min` times: those used most share theirs with
/// those used least.
fn bits_by_use(n_uses: &[usize], min: usize, n_bits: u8) -> Vec<u8> {
    let mut by_use: Vec<usize> = (0..n_uses.len()).filter(|&of| n_uses[of] >= min).collect();
    by_use.sort_by_key(|&of| std::cmp::Reverse(n_uses[of]));
    let mut bits = vec![NO_BIT; n_uses.len()];
    for (of, bit) in by_use.into_iter().zip((0..n_bits).chain((0..n_bits).rev()).cycle()) {
        bits[of] = bit;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::arena::ListBuilder;

    #[test]
    fn the_most_common_have_bits_of_their_own_and_the_rare_have_none() {
        let n_uses: Vec<usize> = (0..100).collect();
        let bits = bits_by_use(&n_uses, 20, 64);
        assert!(bits[..20].iter().all(|&bit| bit == NO_BIT));
        let of_most: std::collections::BTreeSet<u8> = bits[36..].iter().copied().collect();
        assert_eq!(of_most.len(), 64);
        assert!(bits[20..36].iter().all(|&bit| bit >= 48), "shared with the rarest: {bits:?}");
    }

    #[test]
    fn a_skill_has_the_signatures_of_its_common_items() {
        let mut postings = ListBuilder::default();
        (0..20).for_each(|skill| postings.push(0, skill));
        (0..20).step_by(2).for_each(|skill| postings.push(1, skill));
        postings.push(2, 3);
        let signatures = Signatures::new(&postings.finish(3), 3, 20);
        let [Some(first), Some(second), None] = [0, 1, 2].map(|item| signatures.bit(item)) else {
            panic!("the last item is rare: {signatures:?}");
        };
        assert_eq!(signatures.of(3), 1 << first);
        assert_eq!(signatures.of(4), 1 << first | 1 << second);
        assert!(
            signatures.is_sound(3, 20)
                && !signatures.is_sound(3, 21)
                && !signatures.is_sound(2, 20)
        );
    }
}
