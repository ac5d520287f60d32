//! The search of an index for one query: scan, gate, rank, answer.

mod answer;
mod rank;
mod ranking;
mod scan;
mod scratch;

use repertoire_text::excerpt::Excerpt;
use repertoire_text::request::Parts;

use super::index::{Answer, Index};
use super::pattern::WINDOW_BYTES;
use super::pattern::gates::{Opened, ScannedAttachments, ScannedText};
use super::{Match, Query};
use scratch::Presence;

use crate::catalog::PlaceSet;
use crate::skill::SkillId;

pub use answer::Selection;
pub(super) use scratch::Scratch;

/// One query, and the scratch that holds its findings.
#[derive(Debug)]
pub(super) struct Search<'i, 's> {
    index: &'i Index,
    query: &'s Query<'s>,
    /// The parts of the query that are searched.
    text: Excerpt<'s>,
    parts: &'s Parts<'s>,
    /// The skills that may be found; `None` for all. The others do not exist for this search.
    among: Option<&'s PlaceSet>,
    scratch: &'s mut Scratch,
}

impl Index {
    /// Ranks all skills that `query` matches: the best `limit` come with their hits, the others only by
    /// id. The answer also lists the vetoed skills. `recent` are the skills used recently, the last one
    /// first.
    pub fn search(&self, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Answer {
        self.search_in(query, &Parts::of(&query.text), None, recent, limit)
    }

    /// Searches as [`Index::search`] does, given the parts of the query's text, among these skills.
    pub(crate) fn search_in(
        &self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        among: Option<&PlaceSet>,
        recent: &[SkillId],
        limit: usize,
    ) -> Answer {
        self.run(query, parts, among, |search| search.all(recent, limit))
    }

    /// Returns the best matches of `query`, as many as `selection` wants, and the number of all matches.
    /// The ranking also includes the named skills that match, and the skills that match by a weak
    /// mention alone. Ranked skills are in [`Answer::matches`] if `selection` wants hits, otherwise in
    /// [`Answer::beyond`].
    ///
    /// All other fields are as in the answer of [`Index::search`], which costs more if many skills
    /// match.
    pub fn select(&self, query: &Query<'_>, selection: &Selection<'_>) -> Answer {
        self.select_in(query, &Parts::of(&query.text), None, selection)
    }

    /// Selects as [`Index::select`] does, given the parts of the query's text, among these skills.
    pub(crate) fn select_in(
        &self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        among: Option<&PlaceSet>,
        selection: &Selection<'_>,
    ) -> Answer {
        self.run(query, parts, among, |search| search.selected(selection))
    }

    /// Selects as [`Index::select_in`] does, and returns all matches: the best `n_told` with their hits, the others
    /// by id.
    pub(crate) fn select_of_all_in(
        &self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        among: Option<&PlaceSet>,
        selection: &Selection<'_>,
        n_told: usize,
    ) -> (Answer, Vec<Match>, Vec<SkillId>) {
        self.run(query, parts, among, |search| search.selected_of_all(selection, n_told))
    }

    /// Scans `query`, gates its patterns, and calls `run` with the search.
    fn run<'i, T>(
        &'i self,
        query: &Query<'_>,
        parts: &Parts<'_>,
        among: Option<&PlaceSet>,
        run: impl FnOnce(&mut Search<'i, '_>) -> T,
    ) -> T {
        let mut kept = self.scratch.get_or_default().try_borrow_mut();
        let mut own;
        let scratch = if let Ok(scratch) = &mut kept {
            &mut **scratch
        } else {
            // A reentrant call: a subscriber to log messages searches while a search logs.
            own = Box::<Scratch>::default();
            &mut *own
        };
        let mut search = Search::new(self, query, parts, among, scratch);
        search.scan();
        search.gate();
        run(&mut search)
    }
}

impl<'i, 's> Search<'i, 's> {
    /// Begins a search. [`Search::scan`] and then [`Search::gate`] must run before anything else.
    pub(super) fn new(
        index: &'i Index,
        query: &'s Query<'s>,
        parts: &'s Parts<'s>,
        among: Option<&'s PlaceSet>,
        scratch: &'s mut Scratch,
    ) -> Search<'i, 's> {
        let text = Excerpt::new(parts, index.max_query_bytes);
        Search { index, query, text, parts, among, scratch }
    }

    /// Tells whether a skill may be found.
    pub(super) fn may_find(&self, skill: u32) -> bool {
        self.among.is_none_or(|among| among.has(skill as usize))
    }

    /// Finds the literals in the text, and decides which mentions of names count. Literals in attachments
    /// are recorded as such.
    pub(super) fn scan(&mut self) {
        let Search { index, text: excerpt, parts, scratch, .. } = self;
        let Scratch { excerpt: buffer, text, attached, covered, requested, found, .. } =
            &mut **scratch;
        let seen_text = excerpt.text(buffer);
        text.set(seen_text);
        found.start(index.tables.items.len());
        requested.clear();
        attached.set(excerpt.places(parts.attached_ranges()));
        if !attached.is_empty() {
            attached.cover(text, covered);
        }
        self.scan_parts(&[]);
        self.settle_mentions();
    }

    /// Records the patterns that may match, and the globs that do.
    pub(super) fn gate(&mut self) {
        let Search { index, query, text: excerpt, scratch, .. } = self;
        let Scratch {
            excerpt: buffer,
            text,
            attached,
            occurrences,
            said_occurrences,
            found,
            candidates,
            ..
        } = &mut **scratch;
        let attachments = (!attached.is_empty()).then(|| ScannedAttachments {
            said: said_occurrences,
            only_start: attached.only_start(text),
        });
        let Index { automaton, patterns, gates, tables, .. } = *index;
        let seen_text = excerpt.seen(buffer);
        patterns.without_literal(text.normalized(seen_text), candidates);
        for &pattern in &candidates.tried {
            found.add_pattern(tables.pattern_items[pattern as usize], Presence::Possible, false);
        }
        let is_plain = text.is_plain() && seen_text.len() <= WINDOW_BYTES;
        let scanned = ScannedText { automaton, occurrences, is_plain, attachments };
        gates.open(scanned, |pattern, opened| {
            let is_certain = opened != Opened::Perhaps;
            let presence = if is_certain { Presence::Somewhere } else { Presence::Possible };
            let is_attached = opened == Opened::InAttachments;
            found.add_pattern(tables.pattern_items[pattern as usize], presence, is_attached);
        });
        for (place, path) in query.paths.iter().enumerate() {
            let items = &tables.glob_items;
            index.paths.matches(path, |glob| found.add(items[glob], &(place..place)));
        }
    }

    /// Runs a pattern that may match, and records the result. A match in the request counts before one in an
    /// attachment.
    fn confirm(&mut self, item: u32) {
        let Scratch { excerpt, text: forms, attached, requested, found, .. } = &mut *self.scratch;
        let source = self.text.seen(excerpt);
        let Some(pattern) = self.index.tables.items[item as usize].pattern() else {
            return found.settle(item, None, false);
        };
        let find = |text: &str| self.index.patterns.find(pattern as usize, text);
        let range = find(forms.normalized(source));
        let start = range.as_ref().map(|range| forms.span_of_normalized(range.clone()).start);
        if !start.is_some_and(|start| attached.has(start)) {
            return found.settle(item, range, false);
        }
        if requested.is_empty() {
            attached.cover_normalized(forms, source, requested);
        }
        let said = find(requested);
        let is_attached = said.is_none();
        found.settle(item, said.or(range), is_attached);
    }

    /// Runs the patterns that certainly match a text with attachments, to know where: a skill is told with its
    /// hits.
    fn locate_certain(&mut self) {
        for nth in 0..self.scratch.found.n_items() {
            let (item, presence) = self.scratch.found.item(nth);
            if presence == Presence::Somewhere && !self.scratch.attached.is_empty() {
                self.confirm(item);
            }
        }
    }
}
