//! Scratch: working memory that is reused from query to query, so that a warm query allocates nothing.

use std::ops::Range;

use repertoire_text::QueryText;
use repertoire_text::attached::Attached;
use repertoire_text::mention::Mention;

use super::ranking::Ranking;
use crate::matcher::automaton::Occurrences;
use crate::matcher::pattern::literal_free::Candidates;
use crate::matcher::sparse_map::SparseMap;

/// Working memory of one search.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Scratch {
    /// The head and tail of a query that is too long to be searched as a whole.
    pub(super) excerpt: String,
    pub(super) text: QueryText,
    /// The attachments of the text; `covered` is the folded text without them.
    pub(super) attached: Attached,
    pub(super) covered: String,
    /// The normalised text without attachments, or empty until a pattern is found in one of them.
    pub(super) requested: String,
    /// The text without the names that it denies.
    pub(super) said: String,
    pub(super) occurrences: Occurrences,
    /// The occurrences in the text without attachments, if it has some.
    pub(super) said_occurrences: Occurrences,
    pub(super) found: Found,
    pub(super) candidates: Candidates,
    pub(super) ranking: Ranking,
}

/// The findings of one text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The items found, and the patterns that may match.
    items: SparseMap<FoundItem>,
    /// The places where skills are named: at first all, once they are settled only those that count or
    /// are denied.
    pub(super) mentions: Vec<Mention>,
    /// The skills with a strong mention, in the order of ids.
    pub(super) explicit: Vec<u32>,
    /// The skills with a weak mention that counts, and no strong one, in the order of ids. Once all
    /// matches are ranked, only those that match by nothing else.
    pub(super) weak: Vec<u32>,
    /// The skills with denied mentions only, in the order of ids.
    pub(super) denied: Vec<u32>,
    /// The places of denied mentions, in bytes of the folded text.
    pub(super) denied_places: Vec<Range<usize>>,
    /// The skills that the message only talks about, or names weakly and denies elsewhere, in the order of ids.
    pub(super) about: Vec<u32>,
    /// The exclude entries found: at first with duplicates, once they are settled one for each vetoed
    /// skill.
    pub(super) excludes: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct FoundItem {
    /// The start of the range at which the item was found; see [`Presence::At`].
    start: u32,
    end: u32,
    presence: Presence,
    /// True if the item stands in attachments only.
    is_attached: bool,
}

/// The presence of an item in a text, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Presence {
    #[default]
    Absent,
    /// A pattern that may match, and was not run yet.
    Possible,
    /// A pattern that certainly matches, at a place that is not known yet.
    Somewhere,
    /// An item found at a known range. The range is in bytes of the folded text for a literal or name,
    /// in bytes of the normalised text for a pattern, and a position among the paths of the query for a
    /// glob.
    At,
}

impl Found {
    pub(super) fn start(&mut self, n_items: usize) {
        self.items.start(n_items);
        self.mentions.clear();
        self.explicit.clear();
        self.weak.clear();
        self.denied.clear();
        self.about.clear();
        self.excludes.clear();
    }

    /// Forgets the items, to record them again.
    pub(super) fn forget_items(&mut self, n_items: usize) {
        self.items.start(n_items);
    }

    /// The items found or possibly found, each once, in the order in which they were recorded.
    pub(super) fn items(&self) -> impl Iterator<Item = (u32, Presence)> {
        self.items.entries().iter().map(|&(item, found)| (item, found.presence))
    }

    /// The number of items found or possibly found.
    pub(super) fn n_items(&self) -> usize {
        self.items.entries().len()
    }

    /// The `nth` item found or possibly found.
    pub(super) fn item(&self, nth: usize) -> (u32, Presence) {
        let (item, found) = self.items.entries()[nth];
        (item, found.presence)
    }

    #[inline]
    pub(super) fn presence(&self, item: u32) -> Presence {
        self.items.get(item).map_or(Presence::Absent, |found| found.presence)
    }

    /// Returns the range at which an item was found; `0..0` unless the item is [`Presence::At`] one.
    pub(super) fn range(&self, item: u32) -> Range<usize> {
        self.items.get(item).map_or(0..0, |found| found.start as usize..found.end as usize)
    }

    /// Records an item at a range. Of several ranges, the one that ends first is kept.
    #[inline]
    pub(super) fn add(&mut self, item: u32, range: &Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        let found = FoundItem { start, end, presence: Presence::At, is_attached: false };
        if let Some(known) = self.items.add(item, found)
            && (end, start) < (known.end, known.start)
        {
            *known = found;
        }
    }

    /// Records an item at a range of an attachment, unless it was found before.
    #[inline]
    pub(super) fn add_attached(&mut self, item: u32, range: &Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        self.items.add(item, FoundItem { start, end, presence: Presence::At, is_attached: true });
    }

    /// Tells whether an item stands in attachments only.
    pub(super) fn is_attached(&self, item: u32) -> bool {
        self.items.get(item).is_some_and(|found| found.is_attached)
    }

    /// Records a pattern that may match, or that certainly matches, if so perhaps in attachments only.
    pub(super) fn add_pattern(&mut self, item: u32, presence: Presence, is_attached: bool) {
        self.items.add(item, FoundItem { presence, is_attached, ..FoundItem::default() });
    }

    /// Records the result of running a pattern: where it was found, and whether in attachments only.
    pub(super) fn settle(&mut self, item: u32, range: Option<Range<usize>>, is_attached: bool) {
        let presence = if range.is_some() { Presence::At } else { Presence::Absent };
        let Range { start, end } = range.unwrap_or_default();
        let (start, end) = (start as u32, end as u32);
        if let Some(found) = self.items.get_mut(item) {
            *found = FoundItem { start, end, presence, is_attached };
        }
    }

    pub(super) fn is_explicit(&self, skill: u32) -> bool {
        !self.explicit.is_empty() && self.explicit.binary_search(&skill).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_one_text_is_near_in_the_next() {
        let mut found = Found::default();
        for _ in 0..2 {
            found.start(5_000);
            assert!((0..5_000).all(|item| found.presence(item) == Presence::Absent));
            found.add(5, &(3..6));
            found.add(5, &(1..2));
            found.add(5, &(1..3));
            found.add_pattern(4_103, Presence::Possible, false);
            found.add_pattern(4_103, Presence::Somewhere, false);
            let presences = [5, 4_103, 7].map(|item| found.presence(item));
            assert_eq!(presences, [Presence::At, Presence::Possible, Presence::Absent]);
            assert!(found.range(5) == (1..2) && found.items().map(|(item, _)| item).eq([5, 4_103]));
            found.settle(4_103, Some(7..9), false);
            assert_eq!((found.presence(4_103), found.range(4_103)), (Presence::At, 7..9));
        }
    }
}
