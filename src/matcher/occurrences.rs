//! The occurrences of required literals in one text.

use super::few::Few;

/// The literals that occur in a text.
pub(crate) type Occurrences = Few<Occurrence>;

/// The places of a literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence {
    pub(super) first_end: u32,
    pub(super) last_end: u32,
    /// Whether it occurs where a word may end.
    pub(super) closed: bool,
    /// Whether it also occurs at places that were not noted, each at the end of a longer literal that
    /// occurred before.
    pub(super) skipped: bool,
}

impl Occurrence {
    /// One place.
    pub(super) fn new(end: usize, closed: bool) -> Occurrence {
        let end = end as u32;
        Occurrence { first_end: end, last_end: end, closed, skipped: false }
    }

    /// Adds a later place.
    #[inline]
    pub(super) fn add(&mut self, end: usize, closed: bool) {
        self.last_end = end as u32;
        self.closed |= closed;
    }
}
