//! Which literals a pass has seen, and where.

use std::ops::Range;

use super::few::Few;

/// A literal found in the text.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// The literal's place in the slice that was compiled.
    pub(crate) literal: u32,
    /// Bytes of the folded text.
    pub(crate) range: Range<usize>,
    /// Whether this is the first time it is seen as a word of its own.
    pub(crate) first_whole: bool,
}

/// What a pass has seen of each literal.
pub(crate) type Seen = Few<SeenLiteral>;

#[derive(Debug, Clone, Copy)]
pub(super) struct SeenLiteral {
    pub(super) first_end: u32,
    pub(super) last_end: u32,
    /// Seen where its left side is a word's start.
    pub(super) opened: bool,
    /// Seen as a word of its own.
    pub(super) whole: bool,
    /// Stands at other places, too, with a longer literal that was seen before.
    pub(super) passed_over: bool,
}

impl SeenLiteral {
    /// Of a literal that was seen once.
    pub(super) fn new(end: usize) -> SeenLiteral {
        let end = end as u32;
        SeenLiteral {
            first_end: end,
            last_end: end,
            opened: false,
            whole: false,
            passed_over: false,
        }
    }

    /// Takes in one more place, before or after those seen: what is looked for in a word is not always
    /// found in its order.
    #[inline]
    pub(super) fn see(&mut self, end: usize) {
        self.first_end = self.first_end.min(end as u32);
        self.last_end = self.last_end.max(end as u32);
    }
}

impl Seen {
    /// Notes a literal that ends at `end`, of which no more matters.
    #[inline]
    pub(super) fn see(&mut self, literal: u32, end: usize) {
        if let Some(seen) = self.note(literal, SeenLiteral::new(end)) {
            seen.see(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_literal_ends_first_and_last_is_known() {
        let mut seen = Seen::default();
        for _ in 0..2 {
            seen.clear();
            assert!(seen.get(1).is_none());
            for end in [7, 9, 5, 8] {
                seen.see(1, end);
            }
            let ends = seen.get(1).map(|known| (known.first_end, known.last_end));
            assert_eq!(ends, Some((5, 9)));
        }
    }
}
