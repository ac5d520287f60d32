//! Small sets of things, so put down that whether one of them was found is asked of memory that is
//! always at hand.

use serde::{Deserialize, Serialize};

use super::near::{Near, PLACE_BITS};
use super::raw::row;

/// Up to so many things are put down one by one.
const MAX_FEW: usize = 5;

/// The flag of more things than that, of which the marks are put down.
const MANY: u64 = 1 << 63;

/// Up to five things by their places in [`Near`], or the marks of more: to look at five places tells
/// more than to compare marks, of which a message has the more the larger the catalog is. Two halves lie
/// wherever 32 bits do, so that lists of them are as short as can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Places {
    low: u32,
    high: u32,
}

row!(Places { low: u32, high: u32 });

impl Places {
    /// Puts down `numbers`, if they are few, or else `marks`, of which the last one is never set.
    pub(super) fn new(numbers: &[u32], marks: u64) -> Places {
        let places = match numbers {
            [] => MANY,
            [first, ..] if numbers.len() <= MAX_FEW => {
                // A place that is not needed is that of the first once more.
                let of = |nth: usize| numbers.get(nth).unwrap_or(first) & ((1 << PLACE_BITS) - 1);
                (0..MAX_FEW).fold(0, |all, nth| all << PLACE_BITS | u64::from(of(nth)))
            }
            _ => marks | MANY,
        };
        Places { low: places as u32, high: (places >> 32) as u32 }
    }

    /// Whether one of the things may be among `found`, of which the marks are `marks`.
    pub(super) fn meet(self, found: &Near, marks: impl FnOnce() -> u64) -> bool {
        let places = u64::from(self.high) << 32 | u64::from(self.low);
        if places & MANY != 0 {
            return places & !MANY & marks() != 0;
        }
        (0..MAX_FEW).any(|nth| found.may_have((places >> (nth as u32 * PLACE_BITS)) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_known_one_by_one_and_many_by_their_marks() {
        let mut found = Near::default();
        found.add(70_005);
        let meet = |numbers: &[u32], marks| Places::new(numbers, 0b110).meet(&found, || marks);
        assert!(meet(&[70_005], 0) && meet(&[1, 2, 3, 4, 70_005], 0) && meet(&[70_005, 9], 0));
        assert!(!meet(&[1, 2, 3, 4, 6], u64::MAX) && !meet(&[], u64::MAX));
        assert!(meet(&[1, 2, 3, 4, 6, 7], 0b100), "one of the marks");
        assert!(!meet(&[1, 2, 3, 4, 6, 70_005], 1), "none of the marks");
    }
}
