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
        self.gather(&scratch.found, &mut scratch.ranking);
        if let Some(changes) = &scratch.changes {
            scratch.ranking.singles.retain(|key| !changes.is_gone(key.skill));
        }
        scratch.ranking.others.clear();
        for place in 0..scratch.ranking.more.len() {
            let known = self.hopes(scratch.ranking.more[place], scratch);
            scratch.ranking.others.extend(known.map(|(key, _)| key));
        }
        let Ranking { singles, others, best, .. } = &mut scratch.ranking;
        others.sort_unstable();
        merge(singles, others, best);
    }

    /// Puts what was found into the queue, in the order of the ranking; patterns that may match are run.
    fn queue_all(&self, text: &Excerpt<'_>, scratch: &mut Scratch) {
        for nth in 0..scratch.found.n_items() {
            let item = scratch.found.item(nth);
            let matches = match scratch.found.presence_of_near(item) {
                Presence::Absent => false,
                Presence::Possible => self.confirm(item, text, scratch),
                Presence::Somewhere | Presence::At => true,
            };
            if matches {
                let known = self.tables.items[item as usize];
                let rarity = scratch.rarity(item, known.rarity);
                scratch.ranking.queue.push((Reverse(known.n_words()), rarity, item));
            }
        }
        scratch.ranking.queue.sort_unstable();
    }

    /// Puts the skills of which nothing matters but one trigger in order, and the others aside.
    fn gather(&self, found: &Found, ranking: &mut Ranking) {
        let Ranking { visits, recent, queue, singles, more, .. } = ranking;
        singles.clear();
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
        for alike in queue.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let start = singles.len();
            for &(n_words, rarity, item) in alike {
                let key = RankKey::of_one(n_words.0, rarity);
                for &skill in self.tables.postings.of(item) {
                    if visitor.visit(skill) {
                        singles.push(RankKey { skill, ..key });
                    } else if visitor.visit_again(skill) {
                        more.push(skill);
                    }
                }
            }
            if alike.len() > 1 {
                singles[start..].sort_unstable_by_key(|key| key.skill);
            }
        }
        if !more.is_empty() {
            singles.retain(|key| visits.has_once(key.skill));
        }
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
                let item = scratch.found.item(nth);
                if (scratch.found.presence(item) == Presence::Possible) != may_be {
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
        let Scratch { found, ranking, changes, .. } = scratch;
        for exclude in &found.excludes {
            ranking.uncount(vetoed(exclude));
        }
        if let Some(changes) = changes {
            changes.take_gone(&mut ranking.counted);
        }
        ranking.counted.iter().map(|skills| skills.count_ones() as usize).sum()
    }
}

/// Appends two sorted lists as one, of which the first is the longer one nearly always: it is taken over
/// part by part.
fn merge(first: &[RankKey], second: &[RankKey], merged: &mut Vec<RankKey>) {
    let mut rest = first;
    for key in second {
        let (before, after) = rest.split_at(rest.partition_point(|of_first| of_first < key));
        merged.extend_from_slice(before);
        merged.push(*key);
        rest = after;
    }
    merged.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_become_one_in_order_whichever_is_longer() {
        let keys: Vec<RankKey> =
            (0..40).map(|skill| RankKey { rarity: 1 + skill / 7, ..RankKey::new(skill) }).collect();
        let cases: [fn(usize) -> bool; 5] =
            [|_| true, |_| false, |at| at % 2 == 0, |at| at < 13, |at| at % 11 == 3];
        for (case, is_first) in cases.into_iter().enumerate() {
            let mut parts = [Vec::new(), Vec::new()];
            for (at, &key) in keys.iter().enumerate() {
                parts[usize::from(!is_first(at))].push(key);
            }
            let mut merged = Vec::new();
            merge(&parts[0], &parts[1], &mut merged);
            assert_eq!(merged, keys, "{case}");
        }
    }
}
