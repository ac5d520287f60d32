//! The rank key: a total, documented order of matches without a score.

use std::cmp::Reverse;

/// The key that decides a match's place. The fields are compared in this order, and the lesser key comes
/// first (DESIGN §4, *Ranking*):
///
/// 1. skills the message names;
/// 2. longer phrases before shorter ones, patterns and paths after any literal;
/// 3. skills used more recently in the session;
/// 4. the rarest trigger hit, then the number of distinct triggers, then the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankKey {
    pub(crate) explicit: Reverse<bool>,
    pub(crate) phrase_words: Reverse<u32>,
    /// Place among the recently used, from 0; [`RankKey::NOT_RECENT`] if not used.
    pub(crate) recency: u32,
    /// The number of skills that declare the rarest trigger hit.
    pub(crate) rarity: u32,
    /// The number of different things found that its triggers look for.
    pub(crate) n_triggers: Reverse<u32>,
    /// The skill's place in the order of ids.
    pub(crate) skill: u32,
}

impl RankKey {
    /// Comes after every place among the recently used.
    pub(crate) const NOT_RECENT: u32 = u32::MAX;

    /// The key of a skill without a match.
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

    /// The key, except for `skill`, of a skill with one trigger, as in [`RankKey::add`].
    pub(crate) fn of_one(n_words: u32, rarity: u32) -> RankKey {
        let mut key = RankKey { n_triggers: Reverse(1), ..RankKey::new(0) };
        key.add(n_words, rarity);
        key
    }

    /// Takes in a trigger that was found: a literal of `n_words` (0 for other kinds), declared by
    /// `rarity` skills.
    pub(crate) fn add(&mut self, n_words: u32, rarity: u32) {
        self.phrase_words.0 = self.phrase_words.0.max(n_words);
        self.rarity = self.rarity.min(rarity);
    }

    /// Takes in that one thing more was found.
    pub(crate) fn count(&mut self) {
        self.n_triggers.0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_decides_before_the_next() {
        let base = RankKey { rarity: 5, n_triggers: Reverse(1), ..RankKey::new(9) };
        let mut keys = vec![
            RankKey::new(8),
            base,
            RankKey { skill: 1, ..base },
            RankKey { n_triggers: Reverse(3), ..base },
            RankKey { n_triggers: Reverse(40_000), ..base },
            RankKey { rarity: 1, ..base },
            RankKey { recency: 4, ..base },
            RankKey { recency: 0, ..base },
            RankKey { phrase_words: Reverse(1), ..base },
            RankKey { phrase_words: Reverse(3), ..base },
            RankKey { explicit: Reverse(true), ..base },
        ];
        let expected: Vec<_> = keys.iter().rev().copied().collect();
        keys.sort_unstable();
        assert_eq!(keys, expected);
    }
}
