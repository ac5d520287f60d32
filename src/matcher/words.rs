//! Words and phrases looked up by their hash, without an automaton.
//!
//! A literal that starts and ends with an ASCII letter, digit or `_` can only stand as a word of
//! its own where a run of such characters starts, and another ends. So the runs of a text are
//! hashed once and looked up: independent loads, where an automaton waits at each byte for the one
//! before. A phrase is found by the hash of its first two runs, then of three, and so on, as long as
//! some literal goes on; of most runs small filters tell that they are in no phrase, and of most that
//! follow each other that none begins so.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::boundary;
use super::filter::{Filter, scaled};
use super::flat::Texts;
use super::raw::row;
use super::run_key::{RunKey, RunReader};
use super::split::{Split, in_run};

/// No literal ends here: the slot only says that some go on.
const NO_LITERAL: u32 = GOES_ON - 1;

/// The flag of a slot that longer literals begin like.
const GOES_ON: u32 = 1 << 31;

/// Bits of the filters for each literal, or up to twice as many.
const BITS_A_LITERAL: usize = 8;

/// Literals by the hashes of the runs they begin with.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Words {
    /// Two slots for each beginning; a beginning is in the first free one from the place its
    /// hash says.
    #[serde(with = "super::raw")]
    slots: Vec<Slot>,
    /// The literals of one run, and the first two runs of longer ones: most of what is looked for is not
    /// there, and that is known without a look at the slots, which are many.
    single: Filter,
    pairs: Filter,
    /// The first and the second runs of longer ones.
    firsts: Filter,
    seconds: Filter,
    texts: Texts,
}

/// What a run may be of the literals of two runs and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InPhrases {
    pub(super) is_first: bool,
    pub(super) is_second: bool,
}

/// A beginning of literals, of two runs or more, or a literal of one run. Two that have the same tag are
/// never looked for past one another, and what is found is compared with the text, so that a part of the
/// hash is enough.
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

impl Words {
    /// Takes in `literals`, which all are words ([`is_word`]), and returns the places of those it
    /// had to leave out.
    pub(crate) fn new(literals: &[&str]) -> (Words, Vec<usize>) {
        let mut beginnings = Vec::with_capacity(literals.len() * 2);
        let (mut single, mut pairs) = (Vec::new(), Vec::new());
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        let mut runs = Split::default();
        for (literal, &text) in (0..).zip(literals) {
            let reader = RunReader::new(text.as_bytes());
            runs.set(text);
            let first = runs.get(0);
            let mut hash = reader.hash_of_first(&first);
            let mut end = first.end;
            if let Some(second) = runs.after(1).next() {
                let (first, second) = (reader.key(&first), reader.key(&second));
                pairs.push(second.hash_after(first.spread()));
                firsts.push(first.hash_after(0));
                seconds.push(second.hash_after(0));
            } else {
                single.push(hash);
                beginnings.push(Beginning { hash, literal, end: end as u32 });
            }
            for run in runs.after(1) {
                hash = reader.chain(hash, end, &run);
                end = run.end;
                beginnings.push(Beginning { hash, literal, end: end as u32 });
            }
        }
        beginnings.sort_unstable();
        for hashes in [&mut pairs, &mut firsts, &mut seconds] {
            hashes.sort_unstable();
            hashes.dedup();
        }
        let n_beginnings = beginnings.chunk_by(|a, b| a.hash == b.hash).count();
        let mut words = Words {
            slots: vec![Slot::default(); n_beginnings * 2],
            single: Filter::new(&single, BITS_A_LITERAL),
            pairs: Filter::new(&pairs, BITS_A_LITERAL),
            firsts: Filter::new(&firsts, BITS_A_LITERAL),
            seconds: Filter::new(&seconds, BITS_A_LITERAL),
            texts: literals.iter().collect(),
        };
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

    /// The literal that is all of `bytes`, a run of which `key` is the key.
    pub(super) fn single(&self, key: RunKey, bytes: &[u8]) -> Option<u32> {
        let hash = key.hash_of_first(bytes.len());
        if !self.single.may_have(hash) {
            return None;
        }
        let literal = self.get(hash)?.literal & !GOES_ON;
        let is_it = literal != NO_LITERAL && *bytes == *self.texts.bytes(literal);
        is_it.then_some(literal)
    }

    /// Whether a run of a folded `text` stands there as a word of its own.
    #[inline]
    pub(super) fn stands_alone(text: &str, run: &Range<usize>) -> bool {
        opens(text, run) && closes(text, run.end)
    }

    /// What a run may be of the literals of two runs and more.
    pub(super) fn in_phrases(&self, key: RunKey) -> InPhrases {
        let hash = key.hash_after(0);
        InPhrases { is_first: self.firsts.may_have(hash), is_second: self.seconds.may_have(hash) }
    }

    /// Whether a literal may begin with two runs, one after the other, of which the first has `spread`.
    #[inline]
    pub(super) fn may_begin(&self, spread: u64, second: RunKey) -> bool {
        self.pairs.may_have(second.hash_after(spread))
    }

    /// Calls `report` with each literal of two runs or more that stands in the folded `text` as words of
    /// their own and begins with the run at `place`, which is not the last one; the shortest first.
    pub(super) fn phrases(
        &self,
        text: &str,
        reader: &RunReader<'_>,
        runs: &Split,
        place: usize,
        mut report: impl FnMut(u32, Range<usize>),
    ) {
        let first = runs.get(place);
        if !opens(text, &first) {
            return;
        }
        let (mut hash, mut end) = (reader.hash_of_first(&first), first.end);
        for run in runs.after(place + 1) {
            hash = reader.chain(hash, end, &run);
            let Some(Slot { literal: known, .. }) = self.get(hash) else { return };
            end = run.end;
            let literal = known & !GOES_ON;
            let is_it = || text.as_bytes()[first.start..end] == *self.texts.bytes(literal);
            if literal != NO_LITERAL && closes(text, end) && is_it() {
                report(literal, first.start..end);
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
        scaled(hash as u32, self.slots.len())
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
        self.slots.capacity() * size_of::<Slot>()
            + self.single.memory_usage()
            + self.pairs.memory_usage()
            + self.firsts.memory_usage()
            + self.seconds.memory_usage()
            + self.texts.memory_usage()
    }
}

/// Whether a folded literal can be found by its runs.
pub(crate) fn is_word(literal: &str) -> bool {
    let bytes = literal.as_bytes();
    literal.is_ascii() && [bytes.first(), bytes.last()].into_iter().flatten().all(|&b| in_run(b))
}

/// Whether a run of a text is no end of a longer word.
fn opens(text: &str, run: &Range<usize>) -> bool {
    let is_plain = run.start == 0 || text.as_bytes()[run.start - 1].is_ascii();
    is_plain || boundary::opens(text, run.start, run.end)
}

/// Whether what ends at a byte, as a run does, is no start of a longer word.
fn closes(text: &str, end: usize) -> bool {
    text.as_bytes().get(end).is_none_or(u8::is_ascii) || boundary::closes(text, end)
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
        let mut report = |literal: u32, range: Range<usize>| {
            let literal = literals[literal as usize];
            assert_eq!(&text[range.clone()], literal);
            found.push((literal, range.start));
        };
        for (place, run) in runs.iter().enumerate() {
            let key = reader.key(&run);
            let single = words.single(key, &text.as_bytes()[run.clone()]);
            if let Some(single) = single.filter(|_| Words::stands_alone(text, &run)) {
                report(single, run);
            }
            let next = runs.after(place + 1).next();
            let may_begin = |next| words.may_begin(key.spread(), reader.key(&next));
            if next.is_some_and(may_begin) {
                words.phrases(text, &reader, &runs, place, &mut report);
            }
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
