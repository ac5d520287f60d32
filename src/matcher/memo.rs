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

/// Longer words are not to be learned.
pub(super) const MAX_BYTES: usize = 64;

/// Words that more starts in are not kept.
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

    /// Learns a run of `text` that is not known, of up to [`MAX_BYTES`]. `look` adds what starts in it, and says what begins
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
        if end - start <= MAX_INSIDE {
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

    /// What is learned of a word here: its length, and its bytes as what starts in it.
    fn look(bytes: &[u8], inside: &mut Vec<Inside>) -> First {
        let all = bytes.iter().zip(0..);
        inside.extend(all.map(|(&byte, at)| Inside { what: Start::Literal(byte.into()), at }));
        First::NONE
    }

    /// Whether a word was known; what is known of it is right.
    fn is_known(memo: &mut Memo, word: &str) -> bool {
        let (bytes, run) = (word.as_bytes(), 0..word.len());
        let recalled = memo.get(bytes, &run);
        let known = recalled.unwrap_or_else(|| memo.learn(bytes, run, look));
        let mut expected = Vec::new();
        look(bytes, &mut expected);
        assert_eq!(memo.inside(known), expected, "{word}");
        recalled.is_some()
    }

    #[test]
    fn words_are_recalled_until_there_are_too_many_and_what_is_recalled_is_right() {
        let mut memo = Memo::default();
        let word = |i: usize| format!("{}{i}", ["a", "word", "longerw"][i % 3]);
        for i in 0..MAX_WORDS - 1 {
            assert!(!is_known(&mut memo, &word(i)), "{i}");
        }
        // Of some all places are taken.
        let n_kept = (0..MAX_WORDS - 1).filter(|&i| is_known(&mut memo, &word(i))).count();
        assert!(n_kept > MAX_WORDS * 9 / 10, "{n_kept}");
        let n_places = memo.words.len();
        for i in 0..MAX_WORDS * 4 {
            is_known(&mut memo, &word(i));
            assert!(memo.n_words <= MAX_WORDS);
        }
        assert!(!is_known(&mut memo, &word(MAX_WORDS)), "it was forgotten");
        assert_eq!(memo.words.len(), n_places);
    }

    #[test]
    fn words_with_the_same_key_are_told_apart_by_their_bytes() {
        let mut memo = Memo::default();
        let words = ["a".repeat(20), "b".repeat(20), "b".repeat(21)];
        assert!(!is_known(&mut memo, &words[0]));
        let key = |word: &str| key(word.as_bytes(), &(0..word.len()));
        let home = memo.home(key(&words[0]));
        for other in &words[1..] {
            // As if it had the same hash.
            memo.words[home].key = key(other);
            let places = &memo.words[home..home + MAX_STEPS];
            assert!(memo.find(key(other), other.as_bytes(), places).is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_full_of_literals_is_not_kept() {
        let mut memo = Memo::default();
        for (n_bytes, is_kept) in [(MAX_INSIDE, true), (MAX_INSIDE + 1, false), (MAX_BYTES, false)]
        {
            let word = "a".repeat(n_bytes);
            is_known(&mut memo, &word);
            assert_eq!(is_known(&mut memo, &word), is_kept, "{n_bytes}");
        }
        assert_eq!((memo.n_inside, memo.n_words), (MAX_INSIDE, 1));
    }

    #[test]
    fn words_that_share_their_places_are_as_many_as_there_are_steps() {
        let mut memo = Memo::default();
        is_known(&mut memo, "first");
        let home = memo.home(key(b"first", &(0..5)));
        let alike: Vec<String> = (0..100_000)
            .map(|i| format!("w{i}"))
            .filter(|word| memo.home(key(word.as_bytes(), &(0..word.len()))) == home)
            .take(20)
            .collect();
        assert_eq!(alike.len(), 20);
        for word in &alike {
            is_known(&mut memo, word);
        }
        let n_kept = alike.iter().filter(|word| is_known(&mut memo, word)).count();
        assert!((1..MAX_STEPS).contains(&n_kept), "{n_kept}");
    }
}
