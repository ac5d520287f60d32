//! How many of the items that are still to be looked at one skill can have.

/// Items that are still to be looked at, by their marks.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Items without a mark, and items with each; an item that shares its mark counts with those
    /// without, as nobody can tell which of the two a skill has.
    n_unmarked: u32,
    n_of_bit: Bits,
    bits: u64,
}

#[derive(Debug)]
struct Bits([u32; 64]);

impl Default for Bits {
    fn default() -> Bits {
        Bits([0; 64])
    }
}

impl Left {
    /// Takes in an item, with its mark if it has one.
    pub(super) fn add(&mut self, bit: Option<u8>) {
        let Some(bit) = bit else {
            self.n_unmarked += 1;
            return;
        };
        let n_of_bit = &mut self.n_of_bit.0[usize::from(bit)];
        self.n_unmarked += u32::from(*n_of_bit > 0);
        *n_of_bit += 1;
        self.bits |= 1 << bit;
    }

    /// Takes out an item that was taken in.
    pub(super) fn remove(&mut self, bit: Option<u8>) {
        let Some(bit) = bit else {
            self.n_unmarked -= 1;
            return;
        };
        let n_of_bit = &mut self.n_of_bit.0[usize::from(bit)];
        *n_of_bit -= 1;
        if *n_of_bit > 0 {
            self.n_unmarked -= 1;
        } else {
            self.bits &= !(1 << bit);
        }
    }

    /// How many items there are.
    pub(super) fn n_items(&self) -> u32 {
        self.n_unmarked + self.bits.count_ones()
    }

    /// How many of them a skill with `marks` has at most.
    pub(super) fn n_of(&self, marks: u64) -> u32 {
        self.n_unmarked + (marks & self.bits).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_has_at_most_those_of_its_marks_and_those_that_no_mark_tells() {
        let mut left = Left::default();
        for bit in [Some(3), None, Some(5), Some(3)] {
            left.add(bit);
        }
        assert_eq!(left.n_items(), 4);
        assert_eq!([0, 1 << 3, 1 << 5, 1 << 3 | 1 << 5 | 1].map(|of| left.n_of(of)), [2, 3, 3, 4]);
        left.remove(Some(3));
        assert_eq!([0, 1 << 3, 1 << 5].map(|of| left.n_of(of)), [1, 2, 2]);
        left.remove(None);
        left.remove(Some(3));
        assert_eq!([0, 1 << 3, 1 << 5].map(|of| left.n_of(of)), [0, 0, 1]);
    }
}
