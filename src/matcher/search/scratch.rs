//! Scratch: working memory that is reused from query to query, so that a warm query allocates nothing.

use std::cmp::Reverse;
use std::ops::Range;

use super::count::n_words;
use super::score::RankKey;
use super::sparse_map::{Occurrences, PresenceFilter, SparseMap};
use crate::matcher::pattern::literal_free::Candidates;
use crate::matcher::tables::TriggerItem;
use crate::matcher::text::QueryText;
use crate::matcher::text::mask::Quoted;
use crate::matcher::text::mention::Mention;

/// Working memory of one search.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Scratch {
    /// The parts of a query that was too long to be looked at as a whole.
    pub(super) excerpt: String,
    pub(super) text: QueryText,
    /// The quoted parts, in which literals do not count, and the folded text without these.
    pub(super) quoted: Quoted,
    pub(super) covered: String,
    pub(super) occurrences: Occurrences,
    /// True if the text is one line of ASCII that patterns see as a whole.
    pub(super) is_plain: bool,
    /// True if all patterns that may match were noted.
    pub(super) all_opened: bool,
    /// While patterns are opened: their places, as of `Gates::meet`.
    pub(super) met_gates: Vec<u32>,
    pub(super) found: Found,
    pub(super) candidates: Candidates,
    pub(super) ranking: Ranking,
}

/// The findings of one text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The items found or perhaps found.
    items: SparseMap<FoundItem>,
    /// The places where skills are named: first all of them, then those that count or are denied.
    pub(super) mentions: Vec<Mention>,
    /// The skills with a strong mention, in the order of ids.
    pub(super) explicit: Vec<u32>,
    /// Those with a weak mention that counts, and no strong one.
    pub(super) weak: Vec<u32>,
    /// Those with denied mentions only.
    pub(super) denied: Vec<u32>,
    /// The exclude entries found; first with duplicates, then without those that veto nothing.
    pub(super) excludes: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct FoundItem {
    /// The place where it was found; see [`Presence`].
    start: u32,
    end: u32,
    presence: Presence,
}

/// The knowledge of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Presence {
    #[default]
    Absent,
    /// A pattern that its literals allow.
    Possible,
    /// A pattern that does match, nobody knows where yet.
    Somewhere,
    /// A literal or name in bytes of the folded text, a pattern in bytes of the normalised text, a
    /// glob at a place among the paths of the query.
    At,
}

/// Scratch for putting matches in order.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub(super) epochs: Epochs,
    /// A bit for each skill that was counted.
    pub(super) counted: Vec<u64>,
    /// Skills used recently with their place among these, in the order of ids.
    pub(super) recent: Vec<(u32, u32)>,
    /// The items still to be visited: words of a literal, how rare it is, and the item.
    pub(super) queue: Vec<(Reverse<u32>, u32, u32)>,
    /// The same: its place in an order, and in the lower half the item.
    pub(super) rarest: Vec<u64>,
    /// The number of items that were surveyed for that, the first ones.
    pub(super) n_surveyed: usize,
    /// The matches, best first once they are sorted.
    pub(super) best: Vec<RankKey>,
    /// While all are ranked: those whose key depends on more than one trigger, as skills and as
    /// keys.
    pub(super) more: Vec<u32>,
    pub(super) others: Vec<RankKey>,
}

impl Found {
    pub(super) fn start(&mut self) {
        self.items.clear();
        self.mentions.clear();
        self.explicit.clear();
        self.weak.clear();
        self.denied.clear();
        self.excludes.clear();
    }

    /// The items found or perhaps found, each once, in the order in which they were.
    pub(super) fn items(&self) -> impl Iterator<Item = (u32, Presence)> {
        self.items.entries().map(|(item, found)| (item, found.presence))
    }

    /// The number of those.
    pub(super) fn n_items(&self) -> usize {
        self.items.len()
    }

    /// The `nth` of them.
    pub(super) fn item(&self, nth: usize) -> (u32, Presence) {
        let (item, found) = self.items.entry(nth);
        (item, found.presence)
    }

    pub(super) fn presence(&self, item: u32) -> Presence {
        self.items.get(item).map_or(Presence::Absent, |found| found.presence)
    }

    /// The same of an item that [`Found::filter`] may have, as of all items found.
    pub(super) fn presence_of_present(&self, item: u32) -> Presence {
        self.items.get_present(item).map_or(Presence::Absent, |found| found.presence)
    }

    /// The items found or perhaps found, and perhaps others.
    pub(super) fn filter(&self) -> &PresenceFilter {
        self.items.filter()
    }

    /// Tells whether a trigger was found that stands before the one that `n_after` of `triggers`
    /// follow, and looks for the same.
    #[cold]
    pub(super) fn has_same(&self, triggers: &[TriggerItem], n_after: usize) -> bool {
        let before = triggers[..triggers.len() - n_after].windows(2).rev();
        let mut same = before.take_while(|of| of[1].is_same()).map(|of| of[0].item());
        same.any(|item| self.presence(item) != Presence::Absent)
    }

    /// The place of an item that is [`Presence::At`] one.
    pub(super) fn range(&self, item: u32) -> Range<usize> {
        self.items.get(item).map_or(0..0, |found| found.start as usize..found.end as usize)
    }

    /// Notes an item at a place; of several, the one that ends first is kept.
    #[inline]
    pub(super) fn add(&mut self, item: u32, range: &Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        let found = FoundItem { start, end, presence: Presence::At };
        if let Some(known) = self.items.note(item, found)
            && (end, start) < (known.end, known.start)
        {
            *known = found;
        }
    }

    /// Notes a pattern that may match, or does somewhere.
    pub(super) fn add_pattern(&mut self, item: u32, presence: Presence) {
        self.items.note(item, FoundItem { presence, ..FoundItem::default() });
    }

    /// Notes the result of a pattern.
    pub(super) fn settle(&mut self, item: u32, presence: Presence, range: Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        self.items.set(item, FoundItem { start, end, presence });
    }

    pub(super) fn is_explicit(&self, skill: u32) -> bool {
        !self.explicit.is_empty() && self.explicit.binary_search(&skill).is_ok()
    }
}

impl Ranking {
    pub(super) fn start(&mut self, n_skills: usize) {
        self.epochs.start(n_skills);
        self.recent.clear();
        self.queue.clear();
        self.forget_survey();
        self.best.clear();
    }

    /// Forgets which items are the rarest.
    pub(super) fn forget_survey(&mut self) {
        self.rarest.clear();
        self.n_surveyed = 0;
    }

    /// Starts to count skills, out of `n_skills`.
    pub(super) fn start_counting(&mut self, n_skills: usize) {
        self.counted.clear();
        self.counted.resize(n_words(n_skills), 0);
    }

    /// Counts a skill, if it was not yet.
    pub(super) fn count(&mut self, skill: u32) {
        self.counted[skill as usize / 64] |= 1 << (skill % 64);
    }

    /// Counts the skills of a bitmap.
    pub(super) fn count_each(&mut self, bitmap: &[u64]) {
        self.counted.iter_mut().zip(bitmap).for_each(|(counted, skills)| *counted |= skills);
    }

    /// Removes a skill from the count.
    pub(super) fn uncount(&mut self, skill: u32) {
        self.counted[skill as usize / 64] &= !(1 << (skill % 64));
    }

    pub(super) fn is_counted(&self, skill: u32) -> bool {
        self.counted[skill as usize / 64] >> (skill % 64) & 1 != 0
    }

    pub(super) fn recency(&self, skill: u32) -> u32 {
        let place = self.recent.binary_search_by_key(&skill, |&(recent, _)| recent);
        place.map_or(RankKey::NOT_RECENT, |place| self.recent[place].1)
    }
}

/// The number of stamps of one search: visited once, and more often.
const NUMBERS: u32 = 2;

/// Epoch stamps: the skills visited in one search, with nothing to clear before the next.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// The epoch of this search, a multiple of [`NUMBERS`]; a skill stamped with it was visited once, one
    /// stamped with the next number more often.
    search: u32,
    stamps: Vec<u32>,
}

/// A view for visiting skills in one search.
#[derive(Debug)]
pub(super) struct Visitor<'v> {
    search: u32,
    stamps: &'v mut [u32],
}

impl Epochs {
    /// Starts a search over `n_skills` skills.
    pub(super) fn start(&mut self, n_skills: usize) {
        self.search = self.search.wrapping_add(NUMBERS);
        if self.stamps.len() != n_skills || self.search == 0 {
            self.stamps.clear();
            self.stamps.resize(n_skills, 0);
            self.search = NUMBERS;
        }
    }

    /// Tells whether a skill was visited.
    pub(super) fn has(&self, skill: u32) -> bool {
        self.stamps[skill as usize] >= self.search
    }

    /// Tells whether a skill was visited once.
    pub(super) fn has_once(&self, skill: u32) -> bool {
        self.stamps[skill as usize] == self.search
    }

    /// A view for visiting the skills of this search.
    pub(super) fn visitor(&mut self) -> Visitor<'_> {
        Visitor { search: self.search, stamps: &mut self.stamps }
    }
}

impl Visitor<'_> {
    /// Epochs a skill, if it was not yet, and returns whether it did.
    pub(super) fn visit(&mut self, skill: u32) -> bool {
        let stamp = &mut self.stamps[skill as usize];
        let is_first = *stamp < self.search;
        if is_first {
            *stamp = self.search;
        }
        is_first
    }

    /// Epochs a skill that was visited, and returns whether it was only once.
    pub(super) fn visit_again(&mut self, skill: u32) -> bool {
        let stamp = &mut self.stamps[skill as usize];
        std::mem::replace(stamp, self.search + 1) == self.search
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_one_text_is_near_in_the_next() {
        let mut found = Found::default();
        for _ in 0..2 {
            found.start();
            assert!((0..5_000).all(|item| !found.filter().may_have(item)));
            found.add(5, &(3..6));
            found.add(5, &(1..2));
            found.add(5, &(1..3));
            found.add_pattern(4_103, Presence::Possible);
            found.add_pattern(4_103, Presence::Somewhere);
            let presences = [5, 4_103, 7].map(|item| found.presence(item));
            assert_eq!(presences, [Presence::At, Presence::Possible, Presence::Absent]);
            assert!(found.range(5) == (1..2) && found.items().map(|(item, _)| item).eq([5, 4_103]));
            found.settle(4_103, Presence::At, 7..9);
            assert_eq!((found.presence(4_103), found.range(4_103)), (Presence::At, 7..9));
        }
    }

    #[test]
    fn each_search_begins_with_no_visits_also_when_its_number_starts_anew() {
        for search in [0, 8, u32::MAX - 2 * NUMBERS + 1, u32::MAX - NUMBERS + 1] {
            let mut epochs = Epochs::default();
            epochs.start(4);
            epochs.search = search;
            for _ in 0..3 {
                epochs.start(4);
                assert!((0..4).all(|skill| !epochs.has(skill)), "{search}");
                let mut visitor = epochs.visitor();
                assert_eq!(
                    [0, 1, 2, 1, 2].map(|of| visitor.visit(of)),
                    [true, true, true, false, false]
                );
                assert_eq!([1, 2, 2].map(|of| visitor.visit_again(of)), [true, true, false]);
                assert!(!visitor.visit(1));
                assert_eq!([0, 1, 2, 3].map(|of| epochs.has(of)), [true, true, true, false]);
                assert_eq!([0, 1, 2, 3].map(|of| epochs.has_once(of)), [true, false, false, false]);
            }
        }
    }
}
