//! Signatures: the common items of a skill as 63 bits, so that two sets are compared at once.
//!
//! A word of everyday language may be a trigger of thousands of skills, few of which have another
//! match. The signature of a skill tells without a look at its triggers how many of a message's
//! common words it can have: at most as many as bits are set in both.

use serde::{Deserialize, Serialize};

use super::sparse_map::{PLACE_BITS, PresenceFilter};
use crate::matcher::arena::Lists;
use crate::matcher::rows::row;

/// Stands for the bit of an item without one.
const NO_BIT: u8 = 64;

/// The number of bits. The last of 64 is a flag; see [`SmallSet`].
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

/// The most items of one bit that are counted apart.
const N_LEVELS: usize = 4;

/// The items that were not visited yet, by their bits.
#[derive(Debug)]
pub(super) struct Remaining {
    /// Items without a bit, and those that are too many for theirs.
    n_unmarked: u32,
    n_of_bit: [u32; 64],
    /// The bits of one item or more, of two or more, and so on: a skill with a bit may have all of its items.
    levels: [u64; N_LEVELS],
}

impl Remaining {
    /// Takes in items, each with its mark if it has one.
    pub(super) fn new(bits: impl IntoIterator<Item = Option<u8>>) -> Remaining {
        let mut left = Remaining { n_unmarked: 0, n_of_bit: [0; 64], levels: [0; N_LEVELS] };
        bits.into_iter().for_each(|bit| left.add(bit));
        left
    }

    fn add(&mut self, bit: Option<u8>) {
        let Some(bit) = bit else {
            self.n_unmarked += 1;
            return;
        };
        let n_of_bit = &mut self.n_of_bit[usize::from(bit)];
        match self.levels.get_mut(*n_of_bit as usize) {
            Some(level) => *level |= 1 << bit,
            None => self.n_unmarked += 1,
        }
        *n_of_bit += 1;
    }

    /// Takes out an item that was taken in.
    pub(super) fn remove(&mut self, bit: Option<u8>) {
        let Some(bit) = bit else {
            self.n_unmarked -= 1;
            return;
        };
        let n_of_bit = &mut self.n_of_bit[usize::from(bit)];
        *n_of_bit -= 1;
        match self.levels.get_mut(*n_of_bit as usize) {
            Some(level) => *level &= !(1 << bit),
            None => self.n_unmarked -= 1,
        }
    }

    /// The most of them that a skill with this signature has.
    pub(super) fn n_of(&self, marks: u64) -> u32 {
        let levels = self.levels.iter().take_while(|level| **level != 0);
        self.n_unmarked + levels.map(|level| (marks & level).count_ones()).sum::<u32>()
    }
}

/// The most items that are stored one by one.
const MAX_FEW: usize = 5;

/// The flag of a larger set, which is stored as a signature.
const MANY: u64 = 1 << 63;

/// Up to five items by their places in a [`PresenceFilter`], or the signature of more: five places
/// tell more than a signature, of whose bits a message sets the more the larger the catalog is. Two
/// halves of 32 bits, so that a row that holds one is not padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::matcher) struct SmallSet {
    low: u32,
    high: u32,
}

row!(SmallSet { low: u32, high: u32 });

impl SmallSet {
    /// The set of `numbers`, if they are few, or else of `signatures`, whose last bit is never set.
    pub(in crate::matcher) fn new(numbers: &[u32], signatures: u64) -> SmallSet {
        let places = match numbers {
            [] => MANY,
            [first, ..] if numbers.len() <= MAX_FEW => {
                // A place that is not needed is that of the first once more.
                let of = |nth: usize| numbers.get(nth).unwrap_or(first) & ((1 << PLACE_BITS) - 1);
                (0..MAX_FEW).fold(0, |all, nth| all << PLACE_BITS | u64::from(of(nth)))
            }
            _ => signatures | MANY,
        };
        SmallSet { low: places as u32, high: (places >> 32) as u32 }
    }

    /// Tells whether an item of the set may be among `found`, whose signature is `signatures`.
    pub(in crate::matcher) fn meet(
        self,
        found: &PresenceFilter,
        signatures: impl FnOnce() -> u64,
    ) -> bool {
        let places = u64::from(self.high) << 32 | u64::from(self.low);
        if places & MANY != 0 {
            return places & !MANY & signatures() != 0;
        }
        (0..MAX_FEW).any(|nth| found.may_have((places >> (nth as u32 * PLACE_BITS)) as u32))
    }
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

    #[test]
    fn a_skill_has_at_most_those_of_its_marks_and_those_that_no_mark_tells() {
        let mut left = Remaining::new([Some(3), None, Some(5), Some(3)]);
        assert_eq!([0, 1 << 3, 1 << 5, 1 << 3 | 1 << 5 | 1].map(|of| left.n_of(of)), [1, 3, 2, 4]);
        left.remove(Some(3));
        assert_eq!([0, 1 << 3, 1 << 5].map(|of| left.n_of(of)), [1, 2, 2]);
        left.remove(None);
        left.remove(Some(3));
        assert_eq!([0, 1 << 3, 1 << 5].map(|of| left.n_of(of)), [0, 0, 1]);
    }

    #[test]
    fn those_that_are_too_many_for_a_mark_count_for_all() {
        let mut left = Remaining::new([Some(62); N_LEVELS + 2]);
        let most = N_LEVELS as u32;
        assert_eq!([0, 1, 1 << 62].map(|of| left.n_of(of)), [2, 2, most + 2]);
        left.remove(Some(62));
        left.remove(Some(62));
        left.remove(Some(62));
        assert_eq!([0, 1, 1 << 62].map(|of| left.n_of(of)), [0, 0, most - 1]);
    }

    #[test]
    fn few_are_known_one_by_one_and_many_by_their_marks() {
        let mut found = PresenceFilter::default();
        found.add(70_005);
        let meet =
            |numbers: &[u32], signatures| SmallSet::new(numbers, 0b110).meet(&found, || signatures);
        assert!(meet(&[70_005], 0) && meet(&[1, 2, 3, 4, 70_005], 0) && meet(&[70_005, 9], 0));
        assert!(!meet(&[1, 2, 3, 4, 6], u64::MAX) && !meet(&[], u64::MAX));
        assert!(meet(&[1, 2, 3, 4, 6, 7], 0b100), "one of the signatures");
        assert!(!meet(&[1, 2, 3, 4, 6, 70_005], 1), "none of the signatures");
    }
}
