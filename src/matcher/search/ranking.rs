//! The order of matches, which needs no score.

use crate::matcher::sparse_map::SparseMap;
use crate::matcher::tables::Item;

/// The sort key of a match; the lesser key comes first. The order (`docs/matching.md`, *Ranking*), from the
/// highest bits down:
///
/// 1. skills that the message names, and skills of which it has a trigger outside of attachments;
/// 2. longer phrases before shorter ones, patterns and paths after any literal;
/// 3. skills used more recently in the session;
/// 4. the rarest trigger hit, then the number of distinct triggers, then the id.
///
/// A last bit tells whether all triggers are single words.
///
/// With six fields instead of one number, an explanation at 1,000 skills would take a third more
/// instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankKey(u128);

impl RankKey {
    /// The skill's place in the order of ids.
    pub(super) fn skill(self) -> u32 {
        (self.0 >> 1) as u32
    }

    /// Tells whether each trigger is a single word; see [`Tally::is_word`].
    pub(super) fn is_word(self) -> bool {
        self.0 & 1 != 0
    }

    /// Tells whether all triggers stand in attachments.
    pub(super) fn is_attached(self) -> bool {
        (self.0 >> 112) as u16 & ATTACHED != 0
    }

    pub(super) fn is_explicit(self) -> bool {
        (self.0 >> 112) as u16 & NOT_EXPLICIT == 0
    }
}

/// The flag in [`Tally::phrase`] of a skill that the message does not name.
pub(super) const NOT_EXPLICIT: u16 = 1 << 15;

/// The flag in [`Tally::phrase`] of a skill whose triggers all stand in attachments.
const ATTACHED: u16 = 1 << 14;

/// The triggers of a skill that were found, added up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// The number of skills that declare the rarest trigger.
    pub(super) rarity: u32,
    /// The position among the recently used skills, from 0; the greatest number for any other skill.
    pub(super) recency: u16,
    /// The number of words of the longest literal, counted down from the greatest number; and
    /// [`NOT_EXPLICIT`] and [`ATTACHED`].
    pub(super) phrase: u16,
    /// The number of triggers with distinct subjects.
    pub(super) n_triggers: u32,
    /// The subject of the trigger that was added last.
    pub(super) subject: u32,
    pub(super) is_vetoed: bool,
    /// True if each trigger is a single word, neither a longer phrase nor a pattern or path.
    pub(super) is_word: bool,
}

impl Tally {
    /// The tally of one trigger, which may stand in attachments only.
    pub(super) fn of(item: Item, is_attached: bool) -> Tally {
        let most = !(NOT_EXPLICIT | ATTACHED);
        let n_words = u16::try_from(item.n_words()).unwrap_or(u16::MAX).min(most);
        let not_attached = if is_attached { 0 } else { ATTACHED };
        Tally {
            rarity: item.rarity,
            recency: u16::MAX,
            phrase: u16::MAX - n_words - not_attached,
            n_triggers: 1,
            subject: item.subject,
            is_vetoed: false,
            is_word: n_words == 1,
        }
    }

    /// Adds a trigger. Triggers with the same subject come one after the other.
    pub(super) fn add(&mut self, trigger: Tally) {
        self.rarity = self.rarity.min(trigger.rarity);
        self.phrase = self.phrase.min(trigger.phrase);
        self.n_triggers += u32::from(self.subject != trigger.subject);
        self.subject = trigger.subject;
        self.is_word &= trigger.is_word;
    }

    pub(super) fn key(&self, skill: u32) -> RankKey {
        let Tally { rarity, recency, phrase, n_triggers, is_word, .. } = *self;
        let first = u64::from(phrase) << 48 | u64::from(recency) << 32 | u64::from(rarity);
        // The last bit decides nothing: no two keys are of the same skill.
        let second = u64::from(!n_triggers) << 33 | u64::from(skill) << 1 | u64::from(is_word);
        RankKey(u128::from(first) << 64 | u128::from(second))
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
        tallies.map(|(skill, tally)| tally.key(*skill))
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
        let mut chosen = Vec::new();
        let mut n_matches = 0;
        // Once there is no room, a match must be better than the last of the best so far.
        let room = limit.saturating_mul(2).max(MIN_ROOM);
        let mut bound = None;
        for key in self.matches() {
            n_matches += 1;
            if !named.is_empty() && named.contains(&key.skill()) {
                chosen.push(key);
            } else if bound.is_none_or(|bound| key < bound) {
                best.push(key);
                if best.len() == room {
                    bound = keep_best(&mut best, limit);
                }
            }
        }
        keep_best(&mut best, limit);
        best.append(&mut chosen);
        best.sort_unstable();
        self.best = best;
        n_matches
    }
}

/// The minimum number of matches that are collected before the best of them are kept.
const MIN_ROOM: usize = 32;

/// Keeps the best `limit` keys, in any order. Returns the first key that is left out, if any is.
fn keep_best(keys: &mut Vec<RankKey>, limit: usize) -> Option<RankKey> {
    if limit >= keys.len() {
        return None;
    }
    let (_, first_out, _) = keys.select_nth_unstable(limit);
    let first_out = *first_out;
    keys.truncate(limit);
    Some(first_out)
}
