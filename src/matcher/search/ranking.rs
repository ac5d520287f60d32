//! The order of matches, which needs no score.

use std::collections::BinaryHeap;

use crate::matcher::sparse_map::SparseMap;
use crate::matcher::tables::Item;

/// The sort key of a match; the lesser key comes first. The order (`docs/matching.md`, *Ranking*) in two
/// numbers, which are compared faster than six fields:
///
/// 1. skills that the message names;
/// 2. longer phrases before shorter ones, patterns and paths after any literal;
/// 3. skills used more recently in the session;
/// 4. the rarest trigger hit, then the number of distinct triggers, then the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankKey(u64, u64);

impl RankKey {
    pub(super) fn new(skill: u32, tally: &Tally) -> RankKey {
        let explicit = u64::from(!tally.is_explicit) << 63;
        let phrase = u64::from(MAX_WORDS - tally.phrase_words.min(MAX_WORDS)) << 48;
        let recency = u64::from(tally.recency) << 32;
        let n_triggers = u64::from(!tally.n_triggers) << 32;
        let first = explicit | phrase | recency | u64::from(tally.rarity);
        RankKey(first, n_triggers | u64::from(skill))
    }

    /// The skill's place in the order of ids.
    pub(super) fn skill(self) -> u32 {
        self.1 as u32
    }

    pub(super) fn is_explicit(self) -> bool {
        self.0 >> 63 == 0
    }
}

/// The number of words from which on phrases count as equally long: a key has 15 bits for it.
const MAX_WORDS: u32 = (1 << 15) - 1;

/// The triggers of a skill that were found, added up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    pub(super) is_explicit: bool,
    pub(super) is_vetoed: bool,
    /// The position among the recently used skills, from 0; the greatest number for any other skill.
    pub(super) recency: u16,
    /// The number of words of the longest literal.
    pub(super) phrase_words: u32,
    /// The number of skills that declare the rarest trigger.
    pub(super) rarity: u32,
    /// The number of triggers with distinct subjects.
    pub(super) n_triggers: u32,
    /// The subject of the trigger that was added last.
    pub(super) subject: u32,
}

impl Tally {
    pub(super) fn new(item: Item) -> Tally {
        Tally {
            is_explicit: false,
            is_vetoed: false,
            recency: u16::MAX,
            phrase_words: item.n_words(),
            rarity: item.rarity,
            n_triggers: 1,
            subject: item.subject,
        }
    }

    /// Adds a trigger. Triggers with the same subject come one after the other.
    pub(super) fn add(&mut self, item: Item) {
        self.phrase_words = self.phrase_words.max(item.n_words());
        self.rarity = self.rarity.min(item.rarity);
        self.n_triggers += u32::from(self.subject != item.subject);
        self.subject = item.subject;
    }
}

/// Scratch for putting matches in order.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    /// The items that match, each with its subject.
    pub(super) items: Vec<(u32, u32)>,
    /// The skills that match, including the vetoed ones.
    pub(super) tallies: SparseMap<Tally>,
    /// The matches, best first.
    pub(super) best: Vec<RankKey>,
}

impl Ranking {
    /// The keys of the skills that match, in any order.
    pub(super) fn matches(&self) -> impl Iterator<Item = RankKey> {
        let tallies = self.tallies.entries().iter().filter(|(_, tally)| !tally.is_vetoed);
        tallies.map(|(skill, tally)| RankKey::new(*skill, tally))
    }

    /// Tells whether a skill matches, or would match if it were not vetoed.
    pub(super) fn has(&self, skill: u32) -> bool {
        self.tallies.get(skill).is_some()
    }

    /// Puts the best `limit` matches in order, and with them the `named` skills that match. Returns the
    /// number of all matches.
    pub(super) fn select(&mut self, limit: usize, named: &[u32]) -> usize {
        let mut best = std::mem::take(&mut self.best);
        best.clear();
        if limit >= self.tallies.entries().len() {
            best.extend(self.matches());
            best.sort_unstable();
            self.best = best;
            return self.best.len();
        }
        // A heap of the best so far, the last of them on top: few of the others are better.
        let mut best = BinaryHeap::from(best);
        let mut also = Vec::new();
        let mut n_matches = 0;
        for key in self.matches() {
            n_matches += 1;
            if named.contains(&key.skill()) {
                also.push(key);
            } else if best.len() < limit {
                best.push(key);
            } else if let Some(mut last) = best.peek_mut()
                && key < *last
            {
                *last = key;
            }
        }
        best.extend(also);
        self.best = best.into_sorted_vec();
        n_matches
    }
}
