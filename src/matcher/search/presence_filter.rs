//! A presence filter of 4,096 entries, small enough to stay in the first-level cache, consulted before any
//! larger table.

/// The number of low bits of a number that are its place.
pub(in crate::matcher) const PLACE_BITS: u32 = 12;

/// The number of places.
pub(in crate::matcher) const N_PLACES: usize = 1 << PLACE_BITS;

/// The length of the table: every `u16` is an index of it, so that places read from a snapshot need
/// no check.
const N_NUMBERS: usize = 1 << 16;

/// The numbers that were added, by their low bits. It may have others, and never misses one.
#[derive(Debug)]
pub(in crate::matcher) struct PresenceFilter(Box<[bool; N_NUMBERS]>);

/// The place of a number, which it shares with all numbers of the same low bits.
#[inline]
pub(in crate::matcher) fn place(number: u32) -> u16 {
    (number as usize % N_PLACES) as u16
}

impl Default for PresenceFilter {
    #[expect(clippy::large_stack_arrays, reason = "never made: the slice is as long")]
    fn default() -> PresenceFilter {
        // Zeroed memory is not touched before it is used, and most of it never is.
        let zeros = vec![false; N_NUMBERS].into_boxed_slice().try_into();
        PresenceFilter(zeros.unwrap_or_else(|_| Box::new([false; N_NUMBERS])))
    }
}

impl PresenceFilter {
    pub(in crate::matcher) fn add(&mut self, number: u32) {
        self.0[usize::from(place(number))] = true;
    }

    /// Removes a number that was added, and with it all of the same place: for removing all.
    pub(in crate::matcher) fn remove(&mut self, number: u32) {
        self.0[usize::from(place(number))] = false;
    }

    /// Tells whether `number` was added, or another of the same place.
    #[inline]
    pub(in crate::matcher) fn may_have(&self, number: u32) -> bool {
        self.has_place(place(number))
    }

    /// Tells whether a number of `place` was added.
    #[inline]
    pub(in crate::matcher) fn has_place(&self, place: u16) -> bool {
        self.0[usize::from(place)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_never_missed_and_most_else_is() {
        let added = [0, 63, 64, 4_095, 70_001, u32::MAX];
        let mut near = PresenceFilter::default();
        for &number in &added {
            near.add(number);
        }
        assert!(added.iter().all(|&number| near.may_have(number)));
        assert!(near.has_place(place(70_001)) && !near.has_place(u16::MAX));
        assert_eq!((0..4_096).filter(|&number| near.may_have(number)).count(), 5);
        for number in added {
            near.remove(number);
        }
        assert!(!(0..4_096).any(|number| near.may_have(number)));
    }
}
