//! An upper bound of the number of remaining items that one skill can have, from its signature.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
