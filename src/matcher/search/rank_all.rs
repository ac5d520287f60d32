//! Ranking of every match.

use std::cmp::Reverse;

use super::Search;
use super::score::RankKey;
use super::scratch::{Presence, Ranking, Scratch};
use crate::skill::SkillId;

impl Search<'_, '_> {
    /// Ranks every match.
    ///
    /// Most skills match by one trigger; they are listed in the order of the triggers, and those
    /// with the same trigger in the order of their ids. Only the others are sorted.
    pub(super) fn rank_all(&mut self, recent: &[SkillId]) {
        self.start_ranking(recent);
        self.open_all();
        self.queue_all();
        self.visit_all();
        self.scratch.ranking.others.clear();
        for place in 0..self.scratch.ranking.more.len() {
            let known = self.hopes(self.scratch.ranking.more[place]);
            self.scratch.ranking.others.extend(known.map(|(key, _)| key));
        }
        self.scratch.ranking.others.sort_unstable();
        self.list();
    }

    /// Puts the items found into the queue, in the order of the ranking; patterns that may match
    /// are run.
    fn queue_all(&mut self) {
        for nth in 0..self.scratch.found.n_items() {
            let (item, presence) = self.scratch.found.item(nth);
            let matches = match presence {
                Presence::Absent => false,
                Presence::Possible => self.confirm(item),
                Presence::Somewhere | Presence::At => true,
            };
            if matches {
                let known = self.index.tables.items[item as usize];
                self.scratch.ranking.queue.push((Reverse(known.n_words()), known.rarity, item));
            }
        }
        self.scratch.ranking.queue.sort_unstable();
    }

    /// Stamps all skills that match, and puts those aside whose key depends on more than one
    /// trigger.
    fn visit_all(&mut self) {
        let tables = &self.index.tables;
        let Scratch { found, ranking, .. } = &mut *self.scratch;
        let Ranking { epochs, recent, queue, more, .. } = ranking;
        more.clear();
        let mut visitor = epochs.visitor();
        let vetoed = found.excludes.iter().map(|exclude| tables.excludes[*exclude as usize].0);
        let recent = recent.iter().map(|(skill, _)| *skill);
        for skill in found.explicit.iter().copied().chain(vetoed).chain(recent) {
            // Counted as if two of its triggers had been found.
            if visitor.visit(skill) {
                visitor.visit_again(skill);
                more.push(skill);
            }
        }
        for &(.., item) in &*queue {
            for &skill in tables.postings.of(item) {
                if !visitor.visit(skill) && visitor.visit_again(skill) {
                    more.push(skill);
                }
            }
        }
    }

    /// Lists the skills that were visited once, and between them the others.
    fn list(&mut self) {
        let Ranking { epochs, queue, others, best, .. } = &mut self.scratch.ranking;
        let mut others = others.as_slice();
        let mut list_others = |before: RankKey, best: &mut Vec<RankKey>| {
            let n_before = others.iter().take_while(|key| **key < before).count();
            let (listed, left) = others.split_at(n_before);
            best.extend_from_slice(listed);
            others = left;
        };
        for alike in queue.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let key = RankKey::of_one(alike[0].0.0, alike[0].1);
            list_others(key, best);
            let start = best.len();
            // Some of the others may only differ from these by their ids.
            list_others(RankKey { skill: u32::MAX, ..key }, best);
            let is_sorted = best.len() == start && alike.len() == 1;
            for &(.., item) in alike {
                let skills = self.index.tables.postings.of(item);
                let once = skills.iter().filter(|&&skill| epochs.has_once(skill));
                best.extend(once.map(|&skill| RankKey { skill, ..key }));
            }
            if !is_sorted {
                best[start..].sort_unstable_by_key(|key| key.skill);
            }
        }
        best.extend_from_slice(others);
    }
}
