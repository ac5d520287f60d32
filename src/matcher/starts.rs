//! What starts in a run of letters, digits and `_` of ASCII, wherever the run stands.

use std::ops::Range;

use super::infix::{Infixes, Literal};
use super::keys::{LONG_BYTES, SHORT_BYTES};
use super::tables::NONE;

/// Runs are looked at in parts of so many bytes: their places and those of the keys that reach out of
/// the part fit into 64 bits.
const PART_BYTES: usize = 64 - LONG_BYTES;

/// What starts somewhere in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// The literal that the run is, of those that are [`Words`](super::words::Words).
    Word(u32),
    /// The longest literal inside it.
    Literal(u32),
    /// The only one inside it, of which nothing matters but where it stands first and last: of patterns.
    Single(u32),
    /// A head that ends it.
    Head(u32),
}

impl Infixes {
    /// Calls `found` with what starts in a run, and where; of each literal in order.
    pub(super) fn starts_in(&self, run: &[u8], mut found: impl FnMut(Start, Range<usize>)) {
        for from in (0..run.len()).step_by(PART_BYTES) {
            // What starts in this part may end in the next.
            let part = &run[from..run.len().min(from + PART_BYTES + LONG_BYTES - 1)];
            self.inside.within(part, |at, literals| {
                if at < PART_BYTES {
                    self.starts_at(from + at, literals, run, &mut found);
                }
            });
        }
        if run.last().is_none_or(|&byte| !self.short_head_ends.has(byte)) {
            return;
        }
        for n_bytes in 1..SHORT_BYTES.min(run.len() + 1) {
            let at = run.len() - n_bytes;
            if let Some(literal) = self.short_heads.whole(&run[at..]) {
                self.ends_at(literal, at..run.len(), &mut found);
            }
        }
    }

    /// Calls `found` with which of `literals` stands in a run from a byte on.
    fn starts_at(
        &self,
        at: usize,
        literals: Range<u32>,
        run: &[u8],
        found: &mut impl FnMut(Start, Range<usize>),
    ) {
        let longest = self.longest(literals, &run[at..]);
        if longest == NONE {
            return;
        }
        let mut literal = longest;
        while literal != NONE && self.literals[literal as usize].is_only_head {
            literal = self.literals[literal as usize].prefix;
        }
        if literal != NONE {
            let Literal { prefix, contextual, whole, .. } = self.literals[literal as usize];
            let is_single = prefix == NONE && !contextual && !whole;
            let what = if is_single { Start::Single } else { Start::Literal };
            found(what(literal), at..at + self.texts.len_of(literal));
        }
        if at + self.texts.len_of(longest) == run.len() {
            self.ends_at(longest, at..run.len(), found);
        }
    }

    /// Calls `found` with the head that ends a run, if `literal` is one.
    fn ends_at(&self, literal: u32, at: Range<usize>, found: &mut impl FnMut(Start, Range<usize>)) {
        let head = self.literals[literal as usize].head;
        if head != NONE {
            found(Start::Head(head), at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::heads;
    use super::super::infix::Needs;
    use super::*;

    #[test]
    fn a_literal_is_found_wherever_it_stands_in_a_run_however_long_that_is() {
        let all = "abcdefghijklmnopqrstu";
        let mut literals: Vec<&str> = [1, 2, 3, 4, 7, 8, 21].map(|n_bytes| &all[..n_bytes]).into();
        heads::prepare(&mut literals);
        for of_test in 0..literals.len() {
            let needs = |place| if place == of_test { Needs::First } else { Needs::Nothing };
            let infixes = Infixes::new(&literals, needs);
            let literal = literals[of_test];
            for n_before in 0..130 {
                for n_after in [0, 1, 7, 70] {
                    let run = format!("{}{literal}{}", "x".repeat(n_before), "x".repeat(n_after));
                    let mut found = Vec::new();
                    infixes.starts_in(run.as_bytes(), |_, at| found.push(at));
                    let expected = n_before..n_before + literal.len();
                    assert_eq!(found, [expected], "{literal} in {run}");
                }
            }
        }
    }

    #[test]
    fn a_head_is_found_at_the_end_of_a_run_only() {
        let mut literals = vec!["c++", "config.json", "configuration.toml"];
        let is_only_head = heads::prepare(&mut literals);
        let needs = |place: usize| if is_only_head[place] { Needs::Nothing } else { Needs::First };
        let infixes = Infixes::new(&literals, needs);
        for (run, expected) in [
            ("c", Some(0..1)),
            ("abc", Some(2..3)),
            ("ca", None),
            ("myconfig", Some(2..8)),
            ("configs", None),
            ("reconfiguration", Some(2..15)),
        ] {
            let mut found = Vec::new();
            infixes.starts_in(run.as_bytes(), |what, at| {
                assert!(matches!(what, Start::Head(_)), "{what:?} in {run}");
                found.push(at);
            });
            assert_eq!(found, Vec::from_iter(expected), "{run}");
        }
    }
}
