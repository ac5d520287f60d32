//! Where in a text a literal may start, by its first four bytes.
//!
//! They are looked up in a bitmap, which nearly always says no, then in a table. Literals of one byte, two
//! and three have tables of their own.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::raw::row;

/// Literals of so many bytes and more are looked up by their first so many bytes.
pub(super) const KEY_BYTES: usize = 4;

/// Sorted literals by their first bytes: those of one byte, two, three, and of four or more.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Keys([Table; KEY_BYTES]);

/// A power of two of slots, at most half of them used; a key is in the first free one from the
/// place its hash says.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Table {
    filter: Filter,
    #[serde(with = "super::raw")]
    slots: Vec<Slot>,
}

/// The literals of one key: a range of them, empty if the slot is free.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    key: u32,
    start: u32,
    end: u32,
}

row!(Slot { key: u32, start: u32, end: u32 });

/// Which keys there may be: a bitmap by their hashes.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Filter(#[serde(with = "super::raw")] Vec<u64>);

impl Keys {
    /// The keys of sorted, distinct, non-empty `literals`, the first of which has the place `first`.
    pub(super) fn new(literals: &[&str], first: u32) -> Keys {
        let mut slots: [Vec<Slot>; KEY_BYTES] = Default::default();
        for (literal, place) in literals.iter().zip(first..) {
            let bytes = literal.as_bytes();
            let n_bytes = bytes.len().min(KEY_BYTES);
            let (key, end) = (key(&bytes[..n_bytes]), place + 1);
            let slots = &mut slots[n_bytes - 1];
            match slots.last_mut() {
                Some(last) if last.key == key => last.end = end,
                _ => slots.push(Slot { key, start: place, end }),
            }
        }
        Keys(slots.map(|slots| Table::new(&slots)))
    }

    /// Calls `report` with each range of literals of which one may stand at the start of `text`: those
    /// that are as long as their key, or start with it.
    #[inline]
    pub(super) fn at(&self, text: &[u8], mut report: impl FnMut(Range<u32>)) {
        for (table, n_bytes) in self.0.iter().zip(1..) {
            if table.slots.is_empty() {
                continue;
            }
            let Some(bytes) = text.get(..n_bytes) else { break };
            if let Some(slot) = table.get(key(bytes)) {
                report(slot.start..slot.end);
            }
        }
    }

    /// Whether what was read leads nowhere but to `n_literals`.
    pub(super) fn is_sound(&self, n_literals: usize) -> bool {
        self.0.iter().all(|table| table.is_sound(n_literals))
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let of = |table: &Table| size_of_val(&*table.slots) + size_of_val(&*table.filter.0);
        self.0.iter().map(of).sum()
    }
}

impl Table {
    fn new(slots: &[Slot]) -> Table {
        if slots.is_empty() {
            return Table::default();
        }
        let mut table = vec![Slot::default(); (slots.len() * 2).next_power_of_two()];
        for slot in slots {
            let mut at = hash(slot.key) as usize & (table.len() - 1);
            while table[at].end != 0 {
                at = (at + 1) & (table.len() - 1);
            }
            table[at] = *slot;
        }
        Table { filter: Filter::new(slots), slots: table }
    }

    fn get(&self, key: u32) -> Option<Slot> {
        if !self.filter.has(key) {
            return None;
        }
        let last = self.slots.len().checked_sub(1)?;
        let mut at = hash(key) as usize & last;
        loop {
            let slot = self.slots[at];
            if slot.end == 0 {
                return None;
            }
            if slot.key == key {
                return Some(slot);
            }
            at = (at + 1) & last;
        }
    }

    fn is_sound(&self, n_literals: usize) -> bool {
        let is_range = |slot: &Slot| {
            slot.end == 0 || (slot.start < slot.end && slot.end as usize <= n_literals)
        };
        let has_end =
            self.slots.len().is_power_of_two() && self.slots.iter().any(|slot| slot.end == 0);
        self.slots.is_empty() || (has_end && self.slots.iter().all(is_range))
    }
}

impl Filter {
    /// Has sixteen bits a key or more, so that of other keys one of sixteen passes.
    fn new(slots: &[Slot]) -> Filter {
        let mut filter = Filter(vec![0; (slots.len() / 4).next_power_of_two()]);
        for slot in slots {
            let place = filter.place(slot.key);
            filter.0[place / 64] |= 1 << (place % 64);
        }
        filter
    }

    /// Whether a key may be one of those taken in; if it is, it does.
    fn has(&self, key: u32) -> bool {
        let place = self.place(key);
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    fn place(&self, key: u32) -> usize {
        (hash(key) >> 32) as usize & (self.0.len() * 64).wrapping_sub(1)
    }
}

/// Up to four bytes as a number.
fn key(bytes: &[u8]) -> u32 {
    if let Some(four) = bytes.first_chunk() {
        return u32::from_le_bytes(*four);
    }
    bytes.iter().rev().fold(0, |key, &byte| key << 8 | u32::from(byte))
}

/// Spreads a key over 64 bits: the upper choose a bit, the lower a slot.
fn hash(key: u32) -> u64 {
    let product = u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_is_found_where_it_stands_and_not_where_it_is_cut() {
        let mut literals =
            ["-", "é", "c++", "部", "部署", "abcd", "abcde", "abce", "\0\0", "\0\0\0\0"];
        literals.sort_unstable();
        let keys = Keys::new(&literals, 5);
        assert!(keys.is_sound(15) && !keys.is_sound(14));
        for (literal, place) in literals.iter().zip(5..) {
            let stands = |text: &[u8]| {
                let mut stands = false;
                keys.at(text, |range| stands |= range.contains(&place));
                stands
            };
            assert!(stands(literal.as_bytes()), "{literal}");
            assert!(stands(format!("{literal}z").as_bytes()), "{literal}");
            assert!(!stands(format!("z{literal}").as_bytes()), "{literal}");
            assert!(!stands(&literal.as_bytes()[..literal.len().min(KEY_BYTES) - 1]), "{literal}");
        }
    }

    #[test]
    fn no_literals_are_found_nowhere() {
        let keys = Keys::new(&[], 0);
        assert!(keys.is_sound(0));
        keys.at(b"some text", |_| unreachable!("there is nothing to be found"));
    }
}
