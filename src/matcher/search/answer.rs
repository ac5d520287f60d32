//! Makes the answer from ranked skills: the positions of their triggers, and the reasons why other
//! skills are missing.

use std::borrow::Cow;
use std::ops::Range;

use super::Search;
use super::ranking::RankKey;
use super::scratch::{Presence, Scratch};
use crate::matcher::{Answer, Hit, HitKind, Index, Match};
use crate::skill::SkillId;

/// The matches that [`Index::select`] must find.
#[derive(Debug, Clone, Default)]
pub struct Selection<'s> {
    /// The skills used recently, the last one first.
    pub recent: &'s [SkillId],
    /// The number of matches wanted, in addition to `named` skills and weak mentions.
    pub limit: usize,
    /// Skills that are in the answer if they match, wherever they rank.
    pub named: Vec<&'s SkillId>,
    /// True if the matches are wanted with their hits.
    pub hits: bool,
}

impl Search<'_, '_> {
    /// Ranks every match, and answers with the best `limit` matches.
    pub(in crate::matcher) fn all(&mut self, recent: &[SkillId], limit: usize) -> Answer {
        let n_matches = self.rank(recent, usize::MAX, &[]);
        self.answer(limit, n_matches)
    }

    /// Answers with the matches that `selection` asks for.
    pub(in crate::matcher) fn selected(&mut self, selection: &Selection<'_>) -> Answer {
        let Selection { recent, limit, ref named, hits } = *selection;
        let n_matches = self.rank(recent, limit, named);
        self.answer(if hits { usize::MAX } else { 0 }, n_matches)
    }

    /// Answers with the matches that `selection` asks for, without their hits, and with all matches: the best
    /// `n_told` with their hits, the others by id.
    pub(in crate::matcher) fn selected_of_all(
        &mut self,
        selection: &Selection<'_>,
        n_told: usize,
    ) -> (Answer, Vec<Match>, Vec<SkillId>) {
        let n_matches = self.rank(selection.recent, usize::MAX, &[]);
        let all = std::mem::take(&mut self.scratch.ranking.best);
        let named = self.named(&selection.named);
        self.scratch.ranking.select(selection.limit, &named);
        let answer = self.answer(0, n_matches);
        self.locate_certain();
        let (told, beyond) = all.split_at(n_told.min(all.len()));
        let told = told.iter().map(|key| self.to_match(*key)).collect();
        let beyond = beyond.iter().map(|key| self.index.id(key.skill()).clone()).collect();
        (answer, told, beyond)
    }

    /// Answers with the ranked skills, of `n_matches` in all: the best `limit` with their hits, the others
    /// only by id; and with the reasons why other skills are missing.
    fn answer(&mut self, limit: usize, n_matches: usize) -> Answer {
        if limit > 0 {
            self.locate_certain();
        }
        let Scratch { found, ranking, text, attached, .. } = &*self.scratch;
        let said = if attached.is_empty() {
            Cow::Borrowed(text.folded())
        } else {
            Cow::Owned(attached.uncovered(text))
        };
        let (first, beyond) = ranking.best.split_at(limit.min(ranking.best.len()));
        let id = |skill: u32| self.index.id(skill).clone();
        let excludes = || {
            let excludes = found.excludes.iter();
            excludes.map(|&exclude| &self.index.tables.excludes[exclude as usize])
        };
        let entry = |(skill, entry): &(u32, Box<str>)| (id(*skill), entry.to_string());
        let asked = self.index.questions.asked(&said);
        Answer {
            matches: first.iter().map(|key| self.to_match(*key)).collect(),
            beyond: beyond.iter().map(|key| id(key.skill())).collect(),
            n_matches,
            vetoed: excludes().filter(|(skill, _)| ranking.has(*skill)).map(entry).collect(),
            excluded: excludes().map(entry).collect(),
            untried: self.untried(),
            attached: self.attached_only(),
            words: self.words_only(),
            weak: found.weak.iter().map(|&skill| id(skill)).collect(),
            denied: found.denied.iter().map(|&skill| id(skill)).collect(),
            about: found.about.iter().map(|&skill| id(skill)).collect(),
            meta: asked.map(|asked| asked.question),
            topic: asked.map(|asked| asked.topic.trim().to_owned()).filter(|of| !of.is_empty()),
        }
    }

    /// Returns the ranked skills whose triggers are in attachments only, each with one of these triggers, in
    /// the order of ids.
    fn attached_only(&self) -> Vec<(SkillId, String)> {
        let Scratch { ranking, found, .. } = &*self.scratch;
        let tables = &self.index.tables;
        let skills = ranking.best.iter().filter(|key| key.is_attached());
        let mut attached: Vec<(SkillId, String)> = skills
            .filter_map(|key| {
                let mut triggers = tables.triggers.of(key.skill());
                let (_, trigger, _) = triggers.find(|(.., item)| found.is_attached(*item))?;
                Some((self.index.id(key.skill()).clone(), trigger.to_owned()))
            })
            .collect();
        attached.sort_unstable();
        attached
    }

    /// Returns the ranked skills that match by single words only, best first.
    fn words_only(&self) -> Vec<SkillId> {
        let keys = self.scratch.ranking.best.iter();
        let keys = keys.filter(|key| key.is_word() && !key.is_explicit());
        keys.map(|key| self.index.id(key.skill()).clone()).collect()
    }

    /// Returns the skills with patterns that were not tried, each with the pattern.
    fn untried(&self) -> Vec<(SkillId, String)> {
        let Index { tables, patterns, .. } = self.index;
        let mut untried: Vec<(u32, &str)> = Vec::new();
        for pattern in patterns.literal_free.untried(&self.scratch.candidates) {
            let skills = tables.postings.of(tables.pattern_items[pattern as usize]);
            let skills = skills.iter().filter(|skill| self.may_find(**skill));
            untried.extend(skills.map(|&skill| (skill, patterns.source(pattern))));
        }
        untried.sort_unstable();
        let named =
            |(skill, source): (u32, &str)| (self.index.id(skill).clone(), source.to_owned());
        untried.into_iter().map(named).collect()
    }

    fn to_match(&self, key: RankKey) -> Match {
        let tables = &self.index.tables;
        let mut phrase_words = 0;
        let triggers = tables.triggers.of(key.skill());
        let mut hits: Vec<Hit> = triggers
            .filter_map(|(kind, trigger, item)| {
                let (span, path) = self.place(kind, item)?;
                phrase_words = tables.items[item as usize].n_words().max(phrase_words);
                Some(Hit { kind, trigger: trigger.to_owned(), span, path })
            })
            .collect();
        hits.sort_by(|a, b| {
            let order = |hit: &Hit| (hit.kind == HitKind::Path, hit.span.start, hit.span.end);
            order(a).cmp(&order(b)).then(a.kind.cmp(&b.kind)).then(a.trigger.cmp(&b.trigger))
        });
        Match {
            id: self.index.id(key.skill()).clone(),
            explicit: key.is_explicit(),
            phrase_words: phrase_words as usize,
            hits,
        }
    }

    /// Returns the byte range of the query at which an item was found, or the path that a glob matches;
    /// `None` if the item was not found.
    fn place(&self, kind: HitKind, item: u32) -> Option<(Range<usize>, Option<String>)> {
        let Search { index, query, text, scratch, .. } = self;
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
