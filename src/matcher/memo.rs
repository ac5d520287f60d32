//! What was found out about words of earlier texts.
//!
//! Which literals stand inside a word, and which begin with it, are the same wherever the word
//! stands. Messages are made of words that came before, so each is looked at closely once, and
//! recalled then by one look. What is recalled is exact: of a word of more than eight bytes the bytes
//! are compared.

use std::ops::Range;

use super::words::{First, eight, hash};

/// So many words are known at most, about; then they are forgotten and learned anew.
const MAX_WORDS: usize = 2_048;

/// Longer words are not kept, nor are those that more literals stand in.
const MAX_BYTES: usize = 64;
const MAX_INSIDE: usize = 16;

/// No more places are looked at for a word, however its hash was chosen.
const MAX_STEPS: usize = 8;

/// Words and what is known of them: working memory of one thread for one index.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// A power of two of places, of which half are used at most.
    words: Vec<Word>,
    n_words: usize,
    inside: Vec<Inside>,
    /// How many of those are of words that are kept.
    n_inside: usize,
    /// The bytes of words of more than eight.
    long: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Word {
    /// Of up to eight bytes these, of more a hash; 0 if the place is free.
    key: u64,
    n_bytes: u32,
    /// Where it is among the long ones, if it is one.
    start: u32,
    known: Known,
}

/// What is known of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) first: First,
    start: u32,
    end: u32,
}

/// A literal inside a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) literal: u32,
    /// Where in the word it starts.
    pub(super) at: u32,
}

impl Memo {
    /// What is known of a run of `text`, which `learn` finds out if it is not known: it adds what
    /// stands inside.
    pub(super) fn of(
        &mut self,
        text: &[u8],
        run: Range<usize>,
        learn: impl FnOnce(&mut Vec<Inside>) -> First,
    ) -> Known {
        let (key, is_long) = match eight(text, run.clone()) {
            Some(eight) => (eight, false),
            None => (hash(&text[run.clone()]).max(1), true),
        };
        for place in self.places(key) {
            let Some(word) = self.words.get(place) else { break };
            if word.key == key
                && word.n_bytes as usize == run.len()
                && (!is_long || self.long[word.start as usize..][..run.len()] == text[run.clone()])
            {
                return word.known;
            }
            if word.key == 0 {
                break;
            }
        }
        self.learn(key, &text[run], learn)
    }

    /// What stands inside a word.
    pub(super) fn inside(&self, known: Known) -> &[Inside] {
        &self.inside[known.start as usize..known.end as usize]
    }

    #[cold]
    fn learn(
        &mut self,
        key: u64,
        bytes: &[u8],
        learn: impl FnOnce(&mut Vec<Inside>) -> First,
    ) -> Known {
        self.inside.truncate(self.n_inside);
        if self.n_words * 2 >= self.words.len() {
            self.make_room();
        }
        let start = self.inside.len();
        let first = learn(&mut self.inside);
        let end = self.inside.len();
        let known = Known { first, start: start as u32, end: end as u32 };
        if bytes.len() <= MAX_BYTES && end - start <= MAX_INSIDE {
            let (n_bytes, start) = (bytes.len() as u32, self.long.len() as u32);
            if self.keep(Word { key, n_bytes, start, known }) {
                self.n_inside = end;
                if bytes.len() > size_of::<u64>() {
                    self.long.extend_from_slice(bytes);
                }
            }
        }
        known
    }

    fn make_room(&mut self) {
        let free = Word { key: 0, n_bytes: 0, start: 0, known: Known { first: First::NONE, start: 0, end: 0 } };
        if self.n_words >= MAX_WORDS {
            self.words.fill(free);
            (self.n_words, self.n_inside) = (0, 0);
            self.inside.clear();
            self.long.clear();
            return;
        }
        let n_places = (self.words.len() * 2).max(MAX_WORDS / 8);
        let before = std::mem::replace(&mut self.words, vec![free; n_places]);
        self.n_words = 0;
        for word in before.into_iter().filter(|word| word.key != 0) {
            self.keep(word);
        }
    }

    /// Puts a word in a place, if one of its places is free.
    fn keep(&mut self, word: Word) -> bool {
        let free = self.places(word.key).find(|&place| self.words[place].key == 0);
        if let Some(place) = free {
            self.words[place] = word;
            self.n_words += 1;
        }
        free.is_some()
    }

    /// Where a word may be, in this order.
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let last = self.words.len().wrapping_sub(1);
        // Only the upper bits depend on all of the key.
        let home = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize;
        (home..home + MAX_STEPS).map(move |place| place & last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
}
