//! The compiled index of a catalog, and the one pass that answers a query.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::automaton::{Automaton, Occurrence, Seen};
use super::mention::{Name, Use};
use super::meta::{MetaQuestion, is_whole_question};
use super::paths::Paths;
use super::patterns::Patterns;
use super::rank::RankKey;
use super::text::QueryText;
use super::{Hit, HitKind, Match, Query, build};
use crate::error::Error;
use crate::skill::{SkillId, Triggers};

/// How an [`Index`] is built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexOptions {
    /// Whether verbs also match in their regular English inflections.
    pub inflect: bool,
    /// More whole questions about the skills themselves, such as those of another language.
    pub meta_phrases: Vec<(String, MetaQuestion)>,
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
#[derive(Debug)]
pub struct Index {
    pub(super) ids: Vec<SkillId>,
    pub(super) automaton: Automaton,
    /// Where the uses of each literal start in `uses`, and one more for the end.
    pub(super) offsets: Vec<u32>,
    pub(super) uses: Vec<LiteralUse>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) names: Vec<NamedSkill>,
    pub(super) excludes: Vec<Exclude>,
    pub(super) patterns: Patterns,
    /// The triggers that declare each pattern.
    pub(super) pattern_triggers: Vec<Vec<u32>>,
    pub(super) paths: Paths,
    /// The triggers that declare each glob.
    pub(super) glob_triggers: Vec<Vec<u32>>,
    /// Working memory of searches that are over, for those to come.
    pub(super) scratch: Mutex<Vec<Scratch>>,
}

/// A trigger of a skill; names are triggers too.
#[derive(Debug)]
pub(super) struct Trigger {
    pub(super) skill: u32,
    pub(super) kind: HitKind,
    pub(super) text: Box<str>,
    /// Words of a literal, 0 for patterns and paths.
    pub(super) n_words: u32,
    /// How many skills declare the same.
    pub(super) rarity: u32,
    /// What it looks for, the same for all triggers that look for the same.
    pub(super) subject: Subject,
}

/// What a trigger looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// A folded literal.
    Literal(u32),
    /// A pattern, a glob, or a name with hyphens: the trigger alone.
    Own(u32),
}

/// A name or an id, and the trigger it makes.
#[derive(Debug)]
pub(super) struct NamedSkill {
    pub(super) name: Name,
    pub(super) trigger: u32,
}

/// An `exclude` entry of a skill.
#[derive(Debug)]
pub(super) struct Exclude {
    pub(super) skill: u32,
    pub(super) text: Box<str>,
}

/// What a literal is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LiteralUse {
    /// A keyword or verb, where the literal is a word of its own.
    Trigger(u32),
    /// A name, if what stands around the literal says so.
    Name(u32),
    /// An exclude, where the literal is a word of its own.
    Exclude(u32),
    /// A pattern to run, wherever the literal stands.
    Gate(u32),
    /// A question about the skills themselves.
    Meta(MetaQuestion),
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
    /// Whether the query asks about the skills themselves.
    pub meta: Option<MetaQuestion>,
}

/// Working memory of one search.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    text: QueryText,
    seen: Seen,
    found: Found,
}

/// What a pass has found.
#[derive(Debug, Default)]
struct Found {
    /// Which search this is; a trigger stamped with it was found.
    search: u32,
    stamps: Vec<u32>,
    hits: Vec<RawHit>,
    /// The skills that were named.
    explicit: Vec<u32>,
    /// The exclude entries found.
    excludes: Vec<u32>,
    /// The patterns whose required literals were found.
    gated: Vec<u32>,
    meta: Option<MetaQuestion>,
}

/// Where a trigger was found first.
#[derive(Debug, Clone)]
struct RawHit {
    trigger: u32,
    /// Bytes of the query; for a path, its place among the paths of the query.
    range: Range<usize>,
}

impl Found {
    fn start(&mut self, n_triggers: usize) {
        self.search = self.search.wrapping_add(1);
        if self.stamps.len() != n_triggers || self.search == 0 {
            self.stamps.clear();
            self.stamps.resize(n_triggers, 0);
            self.search = 1;
        }
        self.hits.clear();
        self.explicit.clear();
        self.excludes.clear();
        self.gated.clear();
        self.meta = None;
    }

    fn add(&mut self, trigger: u32, range: Range<usize>) {
        let stamp = &mut self.stamps[trigger as usize];
        if *stamp != self.search {
            *stamp = self.search;
            self.hits.push(RawHit { trigger, range });
        }
    }

    fn has(&self, trigger: u32) -> bool {
        self.stamps[trigger as usize] == self.search
    }
}

impl Index {
    /// Compiles an index of `skills`, which are sorted by id here.
    ///
    /// Fails with `EXECUTION_ERROR` if the triggers are more than one automaton can hold (about
    /// two thousand million states).
    pub fn new(skills: &[IndexedSkill<'_>], options: &IndexOptions) -> Result<Index, Error> {
        let mut sorted = skills.to_vec();
        sorted.sort_unstable_by(|a, b| a.id.cmp(b.id));
        sorted.dedup_by(|later, first| later.id == first.id);
        build::build(&sorted, options)
    }

    /// The number of skills.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no skills.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The skills that `query` matches, ranked: the best `limit` with their hits, the others by
    /// id. `recent` are the skills used recently, the last one first.
    pub fn search(&self, query: &Query<'_>, recent: &[SkillId], limit: usize) -> Answer {
        let pooled = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = pooled.unwrap_or_default();
        let Scratch { text, seen, found } = &mut scratch;
        found.start(self.triggers.len());
        text.set(&query.text);
        self.scan_literals(text, seen, found);
        self.run_patterns(text, &query.text, found);
        self.match_paths(query, found);
        let answer = self.rank(query, recent, limit, found);
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        answer
    }

    fn scan_literals(&self, text: &QueryText, seen: &mut Seen, found: &mut Found) {
        let folded = text.folded();
        self.automaton.scan(folded, seen, |occurrence| {
            let Occurrence { literal, range, first, first_whole } = occurrence;
            let (start, end) = (self.offsets[literal], self.offsets[literal + 1]);
            for &to in &self.uses[start as usize..end as usize] {
                match to {
                    LiteralUse::Trigger(trigger) if first_whole => {
                        found.add(trigger, text.span_of_folded(range.clone()));
                    }
                    LiteralUse::Exclude(exclude) if first_whole => found.excludes.push(exclude),
                    LiteralUse::Gate(pattern) if first => found.gated.push(pattern),
                    LiteralUse::Name(name) => self.examine_name(name, text, &range, found),
                    LiteralUse::Meta(question)
                        if found.meta < Some(question) && is_whole_question(folded, &range) =>
                    {
                        found.meta = Some(question);
                    }
                    _ => {}
                }
            }
        });
    }

    fn examine_name(&self, name: u32, text: &QueryText, at: &Range<usize>, found: &mut Found) {
        let NamedSkill { name, trigger } = &self.names[name as usize];
        let Some((how, range)) = name.examine(text.folded(), at.clone()) else { return };
        let skill = self.triggers[*trigger as usize].skill;
        if how == Use::Explicit && found.explicit.last() != Some(&skill) {
            found.explicit.push(skill);
        }
        if !found.has(*trigger) {
            found.add(*trigger, text.span_of_folded(range));
        }
    }

    fn run_patterns(&self, text: &QueryText, query: &str, found: &mut Found) {
        let normalized = text.normalized(query);
        let mut candidates = std::mem::take(&mut found.gated);
        self.patterns.unfiltered_matches(normalized, |pattern| candidates.push(pattern as u32));
        candidates.sort_unstable();
        candidates.dedup();
        for &pattern in &candidates {
            let Some(range) = self.patterns.find(pattern as usize, normalized) else { continue };
            let span = text.span_of_normalized(range);
            for &trigger in &self.pattern_triggers[pattern as usize] {
                found.add(trigger, span.clone());
            }
        }
        found.gated = candidates;
    }

    fn match_paths(&self, query: &Query<'_>, found: &mut Found) {
        for (place, path) in query.paths.iter().enumerate() {
            self.paths.matches(path, |glob| {
                for &trigger in &self.glob_triggers[glob] {
                    found.add(trigger, place..place);
                }
            });
        }
    }

    fn rank(
        &self,
        query: &Query<'_>,
        recent: &[SkillId],
        limit: usize,
        found: &mut Found,
    ) -> Answer {
        found.explicit.sort_unstable();
        found.explicit.dedup();
        let vetoes = self.vetoes(found);
        let recent = self.recency(recent);
        let skill_of = |hit: &RawHit| self.triggers[hit.trigger as usize].skill;
        found.hits.sort_unstable_by_key(|hit| (skill_of(hit), hit.range.start, hit.trigger));

        let mut ranked = Vec::new();
        let mut out_by_veto = Vec::new();
        for hits in found.hits.chunk_by(|a, b| skill_of(a) == skill_of(b)) {
            let skill = skill_of(&hits[0]);
            if let Some((_, exclude)) = vetoes.iter().find(|(vetoed, _)| *vetoed == skill) {
                let exclude = self.excludes[*exclude as usize].text.to_string();
                out_by_veto.push((self.ids[skill as usize].clone(), exclude));
                continue;
            }
            let mut key = RankKey::new(skill);
            key.explicit.0 = found.explicit.binary_search(&skill).is_ok();
            key.recency = recent.get(&skill).copied().unwrap_or(u32::MAX);
            let mut subjects = Vec::with_capacity(hits.len());
            for hit in hits {
                let Trigger { n_words, rarity, subject, .. } = self.triggers[hit.trigger as usize];
                key.add(n_words, rarity);
                subjects.push(subject);
            }
            subjects.sort_unstable();
            subjects.dedup();
            key.n_triggers.0 = subjects.len() as u32;
            ranked.push((key, hits));
        }
        ranked.sort_unstable_by_key(|(key, _)| *key);

        let n_best = limit.min(ranked.len());
        let matches = ranked[..n_best].iter().map(|(key, hits)| self.to_match(query, key, hits));
        let beyond = ranked[n_best..].iter().map(|(key, _)| self.ids[key.skill as usize].clone());
        Answer {
            matches: matches.collect(),
            beyond: beyond.collect(),
            vetoed: out_by_veto,
            meta: found.meta,
        }
    }

    /// Skills that an exclude entry vetoes, with its place; those named are not vetoed.
    fn vetoes(&self, found: &mut Found) -> Vec<(u32, u32)> {
        found.excludes.sort_unstable();
        let excludes = found.excludes.iter().map(|&e| (self.excludes[e as usize].skill, e));
        excludes.filter(|(skill, _)| found.explicit.binary_search(skill).is_err()).collect()
    }

    /// Skill → its place among the recently used.
    fn recency(&self, recent: &[SkillId]) -> HashMap<u32, u32> {
        let mut places = HashMap::new();
        for (place, id) in recent.iter().enumerate() {
            if let Ok(skill) = self.ids.binary_search(id) {
                places.entry(skill as u32).or_insert(place as u32);
            }
        }
        places
    }

    fn to_match(&self, query: &Query<'_>, key: &RankKey, hits: &[RawHit]) -> Match {
        let mut hits: Vec<Hit> = hits.iter().map(|hit| self.to_hit(query, hit)).collect();
        hits.sort_by(|a, b| {
            let order = |hit: &Hit| (hit.kind == HitKind::Path, hit.span.start, hit.span.end);
            order(a).cmp(&order(b)).then(a.kind.cmp(&b.kind)).then(a.trigger.cmp(&b.trigger))
        });
        Match {
            id: self.ids[key.skill as usize].clone(),
            explicit: key.explicit.0,
            phrase_words: key.phrase_words.0 as usize,
            hits,
        }
    }

    fn to_hit(&self, query: &Query<'_>, hit: &RawHit) -> Hit {
        let Trigger { kind, text, .. } = &self.triggers[hit.trigger as usize];
        let trigger = text.to_string();
        if *kind == HitKind::Path {
            let path = query.paths.get(hit.range.start).map(ToString::to_string);
            return Hit { kind: *kind, trigger, span: 0..0, path };
        }
        Hit { kind: *kind, trigger, span: hit.range.clone(), path: None }
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
