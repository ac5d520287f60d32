//! The search: ranks the skills of an index for a message.
//!
//! Telling words, pairs and phrases are summed up for all skills, term by term, in 16 bits; the
//! best are then looked at more closely: what stop words add, and how much of their name is said.
//! A skill that shares nothing but stop words is not found.

#![expect(clippy::cast_precision_loss, reason = "scores are estimates")]

use std::cmp::Ordering;

use super::flat::Flat;
use super::impact::FULL;
use super::index::RelevanceIndex;
use super::phrases::chain_start;
use super::postings::List;
use super::terms::{Term, Tokenizer, normalize_into, pair_hash};
use super::{Relevance, Relevant};
use crate::matcher::text::mention::denial::is_denied;
use crate::skill::SkillId;

/// The worth of a stop word, of a word as rare. Little tells apart what nothing else does.
const COMMON_WORTH: f32 = 0.1;

/// The worth of two words in their order, of a word as rare, besides the words.
const PAIR_WORTH: f32 = 0.4;

/// The worth of a phrase by which a description says when the skill is wanted.
const PHRASE_WORTH: f32 = 0.4;

/// By how much a skill gains whose whole name is in the message.
const NAME_GAIN: f32 = 0.2;

/// The fewest of the best that are looked at more closely. It moves skills within these only.
const MIN_REFINED: usize = 16;

/// The greatest sum there can be; below what 16 bits hold, as weights are rounded.
const GREATEST_SUM: f32 = 60_000.0;

/// The greatest impact byte, to the scale on which weights are multiplied.
const SCALE: f32 = 256.0 / 254.0;

/// The most distinct terms of a message that are read: a longer message is pasted text.
const MAX_WORDS: usize = 512;

/// Working memory of a search, kept for the next one.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    tokenizer: Tokenizer,
    normalized: String,
    /// The normalised text in lower-case ASCII letters: each byte at its place.
    folded: String,
    pub(super) words: Vec<Word>,
    sums: Vec<u16>,
    /// The greatest sum of each block of skills.
    maxima: Vec<u16>,
    ranked: Vec<Ranked>,
}

/// A distinct term of the message that any skill has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) term: Term,
    pub(super) kind: WordKind,
    /// Its place in the index.
    pub(super) place: u32,
    /// True if it tells skills apart: fewer than half of them have it.
    is_telling: bool,
    /// The score that an impact of 1 adds.
    pub(super) weight: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    Telling,
    Common,
    Pair,
    Phrase,
}

/// A skill and its score.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    skill: u32,
    score: f32,
}

impl Ranked {
    /// Better ones first, equals in the order of ids.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as sorting calls it")]
    fn compare(&self, other: &Ranked) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.skill.cmp(&other.skill))
    }
}

impl RelevanceIndex {
    /// The best `limit` of the skills that share a telling word with `message`, best first; equals
    /// in the order of ids.
    pub fn rank(&self, message: &str, limit: usize) -> Vec<Relevant> {
        let mut ranked = Vec::new();
        self.rank_into(message, limit, &mut ranked);
        let relevant = |found: &(u32, Relevance)| Relevant {
            id: self.ids[found.0 as usize].clone(),
            relevance: found.1,
        };
        ranked.iter().map(relevant).collect()
    }

    /// As [`RelevanceIndex::rank`], with places in the order of ids, into `ranked` in place of its
    /// content. Nothing is allocated if there is room and a message like this one was ranked
    /// before.
    pub fn rank_into(&self, message: &str, limit: usize, ranked: &mut Vec<(u32, Relevance)>) {
        ranked.clear();
        if limit == 0 || self.is_empty() {
            return;
        }
        self.with_scratch(|scratch| {
            scratch.read(message, &self.flat);
            scratch.sum_up(&self.flat);
            scratch.select(limit.saturating_add(1).max(MIN_REFINED));
            scratch.refine(&self.flat);
            let rarest = rarity(self.len(), 0);
            for (place, found) in scratch.ranked.iter().enumerate().take(limit) {
                let next = scratch.ranked.get(place + 1).map_or(0.0, |next| next.score);
                let mut relevance = scratch.relevance(&self.flat, *found, next, rarest);
                if place == 0 {
                    scratch.count_words(&self.flat, found.skill, &mut relevance);
                }
                ranked.push((found.skill, relevance));
            }
        });
    }

    /// All skills that share a telling word with `message`, in the order of
    /// [`RelevanceIndex::rank`].
    pub fn order(&self, message: &str) -> Vec<SkillId> {
        self.rank(message, usize::MAX).into_iter().map(|found| found.id).collect()
    }

    /// Calls `run` with the working memory of this thread.
    pub(super) fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        match self.scratch.get_or_default().try_borrow_mut() {
            Ok(mut scratch) => run(&mut scratch),
            // A subscriber to log messages that searches while a search logs.
            Err(_) => run(&mut Scratch::default()),
        }
    }
}

impl Scratch {
    /// Reads the terms of a message that the index knows.
    pub(super) fn read(&mut self, message: &str, flat: &Flat) {
        let Scratch { tokenizer, normalized, folded, words, .. } = self;
        words.clear();
        let text = normalize_into(message, normalized);
        folded.clear();
        folded.push_str(text);
        folded.make_ascii_lowercase();
        let mut before: Option<Term> = None;
        // The chains of words so far that begin some phrase.
        let mut chains: [Option<(u64, Term)>; 5] = [None; 5];
        let n_skills = flat.n_skills();
        let mut add = |kind: WordKind, term: Term| -> bool {
            if words.iter().any(|word| word.term.hash == term.hash) {
                return true;
            }
            let place = flat.find(term.hash).filter(|_| words.len() < MAX_WORDS);
            let found = place.and_then(|place| Some((place, flat.list_at(place)?)));
            let Some((place, list)) = found else { return false };
            let worth = match kind {
                WordKind::Telling => 1.0,
                WordKind::Common => COMMON_WORTH,
                WordKind::Pair => PAIR_WORTH,
                WordKind::Phrase => PHRASE_WORTH,
            };
            let weight = worth * rarity(n_skills, list.n_skills) * FULL;
            let is_telling = (list.n_skills as usize) * 2 < n_skills;
            words.push(Word { term, kind, place, is_telling, weight });
            true
        };
        tokenizer.read(text, &mut |term| {
            if term.is_common {
                add(WordKind::Common, term);
                return;
            }
            add(WordKind::Telling, term);
            let joined = |hash, first: Term| Term { hash, start: first.start, ..term };
            let mut is_pair = false;
            if let Some(first) = before {
                is_pair = add(WordKind::Pair, joined(pair_hash(first.hash, term.hash), first));
            }
            for slot in &mut chains {
                *slot = slot.take().and_then(|(chain, first)| {
                    let chain = pair_hash(chain, term.hash);
                    add(WordKind::Phrase, joined(chain, first)).then_some((chain, first))
                });
            }
            // The words of a phrase are pairs of their skill, too: few messages hold any.
            if let Some(first) = before.filter(|_| is_pair) {
                let chain = pair_hash(chain_start(first.hash), term.hash);
                let free = chains.iter_mut().find(|slot| slot.is_none());
                if let Some(free) = free.filter(|_| add(WordKind::Phrase, joined(chain, first))) {
                    *free = Some((chain, first));
                }
            }
            before = Some(term);
        });
    }

    /// Sums up for every skill the scores of the telling words, pairs and phrases.
    fn sum_up(&mut self, flat: &Flat) {
        self.sums.clear();
        self.sums.resize(flat.n_skills(), 0);
        let scale = self.scale();
        for word in self.words.iter().filter(|word| word.kind != WordKind::Common) {
            if let Some(list) = flat.list_at(word.place) {
                list.add_to(&mut self.sums, scaled(word.weight, scale));
            }
        }
    }

    /// By what scores are multiplied in sums.
    fn scale(&self) -> f32 {
        let words = self.words.iter().filter(|word| word.kind != WordKind::Common);
        let greatest: f32 = words.map(|word| word.weight).sum();
        GREATEST_SUM / greatest.max(f32::MIN_POSITIVE)
    }

    /// Selects the `n_best` greatest sums, equals in the order of places.
    fn select(&mut self, n_best: usize) {
        const BLOCK: usize = 32;
        let scale = self.scale();
        let Scratch { sums, maxima, ranked, .. } = self;
        let greatest = |sums: &[u16]| sums.iter().fold(0, |greatest, sum| greatest.max(*sum));
        maxima.clear();
        maxima.extend(sums.chunks(BLOCK).map(greatest));
        // As many blocks as results have a sum of at least this: a lesser one is not among the
        // best.
        let mut least = 1;
        if n_best <= maxima.len() {
            let place = maxima.len() - n_best;
            least = (*maxima.select_nth_unstable(place).1).max(1);
        }
        ranked.clear();
        for (block, sums) in sums.chunks(BLOCK).enumerate() {
            if greatest(sums) >= least {
                let found = sums.iter().enumerate().filter(|(_, sum)| **sum >= least);
                ranked.extend(found.map(|(at, sum)| Ranked {
                    skill: (block * BLOCK + at) as u32,
                    score: f32::from(*sum) / scale,
                }));
            }
        }
        if n_best < ranked.len() {
            ranked.select_nth_unstable_by(n_best, Ranked::compare);
            ranked.truncate(n_best);
        }
    }

    /// Adds the scores of stop words and of the name, and puts the best first.
    fn refine(&mut self, flat: &Flat) {
        let Scratch { words, ranked, .. } = self;
        for word in words.iter().filter(|word| word.kind == WordKind::Common) {
            let Some(list) = flat.list_at(word.place) else { continue };
            for found in &mut *ranked {
                found.score += word.weight * share(&list, found.skill);
            }
        }
        for found in &mut *ranked {
            let share = share_of_name(flat, words, found.skill);
            found.score *= 1.0 + NAME_GAIN * share * share;
        }
        ranked.sort_unstable_by(Ranked::compare);
    }

    /// The relevance of a skill, with `next` the score of the one behind it.
    fn relevance(&self, flat: &Flat, found: Ranked, next: f32, rarest: f32) -> Relevance {
        let has = |word: &Word| {
            let list = flat.list_at(word.place);
            list.is_some_and(|list| list.impact(found.skill).value() > 0)
        };
        let of_kind = |kind| self.words.iter().filter(move |word| word.kind == kind);
        Relevance {
            worth: found.score / rarest,
            lead: (found.score - next) / rarest,
            is_telling: of_kind(WordKind::Telling).any(|word| word.is_telling && has(word)),
            says_phrase: of_kind(WordKind::Phrase).any(has),
            ..Relevance::default()
        }
    }

    /// Counts the words that a skill shares with the message, less those that the message denies:
    /// "this is not about Terraform".
    fn count_words(&self, flat: &Flat, skill: u32, relevance: &mut Relevance) {
        for word in self.words.iter().filter(|word| word.kind == WordKind::Telling) {
            let Some(list) = flat.list_at(word.place) else { continue };
            let impact = list.impact(skill);
            relevance.words += usize::from(impact.value() > 0);
            if impact.in_head() && is_denied(&self.folded, word.term.start as usize) {
                relevance.is_denied |= flat.name(skill).any(|(term, _)| term == word.place);
            } else {
                relevance.head_words += usize::from(impact.in_head());
            }
        }
    }
}

/// An impact as a share of the greatest.
pub(super) fn share(list: &List<'_>, skill: u32) -> f32 {
    f32::from(list.impact(skill).value()) / f32::from(super::impact::MAX_IMPACT)
}

/// The share of a skill's name that the message has, from 0 to 1, by the rarity of its terms.
fn share_of_name(flat: &Flat, words: &[Word], skill: u32) -> f32 {
    let (mut said, mut all) = (0.0, 0.0);
    for (term, list) in flat.name(skill) {
        let rarity = rarity(flat.n_skills(), list.n_skills);
        all += rarity;
        if words.iter().any(|word| word.place == term) {
            said += rarity;
        }
    }
    if all > 0.0 { said / all } else { 0.0 }
}

/// The inverse document frequency of a term that `n_with` of `n_skills` have, as in Lucene's BM25:
/// near 0 where all have it, never below.
fn rarity(n_skills: usize, n_with: u32) -> f32 {
    let (n_all, n_with) = (n_skills as f32, n_with as f32);
    (1.0 + (n_all - n_with + 0.5) / (n_with + 0.5)).ln()
}

#[expect(clippy::cast_sign_loss, reason = "weights are positive")]
fn scaled(weight: f32, scale: f32) -> u16 {
    (weight * scale * SCALE).min(f32::from(u16::MAX)) as u16
}
