//! A small set that is asked first, as it is always at hand.

/// How many of the last bits of a number are its place.
pub(super) const PLACE_BITS: u32 = 12;

/// How many places there are.
pub(super) const N_PLACES: usize = 1 << PLACE_BITS;

/// Each number of two bytes is an index of the table, so that no place that was read has to be checked;
/// of most nothing is ever asked.
const N_NUMBERS: usize = 1 << 16;

/// Whether a number was added, for each end of numbers: most of what is asked for was not found, and a
/// look at its place in a large table is a wait for memory.
#[derive(Debug)]
pub(super) struct Near(Box<[bool; N_NUMBERS]>);

/// The place of a number, which it shares with all that end alike.
#[inline]
pub(super) fn place(number: u32) -> u16 {
    (number as usize % N_PLACES) as u16
}

impl Default for Near {
    #[expect(clippy::large_stack_arrays, reason = "never made: the slice is as long")]
    fn default() -> Near {
        // Memory that comes as zeros is not touched before it is used, and most of it never is.
        let zeros = vec![false; N_NUMBERS].into_boxed_slice().try_into();
        Near(zeros.unwrap_or_else(|_| Box::new([false; N_NUMBERS])))
    }
}

impl Near {
    pub(super) fn add(&mut self, number: u32) {
        self.0[usize::from(place(number))] = true;
    }

    /// Takes out a number that was added, and with it all that end alike: to take out all.
    pub(super) fn remove(&mut self, number: u32) {
        self.0[usize::from(place(number))] = false;
    }

    /// Whether a number was added, or one that ends alike.
    #[inline]
    pub(super) fn may_have(&self, number: u32) -> bool {
        self.has_place(place(number))
    }

    /// Whether a number was added that has a place.
    #[inline]
    pub(super) fn has_place(&self, place: u16) -> bool {
        self.0[usize::from(place)]
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
        assert!(near.has_place(place(70_001)) && !near.has_place(u16::MAX));
        assert_eq!((0..4_096).filter(|&number| near.may_have(number)).count(), 5);
        for number in added {
            near.remove(number);
        }
        assert!(!(0..4_096).any(|number| near.may_have(number)));
    }
}
