//! Counts all matches in a set with one bit per skill. The most common items have bitmaps, so that their
//! skills are added 64 at a time.

use serde::{Deserialize, Serialize};

use super::Search;
use super::scratch::Presence;
use crate::matcher::arena::Lists;

/// An item has a bitmap if at least one in this many skills declares it: its bitmap then takes no more
/// room than its postings.
const MAX_RARITY: usize = 32;

/// Catalogs of fewer skills have no bitmaps: their postings are short.
const MIN_SKILLS: usize = 1_024;

/// The bitmaps of all items that have one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::matcher) struct Bitmaps {
    /// The items, in ascending order.
    #[serde(with = "crate::matcher::rows")]
    items: Vec<u32>,
    /// The bitmaps, one after the other in the order of `items`, each with one bit per skill.
    #[serde(with = "crate::matcher::rows")]
    words: Vec<u64>,
}

/// The number of words that hold a bit for each skill.
fn n_words(n_skills: usize) -> usize {
    n_skills.div_ceil(64)
}

impl Bitmaps {
    /// Builds the bitmaps of the common items among `n_items`; `postings` lists the skills of each item.
    pub(in crate::matcher) fn new(
        postings: &Lists<u32>,
        n_items: usize,
        n_skills: usize,
    ) -> Bitmaps {
        if n_skills < MIN_SKILLS {
            return Bitmaps::default();
        }
        let is_common = |item: &u32| postings.of(*item).len() * MAX_RARITY >= n_skills;
        let items: Vec<u32> = (0..n_items as u32).filter(is_common).collect();
        let n_words = n_words(n_skills);
        let mut words = vec![0; items.len() * n_words];
        for (&item, words) in items.iter().zip(words.chunks_exact_mut(n_words)) {
            for &skill in postings.of(item) {
                words[skill as usize / 64] |= 1_u64 << (skill % 64);
            }
        }
        Bitmaps { items, words }
    }

    /// The bitmap of an item, of [`n_words`] words, if it has one.
    fn of(&self, item: u32) -> Option<&[u64]> {
        let place = self.items.binary_search(&item).ok()?;
        let n_words = self.words.len() / self.items.len();
        Some(&self.words[place * n_words..][..n_words])
    }

    /// Tells whether the deserialised bitmaps refer to at most `n_items` items and `n_skills` skills.
    pub(in crate::matcher) fn is_sound(&self, n_items: usize, n_skills: usize) -> bool {
        let rest = n_skills % 64;
        let n_words = n_words(n_skills);
        self.items.is_sorted()
            && self.items.last().is_none_or(|&item| (item as usize) < n_items)
            && self.words.len() == self.items.len() * n_words
            && (rest == 0
                || self.words.chunks(n_words.max(1)).all(|of| of[n_words - 1] >> rest == 0))
    }
}

/// A set of skills, with one bit per skill.
#[derive(Debug, Clone, Default)]
pub(super) struct SkillSet(Vec<u64>);

impl SkillSet {
    /// Empties the set and makes room for `n_skills` skills.
    pub(super) fn start(&mut self, n_skills: usize) {
        self.0.clear();
        self.0.resize(n_words(n_skills), 0);
    }

    pub(super) fn add(&mut self, skill: u32) {
        self.0[skill as usize / 64] |= 1 << (skill % 64);
    }

    /// Adds a skill, and returns true if it is new.
    pub(super) fn insert(&mut self, skill: u32) -> bool {
        let is_new = !self.has(skill);
        self.add(skill);
        is_new
    }

    /// Adds the skills of a bitmap.
    fn add_all(&mut self, bitmap: &[u64]) {
        self.0.iter_mut().zip(bitmap).for_each(|(known, skills)| *known |= skills);
    }

    fn remove(&mut self, skill: u32) {
        self.0[skill as usize / 64] &= !(1 << (skill % 64));
    }

    pub(super) fn has(&self, skill: u32) -> bool {
        self.0[skill as usize / 64] >> (skill % 64) & 1 != 0
    }

    fn len(&self) -> usize {
        self.0.iter().map(|skills| skills.count_ones() as usize).sum()
    }
}

impl Search<'_, '_> {
    /// Counts the skills that match.
    pub(in crate::matcher) fn count_all(&mut self) -> usize {
        let tables = &self.index.tables;
        let mut counted = std::mem::take(&mut self.scratch.ranking.counted);
        counted.start(tables.ids.len());
        let vetoed = |exclude: &u32| tables.excludes[*exclude as usize].0;
        // Count vetoed skills too, so that no pattern is run for them; they are removed below.
        self.scratch.found.excludes.iter().for_each(|exclude| counted.add(vetoed(exclude)));
        for may_be in [false, true] {
            for nth in 0..self.scratch.found.n_items() {
                let (item, presence) = self.scratch.found.item(nth);
                // A pattern that the ranking has run without a match is absent.
                if presence == Presence::Absent || (presence == Presence::Possible) != may_be {
                    continue;
                }
                let skills = tables.postings.of(item);
                if may_be && (skills.iter().all(|&skill| counted.has(skill)) || !self.confirm(item))
                {
                    continue;
                }
                match tables.bitmaps.of(item) {
                    Some(bitmap) => counted.add_all(bitmap),
                    None => skills.iter().for_each(|&skill| counted.add(skill)),
                }
            }
        }
        self.scratch.found.excludes.iter().for_each(|exclude| counted.remove(vetoed(exclude)));
        let n_matches = counted.len();
        self.scratch.ranking.counted = counted;
        n_matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_items_of_large_catalogs_have_the_bits_of_their_skills() {
        for (n_skills, has_bitmaps) in [(1_000, false), (1_024, true), (1_100, true)] {
            let of = |item: u32, step| (0..n_skills).step_by(step).map(move |skill| (item, skill));
            let postings = Lists::new(of(0, 40).chain(of(1, 30)).collect(), 2);
            let bitmaps = Bitmaps::new(&postings, 2, n_skills as usize);
            assert!(bitmaps.of(0).is_none());
            assert_eq!(bitmaps.of(1).is_some(), has_bitmaps);
            for word in bitmaps.of(1).iter().flat_map(|words| words.iter().enumerate()) {
                let skills = (0..64).filter(|bit| word.1 >> bit & 1 != 0);
                let skills = skills.map(|bit| word.0 as u32 * 64 + bit);
                let expected = (0..n_skills).step_by(30).filter(|of| *of as usize / 64 == word.0);
                assert!(skills.eq(expected));
            }
            assert!(bitmaps.is_sound(2, n_skills as usize));
            assert_eq!(bitmaps.is_sound(1, n_skills as usize), !has_bitmaps);
            assert_eq!(bitmaps.is_sound(2, 5), !has_bitmaps);
        }
    }

    #[test]
    fn each_search_begins_with_no_skills_also_after_a_larger_one() {
        let mut visited = SkillSet::default();
        for n_skills in [4, 200, 4, 64, 65] {
            for _ in 0..3 {
                visited.start(n_skills);
                let last = n_skills as u32 - 1;
                let is_first = [0, 1, 1, last, 2, 0].map(|skill| visited.insert(skill));
                assert_eq!(is_first, [true, true, false, true, true, false], "{n_skills}");
            }
        }
    }
}
