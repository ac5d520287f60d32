//! From ranked skills to an answer: with the places of their triggers, and why others are not there.

use std::collections::BTreeSet;
use std::ops::Range;

use super::excerpt::Excerpt;
use super::found::{Presence, Scratch};
use super::index::{Answer, Index};
use super::passed::Passed;
use super::rank::RankKey;
use super::{Hit, HitKind, Match, Query};
use crate::skill::SkillId;

impl<'q> Passed<'_, 'q> {
    /// What [`Index::search`] answers.
    pub(super) fn search(
        &mut self,
        query: &'q Query<'_>,
        recent: &[SkillId],
        limit: usize,
    ) -> Answer {
        let Passed { index, text, scratch } = self;
        index.rank_all(recent, text, scratch);
        let n_best = limit.min(scratch.ranking.best.len());
        let beyond = &scratch.ranking.best[n_best..];
        let beyond = beyond.iter().map(|key| index.id(key.skill).clone()).collect();
        let n_matches = scratch.ranking.best.len();
        let matches = index.matches(n_best, query, text, scratch);
        let weak = index.weak(text, scratch);
        let weak = weak.into_iter().map(|skill| index.id(skill).clone()).collect();
        let mut answer =
            Answer { matches, beyond, n_matches, weak, ..index.reasons(text, scratch) };
        answer.quoted = self.quoted_only(query, &answer);
        answer
    }

    /// What [`Index::best`] answers.
    pub(super) fn best(
        &mut self,
        query: &Query<'_>,
        recent: &[SkillId],
        limit: usize,
    ) -> Vec<Match> {
        let Passed { index, text, scratch } = self;
        index.rank_best(recent, limit, text, scratch);
        index.matches(scratch.ranking.best.len(), query, text, scratch)
    }

    /// Whether something in the query is quoted and was left out.
    pub(super) fn has_quoted(&self) -> bool {
        self.index.masks_quoted && !self.scratch.quoted.is_empty()
    }

    /// The skills that match, with a trigger of each, but for those of `answer`.
    pub(super) fn matches_beside(
        &mut self,
        query: &Query<'_>,
        answer: &Answer,
    ) -> Vec<(SkillId, String)> {
        let Passed { index, text, scratch } = self;
        let known: BTreeSet<&SkillId> =
            answer.matches.iter().map(|found| &found.id).chain(&answer.beyond).collect();
        index.rank_all(&[], text, scratch);
        let all = index.matches(scratch.ranking.best.len(), query, text, scratch);
        let others = all.into_iter().filter(|found| !known.contains(&found.id));
        others
            .filter_map(|found| Some((found.id, found.hits.into_iter().next()?.trigger)))
            .collect()
    }
}

impl Index {
    /// What an answer says beside its matches, once every pattern that may match is open.
    pub(super) fn reasons(&self, text: &Excerpt<'_>, scratch: &mut Scratch) -> Answer {
        Answer {
            vetoed: self.vetoed(text, scratch),
            excluded: self.excluded(scratch),
            untried: self.untried(scratch),
            denied: scratch.found.denied.iter().map(|&skill| self.id(skill).clone()).collect(),
            meta: self.questions.asked(scratch.text.folded()),
            ..Answer::default()
        }
    }

    /// The skills that match by a weak mention and by nothing else, by id.
    pub(super) fn weak(&self, text: &Excerpt<'_>, scratch: &mut Scratch) -> Vec<u32> {
        let named = std::mem::take(&mut scratch.found.weak);
        let mut weak = Vec::new();
        for &skill in &named {
            self.open_own(skill, scratch);
            let is_match = self.key(skill, text, scratch).is_some();
            let found = &scratch.found;
            let is_only_named = self.tables.triggers.of(skill).all(|(kind, _, item)| {
                kind == HitKind::Name || found.presence(item) == Presence::Absent
            });
            if is_match && is_only_named {
                weak.push(skill);
            }
        }
        scratch.found.weak = named;
        weak
    }

    /// The skills with patterns that were not tried.
    fn untried(&self, scratch: &mut Scratch) -> Vec<(SkillId, String)> {
        let mut untried: Vec<(u32, &str)> = Vec::new();
        for pattern in self.patterns.untried(&mut scratch.met) {
            let skills = self.tables.postings.of(self.tables.pattern_items[pattern as usize]);
            untried.extend(skills.iter().map(|&skill| (skill, self.patterns.source(pattern))));
        }
        untried.sort_unstable();
        untried.iter().map(|&(skill, source)| (self.id(skill).clone(), source.to_owned())).collect()
    }

    /// The first matches of the ranking, with their hits.
    pub(super) fn matches(
        &self,
        n_matches: usize,
        query: &Query<'_>,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Vec<Match> {
        (0..n_matches)
            .map(|place| self.to_match(scratch.ranking.best[place], query, text, scratch))
            .collect()
    }

    fn to_match(
        &self,
        key: RankKey,
        query: &Query<'_>,
        text: &Excerpt<'_>,
        scratch: &Scratch,
    ) -> Match {
        let triggers = self.tables.triggers.of(key.skill);
        let mut hits: Vec<Hit> = triggers
            .filter_map(|(kind, trigger, item)| {
                let (span, path) = self.place(kind, item, query, text, scratch)?;
                Some(Hit { kind, trigger: trigger.to_owned(), span, path })
            })
            .collect();
        hits.sort_by(|a, b| {
            let order = |hit: &Hit| (hit.kind == HitKind::Path, hit.span.start, hit.span.end);
            order(a).cmp(&order(b)).then(a.kind.cmp(&b.kind)).then(a.trigger.cmp(&b.trigger))
        });
        Match {
            id: self.id(key.skill).clone(),
            explicit: key.explicit.0,
            phrase_words: key.phrase_words.0 as usize,
            hits,
        }
    }

    /// The bytes of the query at which an item was found, or the path.
    fn place(
        &self,
        kind: HitKind,
        item: u32,
        query: &Query<'_>,
        text: &Excerpt<'_>,
        scratch: &Scratch,
    ) -> Option<(Range<usize>, Option<String>)> {
        let Scratch { excerpt, text: forms, found, .. } = scratch;
        let range = match found.presence(item) {
            Presence::Absent | Presence::Possible => return None,
            Presence::Somewhere => {
                let pattern = self.tables.items[item as usize].pattern()?;
                self.patterns.find(pattern as usize, forms.normalized(text.seen(excerpt)))?
            }
            Presence::At => found.range(item),
        };
        Some(match kind {
            HitKind::Path => (0..0, query.paths.get(range.start).map(ToString::to_string)),
            HitKind::Pattern => (text.span(forms.span_of_normalized(range)), None),
            _ => (text.span(forms.span_of_folded(range)), None),
        })
    }
}
