//! Sets of things that are used a lot, each in a word of 64 bits, so that two sets are compared at
//! once.
//!
//! A word of everyday language may be a trigger of thousands of skills, and of few of these more is
//! found. Which of such words a skill declares is known from its *marks*, without a look at its
//! triggers: whoever has none of the bits of a message has none of its common words, and whoever
//! has two, has two of them at most.

use serde::{Deserialize, Serialize};

use super::flat::Lists;

/// The bit of what has none.
const NO_BIT: u8 = 64;

/// The last bit of 64 says of a word that it is of marks; see [`Places`](super::places::Places).
const N_BITS: u8 = 63;

/// Items of fewer skills have no mark: their skills are looked at one by one.
const MIN_MARKED: usize = 9;

/// Which common items skills declare.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Marks {
    /// The bit of each item, or [`NO_BIT`].
    #[serde(with = "super::raw")]
    bits: Vec<u8>,
    /// The bits of each skill.
    #[serde(with = "super::raw")]
    skills: Vec<u64>,
}

impl Marks {
    /// Marks `n_skills` skills; `postings` are the skills of each of `n_items` items.
    pub(super) fn new(postings: &Lists<u32>, n_items: usize, n_skills: usize) -> Marks {
        let n_uses: Vec<usize> = (0..n_items).map(|item| postings.of(item as u32).len()).collect();
        let bits = bits_by_use(&n_uses, MIN_MARKED, N_BITS);
        let mut skills = vec![0; n_skills];
        for (item, &bit) in bits.iter().enumerate().filter(|(_, bit)| **bit != NO_BIT) {
            for &skill in postings.of(item as u32) {
                skills[skill as usize] |= 1 << bit;
            }
        }
        Marks { bits, skills }
    }

    /// The bit of an item, if it is common.
    pub(super) fn bit(&self, item: u32) -> Option<u8> {
        Some(self.bits[item as usize]).filter(|&bit| bit != NO_BIT)
    }

    /// The bits of items: those of the rare ones are any.
    pub(super) fn of_all(&self, items: impl Iterator<Item = u32>) -> u64 {
        let any = |item: u32| (item % u32::from(N_BITS)) as u8;
        items.fold(0, |all, item| all | 1 << self.bit(item).unwrap_or_else(|| any(item)))
    }

    /// The bits of a skill's common items.
    pub(super) fn of(&self, skill: u32) -> u64 {
        self.skills[skill as usize]
    }

    /// Whether what was read is of so many items and skills.
    pub(super) fn is_sound(&self, n_items: usize, n_skills: usize) -> bool {
        self.bits.len() == n_items
            && self.bits.iter().all(|&bit| bit <= NO_BIT)
            && self.skills.len() == n_skills
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
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
    use super::super::flat::ListBuilder;
    use super::*;

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
    fn a_skill_has_the_marks_of_its_common_items() {
        let mut postings = ListBuilder::default();
        (0..20).for_each(|skill| postings.push(0, skill));
        (0..20).step_by(2).for_each(|skill| postings.push(1, skill));
        postings.push(2, 3);
        let marks = Marks::new(&postings.finish(3), 3, 20);
        let [Some(first), Some(second), None] = [0, 1, 2].map(|item| marks.bit(item)) else {
            panic!("the last item is rare: {marks:?}");
        };
        assert_eq!(marks.of(3), 1 << first);
        assert_eq!(marks.of(4), 1 << first | 1 << second);
        assert!(marks.is_sound(3, 20) && !marks.is_sound(3, 21) && !marks.is_sound(2, 20));
    }
}
