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
use super::run_key::{RunKey, RunReader};
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

/// What a run alone says of the literals that begin with it: the one that is this run, compared
/// with it, or [`NO_LITERAL`], and [`GOES_ON`].
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
            let reader = RunReader::new(literal.as_bytes());
            runs.set(literal);
            let (mut hash, mut before) = (0, None);
            for run in runs.iter() {
                let end = run.end;
                hash = match before {
                    Some(before) => reader.chain(hash, before, &run),
                    None => reader.hash_of_first(&run),
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

    /// What the run says that is all of `bytes`, of which `key` is the key.
    pub(super) fn first(&self, key: RunKey, bytes: &[u8]) -> First {
        let hash = key.hash_of_first(bytes.len());
        let Some(Slot { literal, .. }) = self.get(hash) else { return First::NONE };
        let of_run = literal & !GOES_ON;
        let is_it = of_run != NO_LITERAL && *bytes == *self.texts.bytes(of_run);
        First(if is_it { literal } else { literal & GOES_ON | NO_LITERAL })
    }

    /// Calls `report` with each literal that stands in the folded `text` as a word of its own and
    /// begins with the run at `place`, of which `first` is known and not nothing; the shortest first.
    #[inline]
    pub(super) fn follow(
        &self,
        text: &str,
        reader: &RunReader<'_>,
        runs: &Split,
        place: usize,
        first: First,
        mut report: impl FnMut(u32, Range<usize>),
    ) {
        let bytes = text.as_bytes();
        let Range { start, end } = runs.get(place);
        let is_open = start == 0 || bytes[start - 1].is_ascii();
        if !is_open && !boundary::opens(text, start, end) {
            return;
        }
        let is_closed =
            |end: usize| bytes.get(end).is_none_or(u8::is_ascii) || boundary::closes(text, end);
        let First(known) = first;
        if known & !GOES_ON != NO_LITERAL && is_closed(end) {
            report(known & !GOES_ON, start..end);
        }
        if known & GOES_ON == 0 {
            return;
        }
        let (mut hash, mut end) = (reader.hash_of_first(&(start..end)), end);
        for run in runs.after(place + 1) {
            hash = reader.chain(hash, end, &run);
            let Some(Slot { literal: known, .. }) = self.get(hash) else { return };
            end = run.end;
            let literal = known & !GOES_ON;
            if literal != NO_LITERAL
                && is_closed(end)
                && bytes[start..end] == *self.texts.bytes(literal)
            {
                report(literal, start..end);
            }
            if known & GOES_ON == 0 {
                return;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scan<'a>(literals: &[&'a str], text: &str) -> Vec<(&'a str, usize)> {
        let (words, left_out) = Words::new(literals);
        assert!(left_out.is_empty());
        let reader = RunReader::new(text.as_bytes());
        let mut found = Vec::new();
        let mut runs = Split::default();
        runs.set(text);
        for (place, run) in runs.iter().enumerate() {
            let first = words.first(reader.key(&run), &text.as_bytes()[run]);
            if first == First::NONE {
                continue;
            }
            words.follow(text, &reader, &runs, place, first, |literal, range| {
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
