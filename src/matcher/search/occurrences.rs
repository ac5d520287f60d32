//! The occurrences of required literals in one text.

use super::sparse_map::SparseMap;

/// The literals that occur in a text.
pub(crate) type Occurrences = SparseMap<Occurrence>;

/// The places of a literal.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct Occurrence {
    pub(in crate::matcher) first_end: u32,
    pub(in crate::matcher) last_end: u32,
    /// True if it occurs where a word may end.
    pub(in crate::matcher) closed: bool,
    /// True if it also occurs at places that were not noted, each at the end of a longer literal
    /// that occurred before.
    pub(in crate::matcher) skipped: bool,
}

impl Occurrence {
    /// One place.
    pub(in crate::matcher) fn new(end: usize, closed: bool) -> Occurrence {
        let end = end as u32;
        Occurrence { first_end: end, last_end: end, closed, skipped: false }
    }

    /// Adds a later place.
    #[inline]
    pub(in crate::matcher) fn add(&mut self, end: usize, closed: bool) {
        self.last_end = end as u32;
        self.closed |= closed;
    }
}
