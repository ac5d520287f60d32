//! A small set that is asked first, as it is always at hand.

/// How many of the last bits of a number are looked at.
pub(super) const PLACE_BITS: u32 = 12;

const N_PLACES: usize = 1 << PLACE_BITS;

/// Whether a number was added, for each end of numbers: most of what is asked for was not found, and a
/// look at its place in a large table is a wait for memory.
#[derive(Debug)]
pub(super) struct Near(Box<[bool; N_PLACES]>);

impl Default for Near {
    fn default() -> Near {
        Near(Box::new([false; N_PLACES]))
    }
}

impl Near {
    pub(super) fn add(&mut self, number: u32) {
        self.0[number as usize % N_PLACES] = true;
    }

    /// Takes out a number that was added, and with it all that end alike: to take out all.
    pub(super) fn remove(&mut self, number: u32) {
        self.0[number as usize % N_PLACES] = false;
    }

    /// Whether a number was added, or one that ends alike.
    #[inline]
    pub(super) fn may_have(&self, number: u32) -> bool {
        self.0[number as usize % N_PLACES]
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
        for number in added {
            near.remove(number);
        }
        assert!(!(0..4_096).any(|number| near.may_have(number)));
    }
}
