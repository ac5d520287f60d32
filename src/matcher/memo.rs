//! What was found out about words of earlier texts.
//!
//! Which literals stand inside a word, and which begin with it, are the same wherever the word
//! stands. Messages are made of words that came before, so each is looked at closely once, and
//! recalled then by one look. What is recalled is exact: of a word of more than eight bytes the bytes
//! are compared.

use std::ops::Range;

use super::infix::Start;
use super::words::{First, eight, hash};

/// So many words are known at most, about; then they are forgotten and learned anew.
const MAX_WORDS: usize = 2_048;

/// So many places there are at least, once there are some.
const MIN_PLACES: usize = 64;

/// Longer words are not kept, nor are those that more literals stand in.
const MAX_BYTES: usize = 64;
const MAX_INSIDE: usize = 16;

/// No more places are looked at for a word, however its hash was chosen.
const MAX_STEPS: usize = 8;

/// The bit that the keys of words of more than eight bytes have.
const IS_LONG: u64 = 1 << 63;

/// Words and what is known of them: working memory of one thread for one index.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// A power of two of places, of which half are used at most, and some after the last; a word is in
    /// the first free one from that which its key says.
    words: Vec<Word>,
    n_words: usize,
    /// By how much a hash is shifted to be a place.
    shift: u32,
    inside: Vec<Inside>,
    /// How many of those are of words that are kept.
    n_inside: usize,
    /// The bytes of words of more than eight.
    long: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Word {
    /// See [`key`]; 0 if the place is free.
    key: u64,
    n_bytes: u32,
    /// Where it is among the long ones, if it is one.
    start: u32,
    known: Known,
}

/// What is known of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) first: First,
    start: u32,
    end: u32,
}

impl Known {
    /// Whether it is that no literal has to do with the word.
    pub(super) fn is_nothing(self) -> bool {
        self.first == First::NONE && self.start == self.end
    }
}

/// What starts in a word, and at which of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) what: Start,
    pub(super) at: u32,
}

impl Memo {
    /// What is known of a run of `text`.
    #[inline]
    pub(super) fn get(&self, text: &[u8], run: &Range<usize>) -> Option<Known> {
        let key = key(text, run);
        let home = self.home(key);
        let places = self.words.get(home..home + MAX_STEPS)?;
        // Nearly always the first is it.
        if places[0].key == key && key < IS_LONG {
            return Some(places[0].known);
        }
        self.find(key, &text[run.clone()], places)
    }

    #[inline(never)]
    fn find(&self, key: u64, bytes: &[u8], places: &[Word]) -> Option<Known> {
        let is_it = |word: &&Word| {
            let start = word.start as usize;
            word.key == key
                && (key < IS_LONG
                    || (word.n_bytes as usize == bytes.len()
                        && self.long[start..start + bytes.len()] == *bytes))
        };
        places.iter().take_while(|word| word.key != 0).find(is_it).map(|word| word.known)
    }

    /// What starts in a word.
    pub(super) fn inside(&self, known: Known) -> &[Inside] {
        &self.inside[known.start as usize..known.end as usize]
    }

    /// Learns a run of `text` that is not known. `look` adds what starts in it, and says what begins
    /// with it.
    #[cold]
    pub(super) fn learn(
        &mut self,
        text: &[u8],
        run: Range<usize>,
        look: impl FnOnce(&[u8], &mut Vec<Inside>) -> First,
    ) -> Known {
        let (key, bytes) = (key(text, &run), &text[run]);
        self.inside.truncate(self.n_inside);
        if self.n_words * 2 + MAX_STEPS >= self.words.len() {
            self.make_room();
        }
        let start = self.inside.len();
        let first = look(bytes, &mut self.inside);
        let end = self.inside.len();
        let known = Known { first, start: start as u32, end: end as u32 };
        if bytes.len() <= MAX_BYTES && end - start <= MAX_INSIDE {
            let (n_bytes, start) = (bytes.len() as u32, self.long.len() as u32);
            if self.keep(Word { key, n_bytes, start, known }) {
                self.n_inside = end;
                if key >= IS_LONG {
                    self.long.extend_from_slice(bytes);
                }
            }
        }
        known
    }

    fn make_room(&mut self) {
        if self.n_words >= MAX_WORDS {
            self.words.fill(Word::default());
            (self.n_words, self.n_inside) = (0, 0);
            self.inside.clear();
            self.long.clear();
            return;
        }
        let n_places = (self.n_words * 4).max(MIN_PLACES).next_power_of_two();
        self.shift = n_places.leading_zeros() + 1;
        let words = vec![Word::default(); n_places + MAX_STEPS];
        self.n_words = 0;
        for word in std::mem::replace(&mut self.words, words) {
            if word.key != 0 {
                self.keep(word);
            }
        }
    }

    /// Puts a word in a place, if one of its places is free.
    fn keep(&mut self, word: Word) -> bool {
        let home = self.home(word.key);
        let free = self.words[home..home + MAX_STEPS].iter_mut().find(|place| place.key == 0);
        let is_kept = free.is_some();
        if let Some(free) = free {
            *free = word;
            self.n_words += 1;
        }
        is_kept
    }

    /// The first place where a word may be. Only the upper bits of the product depend on all of the key.
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

/// Up to eight bytes as a number, of more a hash that no such number is, as all are ASCII.
#[inline]
fn key(text: &[u8], run: &Range<usize>) -> u64 {
    eight(text, run).unwrap_or_else(|| hash(&text[run.clone()]) | IS_LONG)
}

#[cfg(test)]
mod tests {
    use super::*;
}
