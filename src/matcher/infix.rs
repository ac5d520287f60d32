//! Literals that may stand anywhere, inside words too, found by their first four bytes.
//!
//! At each byte of a text the four bytes from there are hashed and looked up in a bitmap of those
//! that literals start with. These are independent loads, where an automaton waits at each byte for
//! the one before. Where the bitmap says yes, which is rare, the literals that start so are
//! searched: they are sorted, so that what stands there is the last one not after the text, or a
//! prefix of it. Shorter literals have tables of their own, by all of their bytes.
//!
//! All of it is flat data that can be written and read back; nothing is derived when it is read.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::boundary;
use super::flat::Texts;
use super::tables::NONE;

/// Literals of so many bytes and more are looked up by their first so many bytes.
const KEY_BYTES: usize = 4;

/// Distinct, sorted literals.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Infixes {
    texts: Texts,
    literals: Vec<Literal>,
    /// By the length of their keys: literals of one byte, two, three, and of four or more.
    keys: [Keys; KEY_BYTES],
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Literal {
    /// The longest other literal of four bytes or more that this one starts with, or [`NONE`].
    prefix: u32,
    /// Whether this literal, or such a prefix, must be reported at each occurrence.
    contextual: bool,
    /// Whether this literal, or such a prefix, is looked for as a word of its own.
    whole: bool,
    /// Whether some longer literal starts with this one.
    starts_another: bool,
}

/// Which literals start with which keys.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Keys {
    /// A power of two of bits, of which few are set; empty if there are no keys.
    bits: Vec<u64>,
    /// A power of two of slots, at most half of them used; a key is in the first free one from the
    /// place its hash says.
    slots: Vec<Slot>,
}

/// The literals of one key: a range of them, empty if the slot is free.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    key: u32,
    start: u32,
    end: u32,
}

/// What a pass has seen of each literal. Kept between passes: a stamp tells which pass wrote an
/// entry, so that nothing has to be cleared.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pass: u32,
    entries: Vec<SeenLiteral>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SeenLiteral {
    pass: u32,
    first_end: u32,
    last_end: u32,
    /// Seen where its left side is a word's start.
    opened: bool,
    /// Seen as a word of its own.
    whole: bool,
}

/// Which occurrences of a literal matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The first, wherever it stands.
    First,
    /// The first, and the first as a word of its own.
    FirstWhole,
    /// All, for what stands around them.
    Each,
}

/// A literal found in the text.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// The literal's place in the slice that was compiled.
    pub(crate) literal: usize,
    /// Bytes of the folded text.
    pub(crate) range: Range<usize>,
    /// Whether this is the first time the literal is seen in this text.
    pub(crate) first: bool,
    /// Whether this is the first time it is seen as a word of its own.
    pub(crate) first_whole: bool,
}

impl Infixes {
    /// Compiles sorted, distinct, non-empty, folded `literals`; `needs` tells of each literal which
    /// of its occurrences matter.
    pub(crate) fn new(literals: &[&str], needs: impl Fn(usize) -> Needs) -> Infixes {
        let mut new = Infixes { texts: literals.iter().collect(), ..Infixes::default() };
        let mut ranges: [Vec<Slot>; KEY_BYTES] = Default::default();
        // Those of which the next literal may be a longer form, shortest first.
        let mut prefixes: Vec<usize> = Vec::new();
        for (place, literal) in literals.iter().enumerate() {
            let bytes = literal.as_bytes();
            let n_key_bytes = bytes.len().min(KEY_BYTES);
            let key = match n_key_bytes {
                1 => key::<1>(bytes),
                2 => key::<2>(bytes),
                3 => key::<3>(bytes),
                _ => key::<4>(bytes),
            };
            let (start, end) = (place as u32, place as u32 + 1);
            match ranges[n_key_bytes - 1].last_mut() {
                Some(last) if last.key == key => last.end = end,
                _ => ranges[n_key_bytes - 1].push(Slot { key, start, end }),
            }

            while prefixes.pop_if(|&mut prefix| !literal.starts_with(literals[prefix])).is_some() {}
            let mut compiled = Literal {
                prefix: NONE,
                contextual: needs(place) == Needs::Each,
                whole: needs(place) != Needs::First,
                starts_another: false,
            };
            if let Some(&prefix) = prefixes.last() {
                let shorter = &mut new.literals[prefix];
                shorter.starts_another = true;
                compiled.prefix = prefix as u32;
                compiled.contextual |= shorter.contextual;
                compiled.whole |= shorter.whole;
            }
            new.literals.push(compiled);
            if literal.len() >= KEY_BYTES {
                prefixes.push(place);
            }
        }
        new.keys = ranges.map(|ranges| Keys::new(&ranges));
        new
    }

    /// Calls `report` for the first occurrence of each literal in `text`, for its first as a word
    /// of its own, and for every occurrence of contextual ones.
    pub(crate) fn scan(&self, text: &str, seen: &mut Seen, mut report: impl FnMut(Occurrence)) {
        seen.start_pass(self.literals.len());
        self.scan_keys::<1>(text, seen, &mut report);
        self.scan_keys::<2>(text, seen, &mut report);
        self.scan_keys::<3>(text, seen, &mut report);
        self.scan_keys::<4>(text, seen, &mut report);
    }

    /// Looks for the literals with keys of `N` bytes.
    fn scan_keys<const N: usize>(
        &self,
        text: &str,
        seen: &mut Seen,
        report: &mut impl FnMut(Occurrence),
    ) {
        let keys = &self.keys[N - 1];
        let Some(shift) = shift_of(keys.bits.len() * 64) else { return };
        let bytes = text.as_bytes();
        // A mask of 64 places at a time: its few bits are taken one by one, which a processor
        // foresees better than a branch at each byte.
        let mut block = 0;
        while block + N <= bytes.len() {
            let of_block = &bytes[block..bytes.len().min(block + 63 + N)];
            let mut mask = 0_u64;
            for (place, window) in of_block.windows(N).enumerate() {
                let bit = (hash(key::<N>(window)) >> shift) as usize;
                let word = keys.bits.get(bit / 64).copied().unwrap_or_default();
                mask |= (word >> (bit % 64) & 1) << place;
            }
            while mask != 0 {
                let start = block + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                if let Some(slot) = keys.get(key::<N>(&bytes[start..])) {
                    let literal = if N < KEY_BYTES {
                        slot.start
                    } else {
                        self.longest(slot, &bytes[start..])
                    };
                    self.note(literal, text, start, seen, report);
                }
            }
            block += 64;
        }
    }

    /// The longest literal of a slot that `text` starts with, or [`NONE`].
    fn longest(&self, slot: Slot, text: &[u8]) -> u32 {
        let (mut start, mut end) = (slot.start, slot.end);
        while start < end {
            let middle = start.midpoint(end);
            if self.texts.get(middle).as_bytes() <= text {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        // Whatever stands between a prefix of the text and the text starts with that prefix.
        let mut literal = if start > slot.start { start - 1 } else { return NONE };
        let last = self.texts.get(literal).as_bytes();
        let n_common = last.iter().zip(text).take_while(|(a, b)| a == b).count();
        while literal != NONE && self.texts.get(literal).len() > n_common {
            literal = self.literals[literal as usize].prefix;
        }
        literal
    }

    /// Notes that `literal` stands at `start`, and so do its prefixes. Linear in the text even where
    /// literals are nested (`a`, `aa`, `aaa`, …): once a longer one was seen with the same kind of
    /// left side, so were the shorter ones, whose right side is inside the longer.
    fn note(
        &self,
        mut literal: u32,
        text: &str,
        start: usize,
        seen: &mut Seen,
        report: &mut impl FnMut(Occurrence),
    ) {
        let mut opens = None;
        while literal != NONE {
            let Literal { prefix, contextual, whole, .. } = self.literals[literal as usize];
            let end = start + self.texts.get(literal).len();
            let opened = whole && *opens.get_or_insert_with(|| boundary::opens(text, start, end));
            let entry = &mut seen.entries[literal as usize];
            let first = entry.pass != seen.pass;
            if first {
                let first_end = end as u32;
                *entry = SeenLiteral { pass: seen.pass, first_end, ..SeenLiteral::default() };
            }
            entry.last_end = end as u32;
            let settled = !first && (entry.opened || !opened);
            entry.opened |= opened;
            let first_whole = opened && !entry.whole && boundary::closes(text, end);
            entry.whole |= first_whole;
            if first || first_whole || contextual {
                let range = start..end;
                report(Occurrence { literal: literal as usize, range, first, first_whole });
            }
            if settled && !contextual {
                break;
            }
            literal = prefix;
        }
    }

    /// Where the last occurrence of a literal starts that the last pass has seen. `Err` is the
    /// last one that was looked at, if others may come after it.
    pub(crate) fn last_start(&self, literal: u32, seen: &Seen) -> Option<Result<u32, u32>> {
        let start = seen.get(literal)?.last_end - self.texts.get(literal).len() as u32;
        let starts_another = self.literals[literal as usize].starts_another;
        Some(if starts_another { Err(start) } else { Ok(start) })
    }

    /// The number of literals.
    pub(crate) fn len(&self) -> usize {
        self.literals.len()
    }

    /// Whether what was read can be used without a check at each step.
    pub(crate) fn is_sound(&self) -> bool {
        let n_literals = self.literals.len();
        let is_prefix = |(place, literal): (usize, &Literal)| {
            literal.prefix == NONE || (literal.prefix as usize) < place
        };
        self.texts.is_sound()
            && self.texts.len() == n_literals
            && self.literals.iter().enumerate().all(is_prefix)
            && self.keys.iter().all(|keys| keys.is_sound(n_literals))
    }

    /// Heap memory in bytes.
    pub(crate) fn memory_usage(&self) -> usize {
        let keys = self.keys.iter().map(|k| k.bits.len() * 8 + k.slots.len() * size_of::<Slot>());
        self.texts.memory_usage() + size_of_val(&*self.literals) + keys.sum::<usize>()
    }
}

impl Keys {
    fn new(ranges: &[Slot]) -> Keys {
        if ranges.is_empty() {
            return Keys::default();
        }
        let mut bits = vec![0; (ranges.len() / 4).next_power_of_two()];
        let shift = shift_of(bits.len() * 64).unwrap_or_default();
        let mut slots = vec![Slot::default(); (ranges.len() * 2).next_power_of_two()];
        for range in ranges {
            let bit = (hash(range.key) >> shift) as usize;
            bits[bit / 64] |= 1 << (bit % 64);
            let mut at = hash(range.key) as usize & (slots.len() - 1);
            while slots[at].end != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = *range;
        }
        Keys { bits, slots }
    }

    fn get(&self, key: u32) -> Option<Slot> {
        let mut at = hash(key) as usize & (self.slots.len() - 1);
        loop {
            let slot = *self.slots.get(at)?;
            if slot.end == 0 {
                return None;
            }
            if slot.key == key {
                return Some(slot);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn is_sound(&self, n_literals: usize) -> bool {
        let is_range = |slot: &Slot| slot.start <= slot.end && slot.end as usize <= n_literals;
        if self.bits.is_empty() {
            return self.slots.is_empty();
        }
        self.bits.len().is_power_of_two()
            && self.slots.len().is_power_of_two()
            && self.slots.iter().all(is_range)
            && self.slots.iter().any(|slot| slot.end == 0)
    }
}

/// The first `N` bytes as a number.
fn key<const N: usize>(bytes: &[u8]) -> u32 {
    let mut key = [0; KEY_BYTES];
    key[..N].copy_from_slice(&bytes[..N]);
    u32::from_le_bytes(key)
}

/// Spreads a key over 64 bits: the upper choose a bit, the lower a slot.
fn hash(key: u32) -> u64 {
    let product = u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// What a hash is shifted by to be one of `n_bits` places, a power of two.
fn shift_of(n_bits: usize) -> Option<u32> {
    (n_bits > 1).then(|| 64 - n_bits.trailing_zeros())
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

    fn get(&self, literal: u32) -> Option<SeenLiteral> {
        Some(self.entries[literal as usize]).filter(|entry| entry.pass == self.pass)
    }

    fn start_pass(&mut self, n_literals: usize) {
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

    /// The literal, its start, and whether it is its first whole occurrence, of each report, in
    /// the order of the text.
    fn scan<'a>(
        literals: &[&'a str],
        contextual: &[&str],
        text: &str,
    ) -> Vec<(&'a str, usize, bool)> {
        let mut sorted = literals.to_vec();
        sorted.sort_unstable();
        let needs = |i: usize| {
            if contextual.contains(&sorted[i]) { Needs::Each } else { Needs::FirstWhole }
        };
        let infixes = Infixes::new(&sorted, needs);
        assert!(infixes.is_sound());
        let mut reports = Vec::new();
        infixes.scan(text, &mut Seen::default(), |o| {
            assert_eq!(&text[o.range.clone()], sorted[o.literal]);
            reports.push((sorted[o.literal], o.range.start, o.first_whole));
        });
        reports.sort_by_key(|&(literal, start, _)| (start, literal.len()));
        reports
    }

    #[test]
    fn the_first_occurrence_and_the_first_whole_one_are_reported() {
        assert_eq!(
            scan(&["git", "hub"], &[], "github git git hub"),
            [("git", 0, false), ("hub", 3, false), ("git", 7, true), ("hub", 15, true)]
        );
        assert_eq!(
            scan(&["reports"], &[], "xreports reports reports"),
            [("reports", 1, false), ("reports", 9, true)]
        );
    }

    #[test]
    fn literals_of_all_lengths_are_found_at_all_places() {
        let literals = ["-", "é", "c++", "部", "部署", "abcd", "abcdefgh", "abcdefghi", "abce"];
        for n_before in 0..140 {
            for literal in literals {
                let text = format!("{}{literal}", ".".repeat(n_before));
                let found = scan(&literals, &[], &text);
                assert!(found.iter().any(|f| f.0 == literal && f.1 == n_before), "{text}");
                let mut cut = text;
                cut.pop();
                assert!(!scan(&literals, &[], &cut).iter().any(|f| f.0 == literal), "{cut}");
            }
        }
    }

    #[test]
    fn the_longest_of_many_that_start_alike_is_found_with_those_it_starts_with() {
        let literals = ["make", "make a", "make a b", "make ab", "make b", "make a bc", "makez"];
        let found = |text| scan(&literals, &[], text).iter().map(|f| f.0).collect::<Vec<_>>();
        assert_eq!(found("make a bd"), ["make", "make a", "make a b"]);
        assert_eq!(found("make a bc"), ["make", "make a", "make a b", "make a bc"]);
        assert_eq!(found("make aa"), ["make", "make a"]);
        assert_eq!(found("makes"), ["make"]);
        assert_eq!(found("mak"), [""; 0]);
    }

    #[test]
    fn every_occurrence_of_a_contextual_literal_is_reported_even_as_a_start_of_another() {
        let reports = scan(&["some b", "some"], &["some"], "some b some b");
        assert_eq!(reports.iter().filter(|r| r.0 == "some").count(), 2);
    }

    #[test]
    fn a_shorter_literal_is_found_whole_after_a_longer_one_was_seen_inside_a_word() {
        let reports = scan(&["some-b", "some"], &[], "xsome-b some-b");
        assert!(reports.contains(&("some", 8, true)), "{reports:?}");
    }

    #[test]
    fn passes_do_not_see_each_other() {
        let infixes = Infixes::new(&["x"], |_| Needs::First);
        let mut seen = Seen { pass: u32::MAX - 1, entries: Vec::new() };
        for _ in 0..4 {
            let mut n_reports = 0;
            infixes.scan("x x x", &mut seen, |_| n_reports += 1);
            assert_eq!(n_reports, 1);
        }
    }
}
