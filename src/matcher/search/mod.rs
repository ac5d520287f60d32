//! A query on its way through an index: scan, gate, rank, answer.

mod answer;
mod bitmaps;
mod epochs;
mod gate;
mod occurrences;
mod presence_filter;
mod rank_all;
mod rank_key;
mod record;
mod remaining;
mod scan;
mod score;
mod scratch;
mod select;
mod signatures;
mod small_set;
mod sparse_map;
mod top_n;

use super::index::{Index, RankedSkill};
use super::pattern::WINDOW_BYTES;
use super::text::excerpt::Excerpt;
use super::{Answer, Match, Query};
use crate::skill::SkillId;
use record::Part;
use scratch::Presence;

pub(super) use bitmaps::Bitmaps;
#[cfg(test)]
pub(super) use occurrences::Occurrence;
pub(super) use occurrences::Occurrences;
pub(super) use presence_filter::{PresenceFilter, place};
pub(super) use rank_key::RankKey;
pub(super) use scan::value_of;
pub(super) use scratch::{Scratch, ScratchGuard};
pub use select::Selection;
pub(super) use signatures::Signatures;
pub(super) use small_set::SmallSet;

/// One query, and the working memory that knows what was found of it.
#[derive(Debug)]
pub(super) struct Search<'i, 's> {
    index: &'i Index,
    query: &'s Query<'s>,
    /// The parts of the query that are looked at.
    text: Excerpt<'s>,
    scratch: &'s mut Scratch,
}

impl<'i, 's> Search<'i, 's> {
    /// Begins a search; nothing is known before [`Search::scan`] and [`Search::gate`].
    pub(super) fn new(
        index: &'i Index,
        query: &'s Query<'s>,
        scratch: &'s mut Scratch,
    ) -> Search<'i, 's> {
        let text = Excerpt::new(&query.text, index.max_query_bytes);
        Search { index, query, text, scratch }
    }

    /// Finds the literals in the text, and which of the names found are mentions that count. If it `masks`
    /// what is quoted, literals count only outside of that.
    pub(super) fn scan(&mut self, masks: bool) {
        let Search { text: excerpt, scratch, .. } = self;
        let Scratch { excerpt: buffer, text, quoted, covered, found, all_opened, .. } =
            &mut **scratch;
        let seen_text = excerpt.text(buffer);
        text.set(seen_text);
        found.start();
        *all_opened = false;
        quoted.set(if masks { seen_text } else { "" });
        if quoted.is_empty() {
            self.scan_part(Part::All);
        } else {
            quoted.cover(text, covered);
            self.scan_part(Part::Said);
            // Last, as its occurrences decide about patterns.
            self.scan_part(Part::Quoted);
        }
        self.settle_mentions();
    }

    /// Notes the patterns without a required literal that may match, and the globs that do. Patterns with
    /// one are opened when skills are ranked, as most of them never matter.
    pub(super) fn gate(&mut self) {
        let Search { index, query, text: excerpt, scratch } = self;
        let Scratch { excerpt: buffer, text, found, candidates, is_plain, .. } = &mut **scratch;
        let seen_text = excerpt.seen(buffer);
        *is_plain = text.is_plain() && seen_text.len() <= WINDOW_BYTES;
        index.patterns.without_literal(text.normalized(seen_text), text.is_ascii(), candidates);
        for &pattern in &candidates.tried {
            found.add_pattern(index.tables.pattern_items[pattern as usize], Presence::Possible);
        }
        for (place, path) in query.paths.iter().enumerate() {
            let items = &index.tables.glob_items;
            index.paths.matches(path, |glob| found.add(items[glob], &(place..place)));
        }
    }

    /// Ranks every match, and answers with the best `limit` of them.
    pub(super) fn all(&mut self, recent: &[SkillId], limit: usize) -> Answer {
        self.rank_all(recent);
        let weak = self.weak();
        let mut answer = self.answer(limit, &weak);
        answer.quoted = self.quoted_only(&answer);
        answer
    }

    /// Ranks the best `limit` matches, and answers with these.
    pub(super) fn best(&mut self, recent: &[SkillId], limit: usize) -> Vec<Match> {
        self.rank_best(recent, limit);
        self.matches(limit)
    }

    /// Ranks what `selection` wants and counts all matches. Where something quoted was left out, ranks every
    /// match: only so is it known which triggers are quoted only.
    pub(super) fn selected(&mut self, selection: &Selection<'_>) -> Answer {
        let limit = if selection.hits { usize::MAX } else { 0 };
        if self.has_quoted() {
            return self.all(selection.recent, limit);
        }
        let weak = self.rank_selected(selection);
        let n_matches = self.count_all();
        Answer { n_matches, ..self.answer(limit, &weak) }
    }

    /// The skills ranked best, best first.
    pub(super) fn ranked(&self) -> impl Iterator<Item = RankedSkill<'i>> {
        let index = self.index;
        let best = self.scratch.ranking.best.iter();
        best.map(|key| RankedSkill::new(index.id(key.skill), *key))
    }
}
