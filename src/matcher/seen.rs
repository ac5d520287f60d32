//! Which literals a pass has seen, and where.

use std::ops::Range;

/// A literal found in the text.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// The literal's place in the slice that was compiled.
    pub(crate) literal: u32,
    /// Bytes of the folded text.
    pub(crate) range: Range<usize>,
    /// Whether this is the first time the literal is seen in this text.
    pub(crate) first: bool,
    /// Whether this is the first time it is seen as a word of its own.
    pub(crate) first_whole: bool,
}

/// What a pass has seen of each literal. Kept between passes: a stamp tells which pass wrote an
/// entry, so that nothing has to be cleared.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pass: u32,
    entries: Vec<SeenLiteral>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeenLiteral {
    pass: u32,
    first_end: u32,
    last_end: u32,
    /// Seen where its left side is a word's start.
    pub(super) opened: bool,
    /// Seen as a word of its own.
    pub(super) whole: bool,
}

impl Seen {
    /// Whether the last pass has seen a literal.
    pub(crate) fn has(&self, literal: u32) -> bool {
        self.get(literal).is_some()
    }

    /// Where the first occurrence of a literal ends that the last pass has seen.
    pub(crate) fn first_end(&self, literal: u32) -> Option<u32> {
        self.get(literal).map(|entry| entry.first_end)
    }

    /// Where the last occurrence of a literal ends that the last pass has seen.
    pub(super) fn last_end(&self, literal: u32) -> Option<u32> {
        self.get(literal).map(|entry| entry.last_end)
    }

    /// Notes a literal that ends at `end`. Returns whether this is its first occurrence, and what else
    /// is known of it.
    #[inline]
    pub(super) fn note(&mut self, literal: u32, end: usize) -> (bool, &mut SeenLiteral) {
        let entry = &mut self.entries[literal as usize];
        let first = entry.pass != self.pass;
        if first {
            let first_end = end as u32;
            *entry = SeenLiteral { pass: self.pass, first_end, ..SeenLiteral::default() };
        }
        entry.last_end = end as u32;
        (first, entry)
    }

    fn get(&self, literal: u32) -> Option<SeenLiteral> {
        Some(self.entries[literal as usize]).filter(|entry| entry.pass == self.pass)
    }

    /// Starts a pass over a text for `n_literals`.
    pub(super) fn start(&mut self, n_literals: usize) {
        self.pass = self.pass.wrapping_add(1);
        if self.entries.len() != n_literals || self.pass == 0 {
            self.entries.clear();
            self.entries.resize(n_literals, SeenLiteral::default());
            self.pass = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_do_not_see_each_other() {
        let mut seen = Seen { pass: u32::MAX - 1, entries: Vec::new() };
        for _ in 0..4 {
            seen.start(2);
            assert!(!seen.has(1));
            assert!(seen.note(1, 5).0);
            assert!(!seen.note(1, 9).0);
            assert_eq!((seen.first_end(1), seen.last_end(1)), (Some(5), Some(9)));
            assert_eq!((seen.first_end(0), seen.last_end(0)), (None, None));
        }
    }
}
