//! Words and phrases looked up by their hash, without an automaton.
//!
//! A literal that starts and ends with an ASCII letter, digit or `_` can only stand as a word of
//! its own where a run of such characters starts, and another ends. So the runs of a text are
//! hashed once and looked up: independent loads, where an automaton waits at each byte for the one
//! before. A phrase is found by the hash of its first run, then of its first two, and so on, as
//! long as some literal goes on.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::boundary;
use super::flat::Texts;
use super::raw::row;
use super::split::{Split, in_run};

/// No literal ends here: the slot only says that some go on.
const NO_LITERAL: u32 = GOES_ON - 1;

/// The flag of a slot that longer literals begin like.
const GOES_ON: u32 = 1 << 31;

/// Literals by the hashes of the runs they begin with.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Words {
    /// Two slots for each beginning; a beginning is in the first free one from the place its
    /// hash says.
    #[serde(with = "super::raw")]
    slots: Vec<Slot>,
    texts: Texts,
}

/// A beginning of literals. Two that have the same tag are never looked for past one another, and
/// what is found is compared with the text, so that a part of the hash is enough.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    /// The upper half of its hash; 0 is free.
    tag: u32,
    /// The literal that ends here, or [`NO_LITERAL`], and [`GOES_ON`].
    literal: u32,
}

row!(Slot { tag: u32, literal: u32 });

/// A beginning of a literal, while the slots are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Beginning {
    hash: u64,
    literal: u32,
    end: u32,
}

/// What a run alone says of the literals that begin with it: the one that is this run, or
/// [`NO_LITERAL`], and [`GOES_ON`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct First(u32);

impl Default for First {
    fn default() -> First {
        First::NONE
    }
}

impl First {
    /// No literal begins with the run.
    pub(super) const NONE: First = First(NO_LITERAL);
}

impl Words {
    /// Takes in `literals`, which all are words ([`is_word`]), and returns the places of those it
    /// had to leave out.
    pub(crate) fn new(literals: &[&str]) -> (Words, Vec<usize>) {
        let mut beginnings = Vec::with_capacity(literals.len() * 2);
        let mut runs = Split::default();
        for (place, &literal) in literals.iter().enumerate() {
            let bytes = literal.as_bytes();
            runs.set(literal);
            let (mut hash, mut before) = (0, None);
            for run in runs.iter() {
                let end = run.end;
                hash = match before {
                    Some(before) => chain(hash, bytes, before, run),
                    None => hash_of_first(bytes, run),
                };
                before = Some(end);
                beginnings.push(Beginning { hash, literal: place as u32, end: end as u32 });
            }
        }
        beginnings.sort_unstable();
        let n_beginnings = beginnings.chunk_by(|a, b| a.hash == b.hash).count();
        let slots = vec![Slot::default(); n_beginnings * 2];
        let mut words = Words { slots, texts: literals.iter().collect() };
        let mut left_out = Vec::new();
        for same in beginnings.chunk_by(|a, b| a.hash == b.hash) {
            let text = |of: &Beginning| &literals[of.literal as usize][..of.end as usize];
            let mut slot = Slot { tag: tag(same[0].hash), literal: NO_LITERAL };
            let at = words.free_place(same[0].hash);
            for of in same {
                if at.is_none() || text(of) != text(&same[0]) {
                    left_out.push(of.literal as usize);
                } else if text(of).len() < literals[of.literal as usize].len() {
                    slot.literal |= GOES_ON;
                } else {
                    slot.literal = slot.literal & GOES_ON | of.literal;
                }
            }
            if let Some(at) = at {
                words.slots[at] = slot;
            }
        }
        (words, left_out)
    }

    /// The first free place for a hash, if none before it has its tag.
    fn free_place(&self, hash: u64) -> Option<usize> {
        let mut at = self.home(hash);
        while self.slots[at].tag != 0 {
            if self.slots[at].tag == tag(hash) {
                return None;
            }
            at = self.after(at);
        }
        Some(at)
    }

    /// What a run says.
    pub(super) fn first(&self, run: &[u8]) -> First {
        let slot = self.get(hash_of_first(run, 0..run.len()));
        slot.map_or(First::NONE, |slot| First(slot.literal))
    }

    /// Calls `report` with each literal that stands in the folded `text` as a word of its own and
    /// begins with the run at `place`, of which `first` is known and not nothing; the shortest first.
    pub(super) fn follow(
        &self,
        text: &str,
        runs: &Split,
        place: usize,
        first: First,
        mut report: impl FnMut(u32, Range<usize>),
    ) {
        let bytes = text.as_bytes();
        let mut run = runs.get(place);
        let start = run.start;
        let is_open = start == 0 || bytes[start - 1].is_ascii();
        if !is_open && !boundary::opens(text, start, run.end) {
            return;
        }
        let mut rest = runs.after(place + 1);
        let (mut hash, mut known) = (None, first.0);
        loop {
            let end = run.end;
            let literal = known & !GOES_ON;
            if literal != NO_LITERAL
                && (bytes.get(end).is_none_or(u8::is_ascii) || boundary::closes(text, end))
                && bytes[start..end] == *self.texts.bytes(literal)
            {
                report(literal, start..end);
            }
            if known & GOES_ON == 0 {
                return;
            }
            let Some(next) = rest.next() else { return };
            let so_far = hash.unwrap_or_else(|| hash_of_first(bytes, run));
            let longer = chain(so_far, bytes, end, next.clone());
            let Some(slot) = self.get(longer) else { return };
            (hash, known, run) = (Some(longer), slot.literal, next);
        }
    }

    fn get(&self, hash: u64) -> Option<Slot> {
        let mut at = self.home(hash);
        loop {
            let slot = *self.slots.get(at)?;
            if slot.tag == tag(hash) {
                return Some(slot);
            }
            if slot.tag == 0 {
                return None;
            }
            at = self.after(at);
        }
    }

    /// The lower half of a hash, scaled to the number of slots.
    fn home(&self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.slots.len() as u64) >> 32) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// The number of literals.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether what was read can be used without a check at each step.
    pub(crate) fn is_sound(&self) -> bool {
        let is_slot = |slot: &Slot| {
            let literal = slot.literal & !GOES_ON;
            literal == NO_LITERAL || (literal as usize) < self.texts.len()
        };
        let has_end = self.slots.is_empty() || self.slots.iter().any(|slot| slot.tag == 0);
        self.texts.is_sound() && has_end && self.slots.iter().all(is_slot)
    }

    /// Heap memory in bytes.
    pub(crate) fn memory_usage(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.texts.memory_usage()
    }
}

/// Whether a folded literal can be found by its runs.
pub(crate) fn is_word(literal: &str) -> bool {
    let bytes = literal.as_bytes();
    literal.is_ascii() && [bytes.first(), bytes.last()].into_iter().flatten().all(|&b| in_run(b))
}

fn tag(hash: u64) -> u32 {
    ((hash >> 32) as u32).max(1)
}

/// The hash of what begins with a run.
fn hash_of_first(text: &[u8], run: Range<usize>) -> u64 {
    mix(0, hash_of_run(text, run))
}

/// The hash of what was seen, which ends at `end`, then what stands between, then a run.
fn chain(so_far: u64, text: &[u8], end: usize, run: Range<usize>) -> u64 {
    let gap = match text[end..run.start] {
        [byte] => u64::from(byte),
        ref between => hash(between),
    };
    mix(so_far ^ gap.rotate_left(17), hash_of_run(text, run))
}

fn hash_of_run(text: &[u8], run: Range<usize>) -> u64 {
    match eight(text, &run) {
        Some(eight) => mix(run.len() as u64, eight),
        None => hash(&text[run]),
    }
}

/// A run of up to eight bytes, as most are, as a number. They are read at once with what comes after
/// them, of which nothing is left.
#[inline]
pub(super) fn eight(text: &[u8], run: &Range<usize>) -> Option<u64> {
    let n_bytes = run.len();
    if n_bytes > 8 {
        return None;
    }
    match text.get(run.start..run.start + 8).and_then(|bytes| bytes.first_chunk()) {
        Some(eight) => Some(u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * n_bytes))),
        None => Some(eight_at_the_end(&text[run.clone()])),
    }
}

#[cold]
fn eight_at_the_end(run: &[u8]) -> u64 {
    run.iter().rev().fold(0, |eight, &byte| eight << 8 | u64::from(byte))
}

/// A hash of short texts: eight bytes a step, the last step over what the one before has seen too.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, after)) =
        rest.split_first_chunk::<8>().filter(|(_, after)| !after.is_empty())
    {
        hash = mix(hash, u64::from_le_bytes(*eight));
        rest = after;
    }
    let last = if let Some(eight) = bytes.last_chunk::<8>() {
        u64::from_le_bytes(*eight)
    } else if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
    } else if let (Some(&first), Some(&last)) = (rest.first(), rest.last()) {
        u64::from(first) | u64::from(rest[rest.len() / 2]) << 8 | u64::from(last) << 16
    } else {
        0
    };
    mix(hash, last)
}

/// Multiplies to twice the width and folds the halves, as `wyhash` does
/// (<https://github.com/wangyi-fudan/wyhash>).
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xa076_1d64_78bd_642f) * u128::from(b ^ 0xe703_7ed1_a0b4_28db);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan<'a>(literals: &[&'a str], text: &str) -> Vec<(&'a str, usize)> {
        let (words, left_out) = Words::new(literals);
        assert!(left_out.is_empty());
        let mut found = Vec::new();
        let mut runs = Split::default();
        runs.set(text);
        for (place, run) in runs.iter().enumerate() {
            let first = words.first(text[run].as_bytes());
            if first == First::NONE {
                continue;
            }
            words.follow(text, &runs, place, first, |literal, range| {
                let literal = literals[literal as usize];
                assert_eq!(&text[range.clone()], literal);
                found.push((literal, range.start));
            });
        }
        found
    }

    #[test]
    fn words_and_phrases_are_found_as_often_as_they_stand() {
        let literals = ["git", "pull request", "pull", "pull request review", "ci/cd", "a"];
        assert_eq!(
            scan(&literals, "pull request git, pull request review: github ci/cd 使git用 ágit"),
            [
                ("pull", 0),
                ("pull request", 0),
                ("git", 13),
                ("pull", 18),
                ("pull request", 18),
                ("pull request review", 18),
                ("ci/cd", 46),
                ("git", 55),
            ]
        );
        assert_eq!(scan(&literals, "pull-request pull  request a_a"), [("pull", 0), ("pull", 13)]);
        assert_eq!(scan(&[], "a b"), []);
    }

    #[test]
    fn runs_reach_over_blocks_and_to_the_end() {
        for n_bytes in 1..200 {
            let word = "a".repeat(n_bytes);
            for text in [word.clone(), format!("{}.{word}", "b".repeat(63)), format!("{word}é")] {
                assert_eq!(
                    scan(&[&word], &text).len(),
                    usize::from(!text.ends_with('é')),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn long_runs_are_told_apart() {
        let words: Vec<String> = (1..200).map(|n| "ab".repeat(n)).collect();
        let literals: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(scan(&literals, &literals.join(" ")).len(), 199);
    }

    #[test]
    fn what_starts_or_ends_otherwise_is_no_word() {
        for (literal, expected) in
            [("git", true), ("ci/cd", true), ("c++", false), (".net", false), ("café", false)]
        {
            assert_eq!(is_word(literal), expected, "{literal}");
        }
    }
}
