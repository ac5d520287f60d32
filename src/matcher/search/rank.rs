//! Ranking: puts the skills that match in a total order that needs no score.

use std::collections::BinaryHeap;

use super::Search;
use super::scratch::{Presence, Scratch};
use crate::matcher::HitKind;
use crate::matcher::sparse_map::SparseMap;
use crate::matcher::tables::Item;
use crate::skill::SkillId;

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
    fn new(skill: u32, tally: &Tally) -> RankKey {
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
struct Tally {
    is_explicit: bool,
    is_vetoed: bool,
    /// The position among the recently used skills, from 0; the greatest number for any other skill.
    recency: u16,
    /// The number of words of the longest literal.
    phrase_words: u32,
    /// The number of skills that declare the rarest trigger.
    rarity: u32,
    /// The number of triggers with distinct subjects.
    n_triggers: u32,
    /// The subject of the trigger that was added last.
    subject: u32,
}

impl Tally {
    fn new(item: Item) -> Tally {
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
    fn add(&mut self, item: Item) {
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
    items: Vec<(u32, u32)>,
    /// The skills that match, including the vetoed ones.
    tallies: SparseMap<Tally>,
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
    fn select(&mut self, limit: usize, named: &[u32]) -> usize {
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

impl Search<'_, '_> {
    /// Ranks the best `limit` matches, and with them the `named` skills and the weak mentions that match.
    /// Runs all undecided patterns. Returns the number of all matches.
    pub(super) fn rank(&mut self, recent: &[SkillId], limit: usize, named: &[&SkillId]) -> usize {
        self.confirm_all();
        self.tally(recent);
        self.settle_weak();
        let place = |id: &&SkillId| self.index.tables.ids.binary_search(id).ok();
        let named = named.iter().filter_map(place).map(|skill| skill as u32);
        let weak = self.scratch.found.weak.iter().copied();
        let named: Vec<u32> = named.chain(weak).collect();
        self.scratch.ranking.select(limit, &named)
    }

    /// Adds up the triggers that were found, skill by skill.
    fn tally(&mut self, recent: &[SkillId]) {
        let Search { index, scratch, .. } = self;
        let tables = &index.tables;
        let Scratch { found, ranking: Ranking { items, tallies, .. }, .. } = &mut **scratch;
        let present = found.items().filter(|(_, presence)| *presence != Presence::Absent);
        items.clear();
        items.extend(present.map(|(item, _)| (tables.items[item as usize].subject, item)));
        items.sort_unstable();
        tallies.start(tables.ids.len());
        for &(_, item) in &*items {
            let known = tables.items[item as usize];
            for &skill in tables.postings.of(item) {
                if let Some(tally) = tallies.add(skill, Tally::new(known)) {
                    tally.add(known);
                }
            }
        }
        let mut with = |skill: u32, change: &dyn Fn(&mut Tally)| {
            if let Some(tally) = tallies.get_mut(skill) {
                change(tally);
            }
        };
        for &skill in &found.explicit {
            with(skill, &|tally| tally.is_explicit = true);
        }
        for &exclude in &found.excludes {
            with(tables.excludes[exclude as usize].0, &|tally| tally.is_vetoed = true);
        }
        // Of a skill that is there twice, the first place counts.
        for (place, id) in recent.iter().enumerate().rev() {
            if let Ok(skill) = tables.ids.binary_search(id) {
                with(skill as u32, &|tally| {
                    tally.recency = u16::try_from(place).unwrap_or(u16::MAX)
                });
            }
        }
    }

    /// Runs all undecided patterns.
    fn confirm_all(&mut self) {
        for nth in 0..self.scratch.found.n_items() {
            let (item, presence) = self.scratch.found.item(nth);
            if presence == Presence::Possible {
                self.confirm(item);
            }
        }
    }

    /// Keeps the skills with a weak mention that match by nothing else.
    fn settle_weak(&mut self) {
        let Search { index, scratch, .. } = self;
        let Scratch { found, ranking, .. } = &mut **scratch;
        let mut weak = std::mem::take(&mut found.weak);
        weak.retain(|&skill| {
            let mut triggers = index.tables.triggers.of(skill);
            ranking.tallies.get(skill).is_some_and(|tally| !tally.is_vetoed)
                && triggers.all(|(kind, _, item)| {
                    kind == HitKind::Name || found.presence(item) == Presence::Absent
                })
        });
        found.weak = weak;
    }
}
