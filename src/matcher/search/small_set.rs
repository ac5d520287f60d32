//! Small sets of items in 64 bits, to test whether one of them was found without reading a large
//! table.

use serde::{Deserialize, Serialize};

use super::presence_filter::{PLACE_BITS, PresenceFilter};
use crate::matcher::rows::row;

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
