//! What one pass has found: working memory that is reused, so that a query allocates nothing.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::demands::Met;
use super::gates::Openers;
use super::mask::Quoted;
use super::memo::Memo;
use super::near::Near;
use super::overlay::Changes;
use super::rank::RankKey;
use super::seen::Seen;
use super::split::Split;
use super::text::QueryText;
use super::visits::Visits;

/// Working memory of one search.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The parts of a query that was too long to be looked at as a whole.
    pub(super) excerpt: String,
    pub(super) text: QueryText,
    /// What is left out of the search for literals, and the folded text without it.
    pub(super) quoted: Quoted,
    pub(super) covered: String,
    pub(super) runs: Split,
    pub(super) memo: Memo,
    pub(super) seen: Seen,
    pub(super) openers: Openers,
    /// While patterns are opened: places among what literals open; and the items of those opened, with
    /// whether each does match.
    pub(super) met_gates: Vec<u32>,
    pub(super) opened: Vec<(u32, bool)>,
    pub(super) found: Found,
    pub(super) met: Met,
    /// What became of the skills since the index was compiled.
    pub(super) changes: Option<Arc<Changes>>,
    pub(super) ranking: Ranking,
}

impl Scratch {
    pub(super) fn is_gone(&self, skill: u32) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.is_gone(skill))
    }

    /// By how many skills `item` is declared, which was declared by `compiled`.
    pub(super) fn rarity(&self, item: u32, compiled: u32) -> u32 {
        self.changes.as_ref().map_or(compiled, |changes| changes.rarity(item))
    }
}

/// What a pass has found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Which search this is; an item stamped with it was found, or may be.
    search: u32,
    items: Vec<ItemState>,
    /// The candidates, and perhaps others.
    near: Near,
    /// The items found or perhaps found, each once.
    pub(super) candidates: Vec<u32>,
    /// The skills that were named, in the order of ids.
    pub(super) explicit: Vec<u32>,
    /// The exclude entries found; first with duplicates, then without those that veto nothing.
    pub(super) excludes: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ItemState {
    search: u32,
    /// Where it was found; see [`Presence`].
    start: u32,
    end: u32,
    presence: Presence,
}

/// What is known of an item.
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

/// What puts matches in order.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub(super) visits: Visits,
    /// A bit for each skill that was counted.
    pub(super) counted: Vec<u64>,
    /// Skills used recently with their place among these, in the order of ids.
    pub(super) recent: Vec<(u32, u32)>,
    /// What is still to be looked at: words of a literal, how rare it is, and the item.
    pub(super) queue: Vec<(Reverse<u32>, u32, u32)>,
    /// The same: its place in an order, and in the lower half the item.
    pub(super) rarest: Vec<u64>,
    /// The matches, best first once they are sorted.
    pub(super) best: Vec<RankKey>,
    /// While all are sorted: those of one trigger, and the others, of which more was found.
    pub(super) singles: Vec<RankKey>,
    pub(super) others: Vec<RankKey>,
    pub(super) more: Vec<u32>,
}

impl Found {
    pub(super) fn start(&mut self, n_items: usize) {
        self.search = self.search.wrapping_add(1);
        if self.items.len() != n_items || self.search == 0 {
            self.items.clear();
            self.items.resize(n_items, ItemState::default());
            self.search = 1;
        }
        for item in self.candidates.drain(..) {
            self.near.remove(item);
        }
        self.explicit.clear();
        self.excludes.clear();
    }

    pub(super) fn presence(&self, item: u32) -> Presence {
        if self.near.may_have(item) { self.presence_of_near(item) } else { Presence::Absent }
    }

    /// The same of an item that [`Found::near`] may have, as of all candidates.
    pub(super) fn presence_of_near(&self, item: u32) -> Presence {
        let state = self.items[item as usize];
        if state.search == self.search { state.presence } else { Presence::Absent }
    }

    /// The items found or perhaps found, and perhaps others.
    pub(super) fn near(&self) -> &Near {
        &self.near
    }

    /// Where an item is that is [`Presence::At`] some place.
    pub(super) fn range(&self, item: u32) -> Range<usize> {
        let ItemState { start, end, .. } = self.items[item as usize];
        start as usize..end as usize
    }

    /// Notes an item at a place; of several, the one that ends first is kept.
    pub(super) fn add(&mut self, item: u32, range: &Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        let state = &mut self.items[item as usize];
        if state.search != self.search {
            self.near.add(item);
            self.candidates.push(item);
        } else if (state.end, state.start) <= (end, start) {
            return;
        }
        *state = ItemState { search: self.search, start, end, presence: Presence::At };
    }

    /// Notes a pattern that may match, or does somewhere.
    pub(super) fn add_pattern(&mut self, item: u32, presence: Presence) {
        let state = &mut self.items[item as usize];
        if state.search != self.search {
            let search = self.search;
            *state = ItemState { search, presence, ..ItemState::default() };
            self.near.add(item);
            self.candidates.push(item);
        }
    }

    /// Notes what became of a pattern.
    pub(super) fn settle(&mut self, item: u32, presence: Presence, range: Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        self.items[item as usize] = ItemState { search: self.search, start, end, presence };
    }

    pub(super) fn is_explicit(&self, skill: u32) -> bool {
        !self.explicit.is_empty() && self.explicit.binary_search(&skill).is_ok()
    }
}

impl Ranking {
    pub(super) fn start(&mut self, n_skills: usize) {
        self.visits.start(n_skills);
        self.recent.clear();
        self.queue.clear();
        self.best.clear();
    }

    /// Starts to count skills, of so many.
    pub(super) fn start_counting(&mut self, n_skills: usize) {
        self.counted.clear();
        self.counted.resize(n_skills.div_ceil(64), 0);
    }

    /// Counts a skill, if it was not yet.
    pub(super) fn count(&mut self, skill: u32) {
        self.counted[skill as usize / 64] |= 1 << (skill % 64);
    }

    /// Counts a skill no more.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_one_text_is_near_in_the_next() {
        let mut found = Found::default();
        for n_items in [5_000, 5_000, 6_000] {
            found.start(n_items);
            assert!((0..n_items as u32).all(|item| !found.near().may_have(item)));
            found.add(5, &(3..6));
            found.add(5, &(1..2));
            found.add_pattern(4_103, Presence::Possible);
            let presences = [5, 4_103, 7].map(|item| found.presence(item));
            assert_eq!(presences, [Presence::At, Presence::Possible, Presence::Absent]);
            assert_eq!((found.range(5), found.candidates.as_slice()), (1..2, &[5, 4_103][..]));
        }
    }
}
