//! Ranking: every match, or top-N selection that stops once no unvisited skill can enter the top N.
//!
//! For the top N, skills are visited in an order in which no good one can come late: skills that are
//! named; skills used recently; skills with phrases, the longest first; then item by item, the rarest
//! first. The search ends once the last of the top N is better than the best possible unvisited skill. A
//! skill is first ranked as if all of its undecided patterns matched. Only if that would put the skill
//! among the best are the patterns run.

use std::cmp::Reverse;

use super::Search;
use super::score::RankKey;
use super::scratch::{Presence, Ranking, Scratch};
use crate::skill::SkillId;

/// The largest limit for top-N selection; above it, every match is ranked.
const MAX_BEST: usize = 128;

/// The matches that [`Index::select`](crate::matcher::Index::select) must find.
#[derive(Debug, Clone, Default)]
pub struct Selection<'s> {
    /// The skills used recently, the last one first.
    pub recent: &'s [SkillId],
    /// The number of matches wanted, in addition to `named` skills and weak mentions.
    pub limit: usize,
    /// Skills that are in the answer if they match, wherever they rank.
    pub named: Vec<&'s SkillId>,
    /// True if the matches are wanted with their hits.
    pub hits: bool,
}

impl Search<'_, '_> {
    /// Ranks every match. Most skills match by one trigger, which alone decides their key. Ranking the
    /// items that were found ranks all these skills at once; only the others need to be sorted.
    pub(super) fn rank_all(&mut self, recent: &[SkillId]) {
        self.start_ranking(recent);
        let tables = &self.index.tables;
        let mut items = self.matching_items();
        items.sort_unstable();
        let mut others = std::mem::take(&mut self.scratch.ranking.others);
        let Scratch { found, ranking, .. } = &mut *self.scratch;
        let Ranking { visited, recent, best, counted: is_other, .. } = ranking;
        is_other.start(tables.ids.len());
        let mut add = |skill| {
            if is_other.insert(skill) {
                others.push(RankKey::new(skill));
            }
        };
        let vetoed = found.excludes.iter().map(|of| tables.excludes[*of as usize].0);
        let named = found.explicit.iter().copied();
        vetoed.chain(named).chain(recent.iter().map(|&(skill, _)| skill)).for_each(&mut add);
        for alike in items.chunk_by(|(a, _), (b, _)| a == b) {
            let start = best.len();
            for (key, item) in alike {
                for &skill in tables.postings.of(*item) {
                    if visited.insert(skill) {
                        best.push(RankKey { skill, ..*key });
                    } else {
                        add(skill);
                    }
                }
            }
            if alike.len() > 1 {
                best[start..].sort_unstable();
            }
        }
        best.retain(|key| !is_other.has(key.skill));
        self.scratch.ranking.items = items;
        others.retain_mut(|key| {
            let found = self.best_possible_key(key.skill).map(|(found, _)| found);
            *key = found.unwrap_or(*key);
            found.is_some()
        });
        others.sort_unstable();
        merge(&mut self.scratch.ranking.best, &others);
        others.clear();
        self.scratch.ranking.others = others;
    }

    /// Returns the items that match, each with the key of a skill that matches by this item alone. Runs
    /// all undecided patterns.
    fn matching_items(&mut self) -> Vec<(RankKey, u32)> {
        let mut items = std::mem::take(&mut self.scratch.ranking.items);
        items.clear();
        for nth in 0..self.scratch.found.n_items() {
            let (item, presence) = self.scratch.found.item(nth);
            let is_match = match presence {
                Presence::Absent => false,
                Presence::Possible => self.confirm(item),
                Presence::Somewhere | Presence::At => true,
            };
            if is_match {
                let known = self.index.tables.items[item as usize];
                let key = RankKey {
                    phrase_words: Reverse(known.n_words()),
                    rarity: known.rarity,
                    n_triggers: Reverse(1),
                    ..RankKey::new(0)
                };
                items.push((key, item));
            }
        }
        items
    }

    /// Ranks the matches that `selection` asks for. Returns the skills that match by a weak mention
    /// alone.
    pub(super) fn rank_selected(&mut self, selection: &Selection<'_>) -> Vec<u32> {
        self.start_ranking(selection.recent);
        let weak = self.weak();
        let place = |id: &&SkillId| self.index.tables.ids.binary_search(id).ok();
        let named = selection.named.iter().filter_map(place).map(|skill| skill as u32);
        let mut named: Vec<u32> = named.chain(weak.iter().copied()).collect();
        named.sort_unstable();
        named.dedup();
        if selection.limit > MAX_BEST {
            self.rank_all(selection.recent);
            let mut n_others = 0;
            self.scratch.ranking.best.retain(|key| {
                let is_named = named.binary_search(&key.skill).is_ok();
                n_others += usize::from(!is_named);
                is_named || n_others <= selection.limit
            });
            return weak;
        }
        let mut keys = Vec::with_capacity(named.len());
        for &skill in &named {
            keys.extend(self.key(skill));
            self.scratch.ranking.visited.insert(skill);
        }
        self.rank_best_of_others(selection.limit);
        if !keys.is_empty() {
            self.scratch.ranking.best.extend(keys);
            self.scratch.ranking.best.sort_unstable();
        }
        weak
    }

    /// Ranks the best `limit` matches among the skills that were not visited yet.
    fn rank_best_of_others(&mut self, limit: usize) {
        if limit == 0 {
            return;
        }
        for place in 0..self.scratch.found.explicit.len() {
            let skill = self.scratch.found.explicit[place];
            self.consider(skill, 0, limit);
        }
        if self.scratch.last_of_best(limit).is_some_and(|last| last.explicit.0) {
            return;
        }
        for place in 0..self.scratch.ranking.recent.len() {
            let (skill, _) = self.scratch.ranking.recent[place];
            self.consider(skill, 0, limit);
        }
        let items = self.scratch.found.items();
        let lengths = items.map(|(item, _)| self.index.tables.items[item as usize].n_words());
        for n_words in (1..=lengths.max().unwrap_or(0).max(1)).rev() {
            if self.scratch.last_of_best(limit).is_some_and(|last| last.phrase_words.0 > n_words) {
                return;
            }
            self.rank_of_length(n_words, limit);
        }
        let mut deferred = std::mem::take(&mut self.scratch.ranking.deferred);
        deferred.sort_unstable();
        for (bound, is_certain) in deferred.drain(..) {
            self.admit(bound, is_certain, limit);
        }
        self.scratch.ranking.deferred = deferred;
    }

    /// Visits the skills whose longest literal has `n_words` words, those of the rarest item first,
    /// until no other skill can be among the best. For one word, skills of patterns and paths are
    /// included.
    fn rank_of_length(&mut self, n_words: u32, limit: usize) {
        // Few skills declare a phrase, so all of them are visited. A word may be common, so items
        // of one word, patterns and paths are visited together by rarity: a skill is reached
        // through its rarest item, whose rarity then bounds the keys of all skills that follow.
        let is_phrase = n_words > 1;
        let mut rarest = std::mem::take(&mut self.scratch.ranking.rarest);
        rarest.clear();
        rarest.extend(self.scratch.found.items().filter_map(|(item, presence)| {
            let known = self.index.tables.items[item as usize];
            let is_one = known.n_words() == n_words || known.n_words() < n_words && !is_phrase;
            // Among equally rare items, patterns that must still be run come last: the search may end
            // before.
            let order = u64::from(known.rarity) * 2 + u64::from(presence == Presence::Possible);
            (is_one && presence != Presence::Absent).then_some(order << 32 | u64::from(item))
        }));
        rarest.sort_unstable();
        for (place, of) in rarest.iter().enumerate() {
            let best_left = RankKey {
                phrase_words: Reverse(n_words),
                rarity: if is_phrase { 0 } else { (of >> 33) as u32 },
                n_triggers: Reverse((rarest.len() - place) as u32),
                ..RankKey::new(0)
            };
            if self.scratch.last_of_best(limit).is_some_and(|last| last < best_left) {
                break;
            }
            for &skill in self.index.tables.postings.of(*of as u32) {
                self.consider(skill, n_words, limit);
            }
        }
        self.scratch.ranking.rarest = rarest;
    }

    /// Visits a skill once. Puts it among the best if it is one of them, or sets it aside for later if
    /// it has no literal of at least `n_words` words.
    fn consider(&mut self, skill: u32, n_words: u32, limit: usize) {
        if !self.scratch.ranking.visited.insert(skill) {
            return;
        }
        match self.best_possible_key(skill) {
            Some((bound, is_certain)) if bound.phrase_words.0 >= n_words => {
                self.admit(bound, is_certain, limit);
            }
            bound => self.scratch.ranking.deferred.extend(bound),
        }
    }

    /// Puts a skill among the best, if it is one of them. `bound` is its key if `is_certain`, otherwise
    /// an upper bound.
    fn admit(&mut self, bound: RankKey, is_certain: bool, limit: usize) {
        if self.scratch.last_of_best(limit).is_some_and(|last| bound >= last) {
            return;
        }
        let key = if is_certain { Some(bound) } else { self.settle(bound.skill) };
        let Some(key) = key else { return };
        let best = &mut self.scratch.ranking.best;
        // Search from the end: skills come nearly in order, best first, so most belong near the
        // end.
        let place = best.iter().rposition(|better| *better < key).map_or(0, |place| place + 1);
        if place < limit {
            best.truncate(limit - 1);
            best.insert(place, key);
        }
    }
}

/// Merges `more` into `best`; both are sorted.
fn merge(best: &mut Vec<RankKey>, more: &[RankKey]) {
    let (mut n_best, mut n_more) = (best.len(), more.len());
    best.extend_from_slice(more);
    while n_more > 0 {
        let place = n_best + n_more - 1;
        if n_best > 0 && best[n_best - 1] > more[n_more - 1] {
            n_best -= 1;
            best[place] = best[n_best];
        } else {
            n_more -= 1;
            best[place] = more[n_more];
        }
    }
}

impl Scratch {
    /// The last of the best `limit` matches, once there are that many.
    fn last_of_best(&self, limit: usize) -> Option<RankKey> {
        let best = &self.ranking.best;
        if best.len() < limit { None } else { best.last().copied() }
    }
}
