//! The search for skills with which a model finds one for its task.

use std::sync::Arc;

use repertoire_text::request::Parts;
use serde::Serialize;

use super::ranker::{MAX_ATTACHED, Ranker};
use super::snapshot::Snapshot;
use super::{Engine, EngineCounts};
use crate::catalog::Exposure;
use crate::disclosure::model_text;
use crate::matcher::{Hit, Match, Near, Query, RelevanceIndex, Selection, Shared};
use crate::session::SessionState;
use crate::skill::SkillId;
use crate::spans;

/// The maximum number of shared words that are named as the reason for a hit.
const MAX_TERMS_TOLD: usize = 4;

/// The skills that a query finds, best first.
struct Ranked {
    /// Those whose triggers it hits.
    matched: Vec<Match>,
    /// Those that are relevant to it, after the others.
    relevant: Vec<SkillId>,
    /// The failure of the retriever, if it failed.
    failure: Option<String>,
    n_matches: usize,
    n_vetoed: usize,
}

/// A skill that was found, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FoundSkill {
    /// Its id.
    pub id: SkillId,
    /// Its description in one line; empty for a skill of which the model sees the name alone.
    pub brief: String,
    /// The triggers that the query hits. If it hits none, the words that the query and the skill share,
    /// and the fields of the skill that have them; if these are everyday words, what is near in meaning.
    pub why: String,
}

impl Engine {
    /// The best `limit` skills that the model may use for `query`. Skills whose triggers the query hits
    /// come first, in the order of their ranking; then those that share words with the query, stop words
    /// aside, most relevant first. Leaves out skills that an `exclude` vetoes although their triggers
    /// are hit.
    ///
    /// ```
    /// use repertoire::{Engine, Skill};
    ///
    /// let engine = Engine::builder()
    ///     .skill("---\nname: note-keeper\ndescription: Writes release notes.\n---\n".parse::<Skill>()?)
    ///     .skill("---\nname: ship\ndescription: Ships it.\ntriggers: [a release]\n---\n".parse::<Skill>()?)
    ///     .build()?;
    /// let found = engine.find_skills("notes for a release", 5);
    /// assert_eq!((found[0].id.as_str(), found[0].why.as_str()), ("ship", "keyword `a release`"));
    /// assert_eq!(found[1].id, "note-keeper");
    /// assert!(found[1].why.contains("in its name and description"), "{}", found[1].why);
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn find_skills<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<FoundSkill> {
        self.find_after(&query.into(), &SessionState::default(), limit).0
    }

    /// The ids of [`Engine::find_skills`] alone, without the reasons: these are read in the texts of the skills, and
    /// take longer than the ranking.
    pub fn find_ids<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<SkillId> {
        let found = self.ranked(&self.snapshot(), &query.into(), &SessionState::default(), limit);
        found.matched.into_iter().map(|found| found.id).chain(found.relevant).take(limit).collect()
    }

    /// Finds skills as [`Engine::find_skills`] does, in a conversation with the history `state`. Also returns the
    /// failure of the retriever, if it failed.
    pub(super) fn find_after(
        &self,
        query: &Query<'_>,
        state: &SessionState,
        limit: usize,
    ) -> (Vec<FoundSkill>, Option<String>) {
        let span = spans::search(&query.text);
        let _entered = span.enter();
        let now = self.snapshot();
        let Ranked { matched, relevant, failure, n_matches, n_vetoed } =
            self.ranked(&now, query, state, limit);
        let matched = matched.iter().map(|found| (&found.id, why_matched(&found.hits)));
        let relevant = relevant.iter().map(|id| (id, self.why_relevant(&query.text, id)));
        let found = matched.chain(relevant).filter_map(|(id, why)| {
            let entry = now.listing.get(id)?;
            let is_named_only = entry.exposure == Exposure::Name;
            let brief = if is_named_only { "" } else { entry.skill.brief() };
            let brief = model_text(brief).into_owned();
            Some(FoundSkill { id: id.clone(), brief, why })
        });
        let found: Vec<FoundSkill> = found.take(limit).collect();
        span.record("matched", spans::int(n_matches));
        span.record("vetoed", spans::int(n_vetoed));
        if !span.is_disabled() {
            let ids: Vec<&SkillId> = found.iter().map(|skill| &skill.id).collect();
            span.record("lines", spans::list(&ids));
        }
        self.1.counters.add(EngineCounts {
            queries: 1,
            matched: n_matches as u64,
            vetoed: n_vetoed as u64,
            lines: found.len() as u64,
            ..EngineCounts::default()
        });
        (found, failure)
    }

    /// Ranks the skills that the model may use for `query`.
    fn ranked(
        &self,
        now: &Snapshot,
        query: &Query<'_>,
        state: &SessionState,
        limit: usize,
    ) -> Ranked {
        let selection = Selection { limit, hits: true, ..Selection::default() };
        let parts = Parts::of(&query.text);
        let answer = now.select(query, &parts, state, selection);
        let passed_over = |id: &SkillId| {
            let vetoed = answer.vetoed.iter().any(|(vetoed, _)| vetoed == id);
            vetoed || answer.matches.iter().any(|found| found.id == *id)
        };
        let n_ranked = limit.saturating_add(answer.vetoed.len());
        let ranker = Ranker::new(self, now);
        let relevant = ranker.rank(&parts, n_ranked);
        let relevant = relevant.iter().map(|(place, _)| &now.listing.at(*place as usize).id);
        let relevant = relevant.filter(|id| !passed_over(id)).cloned().collect();
        Ranked {
            relevant,
            failure: ranker.into_failure(),
            n_matches: answer.n_matches,
            n_vetoed: answer.vetoed.len(),
            matched: answer.matches,
        }
    }

    /// The terms that the request in `message` shares with the skill `id`, the highest weight first; if it
    /// shares none, those of what is attached to it.
    pub fn shared_terms(&self, message: &str, id: &SkillId) -> Vec<Shared> {
        let now = self.snapshot();
        let Some(entry) = now.listing.get(id) else { return Vec::new() };
        let parts = Parts::of(message);
        let shared = |text: &str| now.relevance().shared(text, id, &entry.skill);
        let of_request = shared(&parts.request());
        if of_request.iter().all(|shared| shared.is_common) && parts.has_attachments() {
            return shared(&parts.attachments(MAX_ATTACHED));
        }
        of_request
    }

    fn why_relevant(&self, message: &str, id: &SkillId) -> String {
        let shared = self.shared_terms(message, id);
        // Words say it in less time than nearness, whose vectors are made of the skill's texts.
        let says_little = shared.iter().all(|shared| shared.is_common);
        let near = says_little.then(|| self.nearness(message, id)).flatten();
        let told = shared.into_iter().take(MAX_TERMS_TOLD).map(|shared| {
            let fields: Vec<&str> = shared.fields.iter().map(|field| field.as_str()).collect();
            format!("`{}` in its {}", shared.term, fields.join(" and "))
        });
        let told: Vec<String> = told.chain(near.map(|near| near.to_string())).collect();
        if told.is_empty() { "the host's retriever".to_owned() } else { told.join(", ") }
    }

    /// Tells how near the skill `id` is to the request in `message` in meaning, and by what; `None` if it is not,
    /// or if a retriever of the host ranks in place of the table.
    pub fn nearness(&self, message: &str, id: &SkillId) -> Option<Near> {
        let now = self.snapshot();
        let entry = now.listing.get(id).filter(|_| self.0.retriever.is_none())?;
        now.relevance().near(&Parts::of(message).request(), id, &entry.skill)
    }

    /// The lexical index of the skills that the model may use. It is built when it is first needed, which
    /// reads the body of every skill once.
    pub fn relevance(&self) -> Arc<RelevanceIndex> {
        Arc::clone(self.snapshot().relevance())
    }
}

fn why_matched(hits: &[Hit]) -> String {
    let mut told: Vec<String> = Vec::new();
    for hit in hits {
        let reason = format!("{} `{}`", hit.kind.as_str(), hit.trigger);
        if !told.contains(&reason) {
            told.push(reason);
        }
    }
    told.join(", ")
}
