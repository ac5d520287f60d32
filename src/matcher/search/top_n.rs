//! Top-N selection that stops once no unvisited skill can enter the top N.
//!
//! Skills are visited in an order in which nothing good can come late: those named; those used
//! recently; those with the longest phrases; then item by item, the rarest first. It ends once
//! the last of the top N is better than anything an unvisited skill could be. A skill is first
//! ranked as if all of its patterns that may match did; only if that would put it among the best,
//! they are confirmed.
//!
//! A skill with a word in the message ranks before all with only a pattern. Therefore the patterns
//! of such skills are opened first; the others, which are many more, only if too few skills were
//! found.

use std::cmp::Reverse;

use super::Search;
use super::score::RankKey;
use super::scratch::{Presence, Scratch};
use super::signatures::Remaining;
use crate::skill::SkillId;

/// The goal of a search: the best `limit` skills with a literal of `least` words or more.
#[derive(Debug, Clone, Copy)]
struct Aim {
    limit: usize,
    least: u32,
}

/// The largest limit; for more, every match is ranked.
const MAX_BEST: usize = 128;

/// Up to this many skills with a phrase of the same number of words are examined together; if they
/// are more, those of the rarest item come first.
const MAX_OF_PHRASES: usize = 32;

/// Up to this many items, select the minimum repeatedly instead of sorting; the search usually stops early.
const FEW: usize = 16;

/// The matches that [`Index::select`](crate::matcher::Index::select) is asked for.
#[derive(Debug, Clone, Default)]
pub struct Selection<'s> {
    /// The skills used recently, the last one first.
    pub recent: &'s [SkillId],
    /// The number of matches wanted, beside those that are in the answer anyway.
    pub limit: usize,
    /// Skills that are in the answer if they match, wherever they rank.
    pub named: Vec<&'s SkillId>,
    /// True if the matches are wanted with their hits.
    pub hits: bool,
}

impl Search<'_, '_> {
    /// Ranks what `selection` wants. Returns the skills that match by a weak mention alone.
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
            self.open_own(skill);
            keys.extend(self.key(skill));
            self.scratch.ranking.epochs.visitor().visit(skill);
        }
        self.rank_best_of_others(selection.limit);
        if !keys.is_empty() {
            self.scratch.ranking.best.extend(keys);
            self.scratch.ranking.best.sort_unstable();
        }
        weak
    }

    /// Ranks the best `limit` matches.
    pub(in crate::matcher) fn rank_best(&mut self, recent: &[SkillId], limit: usize) {
        if limit > MAX_BEST {
            self.rank_all(recent);
            self.scratch.ranking.best.truncate(limit);
        } else {
            self.start_ranking(recent);
            self.rank_best_of_others(limit);
        }
    }

    /// Ranks the best `limit` matches of those skills that were not visited yet.
    fn rank_best_of_others(&mut self, limit: usize) {
        if limit == 0 {
            return;
        }
        for place in 0..self.scratch.found.explicit.len() {
            let skill = self.scratch.found.explicit[place];
            self.consider_alone(skill, limit);
        }
        if self.scratch.last_of_best(limit).is_some_and(|key| key.explicit.0) {
            return;
        }
        for place in 0..self.scratch.ranking.recent.len() {
            let (skill, _) = self.scratch.ranking.recent[place];
            self.consider_alone(skill, limit);
        }
        let Some(mut longest) = self.rank_phrases(limit) else { return };
        if longest == 1 {
            self.open_of_words();
            self.survey(longest);
            self.rank_by_rarity(longest, Aim { limit, least: 1 });
            if self.scratch.last_of_best(limit).is_some_and(|key| key.phrase_words.0 > 0) {
                return;
            }
            longest = 0;
        }
        self.open_all();
        self.scratch.ranking.forget_survey();
        self.survey(longest);
        self.rank_by_rarity(longest, Aim { limit, least: 0 });
    }

    /// Looks at the skills with phrases, those with the longest first, and surveys the items of one word
    /// or none. Returns the words of the longest literal of skills not looked at that may be among the best.
    fn rank_phrases(&mut self, limit: usize) -> Option<u32> {
        let mut longest_left = 0;
        let Scratch { found, ranking, .. } = &mut *self.scratch;
        ranking.n_surveyed = found.n_items();
        for (item, presence) in found.items() {
            let known = self.index.tables.items[item as usize];
            if known.n_words() > 1 {
                ranking.queue.push((Reverse(known.n_words()), known.rarity, item));
            } else {
                longest_left = longest_left.max(known.n_words());
                ranking.rarest.extend(in_order(item, known.rarity, presence));
            }
        }
        ranking.queue.sort_unstable();
        let mut start = 0;
        while let Some(&(Reverse(n_words), ..)) = self.scratch.ranking.queue.get(start) {
            if self.scratch.last_of_best(limit).is_some_and(|key| key.phrase_words.0 > n_words) {
                return None;
            }
            let queue = &self.scratch.ranking.queue;
            let end = queue.partition_point(|of| of.0.0 >= n_words);
            let of_phrases =
                queue[start..end].iter().map(|of| self.index.tables.postings.of(of.2).len());
            if of_phrases.sum::<usize>() > MAX_OF_PHRASES {
                return Some(n_words);
            }
            for place in start..end {
                let (.., item) = self.scratch.ranking.queue[place];
                for &skill in self.index.tables.postings.of(item) {
                    self.consider_alone(skill, limit);
                }
            }
            start = end;
        }
        let last = self.scratch.last_of_best(limit);
        last.is_none_or(|key| key.phrase_words.0 <= longest_left).then_some(longest_left)
    }

    /// Looks at the skills of all items, those of the rarest first, until no other skill can be
    /// among the best. None that was not looked at has a literal of more than `longest` words; of
    /// those whose literals are all shorter than is asked for, not all patterns were opened.
    fn rank_by_rarity(&mut self, longest: u32, aim: Aim) {
        let mut rarest = std::mem::take(&mut self.scratch.ranking.rarest);
        let mut left = None;
        let is_sorted = rarest.len() > FEW;
        if is_sorted {
            rarest.sort_unstable();
        }
        for place in 0..rarest.len() {
            if !is_sorted {
                least_first(&mut rarest[place..]);
            }
            let of = rarest[place];
            let (order, item) = ((of >> 32) as u32, of as u32);
            let best_left = RankKey {
                phrase_words: Reverse(longest),
                rarity: order / 2,
                n_triggers: Reverse((rarest.len() - place) as u32),
                ..RankKey::new(0)
            };
            if self.scratch.last_of_best(aim.limit).is_some_and(|last| last < best_left) {
                break;
            }
            let bit = self.index.tables.signatures.bit(item);
            if bit.is_some() {
                // With most messages it is over before.
                let bits = || {
                    rarest[place..].iter().map(|&of| self.index.tables.signatures.bit(of as u32))
                };
                let left = &*left.get_or_insert_with(|| Remaining::new(bits()));
                self.rank_common(item, best_left, left, aim);
            } else {
                self.rank_rare(item, aim);
            }
            if let Some(left) = &mut left {
                left.remove(bit);
            }
        }
        self.scratch.ranking.rarest = rarest;
    }

    /// Surveys the items of no more than `longest` words that came since the last survey.
    fn survey(&mut self, longest: u32) {
        let Scratch { found, ranking, .. } = &mut *self.scratch;
        for (item, presence) in found.items().skip(ranking.n_surveyed) {
            let known = self.index.tables.items[item as usize];
            if known.n_words() <= longest {
                ranking.rarest.extend(in_order(item, known.rarity, presence));
            }
        }
        ranking.n_surveyed = found.n_items();
    }

    /// Looks at the skills of an item, which are few.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "most items are, and few have more than a skill or two"
    )]
    fn rank_rare(&mut self, item: u32, aim: Aim) {
        if self.scratch.found.presence(item) != Presence::Absent {
            for &skill in self.index.tables.postings.of(item) {
                self.consider(skill, aim);
            }
        }
    }

    /// Looks at those of the many skills of an item that may be better than the last of the best, if
    /// they are like `best_left` but for the items they have of those `left`.
    #[inline(never)] // few items are common
    fn rank_common(&mut self, item: u32, best_left: RankKey, left: &Remaining, aim: Aim) {
        let mut words = u64::MAX;
        if aim.least > 0 && self.index.tables.items[item as usize].n_words() == 0 {
            // After that, a skill without a common word need not be examined.
            words = self.rank_rare_words(aim);
        }
        let may_surpass = |skill: u32, bar: (u32, u32)| {
            let signatures = self.index.tables.signatures.of(skill);
            let n_triggers = left.n_of(signatures);
            words & signatures != 0
                && (n_triggers > bar.0 || (n_triggers == bar.0 && skill < bar.1))
        };
        let skills = self.index.tables.postings.of(item);
        let mut bar = self.scratch.bar(best_left, aim.limit);
        let may_be = |&skill: &u32| may_surpass(skill, bar) && self.may_be_best(skill, aim.limit);
        let is_over = match self.scratch.found.presence(item) {
            Presence::Absent => true,
            Presence::Possible => !skills.iter().any(may_be) || !self.confirm(item),
            Presence::Somewhere | Presence::At => false,
        };
        if is_over {
            return;
        }
        // Those that may have the most triggers first: the others are not looked at then.
        let n_triggers = |skill: u32| left.n_of(self.index.tables.signatures.of(skill));
        let most = skills.iter().map(|&skill| n_triggers(skill)).max().unwrap_or(0);
        for is_most in [true, false] {
            let at_most = most.saturating_sub(u32::from(!is_most));
            for &skill in skills {
                if (at_most, bar.1) <= (bar.0, skill) {
                    break;
                }
                if (n_triggers(skill) == most) == is_most && may_surpass(skill, bar) {
                    self.consider(skill, aim);
                    bar = self.scratch.bar(best_left, aim.limit);
                }
            }
        }
    }

    /// Looks at the skills of all rare words. Returns the signatures of the common ones.
    fn rank_rare_words(&mut self, aim: Aim) -> u64 {
        let mut signatures = 0;
        for nth in 0..self.scratch.found.n_items() {
            let (item, _) = self.scratch.found.item(nth);
            if self.index.tables.items[item as usize].n_words() == 0 {
                continue;
            }
            match self.index.tables.signatures.bit(item) {
                Some(bit) => signatures |= 1 << bit,
                None => self.rank_rare(item, aim),
            }
        }
        signatures
    }

    /// Puts a skill among the best, if it is one of them, after a look at its patterns.
    fn consider_alone(&mut self, skill: u32, limit: usize) {
        self.open_own(skill);
        self.consider(skill, Aim { limit, least: 0 });
    }

    /// Puts a skill among the best, if it is one of them and has a literal as long as is asked for.
    fn consider(&mut self, skill: u32, aim: Aim) {
        if self.scratch.ranking.epochs.has(skill) {
            return;
        }
        // A skill that does not match now may do so once more patterns are opened.
        let Some((hopes, is_certain)) = self.hopes(skill) else { return };
        if hopes.phrase_words.0 < aim.least {
            return;
        }
        self.scratch.ranking.epochs.visitor().visit(skill);
        if self.scratch.last_of_best(aim.limit).is_some_and(|last| hopes >= last) {
            return;
        }
        let key = if is_certain { Some(hopes) } else { self.settle(skill) };
        let Some(key) = key else { return };
        let best = &mut self.scratch.ranking.best;
        // Most come late: they are looked at in an order in which the best come first.
        let place = best.iter().rposition(|better| *better < key).map_or(0, |place| place + 1);
        if place < aim.limit {
            best.truncate(aim.limit - 1);
            best.insert(place, key);
        }
    }

    /// Tells whether a skill could be among the best, if all of its patterns that may match did.
    fn may_be_best(&self, skill: u32, limit: usize) -> bool {
        let hopes = self.hopes(skill).map(|(key, _)| key);
        hopes.is_some_and(|key| self.scratch.last_of_best(limit).is_none_or(|last| key < last))
    }
}

/// An item that may have been found, so that in the order of numbers the rarest come first.
fn in_order(item: u32, rarity: u32, presence: Presence) -> Option<u64> {
    // Among equally rare ones, those that must be confirmed come last: they may not be needed any
    // more.
    let order = rarity * 2 + u32::from(presence == Presence::Possible);
    (presence != Presence::Absent).then_some(u64::from(order) << 32 | u64::from(item))
}

/// Swaps the least of `all` to the front.
fn least_first(all: &mut [u64]) {
    let least = all.iter().enumerate().min_by_key(|(_, of)| **of);
    if let Some((place, _)) = least {
        all.swap(0, place);
    }
}

impl Scratch {
    /// The last of the best `limit` matches, once there are that many.
    fn last_of_best(&self, limit: usize) -> Option<RankKey> {
        let best = &self.ranking.best;
        if best.len() < limit { None } else { best.last().copied() }
    }

    /// The number of triggers with which a skill equals the last of the best, and the skill it must
    /// precede with that many, if it is like `left` except for these two.
    fn bar(&self, left: RankKey, limit: usize) -> (u32, u32) {
        let but_for_these = |key: RankKey| RankKey { n_triggers: left.n_triggers, skill: 0, ..key };
        match self.last_of_best(limit) {
            Some(last) if but_for_these(last) == but_for_these(left) => {
                (last.n_triggers.0, last.skill)
            }
            _ => (0, u32::MAX),
        }
    }
}
