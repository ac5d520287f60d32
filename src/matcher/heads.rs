//! Literals that reach out of the run in which they start: `data.csv`, `add a note`.
//!
//! Each has a *head*, the letters, digits and `_` of ASCII that it starts with, and where it stands, a
//! run ends with its head. So heads are looked up like literals, and what comes next is only
//! compared where one of them ends a run. A verb is the head of thousands, none of which most texts
//! hold: a filter tells by the bytes that come next.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::filter::{Filter, scatter};
use super::keys;
use super::raw::row;
use super::split::in_run;
use super::tables::NONE;

/// What comes after a head is told by so many bytes, or less if there are no more.
const MAX_NEXT: usize = 8;

/// Bits of the filter for each literal, or up to twice as many.
const BITS_A_LITERAL: usize = 16;

/// All heads, each with its literals.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Heads {
    #[serde(with = "super::raw")]
    all: Vec<Head>,
    /// What comes after each.
    next: Filter,
}

/// The literals with one head.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Head {
    /// The first of them and the place after the last; others may be between them.
    first: u32,
    end: u32,
    /// A bit for each number of bytes by which some of them is told, one byte first.
    lengths: u8,
}

row!(Head { first: u32, end: u32, lengths: u8 });

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

impl Heads {
    /// Takes in sorted literals, each with its place and that of its head; `set_head` is told the number
    /// of each head.
    pub(super) fn new<'t>(
        literals: impl Iterator<Item = (u32, &'t str, usize)>,
        mut set_head: impl FnMut(usize, u32),
    ) -> Heads {
        let mut all: Vec<Head> = Vec::new();
        let mut numbers = HashMap::new();
        let mut hashes = Vec::new();
        for (place, literal, head_place) in literals {
            let number = *numbers.entry(head_place).or_insert_with(|| {
                all.push(Head { first: place, end: place, lengths: 0 });
                all.len() as u32 - 1
            });
            set_head(head_place, number);
            let rest = &literal.as_bytes()[head(literal).len()..];
            let n_bytes = rest.len().min(MAX_NEXT);
            let head = &mut all[number as usize];
            head.end = place + 1;
            head.lengths |= 1 << (n_bytes - 1);
            hashes.push(hash(number, first_bytes(rest), n_bytes));
        }
        hashes.sort_unstable();
        hashes.dedup();
        Heads { all, next: Filter::new(&hashes, BITS_A_LITERAL) }
    }

    /// The literals among which is what may stand where `rest` comes after the head with a number.
    pub(super) fn literals(&self, number: u32, rest: &[u8]) -> Option<Range<u32>> {
        let Head { first, end, mut lengths } = self.all[number as usize];
        let bytes = first_bytes(rest);
        while lengths != 0 {
            let n_bytes = lengths.trailing_zeros() as usize + 1;
            if self.next.may_have(hash(number, bytes, n_bytes)) {
                return Some(first..end);
            }
            lengths &= lengths - 1;
        }
        None
    }

    /// Whether a number is that of a head, or [`NONE`].
    pub(super) fn has(&self, number: u32) -> bool {
        number == NONE || (number as usize) < self.all.len()
    }

    /// Whether what was read leads nowhere but to `n_literals`.
    pub(super) fn is_sound(&self, n_literals: usize) -> bool {
        self.all.iter().all(|head| head.first <= head.end && head.end as usize <= n_literals)
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.all) + self.next.memory_usage()
    }
}

/// The first [`MAX_NEXT`] bytes of what comes after a head, and zeros if there are no more.
fn first_bytes(rest: &[u8]) -> u64 {
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; MAX_NEXT];
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        bytes
    });
    u64::from_le_bytes(bytes)
}

/// A hash of a head and of the first `n_bytes` of what comes after it, of which `bytes` are more.
fn hash(number: u32, bytes: u64, n_bytes: usize) -> u64 {
    let bytes = bytes & u64::MAX >> (64 - 8 * n_bytes);
    scatter(scatter(u64::from(number) + 1) ^ bytes)
}

/// What a literal starts with that may be in a run.
pub(super) fn head(literal: &str) -> &str {
    let end = literal.bytes().position(|byte| !in_run(byte));
    &literal[..end.unwrap_or(literal.len())]
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
        let literals = ["add a", "add-on to it all", "add-on to it, too", "c#", "c++"];
        let places = [(4, 0), (6, 0), (7, 0), (8, 1), (9, 1)];
        let of_heads =
            literals.iter().zip(places).map(|(text, (place, head))| (place, *text, head));
        let mut numbers = [NONE; 2];
        let heads = Heads::new(of_heads, |head, number| numbers[head] = number);
        assert_eq!(numbers, [0, 1]);
        assert!(heads.is_sound(10) && !heads.is_sound(9));
        assert!(heads.has(1) && heads.has(NONE) && !heads.has(2));
        for (head, rest, expected) in [
            (0, " a", Some(4..8)),
            (0, " an apple", Some(4..8)),
            (0, "-on to it", Some(4..8)),
            (0, "on to it", None),
            (0, "-and then", None),
            (0, "", None),
            (0, "#", None),
            (1, "#", Some(8..10)),
            (1, "# and more", Some(8..10)),
            (1, "+ 1", None),
            (1, "++", Some(8..10)),
            (1, " a", None),
        ] {
            assert_eq!(heads.literals(head, rest.as_bytes()), expected, "{head}: {rest}");
        }
    }
}
