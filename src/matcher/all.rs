//! All matches: ranked, or counted.

use std::cmp::Reverse;

use super::excerpt::Excerpt;
use super::found::{Found, Presence, Ranking, Scratch};
use super::index::Index;
use super::rank::RankKey;
use crate::skill::SkillId;

impl Index {
    /// Ranks every match.
    ///
    /// Of most skills one trigger was found, so they stand in the order of what was found, and
    /// those with the same in the order of their ids, as they are listed. Only the others are sorted.
    pub(super) fn rank_all(&self, recent: &[SkillId], text: &Excerpt<'_>, scratch: &mut Scratch) {
        self.start_ranking(recent, scratch);
        self.open_all(scratch);
        self.queue_all(text, scratch);
        self.visit_all(&scratch.found, &mut scratch.ranking);
        scratch.ranking.others.clear();
        for place in 0..scratch.ranking.more.len() {
            let known = self.hopes(scratch.ranking.more[place], scratch);
            scratch.ranking.others.extend(known.map(|(key, _)| key));
        }
        scratch.ranking.others.sort_unstable();
        self.list(&mut scratch.ranking);
    }

    /// Puts what was found into the queue, in the order of the ranking; patterns that may match are run.
    fn queue_all(&self, text: &Excerpt<'_>, scratch: &mut Scratch) {
        for nth in 0..scratch.found.n_items() {
            let (item, presence) = scratch.found.item(nth);
            let matches = match presence {
                Presence::Absent => false,
                Presence::Possible => self.confirm(item, text, scratch),
                Presence::Somewhere | Presence::At => true,
            };
            if matches {
                let known = self.tables.items[item as usize];
                scratch.ranking.queue.push((Reverse(known.n_words()), known.rarity, item));
            }
        }
        scratch.ranking.queue.sort_unstable();
    }

    /// Visits all skills that match, and puts those aside of which more matters than one trigger.
    fn visit_all(&self, found: &Found, ranking: &mut Ranking) {
        let Ranking { visits, recent, queue, more, .. } = ranking;
        more.clear();
        let mut visitor = visits.visitor();
        let vetoed = found.excludes.iter().map(|exclude| self.tables.excludes[*exclude as usize].0);
        let recent = recent.iter().map(|(skill, _)| *skill);
        for skill in found.explicit.iter().copied().chain(vetoed).chain(recent) {
            // As if two triggers of it had been found.
            if visitor.visit(skill) {
                visitor.visit_again(skill);
                more.push(skill);
            }
        }
        for &(.., item) in &*queue {
            for &skill in self.tables.postings.of(item) {
                if !visitor.visit(skill) && visitor.visit_again(skill) {
                    more.push(skill);
                }
            }
        }
    }

    /// Lists the skills that were visited once, and between them the others.
    fn list(&self, ranking: &mut Ranking) {
        let Ranking { visits, queue, others, best, .. } = ranking;
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
                let skills = self.tables.postings.of(item);
                let once = skills.iter().filter(|&&skill| visits.has_once(skill));
                best.extend(once.map(|&skill| RankKey { skill, ..key }));
            }
            if !is_sorted {
                best[start..].sort_unstable_by_key(|key| key.skill);
            }
        }
        best.extend_from_slice(others);
    }

    /// Counts the skills that match.
    pub(super) fn count_all(&self, text: &Excerpt<'_>, scratch: &mut Scratch) -> usize {
        self.open_all(scratch);
        scratch.ranking.start_counting(self.tables.ids.len());
        let vetoed = |exclude: &u32| self.tables.excludes[*exclude as usize].0;
        for exclude in &scratch.found.excludes {
            scratch.ranking.count(vetoed(exclude));
        }
        for may_be in [false, true] {
            for nth in 0..scratch.found.n_items() {
                let (item, presence) = scratch.found.item(nth);
                if (presence == Presence::Possible) != may_be {
                    continue;
                }
                let skills = self.tables.postings.of(item);
                if may_be
                    && (skills.iter().all(|&skill| scratch.ranking.is_counted(skill))
                        || !self.confirm(item, text, scratch))
                {
                    continue;
                }
                for &skill in skills {
                    scratch.ranking.count(skill);
                }
            }
        }
        let Scratch { found, ranking, .. } = scratch;
        for exclude in &found.excludes {
            ranking.uncount(vetoed(exclude));
        }
        ranking.counted.iter().map(|skills| skills.count_ones() as usize).sum()
    }
}
