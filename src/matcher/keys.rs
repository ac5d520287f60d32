//! Where in a text a literal may start, by its first bytes: eight, or four if it is shorter.
//!
//! They are looked up in a [`Filter`], which nearly always says no, then in a table. Literals of one byte,
//! two and three have tables of their own.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::filter::{Filter, scaled, scatter};
use super::raw::row;

/// Literals of so many bytes and more are looked up by their first so many bytes.
pub(super) const LONG_BYTES: usize = 8;

/// Those of so many and more, that are not as long as that, by so many; shorter ones by all they have.
pub(super) const SHORT_BYTES: usize = 4;

/// Bits of the filter for each key.
const BITS_A_KEY: usize = 16;

/// Sorted literals by their first bytes: those of one byte, two, three, those of four to seven, and longer
/// ones.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Keys([Table; SHORT_BYTES + 1]);

/// Slots of which two thirds are used at most; a key is in the first free one from the place its hash says.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Table {
    filter: Filter,
    /// The places that a hash may say; those after the last one are for what is crowded there.
    n_homes: u32,
    #[serde(with = "super::raw")]
    slots: Vec<Slot>,
}

/// The literals of one key: a range of them, empty if the slot is free.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    key: u64,
    start: u32,
    end: u32,
}

row!(Slot { key: u64, start: u32, end: u32 });

impl Keys {
    /// The keys of distinct, non-empty `literals` with their places, which are in order: the long ones
    /// after the others, and those that start alike in a row.
    pub(super) fn new<'a>(literals: impl IntoIterator<Item = (u32, &'a str)>) -> Keys {
        let mut slots: [Vec<Slot>; SHORT_BYTES + 1] = Default::default();
        for (place, literal) in literals {
            let bytes = literal.as_bytes();
            let n_bytes = if is_long(literal) { LONG_BYTES } else { bytes.len().min(SHORT_BYTES) };
            let (key, end) = (key(&bytes[..n_bytes]), place + 1);
            let slots = &mut slots[n_bytes.min(SHORT_BYTES + 1) - 1];
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
        for (table, n_bytes) in self.0.iter().zip([1, 2, 3, SHORT_BYTES, LONG_BYTES]) {
            if table.slots.is_empty() {
                continue;
            }
            let Some(bytes) = text.get(..n_bytes) else { break };
            if let Some(slot) = table.get(key(bytes)) {
                report(slot.start..slot.end);
            }
        }
    }

    /// Calls `report` with each place of up to 64 bytes at which a literal may start, and with the range of
    /// literals as [`Keys::at`] does; those of one key in their order.
    #[inline]
    pub(super) fn within(&self, bytes: &[u8], mut report: impl FnMut(usize, Range<u32>)) {
        let [one, two, three, short, long] = &self.0;
        one.within::<1>(bytes, &mut report);
        two.within::<2>(bytes, &mut report);
        three.within::<3>(bytes, &mut report);
        short.within::<SHORT_BYTES>(bytes, &mut report);
        long.within::<LONG_BYTES>(bytes, &mut report);
    }

    /// The literal that is these bytes, fewer than [`SHORT_BYTES`].
    pub(super) fn whole(&self, bytes: &[u8]) -> Option<u32> {
        let table = self.0[..SHORT_BYTES - 1].get(bytes.len().checked_sub(1)?)?;
        table.get(key(bytes)).map(|slot| slot.start)
    }

    /// Whether what was read leads nowhere but to `n_literals`.
    pub(super) fn is_sound(&self, n_literals: usize) -> bool {
        self.0.iter().all(|table| table.is_sound(n_literals))
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let of = |table: &Table| size_of_val(&*table.slots) + table.filter.memory_usage();
        self.0.iter().map(of).sum()
    }
}

impl Table {
    fn new(slots: &[Slot]) -> Table {
        if slots.is_empty() {
            return Table::default();
        }
        let n_homes = (slots.len() * 3).div_ceil(2) as u32;
        let mut in_order = slots.to_vec();
        in_order.sort_unstable_by_key(|slot| home(slot.key, n_homes));
        let mut table = Vec::with_capacity(n_homes as usize + 1);
        for slot in in_order {
            table.resize(table.len().max(home(slot.key, n_homes)), Slot::default());
            table.push(slot);
        }
        let hashes: Vec<u64> = slots.iter().map(|slot| scatter(slot.key)).collect();
        let filter = Filter::new(&hashes, BITS_A_KEY);
        Table { filter, n_homes, slots: table }
    }

    fn get(&self, key: u64) -> Option<Slot> {
        if self.filter.may_have(scatter(key)) { self.slot(key) } else { None }
    }

    /// The slot of a key that passes the filter.
    fn slot(&self, key: u64) -> Option<Slot> {
        let from_home = self.slots.get(home(key, self.n_homes)..)?;
        from_home.iter().take_while(|slot| slot.end != 0).find(|slot| slot.key == key).copied()
    }

    /// Calls `report` with each place at which a key, of `N` bytes, stands, and with its literals.
    fn within<const N: usize>(&self, bytes: &[u8], report: &mut impl FnMut(usize, Range<u32>)) {
        if self.slots.is_empty() || bytes.len() < N {
            return;
        }
        // First all places that pass the filter, as bits: no branch for each of them could be foreseen.
        let mut starts = 0;
        for window in bytes.windows(N) {
            let may_start = u64::from(self.filter.may_have(scatter(key(&window[..N]))));
            starts = starts >> 1 | may_start << 63;
        }
        starts >>= 64 - (bytes.len() - N + 1);
        while starts != 0 {
            let at = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            if let Some(slot) = self.slot(key(&bytes[at..at + N])) {
                report(at, slot.start..slot.end);
            }
        }
    }

    fn is_sound(&self, n_literals: usize) -> bool {
        let is_range = |slot: &Slot| {
            slot.end == 0 || (slot.start < slot.end && slot.end as usize <= n_literals)
        };
        self.slots.iter().all(is_range)
    }
}

/// Whether a literal is looked up by the longer key.
pub(super) fn is_long(literal: &str) -> bool {
    literal.len() >= LONG_BYTES
}

/// Up to eight bytes as a number.
#[inline]
fn key(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk::<8>() {
        u64::from_le_bytes(*eight)
    } else if let Some(four) = bytes.first_chunk::<4>() {
        u32::from_le_bytes(*four).into()
    } else {
        bytes.iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte))
    }
}

/// The upper half of a hash, scaled to so many places.
fn home(key: u64, n_homes: u32) -> usize {
    scaled((scatter(key) >> 32) as u32, n_homes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_is_found_where_it_stands_and_not_where_it_is_cut() {
        let mut literals = [
            "-", "é", "c++", "部", "部署", "abcd", "abcdefg", "abce", "\0\0", "\0\0\0\0",
            "abcdefgh",
        ];
        literals.sort_unstable_by_key(|literal| (is_long(literal), *literal));
        let keys = Keys::new((5..).zip(literals));
        assert!(keys.is_sound(16) && !keys.is_sound(15));
        for (literal, place) in literals.iter().zip(5..) {
            let stands = |text: &[u8]| {
                let mut stands = false;
                keys.at(text, |range| stands |= range.contains(&place));
                stands
            };
            assert!(stands(literal.as_bytes()), "{literal}");
            assert!(stands(format!("{literal}z").as_bytes()), "{literal}");
            assert!(!stands(format!("z{literal}").as_bytes()), "{literal}");
            let mut places = Vec::new();
            keys.within(format!("zzz{literal}").as_bytes(), |at, range| {
                places.extend(range.contains(&place).then_some(at));
            });
            assert_eq!(places, [3], "{literal}");
            let is_short = literal.len() < SHORT_BYTES;
            assert_eq!(keys.whole(literal.as_bytes()) == Some(place), is_short, "{literal}");
            let n_bytes =
                if is_long(literal) { LONG_BYTES } else { literal.len().min(SHORT_BYTES) };
            assert!(!stands(&literal.as_bytes()[..n_bytes - 1]), "{literal}");
        }
    }

    #[test]
    fn no_literals_are_found_nowhere() {
        let keys = Keys::new([]);
        assert!(keys.is_sound(0));
        keys.within(b"some text", |_, _| unreachable!("there is nothing to be found"));
        keys.at(b"some text", |_| unreachable!("there is nothing to be found"));
    }
}
