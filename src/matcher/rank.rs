//! The order of matches: total, documented, and without a score.

use std::cmp::Reverse;

/// Bits of the fields of a [`RankKey`] that are bounded.
const RECENCY_BITS: u32 = 24;
const RARITY_BITS: u32 = 29;
const TRIGGER_BITS: u32 = 15;

/// The most that so many bits hold.
const fn most(n_bits: u32) -> u32 {
    (1 << n_bits) - 1
}

/// What decides a match's place. The fields are compared in this order, and the lesser key comes
/// first (DESIGN §4, *Ranking*):
///
/// 1. skills the message names;
/// 2. longer phrases before shorter ones, patterns and paths after any literal;
/// 3. skills used more recently in the session;
/// 4. the rarest trigger hit, then the number of distinct triggers, then the id.
///
/// Of an index of half a gigabyte no field needs more bits than it has in [`RankKey::packed`]; what might,
/// is bounded where it is set, so that packed keys have the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankKey {
    pub(crate) explicit: Reverse<bool>,
    pub(crate) phrase_words: Reverse<u32>,
    /// Place among the recently used, from 0; [`RankKey::NOT_RECENT`] if not used.
    pub(crate) recency: u32,
    /// By how many skills the rarest trigger hit is declared.
    pub(crate) rarity: u32,
    /// How many different things its triggers look for were found, at most [`RankKey::MOST_TRIGGERS`].
    pub(crate) n_triggers: Reverse<u32>,
    /// The skill's place in the order of ids.
    pub(crate) skill: u32,
}

impl RankKey {
    /// Whoever has more has as many, in the order of keys.
    const MOST_TRIGGERS: u32 = most(TRIGGER_BITS);

    /// Whoever was used before so many others counts as not used.
    pub(crate) const NOT_RECENT: u32 = most(RECENCY_BITS);

    /// The key of a skill of which nothing was found yet.
    pub(crate) fn new(skill: u32) -> RankKey {
        RankKey {
            explicit: Reverse(false),
            phrase_words: Reverse(0),
            recency: RankKey::NOT_RECENT,
            rarity: most(RARITY_BITS),
            n_triggers: Reverse(0),
            skill,
        }
    }

    /// The key, but for the skill, of one of which only a trigger was found as of [`RankKey::add`].
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
        self.n_triggers.0 = (self.n_triggers.0 + 1).min(RankKey::MOST_TRIGGERS);
    }

    /// All fields in one number, in their order: 1 bit, 30, 24, 29, 15 and 29. What needs more is the most
    /// there is.
    pub(crate) fn packed(self) -> u128 {
        let put = |field: u32, n_bits: u32| u128::from(field.min(most(n_bits)));
        let less = |field: u32, n_bits: u32| u128::from(most(n_bits).saturating_sub(field));
        less(u32::from(self.explicit.0), 1) << 127
            | less(self.phrase_words.0, 30) << 97
            | put(self.recency, RECENCY_BITS) << 73
            | put(self.rarity, RARITY_BITS) << 44
            | less(self.n_triggers.0, TRIGGER_BITS) << 29
            | put(self.skill, 29)
    }

    /// The packed form of a key of skill 0 with another skill.
    pub(crate) fn with_skill(packed: u128, skill: u32) -> u128 {
        packed | u128::from(skill)
    }

    /// The key of which this is the packed form.
    pub(crate) fn unpacked(packed: u128) -> RankKey {
        let get = |at: u32, n_bits: u32| (packed >> at) as u32 & most(n_bits);
        let less = |at: u32, n_bits: u32| most(n_bits) - get(at, n_bits);
        RankKey {
            explicit: Reverse(less(127, 1) == 1),
            phrase_words: Reverse(less(97, 30)),
            recency: get(73, RECENCY_BITS),
            rarity: get(44, RARITY_BITS),
            n_triggers: Reverse(less(29, TRIGGER_BITS)),
            skill: get(0, 29),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_decides_before_the_next() {
        let base = RankKey { rarity: 5, n_triggers: Reverse(1), ..RankKey::new(9) };
        let mut most_found = base;
        (0..40_000).for_each(|_| most_found.count());
        let mut keys = vec![
            RankKey::new(8),
            base,
            RankKey { skill: 1, ..base },
            RankKey { n_triggers: Reverse(3), ..base },
            most_found,
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
        assert!(keys.is_sorted_by_key(|key| key.packed()));
        for key in keys {
            assert_eq!(RankKey::unpacked(key.packed()), key);
        }
    }
}
