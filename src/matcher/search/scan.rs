//! The scan of a folded text for literals.

use std::ops::Range;

use super::occurrences::{Occurrence, Occurrences};
use crate::matcher::automaton::{NONE, is_word};
use crate::matcher::index::Index;
use crate::matcher::tables::LiteralUse;
use crate::matcher::text::boundary;

/// The flags of a literal's value: patterns require it; it is one item, and which; it has other uses, or
/// more.
const REQUIRED: u32 = 1 << 31;
const ONE_ITEM: u32 = 1 << 30;
const MORE: u32 = 1 << 29;
const ITEM: u32 = MORE - 1;

/// A receiver of the literals that stand in a text as words of their own, in the order of their ends.
pub(super) trait Report {
    /// Takes in a literal that is an item and has no other use.
    fn item(&mut self, item: u32, range: Range<usize>);

    /// Takes in any other literal.
    fn literal(&mut self, literal: u32, range: Range<usize>);
}

/// The value that the automaton keeps of a literal with these uses.
pub(in crate::matcher) fn value_of(uses: &[LiteralUse], is_required: bool) -> u32 {
    let required = if is_required { REQUIRED } else { 0 };
    required
        | match *uses {
            [] => 0,
            [LiteralUse::Item(item)] if item <= ITEM => ONE_ITEM | item,
            _ => MORE,
        }
}

/// The sides of places in a text.
struct Sides<'t> {
    text: &'t str,
    bytes: &'t [u8],
}

impl Sides<'_> {
    /// Tells whether a word may start where `range` does.
    #[inline]
    fn open(&self, range: &Range<usize>) -> bool {
        let Some(before) = range.start.checked_sub(1).map(|at| self.bytes[at]) else { return true };
        if before < 0x80 && (!is_word(before) || self.bytes[range.start] < 0x80) {
            return !is_word(before);
        }
        // Lengths in a damaged snapshot may lead into a character.
        self.text.is_char_boundary(range.start)
            && boundary::opens(self.text, range.start, range.end)
    }

    /// Tells whether a word may end at `end`.
    #[inline]
    fn close(&self, end: usize) -> bool {
        let Some(&after) = self.bytes.get(end) else { return true };
        if after < 0x80 && (!is_word(after) || self.bytes[end - 1] < 0x80) {
            return !is_word(after);
        }
        self.text.is_char_boundary(end) && boundary::closes(self.text, end)
    }
}

impl Index {
    /// Calls `report` for each literal of the folded `text`, and notes in `occurrences` those that patterns
    /// require.
    ///
    /// Linear in the text even where literals are nested (`a`, `aa`, `aaa`, …): once one occurred with
    /// the same kind of right side, so did those that it ends with, whose left side is inside it.
    pub(super) fn scan_literals(
        &self,
        text: &str,
        occurrences: &mut Occurrences,
        report: &mut impl Report,
    ) {
        occurrences.clear();
        let sides = Sides { text, bytes: text.as_bytes() };
        self.automaton.scan(text, |longest, end| {
            let closes = sides.close(end);
            let mut next = longest;
            let mut only_each = false;
            while next != NONE {
                let literal = next;
                let of = self.automaton.literal(literal);
                next = if only_each { of.next_each } else { of.next };
                if (of.value & REQUIRED != 0 || of.next != NONE)
                    && let Some(known) = occurrences.note(literal, Occurrence::new(end, closes))
                {
                    let is_settled = known.closed || !closes;
                    known.add(end, closes);
                    if is_settled && !only_each && of.next != NONE {
                        self.skip(of.next, occurrences);
                        only_each = true;
                        next = of.next_each;
                    }
                }
                if closes && of.value & (ONE_ITEM | MORE) != 0 {
                    let range = end.saturating_sub(of.len as usize)..end;
                    if sides.open(&range) {
                        if of.value & ONE_ITEM != 0 {
                            report.item(of.value & ITEM, range);
                        } else {
                            report.literal(literal, range);
                        }
                    }
                }
            }
        });
    }

    /// Notes that `literal` and those that it ends with occur at another place that is not noted.
    #[cold]
    fn skip(&self, mut literal: u32, occurrences: &mut Occurrences) {
        while literal != NONE {
            if let Some(&known) = occurrences.get(literal) {
                if known.skipped {
                    return;
                }
                occurrences.set(literal, Occurrence { skipped: true, ..known });
            }
            literal = self.automaton.literal(literal).next;
        }
    }

    /// Tells whether each item that the automaton leads to exists.
    pub(in crate::matcher) fn values_fit(&self) -> bool {
        let n_items = self.tables.items.len();
        let leads_out = |value: u32| value & ONE_ITEM != 0 && (value & ITEM) as usize >= n_items;
        !self.automaton.literals().iter().any(|literal| leads_out(literal.value))
    }
}
