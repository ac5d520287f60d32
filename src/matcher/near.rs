//! A small set that is asked first, as it is always at hand.

/// How many of the last bits of a number are looked at.
pub(super) const PLACE_BITS: u32 = 12;

const N_WORDS: usize = (1 << PLACE_BITS) / 64;

/// A bit for each number that was added, shared with all that end alike: most of what is asked for
/// was not found, and a look at its place in a large table is a wait for memory.
#[derive(Debug, Clone)]
pub(super) struct Near([u64; N_WORDS]);

impl Default for Near {
    fn default() -> Near {
        Near([0; N_WORDS])
    }
}

impl Near {
    pub(super) fn add(&mut self, number: u32) {
        self.0[number as usize / 64 % N_WORDS] |= 1 << (number % 64);
    }

    /// Whether a number was added, or one that ends alike.
    pub(super) fn may_have(&self, number: u32) -> bool {
        self.0[number as usize / 64 % N_WORDS] >> (number % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_never_missed_and_most_else_is() {
        let added = [0, 63, 64, 4_095, 70_001, u32::MAX];
        let mut near = Near::default();
        for &number in &added {
            near.add(number);
        }
        assert!(added.iter().all(|&number| near.may_have(number)));
        assert_eq!((0..4_096).filter(|&number| near.may_have(number)).count(), 5);
    }
}
