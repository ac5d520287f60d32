//! Literals that reach out of the run in which they start: `data.csv`, `add a note`.
//!
//! Each has a *head*, the letters, digits and `_` of ASCII that it starts with, and where it stands, a
//! run ends with its head. So heads are looked up like literals, and what comes next is only
//! compared where one of them ends a run.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::keys;
use super::raw::row;
use super::split::in_run;

/// The literals with one head.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Head {
    /// The first of them and the place after the last; others may be between them.
    first: u32,
    end: u32,
    /// A bit for each two bytes that may come next: see [`next_bit`].
    next: u64,
}

row!(Head { first: u32, end: u32, next: u64 });

/// Where a literal stands; in this order they are compiled. Those that are looked up by longer keys
/// ([`keys::is_long`]) come after the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Stands inside a run.
    Inside,
    InsideLong,
    /// Starts in a run, and reaches out of it.
    Across,
    /// Does not start in a run.
    Between,
    BetweenLong,
}

/// Takes in the heads of non-empty `literals`, and puts all in the order in which they are
/// compiled, each once. Returns of each whether it was no literal, and only is a head.
pub(super) fn prepare(literals: &mut Vec<&str>) -> Vec<bool> {
    let heads = literals.iter().map(|literal| (head(literal), true));
    let heads = heads.filter(|(head, _)| !head.is_empty());
    let mut all: Vec<(&str, bool)> =
        literals.iter().map(|literal| (*literal, false)).chain(heads).collect();
    // A literal that is a head, too, comes first as what it is.
    all.sort_unstable_by_key(|(literal, is_head)| (Kind::of(literal), *literal, *is_head));
    all.dedup_by_key(|(literal, _)| *literal);
    let is_only_head;
    (*literals, is_only_head) = all.into_iter().unzip();
    is_only_head
}

impl Kind {
    pub(super) fn of(literal: &str) -> Kind {
        let n_bytes = head(literal).len();
        match (n_bytes, keys::is_long(literal)) {
            (0, false) => Kind::Between,
            (0, true) => Kind::BetweenLong,
            (_, is_long) if n_bytes == literal.len() => {
                if is_long {
                    Kind::InsideLong
                } else {
                    Kind::Inside
                }
            }
            _ => Kind::Across,
        }
    }
}

impl Head {
    /// A head whose first literal is at `first`.
    pub(super) fn new(first: u32) -> Head {
        Head { first, end: first, next: 0 }
    }

    /// Takes in the next literal, at `place`.
    pub(super) fn add(&mut self, place: u32, literal: &str) {
        let rest = &literal.as_bytes()[head(literal).len()..];
        self.end = place + 1;
        self.next |= if rest.len() > 1 { next_bit(rest) } else { u64::MAX };
    }

    /// The literals among which is what may stand where `rest` comes after the head.
    pub(super) fn literals(&self, rest: &[u8]) -> Option<Range<u32>> {
        (self.next & next_bit(rest) != 0).then_some(self.first..self.end)
    }

    /// Whether what was read leads nowhere but to `n_literals`.
    pub(super) fn is_sound(&self, n_literals: usize) -> bool {
        self.first <= self.end && self.end as usize <= n_literals
    }
}

/// What a literal starts with that may be in a run.
pub(super) fn head(literal: &str) -> &str {
    let end = literal.bytes().position(|byte| !in_run(byte));
    &literal[..end.unwrap_or(literal.len())]
}

/// One of 64 bits for the first two bytes of what comes after a head.
fn next_bit(rest: &[u8]) -> u64 {
    let byte = |at| rest.get(at).copied().unwrap_or_default();
    1 << (byte(0).wrapping_mul(7).wrapping_add(byte(1)) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_put_in_order_with_their_heads() {
        let mut literals = vec!["add a", "é", "data.csv", "note", "c++", ".net", "addé"];
        let is_only_head = prepare(&mut literals);
        assert_eq!(
            literals,
            ["add", "c", "data", "note", "add a", "addé", "c++", "data.csv", ".net", "é"]
        );
        assert_eq!(is_only_head.iter().filter(|is| **is).count(), 3);
        assert_eq!(is_only_head[..4], [true, true, true, false]);
    }

    #[test]
    fn what_comes_after_a_head_tells_whether_a_literal_may_stand_there() {
        let mut add = Head::new(4);
        add.add(4, "add a");
        add.add(6, "add-on");
        assert!(add.is_sound(7) && !add.is_sound(6));
        for (rest, expected) in [
            (" a", Some(4..7)),
            (" an", Some(4..7)),
            ("-on", Some(4..7)),
            (" on", None),
            ("", None),
        ] {
            assert_eq!(add.literals(rest.as_bytes()), expected, "{rest}");
        }
        // One byte after the head may be followed by any.
        let mut c = Head::new(0);
        c.add(0, "c#");
        assert!(c.literals(b"# ").is_some() && c.literals(b"#").is_some());
    }
}
