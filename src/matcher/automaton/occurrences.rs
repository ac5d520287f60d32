//! The literals that occur in a text.

use crate::matcher::sparse_map::SparseMap;

/// The occurrences of a literal in a text, summarised.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct Occurrence {
    pub(in crate::matcher) first_end: u32,
    pub(in crate::matcher) last_end: u32,
    /// True if the literal occurs where a word may end.
    pub(in crate::matcher) closed: bool,
    /// True if the literal also occurs at places that were not recorded, each at the end of a longer
    /// literal that had occurred before.
    pub(in crate::matcher) skipped: bool,
}

/// The literals that occur in a text, by their numbers.
pub(in crate::matcher) type Occurrences = SparseMap<Occurrence>;

impl Occurrence {
    /// The summary of one occurrence.
    pub(in crate::matcher) fn new(end: usize, closed: bool) -> Occurrence {
        let end = end as u32;
        Occurrence { first_end: end, last_end: end, closed, skipped: false }
    }

    /// Adds a later occurrence.
    #[inline]
    pub(in crate::matcher) fn add(&mut self, end: usize, closed: bool) {
        self.last_end = end as u32;
        self.closed |= closed;
    }
}
