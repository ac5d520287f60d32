//! The one façade: everything above, put together.

mod activate;
mod builder;
mod find;
#[cfg(feature = "scripts")]
mod scripts;
#[cfg(feature = "toolsets")]
mod tools;

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::activation::{Consent, TaskSpawner};
use crate::catalog::{Audience, Catalog, Entry};
use crate::diagnostic::Diagnostic;
use crate::disclosure::{
    self, CatalogPrompt, Disclosure, DisclosureOptions, Listing, PromptOptions, Tier, TokenCounter,
};
use crate::error::Error;
use crate::matcher::{
    Answer, Index, IndexOptions, IndexedSkill, Match, MetaQuestion, Query, Rejection,
    RelevanceIndex,
};
#[cfg(feature = "scripts")]
use crate::script::Scripts;
use crate::session::{Event, Session, SessionState, SessionStore};
use crate::skill::SkillId;
#[cfg(feature = "toolsets")]
use crate::toolset::Toolsets;

pub use activate::{Activate, Caller};
pub use builder::EngineBuilder;
pub use find::FoundSkill;

/// So many recently used skills are looked at when matches are ranked.
const MAX_RECENT: usize = 64;

/// A loaded catalog and its compiled index: answers queries, from any number of threads. Cheap to
/// clone.
///
/// ```
/// use repertoire::{Engine, Source};
///
/// let engine = Engine::builder().source(Source::bundled("skills")).build()?;
/// let disclosure = engine.disclose("write a commit message for this");
/// assert_eq!(disclosure.full, ["commit-message"]);
/// assert!(disclosure.text.starts_with("## Skill: commit-message"));
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    catalog: Catalog,
    listing: Listing,
    index: Index,
    index_options: IndexOptions,
    /// Skills that exist but cannot be matched, compiled when an explanation is asked for.
    hidden: OnceLock<Option<Index>>,
    relevance: OnceLock<RelevanceIndex>,
    /// The same without bodies: what orders a registry must not read every file for one message.
    outline: OnceLock<RelevanceIndex>,
    disclosure: DisclosureOptions,
    prompt: PromptOptions,
    tokens: Arc<dyn TokenCounter>,
    sessions: Arc<dyn SessionStore>,
    consent: Consent,
    tasks: Option<Arc<dyn TaskSpawner>>,
    #[cfg(feature = "scripts")]
    scripts: Option<Scripts>,
    #[cfg(feature = "toolsets")]
    toolsets: Option<Toolsets>,
}

/// Why the matches of a query are what they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Explanation {
    /// The matches, best first.
    pub matches: Vec<Match>,
    /// Skills that have to do with the query and are not among the matches, and why.
    pub rejected: Vec<Rejection>,
    /// Whether the query asks about the skills themselves.
    #[serde(skip)]
    pub meta: Option<MetaQuestion>,
}

impl Engine {
    /// Starts to put an engine together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The skills.
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// What was found wrong with any skill file or source.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.0.catalog.diagnostics()
    }

    /// Every skill that `query` matches, best first.
    pub fn matches<'q>(&self, query: impl Into<Query<'q>>) -> Vec<Match> {
        let query = query.into();
        self.search(&query, &self.session_state(&query), usize::MAX).matches
    }

    /// The best `limit` matches of `query`, with the reasons why other skills are not among them:
    /// vetoed, below the limit, not tried as too many patterns without a literal would be, filtered,
    /// or not available.
    pub fn explain<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Explanation {
        let query = query.into();
        let Answer { matches, beyond, vetoed, untried, meta } =
            self.search(&query, &self.session_state(&query), limit);
        let reject = |id, reason: &str| Rejection { id, reason: reason.to_owned() };
        let mut rejected: Vec<Rejection> =
            beyond.into_iter().map(|id| reject(id, "below the limit")).collect();
        rejected.extend(vetoed.iter().map(|(id, exclude)| disclosure::veto(id, exclude)));
        for (id, pattern) in untried {
            let is_found = matches.iter().any(|found| found.id == id);
            if !is_found && !rejected.iter().any(|known| known.id == id) {
                rejected.push(disclosure::untried(&id, &pattern));
            }
        }
        let hidden = self.0.hidden.get_or_init(|| self.index_hidden());
        if let Some(hidden) = hidden {
            let answer = hidden.search(&query, &[], usize::MAX);
            rejected.extend(answer.matches.into_iter().map(|found| {
                let reason = self.why_hidden(&found.id);
                reject(found.id, &reason)
            }));
        }
        Explanation { matches, rejected, meta }
    }

    /// What to put into the prompt for `query`.
    pub fn disclose<'q>(&self, query: impl Into<Query<'q>>) -> Disclosure {
        self.disclose_with(query, &self.0.disclosure)
    }

    /// What to put into the prompt for `query`, made with other options.
    pub fn disclose_with<'q>(
        &self,
        query: impl Into<Query<'q>>,
        options: &DisclosureOptions,
    ) -> Disclosure {
        let query = query.into();
        self.disclose_after(&query, &self.session_state(&query), options).0
    }

    /// What to put into the prompt for `query`, a message of `session`, whichever store that is
    /// in. The session notes what is shown in full, so that it is not shown again while it stands
    /// in the context.
    ///
    /// Fails with `EXECUTION_ERROR` if the session's store cannot be written.
    pub fn disclose_in<'q>(
        &self,
        query: impl Into<Query<'q>>,
        session: &Session,
    ) -> Result<Disclosure, Error> {
        let state = known(session.id(), session.state());
        let (disclosure, meta) = self.disclose_after(&query.into(), &state, &self.0.disclosure);
        // The best one last: it is to be the one that was used last.
        for skill in disclosure.full.iter().rev() {
            session.record(&Event::Shown(skill))?;
        }
        let is_restored = disclosure.tier != Tier::Nothing && meta != Some(MetaQuestion::ShowAll);
        if is_restored && state.skills.iter().any(|skill| skill.lost) {
            session.record(&Event::Restored)?;
        }
        Ok(disclosure)
    }

    /// What to disclose in a conversation that did so far what `state` says; and which question
    /// about the skills themselves that answers.
    fn disclose_after(
        &self,
        query: &Query<'_>,
        state: &SessionState,
        options: &DisclosureOptions,
    ) -> (Disclosure, Option<MetaQuestion>) {
        let limit = options.max_skills.saturating_add(state.skills.len());
        let answer = (!query.is_blank()).then(|| self.search(query, state, limit));
        let meta = answer.as_ref().and_then(|answer| answer.meta);
        let relevant = || self.outline().order(&query.text);
        let disclosure = disclosure::disclose(
            &self.0.listing,
            answer.as_ref(),
            &relevant,
            state,
            options,
            &*self.0.tokens,
        );
        (disclosure, meta)
    }

    /// The catalog prompt: which skills there are, for the system prompt.
    pub fn prompt(&self) -> CatalogPrompt {
        self.prompt_with(&self.0.prompt)
    }

    /// The catalog prompt, made with other options.
    pub fn prompt_with(&self, options: &PromptOptions) -> CatalogPrompt {
        disclosure::catalog_prompt(&self.0.catalog, options, &*self.0.tokens)
    }

    /// The options disclosures are made with.
    pub fn disclosure_options(&self) -> &DisclosureOptions {
        &self.0.disclosure
    }

    /// The options the catalog prompt is made with.
    pub fn prompt_options(&self) -> &PromptOptions {
        &self.0.prompt
    }

    /// The conversation with this id: what it used ranks higher in it, what stands in its context
    /// is not disclosed in full again.
    pub fn session(&self, id: &str) -> Session {
        Session::new(id, Arc::clone(&self.0.sessions))
    }

    fn search(&self, query: &Query<'_>, state: &SessionState, limit: usize) -> Answer {
        let recent: Vec<SkillId> = state.recent().take(MAX_RECENT).cloned().collect();
        self.0.index.search(query, &recent, limit)
    }

    /// What the conversation of `query` did so far.
    fn session_state(&self, query: &Query<'_>) -> SessionState {
        let session = query.session.as_deref();
        session.map_or_else(SessionState::default, |id| known(id, self.0.sessions.state(id)))
    }

    /// An index of the skills that are there but cannot be matched for the model.
    fn index_hidden(&self) -> Option<Index> {
        let catalog = &self.0.catalog;
        let unmatched =
            catalog.entries().filter(|entry| !entry.is_shadowed() && !is_matched(entry));
        let skills: Vec<_> = unmatched.chain(catalog.filtered()).map(indexed).collect();
        if skills.is_empty() {
            return None;
        }
        Index::new(&skills, &self.0.index_options)
            .inspect_err(|error| tracing::warn!(%error, "cannot explain skills out of reach"))
            .ok()
    }

    fn why_hidden(&self, id: &SkillId) -> String {
        match self.0.catalog.get(id.as_str()) {
            None => "filtered: not in the allowlist".to_owned(),
            Some(entry) => entry.status.reason().map_or_else(
                || "only the user can invoke it (`disable-model-invocation`)".to_owned(),
                |reason| format!("{}: {reason}", entry.status.as_str()),
            ),
        }
    }
}

/// A store that cannot be read costs what it knows of the conversation, not the answer.
fn known(session: &str, state: Result<SessionState, Error>) -> SessionState {
    state.unwrap_or_else(|error| {
        tracing::warn!(session, %error, "the session cannot be read");
        SessionState::default()
    })
}

fn is_matched(entry: &Entry) -> bool {
    entry.is_available() && entry.is_matched(Audience::Model)
}

fn indexed(entry: &Entry) -> IndexedSkill<'_> {
    IndexedSkill { id: &entry.id, name: entry.skill.name(), triggers: entry.skill.triggers() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_can_be_shared_between_threads() {
        fn assert_shared<T: Send + Sync + Clone>() {}
        assert_shared::<Engine>();
    }
}
