//! What was found out about words of earlier texts.
//!
//! Which literals stand inside a word, which it is, and whether it may be in a phrase are the same
//! wherever the word stands. Messages are made of words that came before, so each is looked at closely once, and
//! recalled then by one look. What is recalled is exact: of a word of more than sixteen bytes the bytes
//! are compared. Of most words that are new nobody writes again, so once there are too many, those are
//! kept that were recalled lately: of 47,000 published messages 8 % of the words are not known then,
//! against 12 % if all were forgotten.

use std::num::NonZeroU64;
use std::ops::Range;

use super::run_key::{self, RunKey};
use super::starts::Start;
use super::words::InPhrases;

/// So many words are known at most, about; then those are forgotten that were not recalled since it was
/// so the last time.
const MAX_WORDS: usize = 4_096;

/// So many of these are kept at most.
const MAX_KEPT: usize = MAX_WORDS / 2;

/// So much of a kind may start in all words together, those that were forgotten among them, and so many
/// bytes may they have; then all are forgotten.
const MAX_STARTS: usize = MAX_WORDS * 4;
const MAX_LONG: usize = MAX_WORDS * MAX_BYTES;

/// So many places there are at least, once there are some.
const MIN_PLACES: usize = 64;

/// Longer words are not to be learned.
pub(super) const MAX_BYTES: usize = 64;

/// Words that more starts in are not learned.
const MAX_INSIDE: usize = 16;

/// No more places are looked at for a word, however its hash was chosen.
const MAX_STEPS: usize = 8;

/// Words and what is known of them: working memory of one thread for one index.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// A power of two of places, of which half are used at most, and some after the last; a word is in
    /// the first free one from that which its key says.
    words: Vec<Word>,
    n_words: usize,
    /// By how much a hash is shifted to be a place.
    shift: u32,
    /// What is in the words that are known, and in the last one that was looked at.
    singles: Vec<Single>,
    others: Vec<Inside>,
    /// How many of those are of words that are kept.
    n_singles: usize,
    n_others: usize,
    /// The bytes of words whose keys do not tell all of them, and before each how many it has.
    long: Vec<u8>,
    /// While words are forgotten: those that are kept.
    kept: Vec<Word>,
}

/// What is known of a word, in half a line of a cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Word {
    /// No key if the place is free.
    key: RunKey,
    /// The two of [`Known`]; nothing has [`USED`] that was not recalled.
    inside: u64,
    item: u32,
    /// Where it is among the long ones, if it is one.
    start: u32,
}

/// What is known of a word, in two numbers, one of which is never 0: so it stays in registers, and so does
/// whether there is any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// From the lowest bits on: [`USED`], and seven bits that are free; how many single literals start in
    /// the word, and how much else does, of 8 bits each; where each of these are, of 16 bits; and what the
    /// word may be of phrases. Of each word that is learned these are [`MAX_INSIDE`] at most, so that all
    /// numbers fit.
    inside: NonZeroU64,
    /// One more than the item that the word is; 0 if it is none, or more than one thing.
    item: u32,
}

const IS_SECOND: u64 = 1 << 63;
const IS_FIRST: u64 = IS_SECOND >> 1;

/// The flag of all that is known of a word now; where it is kept, only of those recalled lately.
const USED: NonZeroU64 = NonZeroU64::MIN;

impl Known {
    /// A word of which nothing is known but what it is as a whole.
    pub(super) fn new(item: Option<u32>, in_phrases: InPhrases) -> Known {
        let flag = |is: bool, flag| if is { flag } else { 0 };
        let flags = flag(in_phrases.is_first, IS_FIRST) | flag(in_phrases.is_second, IS_SECOND);
        Known { inside: USED | flags, item: item.map_or(0, |item| item + 1) }
    }

    /// The same of a word in which something starts.
    fn with(self, singles: Range<usize>, others: Range<usize>) -> Known {
        let numbers = (singles.len() as u64) << 8 | (others.len() as u64) << 16;
        let starts = (singles.start as u64) << 24 | (others.start as u64) << 40;
        Known { inside: self.inside | starts | numbers, ..self }
    }

    /// Whether the first two words of a phrase may be one `before` and this one.
    pub(super) fn may_go_on(self, before: Known) -> bool {
        before.inside.get() << 1 & self.inside.get() & IS_SECOND != 0
    }

    /// How many single literals start in the word.
    pub(super) fn n_singles(self) -> u8 {
        (self.inside.get() >> 8) as u8
    }

    /// How much else does.
    pub(super) fn n_others(self) -> u8 {
        (self.inside.get() >> 16) as u8
    }

    /// The item that the word is, if it is no more than that.
    pub(super) fn item(self) -> Option<u32> {
        self.item.checked_sub(1)
    }
}

/// Where a literal ends in a word, of which nothing else matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Single {
    pub(super) literal: u32,
    end: u8,
}

impl Single {
    /// The end in a text in which the word starts at `start`.
    #[inline]
    pub(super) fn end(self, start: usize) -> usize {
        start + usize::from(self.end)
    }
}

/// What else starts in a word, and at which of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) what: Start,
    start: u8,
    end: u8,
}

impl Inside {
    /// The bytes of a text in which the word starts at `start`.
    #[inline]
    pub(super) fn range(self, start: usize) -> Range<usize> {
        start + usize::from(self.start)..start + usize::from(self.end)
    }
}

impl Word {
    /// What is known of it, which is used now.
    fn recall(&mut self) -> Known {
        let inside = USED | self.inside;
        self.inside = inside.get();
        Known { inside, item: self.item }
    }
}

impl Memo {
    /// What is known of a run of a text, of which the key has `spread`. Nearly always one of the first two
    /// places says it.
    #[inline]
    pub(super) fn get(
        &mut self,
        key: RunKey,
        spread: u64,
        text: &[u8],
        run: &Range<usize>,
    ) -> Option<Known> {
        if run_key::is_short(run) {
            let home = self.home(spread);
            for place in [home, home.wrapping_add(1)] {
                match self.words.get_mut(place) {
                    Some(word) if word.key == key => return Some(word.recall()),
                    Some(word) if word.key.is_none() => return None,
                    _ => {}
                }
            }
        }
        self.find(key, &text[run.clone()])
    }

    #[inline(never)]
    fn find(&mut self, key: RunKey, bytes: &[u8]) -> Option<Known> {
        let home = self.home(key.spread());
        let Memo { words, long, .. } = self;
        let is_long_word = |word: &Word| {
            let kept = long[word.start as usize..].split_first();
            kept.is_some_and(|(n_bytes, kept)| {
                usize::from(*n_bytes) == bytes.len() && kept.starts_with(bytes)
            })
        };
        let places = words.get_mut(home..)?.iter_mut().take(MAX_STEPS);
        let is_it = |word: &&mut Word| word.key == key && (!key.is_long() || is_long_word(word));
        places.take_while(|word| !word.key.is_none()).find(is_it).map(Word::recall)
    }

    /// The literals in a word of which no more matters than where they end.
    #[inline]
    pub(super) fn singles(&self, known: Known) -> &[Single] {
        let start = (known.inside.get() >> 24) as u16;
        &self.singles[usize::from(start)..][..usize::from(known.n_singles())]
    }

    /// What else starts in a word.
    #[inline]
    pub(super) fn others(&self, known: Known) -> &[Inside] {
        let start = (known.inside.get() >> 40) as u16;
        &self.others[usize::from(start)..][..usize::from(known.n_others())]
    }

    /// Learns a word that is not known, of up to [`MAX_BYTES`]; `known` is what it is as a whole, and `look`
    /// tells what starts in it, at which of its bytes. `None` if that is too much.
    #[cold]
    pub(super) fn learn(
        &mut self,
        key: RunKey,
        bytes: &[u8],
        known: Known,
        look: impl FnOnce(&mut dyn FnMut(Start, Range<usize>)),
    ) -> Option<Known> {
        self.singles.truncate(self.n_singles);
        self.others.truncate(self.n_others);
        if self.n_words * 2 + MAX_STEPS >= self.words.len() || self.is_full() {
            self.make_room();
        }
        let (singles_start, others_start) = (self.singles.len(), self.others.len());
        look(&mut |what, at| match what {
            Start::Single(literal) => self.singles.push(Single { literal, end: at.end as u8 }),
            what => self.others.push(Inside { what, start: at.start as u8, end: at.end as u8 }),
        });
        let n_inside = self.singles.len() - singles_start + self.others.len() - others_start;
        if n_inside > MAX_INSIDE {
            return None;
        }
        let known = known.with(singles_start..self.singles.len(), others_start..self.others.len());
        let start = self.long.len() as u32;
        let inside = known.inside.get() & !USED.get();
        if self.keep(Word { key, inside, item: known.item, start }) {
            (self.n_singles, self.n_others) = (self.singles.len(), self.others.len());
            if key.is_long() {
                self.long.push(bytes.len() as u8);
                self.long.extend_from_slice(bytes);
            }
        }
        Some(known)
    }

    /// Whether more has started in words than is kept.
    fn is_full(&self) -> bool {
        self.n_singles.max(self.n_others) > MAX_STARTS || self.long.len() > MAX_LONG
    }

    fn make_room(&mut self) {
        if self.n_words >= MAX_WORDS || self.is_full() {
            self.forget();
            return;
        }
        let n_places = (self.n_words * 4).max(MIN_PLACES).next_power_of_two();
        self.shift = (n_places as u64).leading_zeros() + 1;
        let words = vec![Word::default(); n_places + MAX_STEPS];
        self.n_words = 0;
        for word in std::mem::replace(&mut self.words, words) {
            if !word.key.is_none() {
                self.keep(word);
            }
        }
    }

    /// Forgets the words that were not recalled since the last time, or all.
    fn forget(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        let recalled = self.words.iter().filter(|word| word.inside & USED.get() != 0);
        kept.extend(recalled.take(MAX_KEPT));
        self.words.fill(Word::default());
        self.n_words = 0;
        if self.is_full() {
            (self.n_singles, self.n_others) = (0, 0);
            self.singles.clear();
            self.others.clear();
            self.long.clear();
            kept.clear();
        }
        for word in kept.drain(..) {
            self.keep(Word { inside: word.inside & !USED.get(), ..word });
        }
        self.kept = kept;
    }

    /// Puts a word in a place, if one of its places is free.
    fn keep(&mut self, word: Word) -> bool {
        let home = self.home(word.key.spread());
        let free = self.words[home..home + MAX_STEPS].iter_mut().find(|place| place.key.is_none());
        let is_kept = free.is_some();
        if let Some(free) = free {
            *free = word;
            self.n_words += 1;
        }
        is_kept
    }

    /// The first place where a word may be, by the spread of its key.
    fn home(&self, spread: u64) -> usize {
        (spread >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_key::RunReader;
    use super::*;

    /// What is learned of a word here: each `a` as what starts in it, and each `e` as a single literal.
    fn look(bytes: &[u8], found: &mut dyn FnMut(Start, Range<usize>)) {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'a' => found(Start::Literal(at as u32), at..bytes.len()),
                b'e' => found(Start::Single(at as u32), at..at + 1),
                _ => {}
            }
        }
    }

    /// What is known of a word here, as a whole: its first byte is its item, but for `l`.
    fn whole(word: &str) -> Known {
        let item = word.bytes().next().filter(|byte| *byte != b'l');
        Known::new(item.map(u32::from), InPhrases::default())
    }

    fn key(word: &str) -> RunKey {
        RunReader::new(word.as_bytes()).key(&(0..word.len()))
    }

    /// Whether a word was known; what is known of it is right.
    fn is_known(memo: &mut Memo, word: &str) -> bool {
        let (bytes, run) = (word.as_bytes(), 0..word.len());
        let recalled = memo.get(key(word), key(word).spread(), bytes, &run);
        let known = recalled
            .or_else(|| memo.learn(key(word), bytes, whole(word), |found| look(bytes, found)));
        let Some(known) = known else {
            assert!(word.matches(['a', 'e']).count() > MAX_INSIDE, "{word}");
            return false;
        };
        let (mut singles, mut others) = (Vec::new(), Vec::new());
        look(bytes, &mut |what, at| match what {
            Start::Single(literal) => singles.push((literal, at.end + 7)),
            what => others.push((what, at.start + 7..at.end + 7)),
        });
        let found: Vec<_> = memo.singles(known).iter().map(|of| (of.literal, of.end(7))).collect();
        assert_eq!(found, singles, "{word}");
        let found: Vec<_> = memo.others(known).iter().map(|of| (of.what, of.range(7))).collect();
        assert_eq!(found, others, "{word}");
        assert_eq!(known.item(), whole(word).item(), "{word}");
        recalled.is_some()
    }

    #[test]
    fn words_are_recalled_until_there_are_too_many_and_what_is_recalled_is_right() {
        let mut memo = Memo::default();
        let word = |i: usize| format!("{}{i}", ["a", "weord", "longerw"][i % 3]);
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
    fn words_that_are_recalled_are_kept_when_there_are_too_many() {
        let mut memo = Memo::default();
        let often = |i: usize| format!("{}often{i}", ["", "a", "aeiouaeiouaeiouaeiou"][i % 3]);
        let (n_often, mut n_known, mut n_asked) = (300, 0, 0);
        for i in 0..MAX_WORDS * 12 {
            is_known(&mut memo, &format!("rare{i}"));
            if i % 4 == 0 {
                n_asked += 1;
                n_known += usize::from(is_known(&mut memo, &often(i / 4 % n_often)));
            }
        }
        // But for the first time; for some all places are taken now and then; and once all are forgotten,
        // as too much has started in the others.
        assert!(n_known > n_asked * 9 / 10, "{n_known} of {n_asked}");
        assert!(memo.n_singles <= MAX_STARTS + MAX_INSIDE);
    }

    #[test]
    fn some_words_are_kept_also_if_all_are_recalled() {
        let mut memo = Memo::default();
        for _ in 0..3 {
            (0..MAX_WORDS * 7 / 8).for_each(|i| _ = is_known(&mut memo, &format!("often{i}")));
        }
        for i in 0..MAX_WORDS / 4 {
            is_known(&mut memo, &format!("rare{i}"));
        }
        let n_known =
            (0..MAX_WORDS * 7 / 8).filter(|i| is_known(&mut memo, &format!("often{i}"))).count();
        assert!((MAX_KEPT * 3 / 4..=MAX_KEPT).contains(&n_known), "{n_known}");
    }

    #[test]
    fn a_word_that_is_not_recalled_any_more_is_forgotten_at_last() {
        let mut memo = Memo::default();
        let mut was_known = Vec::new();
        for pass in 0..4 {
            was_known.push(is_known(&mut memo, "once"));
            if pass == 0 {
                assert!(is_known(&mut memo, "once"));
            }
            let n_others = if pass == 1 { MAX_WORDS * 3 } else { 10 };
            (0..n_others).for_each(|i| _ = is_known(&mut memo, &format!("other{pass}.{i}")));
        }
        assert_eq!(was_known, [false, true, false, true]);
    }

    #[test]
    fn what_is_kept_of_words_is_bounded_whatever_they_are_like() {
        let long = |i: usize| format!("{i:0>60}");
        let full = |i: usize| format!("{}{i}", "a".repeat(MAX_INSIDE - 1));
        let single = |i: usize| format!("{}{i}", "e".repeat(MAX_INSIDE - 1));
        for word in [&long as &dyn Fn(usize) -> String, &full, &single] {
            let mut memo = Memo::default();
            for i in 0..MAX_WORDS * 4 {
                is_known(&mut memo, &word(i));
                // Those that are recalled stay when others are forgotten.
                is_known(&mut memo, &word(i % 1_000));
                assert!(memo.n_singles.max(memo.n_others) <= MAX_STARTS + MAX_INSIDE);
                assert!(memo.long.len() <= MAX_LONG + MAX_BYTES + 1);
            }
            let n_known = (0..100).filter(|&i| {
                is_known(&mut memo, &word(i));
                is_known(&mut memo, &word(i))
            });
            assert!(n_known.count() > 90, "words are learned still");
        }
    }

    #[test]
    fn what_a_word_may_be_of_phrases_is_recalled_beside_what_is_inside() {
        let mut memo = Memo::default();
        let words: Vec<(String, InPhrases)> = (0..400)
            .map(|i| {
                let in_phrases = InPhrases { is_first: i % 2 == 0, is_second: i % 3 == 0 };
                (format!("{}{i}", "a".repeat(i % 12)), in_phrases)
            })
            .collect();
        for (word, in_phrases) in &words {
            let known = Known::new(None, *in_phrases);
            memo.learn(key(word), word.as_bytes(), known, |found| look(word.as_bytes(), found));
        }
        let mut recalled = Vec::new();
        for (word, in_phrases) in &words {
            if let Some(known) = memo.find(key(word), word.as_bytes()) {
                assert_eq!(memo.others(known).len(), word.matches('a').count());
                recalled.push((known, *in_phrases));
            }
        }
        assert!(recalled.len() > 350, "{}", recalled.len());
        for (before, of_before) in &recalled[..12] {
            for (known, of_known) in &recalled {
                let expected = of_before.is_first && of_known.is_second;
                assert_eq!(known.may_go_on(*before), expected);
            }
        }
    }

    #[test]
    fn words_with_the_same_key_are_told_apart_by_their_bytes() {
        let mut memo = Memo::default();
        let words = ["ab".repeat(10), "cb".repeat(10), "ab".repeat(11)];
        assert!(!is_known(&mut memo, &words[0]));
        assert!(is_known(&mut memo, &words[0]), "it is learned once");
        let home = memo.home(key(&words[0]).spread());
        for other in &words[1..] {
            // As if it had the same hash.
            memo.words[home].key = key(other);
            assert!(memo.find(key(other), other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_full_of_literals_is_not_kept() {
        let mut memo = Memo::default();
        for (n_bytes, is_kept) in [(MAX_INSIDE, true), (MAX_INSIDE + 1, false), (MAX_BYTES, false)]
        {
            for letter in ["a", "e"] {
                let word = letter.repeat(n_bytes);
                is_known(&mut memo, &word);
                assert_eq!(is_known(&mut memo, &word), is_kept, "{n_bytes}");
            }
        }
        assert_eq!((memo.n_singles, memo.n_others, memo.n_words), (MAX_INSIDE, MAX_INSIDE, 2));
    }

    #[test]
    fn words_that_share_their_places_are_as_many_as_there_are_steps() {
        let mut memo = Memo::default();
        is_known(&mut memo, "first");
        let home = memo.home(key("first").spread());
        let alike: Vec<String> = (0..100_000)
            .map(|i| format!("w{i}"))
            .filter(|word| memo.home(key(word).spread()) == home)
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
