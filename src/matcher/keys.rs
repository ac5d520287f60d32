//! Where in a text a literal may start, by its first four bytes.
//!
//! At each byte the four bytes from there make a number of 16 bits, looked up in a bitmap of those
//! that literals start with. These are independent steps, done 64 places at a time with wide
//! instructions, where an automaton waits at each byte for the one before. The few places where
//! the bitmap says yes are looked up in a table. Literals of three bytes are there with every fourth
//! byte, unless they are many. Then they have a bitmap by their first two bytes, as those of one and
//! two bytes do, which costs another pass over the text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::blocks::{BYTES as BLOCK, places};
use super::raw::row;

/// Literals of so many bytes and more are looked up by their first so many bytes.
pub(super) const KEY_BYTES: usize = 4;

/// So many literals of three bytes fill an eighth of the bitmap of longer ones at most.
const MAX_SPREAD: usize = 32;

/// Words of a bitmap of all numbers of 16 bits.
const BITMAP_WORDS: usize = (1 << 16) / 64;

/// Sorted literals by their first bytes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Keys {
    /// The first two bytes of literals of up to three, but for those in `grams`; empty if there are
    /// none.
    #[serde(with = "super::raw")]
    pairs: Vec<u64>,
    /// Numbers made of the first four bytes of longer literals; empty if there are none.
    #[serde(with = "super::raw")]
    grams: Vec<u64>,
    /// Whether literals of three bytes are in `grams`, with every byte that may follow.
    spreads: bool,
    /// A larger bitmap of the same by their hashes, for when there are so many that the first one
    /// says yes too often; a power of two of bits.
    #[serde(with = "super::raw")]
    wide: Vec<u64>,
    /// Literals of one byte, two, three, and of four or more.
    tables: [Table; KEY_BYTES],
}

/// A power of two of slots, at most half of them used; a key is in the first free one from the
/// place its hash says.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Table(#[serde(with = "super::raw")] Vec<Slot>);

/// The literals of one key: a range of them, empty if the slot is free.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    key: u32,
    start: u32,
    end: u32,
}

row!(Slot { key: u32, start: u32, end: u32 });

/// The literals that may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// This one, of up to three bytes, does.
    Short(u32),
    /// These start with the four bytes there.
    Some(Range<u32>),
}

impl Keys {
    /// The keys of sorted, distinct, non-empty `literals`.
    pub(super) fn new(literals: &[&str]) -> Keys {
        let mut slots: [Vec<Slot>; KEY_BYTES] = Default::default();
        for (place, literal) in literals.iter().enumerate() {
            let bytes = literal.as_bytes();
            let key = key(&bytes[..bytes.len().min(KEY_BYTES)]);
            let (start, end) = (place as u32, place as u32 + 1);
            let slots = &mut slots[bytes.len().min(KEY_BYTES) - 1];
            match slots.last_mut() {
                Some(last) if last.key == key => last.end = end,
                _ => slots.push(Slot { key, start, end }),
            }
        }
        let [ones, twos, threes, fours] = &slots;
        let spreads = !threes.is_empty() && threes.len() <= MAX_SPREAD;
        let mut keys = Keys { spreads, ..Keys::default() };
        let in_pairs = if spreads { &[] } else { &**threes };
        if !(ones.is_empty() && twos.is_empty() && in_pairs.is_empty()) {
            keys.pairs = vec![0; BITMAP_WORDS];
            // Anything may come after a single byte.
            let after_one = |slot: &Slot| {
                let first = slot.key as u16;
                (0..=0xff_u16).map(move |second| first | second << 8)
            };
            let of_two = twos.iter().chain(in_pairs).map(|slot| slot.key as u16);
            for pair in ones.iter().flat_map(after_one).chain(of_two) {
                set(&mut keys.pairs, usize::from(pair));
            }
        }
        if spreads || !fours.is_empty() {
            keys.grams = vec![0; BITMAP_WORDS];
            keys.wide = vec![0; (fours.len() / 4).next_power_of_two()];
        }
        if spreads {
            let any_fourth = |slot: &Slot| {
                let [a, b, c, _] = slot.key.to_le_bytes();
                (0..=u8::MAX).map(move |fourth| [a, b, c, fourth])
            };
            for four in threes.iter().flat_map(any_fourth) {
                set(&mut keys.grams, usize::from(gram(four)));
            }
        }
        for slot in fours {
            set(&mut keys.grams, usize::from(gram(slot.key.to_le_bytes())));
            let place = wide_place(&keys.wide, slot.key);
            set(&mut keys.wide, place);
        }
        keys.tables = slots.map(|slots| Table::new(&slots));
        keys
    }

    /// Calls `report` with each place where literals may start, and which; for each literal in the
    /// order of the text.
    pub(super) fn scan(&self, bytes: &[u8], mut report: impl FnMut(usize, Found)) {
        let pairs: Option<&[u64; BITMAP_WORDS]> = self.pairs.as_slice().try_into().ok();
        let grams: Option<&[u64; BITMAP_WORDS]> = self.grams.as_slice().try_into().ok();
        for start in (0..bytes.len()).step_by(BLOCK) {
            // Zeros follow the text. What they seem to be is not found in a table.
            let rest = &bytes[start..];
            let mut block = [0; BLOCK + KEY_BYTES];
            match rest.first_chunk() {
                Some(whole) => block = *whole,
                None => block[..rest.len()].copy_from_slice(rest),
            }
            let n_places = rest.len().min(BLOCK);
            if let Some(pairs) = pairs {
                let pair = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
                for at in places(mask(pairs, &std::array::from_fn::<_, BLOCK, _>(pair)[..n_places]))
                {
                    self.look_up_short(&rest[at..], |literal| {
                        report(start + at, Found::Short(literal));
                    });
                }
            }
            if let Some(bitmap) = grams {
                for at in places(mask(bitmap, &all_grams(&block)[..n_places])) {
                    let rest = &rest[at..];
                    if self.spreads
                        && let Some(three) = rest.get(..3)
                        && let Some(slot) = self.tables[2].get(key(three))
                    {
                        report(start + at, Found::Short(slot.start));
                    }
                    let Some(four) = rest.first_chunk() else { continue };
                    let key = u32::from_le_bytes(*four);
                    if has(&self.wide, wide_place(&self.wide, key))
                        && let Some(slot) = self.tables[KEY_BYTES - 1].get(key)
                    {
                        report(start + at, Found::Some(slot.start..slot.end));
                    }
                }
            }
        }
    }

    fn look_up_short(&self, rest: &[u8], mut report: impl FnMut(u32)) {
        let n_tables = if self.spreads { 2 } else { 3 };
        for (table, n_bytes) in self.tables[..n_tables].iter().zip(1..) {
            if let Some(slot) = rest.get(..n_bytes).and_then(|bytes| table.get(key(bytes))) {
                report(slot.start);
            }
        }
    }

    /// Whether what was read leads nowhere but to `n_literals`.
    pub(super) fn is_sound(&self, n_literals: usize) -> bool {
        (self.wide.is_empty() || self.wide.len().is_power_of_two())
            && (self.wide.is_empty() == self.grams.is_empty())
            && self.tables.iter().all(|table| table.is_sound(n_literals))
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let bitmaps = [&self.pairs, &self.grams, &self.wide];
        bitmaps.iter().map(|bitmap| size_of_val(&***bitmap)).sum::<usize>()
            + self.tables.iter().map(|table| size_of_val(&*table.0)).sum::<usize>()
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
        Table(table)
    }

    fn get(&self, key: u32) -> Option<Slot> {
        let last = self.0.len().checked_sub(1)?;
        let mut at = hash(key) as usize & last;
        loop {
            let slot = self.0[at];
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
        let has_end = self.0.len().is_power_of_two() && self.0.iter().any(|slot| slot.end == 0);
        self.0.is_empty() || (has_end && self.0.iter().all(is_range))
    }
}

/// Up to four bytes as a number.
fn key(bytes: &[u8]) -> u32 {
    let mut key = [0; KEY_BYTES];
    key[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(key)
}

/// Spreads a key over 64 bits: the upper choose a bit, the lower a slot.
fn hash(key: u32) -> u64 {
    let product = u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

fn wide_place(wide: &[u64], key: u32) -> usize {
    (hash(key) >> 32) as usize & (wide.len() * 64 - 1)
}

/// Four bytes as a number of 16 bits: a sum of odd multiples, which wide instructions have.
fn gram([a, b, c, d]: [u8; KEY_BYTES]) -> u16 {
    let times = |byte: u8, factor: u16| u16::from(byte).wrapping_mul(factor);
    times(a, 0x9e37)
        .wrapping_add(times(b, 0x79b9))
        .wrapping_add(times(c, 0x7f4b))
        .wrapping_add(times(d, 0x1f35))
}

fn all_grams(block: &[u8; BLOCK + KEY_BYTES]) -> [u16; BLOCK] {
    let mut grams = [0; BLOCK];
    for (at, of_place) in grams.iter_mut().enumerate() {
        *of_place = gram([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    }
    grams
}

/// A bit for each of the numbers that is in the bitmap.
fn mask(bitmap: &[u64; BITMAP_WORDS], numbers: &[u16]) -> u64 {
    let is_in = |number: u16| bitmap[usize::from(number / 64)] >> (number % 64) & 1;
    numbers.iter().rev().fold(0, |mask, &number| mask << 1 | is_in(number))
}

fn set(bitmap: &mut [u64], place: usize) {
    bitmap[place / 64] |= 1 << (place % 64);
}

fn has(bitmap: &[u64], place: usize) -> bool {
    bitmap.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_is_found_at_every_place_and_none_after_the_end() {
        let of_three: Vec<String> = (0..=MAX_SPREAD).map(|i| format!("z{i:02}")).collect();
        let few = ["-", "é", "c++", "部", "部署", "abcd", "abcde", "abce", "\0\0"];
        are_found(few.to_vec());
        are_found(few.into_iter().chain(of_three.iter().map(String::as_str)).collect());
        are_found(vec!["c++"]);
        are_found(vec!["部署"]);
    }

    fn are_found(mut literals: Vec<&str>) {
        literals.sort_unstable();
        let keys = Keys::new(&literals);
        assert!(keys.is_sound(literals.len()) && !keys.is_sound(literals.len() - 1));
        for n_before in 0..140 {
            for (place, literal) in literals.iter().enumerate() {
                let stands = |text: &[u8]| {
                    let mut stands = false;
                    keys.scan(text, |start, found| {
                        stands |= start == n_before
                            && match found {
                                Found::Short(short) => short as usize == place,
                                Found::Some(range) => range.contains(&(place as u32)),
                            };
                    });
                    stands
                };
                let text = format!("{}{literal}", ".".repeat(n_before)).into_bytes();
                assert!(stands(&text), "{literal} after {n_before}");
                let cut = n_before + literal.len().min(KEY_BYTES) - 1;
                assert!(!stands(&text[..cut]), "{literal} cut after {n_before}");
            }
        }
    }

    #[test]
    fn no_literals_are_found_nowhere() {
        let keys = Keys::new(&[]);
        assert!(keys.is_sound(0));
        keys.scan(b"some text", |_, _| unreachable!("there is nothing to be found"));
    }
}
