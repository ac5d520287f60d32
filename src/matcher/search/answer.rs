//! Makes the answer from ranked skills: the positions of their triggers, and the reasons why other
//! skills are missing.

use std::ops::Range;

use super::Search;
use super::score::RankKey;
use super::scratch::{Presence, Scratch};
use crate::matcher::{Answer, Hit, HitKind, Index, Match};
use crate::skill::SkillId;

impl Search<'_, '_> {
    /// Answers with the ranked skills: the best `limit` with their hits, the others only by id; and with
    /// the reasons why other skills are missing. [`Search::gate`] must have run.
    pub(super) fn answer(&mut self, limit: usize, weak: &[u32]) -> Answer {
        let n_ranked = self.scratch.ranking.best.len();
        let n_best = limit.min(n_ranked);
        let beyond = &self.scratch.ranking.best[n_best..];
        let ids = |skills: &[u32]| -> Vec<SkillId> {
            skills.iter().map(|&skill| self.index.id(skill).clone()).collect()
        };
        Answer {
            beyond: beyond.iter().map(|key| self.index.id(key.skill).clone()).collect(),
            matches: self.matches(n_best),
            n_matches: n_ranked,
            weak: ids(weak),
            denied: ids(&self.scratch.found.denied),
            meta: self.index.questions.asked(self.scratch.text.folded()),
            excluded: self.excluded(),
            quoted: Vec::new(),
            untried: self.untried(),
            vetoed: self.vetoed(),
        }
    }

    /// Returns the skills whose triggers are in quoted text only, each with one of these triggers, in
    /// the order of ids. Scans the text again and replaces all findings, so it must come last.
    pub(super) fn quoted_only(&mut self) -> Vec<(SkillId, String)> {
        if self.scratch.quoted.is_empty() {
            return Vec::new();
        }
        self.count_all();
        let without = self.scratch.ranking.counted.clone();
        self.scan(false);
        self.gate();
        self.count_all();
        let is_new = |&skill: &u32| !without.has(skill) && self.scratch.ranking.counted.has(skill);
        let new: Vec<u32> = (0..self.index.tables.ids.len() as u32).filter(is_new).collect();
        let matches = new.into_iter().filter_map(|skill| {
            let found = self.key(skill).map(|key| self.to_match(key))?;
            Some((found.id, found.hits.into_iter().next()?.trigger))
        });
        matches.collect()
    }

    /// Returns the skills that match by a weak mention and by nothing else, in the order of ids.
    pub(super) fn weak(&mut self) -> Vec<u32> {
        let named = std::mem::take(&mut self.scratch.found.weak);
        let mut weak = Vec::new();
        for &skill in &named {
            let is_match = self.key(skill).is_some();
            let found = &self.scratch.found;
            let is_only_named = self.index.tables.triggers.of(skill).all(|(kind, _, item)| {
                kind == HitKind::Name || found.presence(item) == Presence::Absent
            });
            if is_match && is_only_named {
                weak.push(skill);
            }
        }
        self.scratch.found.weak = named;
        weak
    }

    /// Returns the skills with patterns that were not tried, each with the pattern.
    fn untried(&self) -> Vec<(SkillId, String)> {
        let Index { tables, patterns, .. } = self.index;
        let mut untried: Vec<(u32, &str)> = Vec::new();
        for pattern in patterns.literal_free.untried(&self.scratch.candidates) {
            let skills = tables.postings.of(tables.pattern_items[pattern as usize]);
            untried.extend(skills.iter().map(|&skill| (skill, patterns.source(pattern))));
        }
        untried.sort_unstable();
        let named =
            |(skill, source): (u32, &str)| (self.index.id(skill).clone(), source.to_owned());
        untried.into_iter().map(named).collect()
    }

    /// Returns the first matches of the ranking, with their hits.
    pub(in crate::matcher) fn matches(&self, limit: usize) -> Vec<Match> {
        self.scratch.ranking.best.iter().take(limit).map(|key| self.to_match(*key)).collect()
    }

    fn to_match(&self, key: RankKey) -> Match {
        let triggers = self.index.tables.triggers.of(key.skill);
        let mut hits: Vec<Hit> = triggers
            .filter_map(|(kind, trigger, item)| {
                let (span, path) = self.place(kind, item)?;
                Some(Hit { kind, trigger: trigger.to_owned(), span, path })
            })
            .collect();
        hits.sort_by(|a, b| {
            let order = |hit: &Hit| (hit.kind == HitKind::Path, hit.span.start, hit.span.end);
            order(a).cmp(&order(b)).then(a.kind.cmp(&b.kind)).then(a.trigger.cmp(&b.trigger))
        });
        Match {
            id: self.index.id(key.skill).clone(),
            explicit: key.explicit.0,
            phrase_words: key.phrase_words.0 as usize,
            hits,
        }
    }

    /// Returns the byte range of the query at which an item was found, or the path that a glob matches;
    /// `None` if the item was not found.
    fn place(&self, kind: HitKind, item: u32) -> Option<(Range<usize>, Option<String>)> {
        let Search { index, query, text, scratch } = self;
        let Scratch { excerpt, text: forms, found, .. } = &**scratch;
        let range = match found.presence(item) {
            Presence::Absent | Presence::Possible => return None,
            Presence::Somewhere => {
                let pattern = index.tables.items[item as usize].pattern()?;
                index.patterns.find(pattern as usize, forms.normalized(text.seen(excerpt)))?
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
