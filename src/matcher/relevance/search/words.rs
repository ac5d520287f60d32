//! The words of a message: its distinct terms, pairs and phrases that the index knows, with their
//! weights.

use repertoire_text::normalize_into;
use repertoire_text::words::hash::pair_hash;
use repertoire_text::words::identifiers::Part;
use repertoire_text::words::languages::Languages;
use repertoire_text::words::terms::Term;

use crate::matcher::relevance::flat::Flat;
use crate::matcher::relevance::impact::FULL;
use crate::matcher::relevance::phrases::chain_start;
use crate::matcher::relevance::scratch::{Scratch, Word, WordKind};

/// The worth of a stop word, relative to another word of the same rarity. It is small, and decides only
/// where nothing else does.
const COMMON_WORTH: f32 = 0.1;

/// The worth of two adjacent words in their order, relative to one word of the same rarity. It is added
/// to that of the words.
const PAIR_WORTH: f32 = 0.4;

/// The worth of the first letters of a word, relative to another word of the same rarity. It is added to
/// that of the word.
const BEGINNING_WORTH: f32 = 0.8;

/// The worth of a part of an identifier that no skill has, relative to another word of the same rarity. It
/// is small, so that the same message in lower case, which has no such parts, is answered alike.
const PART_WORTH: f32 = 0.1;

/// The worth of a phrase by which a description says when its skill is wanted, relative to one word of
/// the same rarity.
const PHRASE_WORTH: f32 = 0.4;

/// The number of skills up to which a word distinguishes skills if one of them lacks it; in a larger catalog,
/// more than half must lack it.
const HANDFUL: usize = 5;

/// The maximum number of distinct terms read from a message: a longer message is pasted text.
const MAX_WORDS: usize = 512;

/// The size of the filter of known terms: 8 bits for each of [`MAX_WORDS`].
const N_FILTER_WORDS: usize = MAX_WORDS / 8;

/// The distinct terms of a message, as far as the index knows them.
struct Reader<'r> {
    flat: &'r Flat,
    words: &'r mut Vec<Word>,
    /// A small filter of the hashes in `words`. Most terms are new, so they are not compared with the
    /// list.
    known: [u64; N_FILTER_WORDS],
}

impl Reader<'_> {
    /// Adds a term, and returns whether any skill has it.
    fn add(&mut self, kind: WordKind, term: Term) -> bool {
        let Reader { flat, words, known } = self;
        let known = &mut known[(term.hash >> 6) as usize % N_FILTER_WORDS];
        let bit = 1 << (term.hash % 64);
        if *known & bit != 0 && words.iter().any(|word| word.term.hash == term.hash) {
            return true;
        }
        let place = flat.find(term.hash).filter(|_| words.len() < MAX_WORDS);
        let found = place.and_then(|place| Some((place, flat.list_at(place)?)));
        let Some((place, list)) = found else { return false };
        let worth = match kind {
            WordKind::Telling => 1.0,
            WordKind::Common => COMMON_WORTH,
            WordKind::Part => PART_WORTH,
            WordKind::Beginning => BEGINNING_WORTH,
            WordKind::Pair => PAIR_WORTH,
            WordKind::Phrase => PHRASE_WORTH,
        };
        let weight = worth * rarity(flat.n_skills(), list.n_skills) * FULL;
        let (n_with, n_all) = (list.n_skills as usize, flat.n_skills());
        let is_telling = n_with * 2 < n_all || (3..=HANDFUL).contains(&n_all) && n_with < n_all;
        words.push(Word { term, kind, place, is_telling, weight });
        *known |= bit;
        true
    }

    /// Adds the beginning of a word, or a part of an identifier unless some skill has the whole.
    fn add_part(&mut self, is_whole_known: bool, term: Term) {
        let kind = match term.part {
            Part::Beginning => WordKind::Beginning,
            _ if is_whole_known || term.is_common => return,
            Part::OfCase => WordKind::Part,
            Part::Whole | Part::OfDigits => WordKind::Telling,
        };
        self.add(kind, term);
    }
}

impl Scratch {
    /// Reads the terms of a message that the index knows.
    pub(in crate::matcher::relevance) fn read(
        &mut self,
        message: &str,
        flat: &Flat,
        own: Languages,
    ) {
        let Scratch { tokenizer, normalized, folded, words, .. } = self;
        words.clear();
        let text = normalize_into(message, normalized);
        folded.clear();
        folded.push_str(text);
        folded.make_ascii_lowercase();
        let mut reader = Reader { flat, words, known: [0; N_FILTER_WORDS] };
        let mut before: Option<Term> = None;
        // The chains of words read so far that begin some phrase.
        let mut chains: [Option<(u64, Term)>; 5] = [None; 5];
        // True if the last whole word says all: its parts are not words beside it.
        let mut is_known = false;
        tokenizer.read_message(text, own, &mut |term| {
            if term.part != Part::Whole {
                reader.add_part(is_known, term);
                return;
            }
            if term.is_common {
                is_known = true;
                reader.add(WordKind::Common, term);
                return;
            }
            is_known = reader.add(WordKind::Telling, term);
            let joined = |hash, first: Term| Term { hash, start: first.start, ..term };
            let mut is_pair = false;
            if let Some(first) = before {
                let pair = joined(pair_hash(first.hash, term.hash), first);
                is_pair = reader.add(WordKind::Pair, pair);
            }
            let mut goes_on = |chain, first| {
                reader.add(WordKind::Phrase, joined(chain, first)).then_some((chain, first))
            };
            for slot in &mut chains {
                *slot = slot.and_then(|(chain, first)| goes_on(pair_hash(chain, term.hash), first));
            }
            // The words of a phrase are also pairs of its skill, so a phrase can only begin at a
            // known pair, of which few messages have any.
            if let Some(first) = before.filter(|_| is_pair)
                && let Some(free) = chains.iter_mut().find(|slot| slot.is_none())
            {
                *free = goes_on(pair_hash(chain_start(first.hash), term.hash), first);
            }
            before = Some(term);
        });
    }
}

/// Returns the inverse document frequency of a term that `n_with` of `n_skills` have, as in Lucene's
/// BM25: near 0 if all have it, never negative.
pub(super) fn rarity(n_skills: usize, n_with: u32) -> f32 {
    let (n_all, n_with) = (n_skills as f32, n_with as f32);
    (1.0 + (n_all - n_with + 0.5) / (n_with + 0.5)).ln()
}
