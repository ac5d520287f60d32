//! What may be in a large table, asked of a small one.

use serde::{Deserialize, Serialize};

/// Hashes, each as two bits of one word: a Bloom filter in blocks of a word (Putze, Sanders and Singler,
/// *Cache-, Hash- and Space-Efficient Bloom Filters*, 2007). With sixteen bits a hash, two of a hundred
/// others pass; with eight, seven.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Filter(#[serde(with = "super::raw")] Vec<u64>);

impl Filter {
    /// Takes in `hashes`, as [`scatter`] makes them. It has between `n_bits` and twice as many
    /// bits for each.
    pub(super) fn new(hashes: &[u64], n_bits: usize) -> Filter {
        let n_words = (hashes.len() * n_bits).div_ceil(64).next_power_of_two();
        let mut filter = Filter(vec![0; n_words]);
        for &hash in hashes {
            let place = filter.place(hash);
            filter.0[place] |= 1 << (hash & 63) | 1 << (hash >> 6 & 63);
        }
        filter
    }

    /// Whether a hash may be one of those taken in; if it is, it does.
    #[inline]
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let word = self.0.get(self.place(hash)).copied().unwrap_or_default();
        word >> (hash & 63) & word >> (hash >> 6 & 63) & 1 == 1
    }

    fn place(&self, hash: u64) -> usize {
        (hash >> 32) as usize & self.0.len().wrapping_sub(1)
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// A hash of a number in which all of its bits change the lower bits and the upper ones.
#[inline]
pub(super) fn scatter(number: u64) -> u64 {
    let product = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// Which of so many places the half of a hash says.
#[inline]
pub(super) fn scaled(half: u32, n_places: usize) -> usize {
    ((u64::from(half) * n_places as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::scatter as hash;
    use super::*;

    #[test]
    fn what_was_taken_in_is_never_missed_and_most_else_is() {
        for (n_bits, most) in [(16, 30), (8, 100)] {
            let filter = Filter::new(&(0..1_000).map(hash).collect::<Vec<_>>(), n_bits);
            assert!((0..1_000).all(|number| filter.may_have(hash(number))));
            let n_others = (1_000..2_000).filter(|&number| filter.may_have(hash(number))).count();
            assert!(n_others < most, "{n_others} of {n_bits} bits");
        }
    }

    #[test]
    fn nothing_was_taken_in() {
        assert!(!Filter::new(&[], 16).may_have(5));
        assert!(!Filter::default().may_have(5));
    }
}
