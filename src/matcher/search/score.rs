//! The rank key: a total order of matches that needs no score. Computes the key of a skill from the
//! triggers that were found.

use std::cmp::Reverse;

use super::Search;
use super::scratch::{Presence, Scratch};
use crate::skill::SkillId;

/// The sort key of a match. The fields are compared in this order, and the lesser key comes first
/// (`docs/matching.md`, *Ranking*):
///
/// 1. skills that the message names;
/// 2. longer phrases before shorter ones, patterns and paths after any literal;
/// 3. skills used more recently in the session;
/// 4. the rarest trigger hit, then the number of distinct triggers, then the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankKey {
    pub(crate) explicit: Reverse<bool>,
    pub(crate) phrase_words: Reverse<u32>,
    /// The position among the recently used skills, from 0; [`RankKey::NOT_RECENT`] for any other skill.
    pub(crate) recency: u32,
    /// The number of skills that declare the rarest trigger hit.
    pub(crate) rarity: u32,
    /// The number of distinct triggers found. Triggers that look for the same thing count once.
    pub(crate) n_triggers: Reverse<u32>,
    /// The skill's place in the order of ids.
    pub(crate) skill: u32,
}

impl RankKey {
    /// The recency of a skill that was not used recently: it comes after every position.
    pub(crate) const NOT_RECENT: u32 = u32::MAX;

    /// The key of a skill to which no trigger was added yet.
    pub(crate) fn new(skill: u32) -> RankKey {
        RankKey {
            explicit: Reverse(false),
            phrase_words: Reverse(0),
            recency: RankKey::NOT_RECENT,
            rarity: u32::MAX,
            n_triggers: Reverse(0),
            skill,
        }
    }
}

impl Search<'_, '_> {
    /// Returns the key of a skill; `None` if it does not match or is vetoed.
    pub(super) fn key(&mut self, skill: u32) -> Option<RankKey> {
        let (bound, is_certain) = self.best_possible_key(skill)?;
        if is_certain { Some(bound) } else { self.settle(skill) }
    }

    /// Runs all undecided patterns of a skill, and returns its key; `None` if the skill does not match
    /// or is vetoed.
    #[inline(never)] // few skills need it
    pub(super) fn settle(&mut self, skill: u32) -> Option<RankKey> {
        for trigger in self.index.tables.triggers.items_of(skill) {
            if self.scratch.found.presence(trigger.item()) == Presence::Possible {
                self.confirm(trigger.item());
            }
        }
        self.best_possible_key(skill).map(|(key, _)| key)
    }

    /// Returns an upper bound of a skill's key, as if all of its undecided patterns matched, and true if
    /// no pattern is undecided, so that the bound is the key. `None` if the skill cannot match or is
    /// vetoed.
    pub(super) fn best_possible_key(&self, skill: u32) -> Option<(RankKey, bool)> {
        let Scratch { found, ranking, .. } = &*self.scratch;
        let mut key = RankKey::new(skill);
        let mut is_certain = true;
        let triggers = self.index.tables.triggers.items_of(skill);
        // Most triggers were not found; the presence filter says so from the L1 cache.
        let mut rest = triggers.iter();
        while let Some(trigger) = rest.next() {
            let item = trigger.item();
            let presence = found.presence(item);
            if presence == Presence::Absent {
                continue;
            }
            is_certain &= presence != Presence::Possible;
            let known = self.index.tables.items[item as usize];
            key.phrase_words.0 = key.phrase_words.0.max(known.n_words());
            key.rarity = key.rarity.min(known.rarity);
            // Triggers that look for the same thing count once.
            if !(trigger.is_same() && found.has_same(triggers, rest.len())) {
                key.n_triggers.0 += 1;
            }
        }
        let is_vetoed = |exclude: &u32| self.index.tables.excludes[*exclude as usize].0 == skill;
        if key.n_triggers.0 == 0 || found.excludes.iter().any(is_vetoed) {
            return None;
        }
        key.explicit.0 = found.is_explicit(skill);
        key.recency = ranking.recency(skill);
        Some((key, is_certain))
    }

    pub(super) fn start_ranking(&mut self, recent: &[SkillId]) {
        let ranking = &mut self.scratch.ranking;
        ranking.start(self.index.tables.ids.len());
        for (place, id) in recent.iter().enumerate() {
            if let Ok(skill) = self.index.tables.ids.binary_search(id) {
                ranking.recent.push((skill as u32, place as u32));
            }
        }
        ranking.recent.sort_unstable();
        ranking.recent.dedup_by_key(|recent| recent.0);
    }

    /// Returns the skills that would match but for an exclude entry, each with that entry.
    pub(super) fn vetoed(&mut self) -> Vec<(SkillId, String)> {
        let excludes = std::mem::take(&mut self.scratch.found.excludes);
        let vetoed = excludes.iter().filter_map(|&exclude| {
            let (skill, entry) = &self.index.tables.excludes[exclude as usize];
            self.key(*skill)?;
            Some((self.index.id(*skill).clone(), entry.to_string()))
        });
        let vetoed = vetoed.collect();
        self.scratch.found.excludes = excludes;
        vetoed
    }

    /// Returns the skills with an exclude entry in the query, each with that entry.
    pub(super) fn excluded(&self) -> Vec<(SkillId, String)> {
        let entries = self.scratch.found.excludes.iter();
        let entries = entries.map(|&exclude| &self.index.tables.excludes[exclude as usize]);
        entries.map(|(skill, entry)| (self.index.id(*skill).clone(), entry.to_string())).collect()
    }
}
