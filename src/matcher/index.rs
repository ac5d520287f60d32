//! The compiled index of a catalog, and the pass over a query.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thread_local::ThreadLocal;

use super::excerpt::Excerpt;
use super::found::{Found, Presence, Scratch};
use super::infix::{Infixes, Occurrence, Seen};
use super::mask::Quoted;
use super::mention::Use;
use super::meta::{MetaQuestion, Questions};
use super::overlay::Changes;
use super::paths::Paths;
use super::patterns::{Patterns, WINDOW_BYTES};
use super::rank::RankKey;
use super::tables::{LiteralUse, NamedSkill, Tables};
use super::text::QueryText;
use super::words::Words;
use super::{Hit, HitKind, Match, Query, build};
use crate::error::Error;
use crate::skill::{SkillId, Triggers};

/// How an [`Index`] is built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize))]
pub struct IndexOptions {
    /// Whether verbs also match in their regular English inflections.
    pub inflect: bool,
    /// More whole questions about the skills themselves, such as those of another language.
    pub meta_phrases: Vec<(String, MetaQuestion)>,
    /// Of longer queries, in bytes, only the head and the tail are looked at, which are together
    /// about so long; `None` looks at everything.
    pub max_query_bytes: Option<usize>,
    /// Whether code, quotes, logs and addresses in a query are left out where literals are looked
    /// for.
    pub mask_quoted: bool,
}

/// A skill as the index sees it.
#[derive(Debug, Clone, Copy)]
pub struct IndexedSkill<'a> {
    /// Its id, distinct among the skills of one index.
    pub id: &'a SkillId,
    /// Its name.
    pub name: &'a str,
    /// Its triggers.
    pub triggers: &'a Triggers,
}

/// Every trigger of a catalog, compiled. Answers are a pure function of the index, the query and
/// the recently used skills.
///
/// It is flat data and can be written with any format of `serde`, to be read by another process of
/// the same version of this crate; what only costs time to compile, such as patterns, is compiled
/// there when it is needed. Data that does not fit together is refused.
///
/// ```
/// use repertoire::matcher::{Index, IndexOptions, IndexedSkill, Query};
/// use repertoire::{Skill, SkillId};
///
/// let skill: Skill = "---\nname: git\ndescription: d\ntriggers: [pull request]\n---\n".parse()?;
/// let id = SkillId::new("git");
/// let skills = [IndexedSkill { id: &id, name: skill.name(), triggers: skill.triggers() }];
/// let index = Index::new(&skills, &IndexOptions::default())?;
///
/// let answer = index.search(&Query::new("open a Pull  Request"), &[], usize::MAX);
/// assert_eq!(answer.matches[0].hits[0].span, 7..20);
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Index {
    pub(super) words: Words,
    pub(super) infixes: Infixes,
    pub(super) patterns: Patterns,
    pub(super) paths: Paths,
    pub(super) questions: Questions,
    pub(super) tables: Tables,
    pub(super) max_query_bytes: usize,
    pub(super) masks_quoted: bool,
    /// The working memory of each thread.
    #[serde(skip)]
    pub(super) scratch: ThreadLocal<RefCell<Scratch>>,
}

/// What an [`Index`] answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The best matches, best first, as many as were asked for.
    pub matches: Vec<Match>,
    /// The skills that match too, best first.
    pub beyond: Vec<SkillId>,
    /// Skills that match but for an `exclude` entry, with that entry.
    pub vetoed: Vec<(SkillId, String)>,
    /// Skills whose triggers stand in what is quoted only, with one of them, by id; see
    /// [`IndexOptions::mask_quoted`].
    pub quoted: Vec<(SkillId, String)>,
    /// Skills with a pattern that was not tried, with that pattern: one without a literal that each
    /// match must hold, when so many of these may match that to try all would take too long. By id.
    pub untried: Vec<(SkillId, String)>,
    /// Whether the query asks about the skills themselves.
    pub meta: Option<MetaQuestion>,
}

/// A match without its hits: what [`Index::matches_into`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedSkill<'i> {
    /// The skill.
    pub id: &'i SkillId,
    /// Whether the message names the skill, rather than a word of its.
    pub explicit: bool,
    /// Words of the longest literal found; 0 if only patterns or paths were.
    pub phrase_words: usize,
}

impl<'i> RankedSkill<'i> {
    pub(super) fn new(id: &'i SkillId, key: RankKey) -> RankedSkill<'i> {
        let phrase_words = key.phrase_words.0 as usize;
        RankedSkill { id, explicit: key.explicit.0, phrase_words }
    }
}

/// Which literals a scan notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of them.
    All,
    /// Those in what is not quoted, but for the required literals of patterns.
    Said,
    /// Of what is quoted the names in inline code; and all required literals of patterns.
    Quoted,
}

/// A scan over a query.
struct Scan<'s> {
    part: Part,
    text: &'s QueryText,
    quoted: &'s Quoted,
    covered: &'s str,
}

impl Scan<'_> {
    fn folded(&self) -> &str {
        if self.part == Part::Said { self.covered } else { self.text.folded() }
    }

    fn is_inline(&self, range: &Range<usize>) -> bool {
        let span = self.text.span_of_folded(range.clone());
        self.quoted.is_inline(span.start) || self.quoted.is_inline(span.end.saturating_sub(1))
    }
}

impl Index {
    /// Compiles an index of `skills`, which are sorted by id here.
    ///
    /// Fails with `EXECUTION_ERROR` if the triggers are more than one index can hold (half a
    /// gigabyte).
    pub fn new(skills: &[IndexedSkill<'_>], options: &IndexOptions) -> Result<Index, Error> {
        let mut sorted = skills.to_vec();
        sorted.sort_unstable_by(|a, b| a.id.cmp(b.id));
        sorted.dedup_by(|later, first| later.id == first.id);
        build::build(&sorted, options)
    }

    /// The number of skills.
    pub fn len(&self) -> usize {
        self.tables.ids.len()
    }

    /// Whether there are no skills.
    pub fn is_empty(&self) -> bool {
        self.tables.ids.is_empty()
    }

    /// Heap memory in bytes, about; compiled patterns and working memory aside.
    pub fn memory_usage(&self) -> usize {
        self.words.memory_usage()
            + self.infixes.memory_usage()
            + self.patterns.memory_usage()
            + self.tables.memory_usage()
    }

    /// The skills that `query` matches, ranked: the best `limit` with their hits, the others by
    /// id; and those vetoed. `recent` are the skills used recently, the last one first.
    ///
    /// Looks at every match. Where only the best are needed, [`Index::best`] costs less.
    pub fn search(&self, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Answer {
        self.asked(None, query, |text, scratch| self.answer(query, recent, limit, text, scratch))
    }

    /// The skills that would match if nothing in the query were quoted, with a trigger of each.
    fn only_quoted(
        &self,
        answer: &Answer,
        query: &Query<'_>,
        scratch: &mut Scratch,
    ) -> Vec<(SkillId, String)> {
        let known: BTreeSet<&SkillId> =
            answer.matches.iter().map(|found| &found.id).chain(&answer.beyond).collect();
        // Whoever asked may want the ranking itself, too.
        let ranked = std::mem::take(&mut scratch.ranking.best);
        let text = self.pass_over(query, false, scratch);
        self.rank_all(&[], &text, scratch);
        let all = self.matches(scratch.ranking.best.len(), query, &text, scratch);
        scratch.ranking.best = ranked;
        let only = all.into_iter().filter(|found| !known.contains(&found.id));
        let only =
            only.filter_map(|found| Some((found.id, found.hits.into_iter().next()?.trigger)));
        let mut only: Vec<_> = only.collect();
        only.sort_unstable();
        only
    }

    /// The best `limit` matches of `query`, best first: the same as those of [`Index::search`],
    /// without a look at those that cannot be among them.
    pub fn best(&self, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Vec<Match> {
        self.asked(None, query, |text, scratch| self.best_of(query, recent, limit, text, scratch))
    }

    /// Puts the best `limit` matches of `query` into `best`, best first, in place of what it
    /// holds. Allocates nothing if `best` has room and a query like this one was answered before.
    pub fn matches_into<'i>(
        &'i self,
        query: &Query<'_>,
        recent: &[SkillId],
        limit: usize,
        best: &mut Vec<RankedSkill<'i>>,
    ) {
        best.clear();
        self.asked(None, query, |text, scratch| {
            self.rank_best(recent, limit, text, scratch);
            let ranked = scratch.ranking.best.iter();
            best.extend(ranked.map(|key| RankedSkill::new(self.id(key.skill), *key)));
        });
    }

    /// How many skills match `query`. Costs less than [`Index::search`], as nothing is ranked and
    /// a pattern is only confirmed for a skill that nothing else was found of.
    pub fn count_matching(&self, query: &Query<'_>) -> usize {
        self.asked(None, query, |text, scratch| self.count_all(text, scratch))
    }

    /// Passes over `query` and calls `run` with what was found; `changes` are what became of the
    /// skills since.
    pub(super) fn asked<'q, T>(
        &self,
        changes: Option<&Arc<Changes>>,
        query: &'q Query<'_>,
        run: impl FnOnce(&Excerpt<'q>, &mut Scratch) -> T,
    ) -> T {
        self.with_scratch(|scratch| {
            scratch.changes = changes.map(Arc::clone);
            let text = self.pass(query, scratch);
            run(&text, scratch)
        })
    }

    /// What [`Index::search`] answers.
    pub(super) fn answer(
        &self,
        query: &Query<'_>,
        recent: &[SkillId],
        limit: usize,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Answer {
        self.rank_all(recent, text, scratch);
        let n_best = limit.min(scratch.ranking.best.len());
        let beyond = &scratch.ranking.best[n_best..];
        let mut answer = Answer {
            beyond: beyond.iter().map(|key| self.id(key.skill).clone()).collect(),
            matches: self.matches(n_best, query, text, scratch),
            vetoed: self.vetoed(text, scratch),
            quoted: Vec::new(),
            untried: self.untried(scratch),
            meta: self.questions.asked(scratch.text.folded()),
        };
        if self.masks_quoted && !scratch.quoted.is_empty() {
            answer.quoted = self.only_quoted(&answer, query, scratch);
        }
        answer
    }

    /// What [`Index::best`] answers.
    pub(super) fn best_of(
        &self,
        query: &Query<'_>,
        recent: &[SkillId],
        limit: usize,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Vec<Match> {
        self.rank_best(recent, limit, text, scratch);
        self.matches(scratch.ranking.best.len(), query, text, scratch)
    }

    /// What a folded literal is there for.
    pub(super) fn uses_of(&self, literal: &str) -> &[LiteralUse] {
        let whole = 0..literal.len();
        self.with_scratch(|scratch| {
            let mut uses: &[LiteralUse] = &[];
            self.words.scan(literal, &mut scratch.runs, |word, range| {
                if range == whole {
                    uses = self.tables.word_uses.of(word as u32);
                }
            });
            if uses.is_empty() {
                self.infixes.scan(literal, &mut scratch.seen, |occurrence| {
                    if occurrence.range == whole {
                        uses = self.tables.infix_uses.of(occurrence.literal as u32);
                    }
                });
            }
            uses
        })
    }

    fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        match self.scratch.get_or_default().try_borrow_mut() {
            Ok(mut scratch) => run(&mut scratch),
            // A subscriber to log messages that searches while a search logs.
            Err(_) => run(&mut Scratch::default()),
        }
    }

    /// Whether what was read fits together, so that nothing that is looked up leads out of it.
    fn is_sound(&self) -> bool {
        self.words.is_sound()
            && self.infixes.is_sound()
            && self.paths.is_sound()
            && self.patterns.is_sound(self.infixes.len())
            && self.tables.is_sound(
                self.words.len(),
                self.infixes.len(),
                self.patterns.len(),
                self.paths.len(),
            )
    }

    pub(super) fn id(&self, skill: u32) -> &SkillId {
        &self.tables.ids[skill as usize]
    }

    /// Finds which items the query holds, and which patterns it may match.
    fn pass<'q>(&self, query: &'q Query<'_>, scratch: &mut Scratch) -> Excerpt<'q> {
        self.pass_over(query, self.masks_quoted, scratch)
    }

    fn pass_over<'q>(
        &self,
        query: &'q Query<'_>,
        masks: bool,
        scratch: &mut Scratch,
    ) -> Excerpt<'q> {
        let excerpt = Excerpt::new(&query.text, self.max_query_bytes);
        let seen_text = excerpt.text(&mut scratch.excerpt);
        scratch.found.start(self.tables.items.len());
        scratch.text.set(seen_text);
        scratch.found.is_plain = scratch.text.is_plain() && seen_text.len() <= WINDOW_BYTES;
        let Scratch { text, quoted, covered, .. } = scratch;
        if masks {
            quoted.set(seen_text);
        }
        if masks && !quoted.is_empty() {
            quoted.cover(text, covered);
            self.scan(Part::Said, scratch);
            // Last, as the places it has seen decide about patterns.
            self.scan(Part::Quoted, scratch);
        } else {
            self.scan(Part::All, scratch);
        }
        let Scratch { excerpt: buffer, text, seen, found, met, .. } = scratch;
        let seen_text = excerpt.seen(buffer);
        let normalized = text.normalized(seen_text);
        self.patterns.without_literal(normalized, met);
        for &pattern in &met.tried {
            found.add_pattern(self.tables.pattern_items[pattern as usize], Presence::Possible);
        }
        for (place, path) in query.paths.iter().enumerate() {
            self.paths
                .matches(path, |glob| found.add(self.tables.glob_items[glob], &(place..place)));
        }
        self.settle_vetoes(found);
        self.judge_patterns(seen, found);
        excerpt
    }

    /// Notes the literals of the query that belong to `part`.
    fn scan(&self, part: Part, scratch: &mut Scratch) {
        let Scratch { text, quoted, covered, runs, seen, found, .. } = scratch;
        let scan = Scan { part, text, quoted, covered };
        let folded = scan.folded();
        self.words.scan(folded, runs, |literal, range| {
            let uses = self.tables.word_uses.of(literal as u32);
            self.note(uses, &scan, &range, true, true, found);
        });
        self.infixes.scan(folded, seen, |occurrence| {
            let Occurrence { literal, range, first, first_whole } = occurrence;
            let uses = self.tables.infix_uses.of(literal as u32);
            self.note(uses, &scan, &range, first, first_whole, found);
        });
    }

    fn note(
        &self,
        uses: &[LiteralUse],
        scan: &Scan<'_>,
        range: &Range<usize>,
        first: bool,
        whole: bool,
        found: &mut Found,
    ) {
        let Scan { part, .. } = *scan;
        let (literals, gates) = (part != Part::Quoted, part != Part::Said);
        for &to in uses {
            match to {
                LiteralUse::Name(name) => self.examine_name(name, scan, range, found),
                LiteralUse::Item(item) if whole && literals => found.add(item, range),
                LiteralUse::Exclude(exclude) if whole && literals => found.excludes.push(exclude),
                LiteralUse::Gate(item) if first && gates => {
                    found.add_pattern(item, Presence::Possible);
                }
                _ => {}
            }
        }
    }

    fn examine_name(&self, name: u32, scan: &Scan<'_>, at: &Range<usize>, found: &mut Found) {
        let NamedSkill { name, skill, item } = &self.tables.names[name as usize];
        let Some((how, range)) = name.examine(scan.folded(), at.clone()) else { return };
        if scan.part == Part::Quoted && !(how == Use::Explicit && scan.is_inline(&range)) {
            return;
        }
        if how == Use::Explicit && found.explicit.last() != Some(skill) {
            found.explicit.push(*skill);
        }
        found.add(*item, &range);
    }

    /// Leaves one exclude entry, the first, of each skill that is vetoed; those named are not.
    fn settle_vetoes(&self, found: &mut Found) {
        found.explicit.sort_unstable();
        found.explicit.dedup();
        let skill_of = |exclude: u32| self.tables.excludes[exclude as usize].0;
        // Entries are in the order of their skills.
        found.excludes.sort_unstable();
        found.excludes.dedup_by_key(|exclude| skill_of(*exclude));
        let explicit = &found.explicit;
        found.excludes.retain(|&exclude| explicit.binary_search(&skill_of(exclude)).is_err());
    }

    /// Decides what the places of literals tell of patterns that may match. Most do not, and are
    /// out of the way of the ranking.
    fn judge_patterns(&self, seen: &Seen, found: &mut Found) {
        let mut candidates = std::mem::take(&mut found.candidates);
        candidates.retain(|&item| {
            if found.presence(item) != Presence::Possible {
                return true;
            }
            let pattern = self.tables.items[item as usize].pattern as usize;
            let verdict = self.patterns.judge(pattern, &self.infixes, seen, found.is_plain);
            if let Some(matches) = verdict {
                let presence = if matches { Presence::Somewhere } else { Presence::Absent };
                found.settle(item, presence, 0..0);
            }
            verdict != Some(false)
        });
        found.candidates = candidates;
    }

    /// Runs a pattern that may match.
    pub(super) fn confirm(&self, item: u32, text: &Excerpt<'_>, scratch: &mut Scratch) -> bool {
        let Scratch { excerpt, text: forms, found, .. } = scratch;
        let pattern = self.tables.items[item as usize].pattern as usize;
        let range = self.patterns.find(pattern, forms.normalized(text.seen(excerpt)));
        let presence = if range.is_some() { Presence::At } else { Presence::Absent };
        found.settle(item, presence, range.unwrap_or_default());
        presence == Presence::At
    }

    /// The skills with patterns that were not tried.
    fn untried(&self, scratch: &Scratch) -> Vec<(SkillId, String)> {
        let mut untried: Vec<(u32, &str)> = Vec::new();
        for &pattern in &scratch.met.untried {
            let skills = self.tables.postings.of(self.tables.pattern_items[pattern as usize]);
            let skills = skills.iter().filter(|&&skill| !scratch.is_gone(skill));
            untried.extend(skills.map(|&skill| (skill, self.patterns.source(pattern))));
        }
        untried.sort_unstable();
        untried.iter().map(|&(skill, source)| (self.id(skill).clone(), source.to_owned())).collect()
    }

    /// The first matches of the ranking, with their hits.
    fn matches(
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
                let pattern = self.tables.items[item as usize].pattern as usize;
                self.patterns.find(pattern, forms.normalized(text.seen(excerpt)))?
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

impl Serialize for Index {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Index::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Index, D::Error> {
        let index = Index::deserialize(deserializer)?;
        if !index.is_sound() {
            return Err(de::Error::custom("the parts of the index do not fit together"));
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_can_be_shared_between_threads() {
        fn assert_shared<T: Send + Sync>() {}
        assert_shared::<Index>();
    }
}
