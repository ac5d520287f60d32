//! Ranking: of all matches, or of the best few with as little proof as possible.
//!
//! For the best few, skills are looked at in an order in which nothing good can come late: those
//! named; those used recently; those with the longest phrases; then item by item, the rarest
//! first. It is over once the last of the best is better than anything a skill not looked at could
//! be. A skill is first ranked as if all of its patterns that may match did; only if that would
//! put it among the best, they are confirmed.

use std::cmp::Reverse;

use super::excerpt::Excerpt;
use super::found::{Presence, Scratch};
use super::index::Index;
use super::rank::RankKey;
use super::tables::Item;
use crate::skill::SkillId;

/// Where more are asked for than this, all are ranked.
const MAX_BEST: usize = 128;

/// Skills with a phrase of so many words are looked at together if they are no more than this; if
/// they are more, the rarest item tells which to look at first.
const MAX_OF_PHRASES: usize = 256;

/// The triggers of the skills of an item are not counted if they are no more than this.
const MAX_UNCOUNTED: usize = 8;

impl Index {
    /// Ranks every match.
    pub(super) fn rank_all(&self, recent: &[SkillId], text: &Excerpt<'_>, scratch: &mut Scratch) {
        self.start_ranking(recent, scratch);
        for place in 0..scratch.found.candidates.len() {
            let item = scratch.found.candidates[place];
            let matches = match scratch.found.presence(item) {
                Presence::Absent => false,
                Presence::Possible => self.confirm(item, text, scratch),
                Presence::Somewhere | Presence::At => true,
            };
            if !matches {
                continue;
            }
            let Item { n_words, rarity, .. } = self.tables.items[item as usize];
            let rarity = scratch.rarity(item, rarity);
            for &skill in self.tables.postings.of(item) {
                if scratch.ranking.visit_again(skill) {
                    continue;
                }
                let mut key = RankKey { n_triggers: Reverse(1), ..RankKey::new(skill) };
                key.add(n_words, rarity);
                scratch.ranking.best.push(key);
            }
        }
        // Of most skills one trigger was found. Of the others it takes a look at each, as some look
        // for the same.
        let is_all = scratch.changes.is_none()
            && scratch.found.excludes.is_empty()
            && scratch.found.explicit.is_empty()
            && scratch.ranking.recent.is_empty();
        let mut packed = std::mem::take(&mut scratch.ranking.packed);
        packed.clear();
        for key in &scratch.ranking.best {
            let known = if scratch.ranking.was_visited_again(key.skill) {
                self.hopes(key.skill, scratch).map(|(key, _)| key)
            } else if is_all {
                Some(*key)
            } else {
                self.place_among(*key, scratch)
            };
            packed.extend(known.map(RankKey::packed));
        }
        // Numbers are sorted several times as fast as keys.
        packed.sort_unstable();
        scratch.ranking.best.clear();
        scratch.ranking.best.extend(packed.iter().map(|&packed| RankKey::unpacked(packed)));
        scratch.ranking.packed = packed;
    }

    /// Counts the skills that match.
    pub(super) fn count_all(&self, text: &Excerpt<'_>, scratch: &mut Scratch) -> usize {
        self.start_ranking(&[], scratch);
        for place in 0..scratch.found.excludes.len() {
            let exclude = scratch.found.excludes[place];
            scratch.ranking.visit(self.tables.excludes[exclude as usize].0);
        }
        let mut n_skills = 0;
        for may_be in [false, true] {
            for place in 0..scratch.found.candidates.len() {
                let item = scratch.found.candidates[place];
                if (scratch.found.presence(item) == Presence::Possible) != may_be {
                    continue;
                }
                let skills = self.tables.postings.of(item);
                if may_be
                    && (skills.iter().all(|&skill| scratch.ranking.is_visited(skill))
                        || !self.confirm(item, text, scratch))
                {
                    continue;
                }
                let is_new =
                    |&&skill: &&u32| scratch.ranking.visit(skill) && !scratch.is_gone(skill);
                n_skills += skills.iter().filter(is_new).count();
            }
        }
        n_skills
    }

    /// Ranks the best `limit` matches.
    pub(super) fn rank_best(
        &self,
        recent: &[SkillId],
        limit: usize,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) {
        if limit > MAX_BEST {
            self.rank_all(recent, text, scratch);
            scratch.ranking.best.truncate(limit);
            return;
        }
        self.start_ranking(recent, scratch);
        if limit == 0 {
            return;
        }
        for place in 0..scratch.found.explicit.len() {
            let skill = scratch.found.explicit[place];
            self.consider(skill, limit, text, scratch);
        }
        if scratch.last_of_best(limit).is_some_and(|key| key.explicit.0) {
            return;
        }
        for place in 0..scratch.ranking.recent.len() {
            let (skill, _) = scratch.ranking.recent[place];
            self.consider(skill, limit, text, scratch);
        }
        let longest = self.rank_phrases(limit, text, scratch);
        if let Some(longest) = longest {
            self.rank_by_rarity(longest, limit, text, scratch);
        }
    }

    /// Looks at the skills with phrases, those with the longest first. Returns the words of the
    /// longest literal of skills not looked at that may be among the best.
    fn rank_phrases(&self, limit: usize, text: &Excerpt<'_>, scratch: &mut Scratch) -> Option<u32> {
        let Scratch { found, ranking, .. } = scratch;
        let mut longest_left = 0;
        for &item in &found.candidates {
            let n_words = self.tables.items[item as usize].n_words;
            if n_words > 1 {
                ranking.queue.push((n_words, item));
            } else {
                longest_left = longest_left.max(n_words);
            }
        }
        ranking.queue.sort_unstable_by_key(|&(n_words, item)| (Reverse(n_words), item));
        let mut start = 0;
        while let Some(&(n_words, _)) = scratch.ranking.queue.get(start) {
            if scratch.last_of_best(limit).is_some_and(|key| key.phrase_words.0 > n_words) {
                return None;
            }
            let queue = &scratch.ranking.queue;
            let end = queue.partition_point(|of| of.0 >= n_words);
            let postings = |&(_, item): &(u32, u32)| self.tables.postings.of(item).len();
            if queue[start..end].iter().map(postings).sum::<usize>() > MAX_OF_PHRASES {
                return Some(n_words);
            }
            for place in start..end {
                let (_, item) = scratch.ranking.queue[place];
                for &skill in self.tables.postings.of(item) {
                    self.consider(skill, limit, text, scratch);
                }
            }
            start = end;
        }
        let last = scratch.last_of_best(limit);
        last.is_none_or(|key| key.phrase_words.0 <= longest_left).then_some(longest_left)
    }

    /// Looks at the skills of all items, those of the rarest first, until no other skill can be
    /// among the best. None of them has a literal of more than `longest` words.
    fn rank_by_rarity(
        &self,
        longest: u32,
        limit: usize,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) {
        let mut rarest = std::mem::take(&mut scratch.ranking.rarest);
        // Of equally rare ones, those that must be confirmed come last: perhaps it will not be
        // needed any more.
        let order = |&item: &u32| {
            let is_possible = scratch.found.presence(item) == Presence::Possible;
            let rarity = scratch.rarity(item, self.tables.items[item as usize].rarity);
            (rarity * 2 + u32::from(is_possible), item)
        };
        // Few of many are looked at, so they are not sorted.
        rarest.clear();
        rarest.extend(scratch.found.candidates.iter().map(order).map(Reverse));
        scratch.ranking.rarest = rarest;
        while let Some(Reverse((order, item))) = scratch.ranking.rarest.pop() {
            let n_left = scratch.ranking.rarest.len() as u32 + 1;
            let rarity = order / 2;
            let best_left = RankKey {
                phrase_words: Reverse(longest),
                rarity,
                n_triggers: Reverse(n_left),
                ..RankKey::new(0)
            };
            let beats = |key: Option<RankKey>, left: RankKey| key.is_some_and(|key| key < left);
            if beats(scratch.last_of_best(limit), best_left) {
                return;
            }
            if scratch.found.presence(item) == Presence::Absent {
                continue;
            }
            let skills = self.tables.postings.of(item);
            if skills.len() > MAX_UNCOUNTED {
                self.count_triggers(scratch);
            }
            // A skill of the item is not better than this.
            let limit_of = |skill: u32, scratch: &Scratch| {
                let counted = scratch.ranking.n_triggers(skill);
                let n_triggers = Reverse(counted.map_or(n_left, |n| n.min(n_left)));
                RankKey { n_triggers, skill, ..best_left }
            };
            if scratch.found.presence(item) == Presence::Possible {
                let last = scratch.last_of_best(limit);
                let may_be = |&skill: &u32| {
                    !beats(last, limit_of(skill, scratch))
                        && self.may_be_best(skill, limit, scratch)
                };
                if !skills.iter().any(may_be) || !self.confirm(item, text, scratch) {
                    continue;
                }
            }
            let mut last = scratch.last_of_best(limit);
            for &skill in skills {
                if beats(last, RankKey { skill, ..best_left }) {
                    break;
                }
                if !beats(last, limit_of(skill, scratch)) {
                    self.consider(skill, limit, text, scratch);
                    last = scratch.last_of_best(limit);
                }
            }
        }
    }

    /// Counts of each skill the triggers that were found or may be, unless it was done: where an
    /// item has many skills, most are told by their number.
    fn count_triggers(&self, scratch: &mut Scratch) {
        let Scratch { found, ranking, .. } = scratch;
        if ranking.starts_counting() {
            let items = found.candidates.iter();
            for &item in items.filter(|&&item| found.presence(item) != Presence::Absent) {
                self.tables.postings.of(item).iter().for_each(|&skill| ranking.count(skill));
            }
        }
    }

    /// Puts a skill among the best, if it is one of them.
    fn consider(&self, skill: u32, limit: usize, text: &Excerpt<'_>, scratch: &mut Scratch) {
        if !scratch.ranking.visit(skill) {
            return;
        }
        let last = scratch.last_of_best(limit);
        let Some(key) = self.key(skill, text, scratch, last) else { return };
        let best = &mut scratch.ranking.best;
        let place = best.partition_point(|better| *better < key);
        if place < limit {
            best.truncate(limit - 1);
            best.insert(place, key);
        }
    }

    /// Whether a skill could be among the best, if all of its patterns that may match did.
    fn may_be_best(&self, skill: u32, limit: usize, scratch: &Scratch) -> bool {
        let hopes = self.hopes(skill, scratch).map(|(key, _)| key);
        hopes.is_some_and(|key| scratch.last_of_best(limit).is_none_or(|last| key < last))
    }

    /// The key of a skill: `None` if it does not match, is vetoed, or cannot be better than
    /// `than`.
    fn key(
        &self,
        skill: u32,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
        than: Option<RankKey>,
    ) -> Option<RankKey> {
        let (hopes, is_certain) = self.hopes(skill, scratch)?;
        if than.is_some_and(|than| hopes >= than) {
            return None;
        }
        if is_certain {
            return Some(hopes);
        }
        for trigger in self.tables.triggers.items_of(skill) {
            if scratch.found.presence(trigger.item) == Presence::Possible {
                self.confirm(trigger.item, text, scratch);
            }
        }
        self.hopes(skill, scratch).map(|(key, _)| key)
    }

    /// The key of a skill as if all of its patterns that may match did, and whether there are no
    /// such patterns.
    fn hopes(&self, skill: u32, scratch: &Scratch) -> Option<(RankKey, bool)> {
        let mut key = RankKey::new(skill);
        let mut is_certain = true;
        let mut is_counted = false;
        for trigger in self.tables.triggers.items_of(skill) {
            is_counted &= trigger.is_same;
            let presence = scratch.found.presence(trigger.item);
            if presence == Presence::Absent {
                continue;
            }
            is_certain &= presence != Presence::Possible;
            let item = self.tables.items[trigger.item as usize];
            key.add(item.n_words, scratch.rarity(trigger.item, item.rarity));
            key.n_triggers.0 += u32::from(!is_counted);
            is_counted = true;
        }
        if key.n_triggers.0 == 0 {
            return None;
        }
        Some((self.place_among(key, scratch)?, is_certain))
    }

    /// Adds to a key what is known of the skill beside its triggers: `None` if it is gone or vetoed.
    fn place_among(&self, mut key: RankKey, scratch: &Scratch) -> Option<RankKey> {
        let Scratch { found, ranking, .. } = scratch;
        let is_vetoed = |exclude: &u32| self.tables.excludes[*exclude as usize].0 == key.skill;
        if scratch.is_gone(key.skill) || found.excludes.iter().any(is_vetoed) {
            return None;
        }
        key.explicit.0 = found.is_explicit(key.skill);
        key.recency = ranking.recency(key.skill);
        Some(key)
    }

    fn start_ranking(&self, recent: &[SkillId], scratch: &mut Scratch) {
        let ranking = &mut scratch.ranking;
        ranking.start(self.tables.ids.len());
        for (place, id) in recent.iter().enumerate() {
            if let Ok(skill) = self.tables.ids.binary_search(id) {
                ranking.recent.push((skill as u32, place as u32));
            }
        }
        ranking.recent.sort_unstable();
        ranking.recent.dedup_by_key(|recent| recent.0);
    }

    /// The skills that match but for an exclude entry, with that entry.
    pub(super) fn vetoed(
        &self,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Vec<(SkillId, String)> {
        let excludes = std::mem::take(&mut scratch.found.excludes);
        let vetoed = excludes.iter().filter_map(|&exclude| {
            let (skill, entry) = &self.tables.excludes[exclude as usize];
            self.key(*skill, text, scratch, None)?;
            Some((self.id(*skill).clone(), entry.to_string()))
        });
        let vetoed = vetoed.collect();
        scratch.found.excludes = excludes;
        vetoed
    }
}

impl Scratch {
    /// The last of the best `limit` matches, once there are so many.
    fn last_of_best(&self, limit: usize) -> Option<RankKey> {
        let best = &self.ranking.best;
        if best.len() < limit { None } else { best.last().copied() }
    }
}
