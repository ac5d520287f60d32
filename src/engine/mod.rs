//! The one façade: everything above, put together.

mod activate;
mod builder;
mod find;
#[cfg(feature = "snapshot")]
mod kept;
mod refresh;
#[cfg(feature = "scripts")]
mod scripts;
mod snapshot;
#[cfg(feature = "toolsets")]
mod tools;
#[cfg(feature = "watch")]
mod watch;

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, Guard};
use serde::Serialize;

use crate::activation::{Consent, TaskSpawner};
use crate::catalog::reload::Memory;
use crate::catalog::{Catalog, CatalogOptions};
use crate::diagnostic::Diagnostic;
use crate::disclosure::{
    self, CatalogPrompt, Disclosure, DisclosureOptions, Evidence, PromptOptions, TokenCounter,
};
use crate::error::Error;
use crate::matcher::{
    self, Answer, Candidate, IndexOptions, Match, MetaQuestion, Query, Rejection, Relevance,
    Retriever, WINDOW_BYTES, idle,
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
#[cfg(feature = "snapshot")]
pub use kept::CacheUse;
use refresh::Listeners;
pub use refresh::Subscription;
use snapshot::Snapshot;
#[cfg(feature = "watch")]
pub use watch::Watch;

/// A loaded catalog and its compiled index: answers queries, from any number of threads. Cheap to
/// clone; all clones see what any of them takes up with [`Engine::refresh`].
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
    snapshot: ArcSwap<Snapshot>,
    sources: CatalogOptions,
    /// What is remembered of the load that made the snapshot. One refresh at a time holds it.
    memory: Mutex<Memory>,
    listeners: Listeners,
    index: IndexOptions,
    disclosure: DisclosureOptions,
    prompt: PromptOptions,
    tokens: Arc<dyn TokenCounter>,
    sessions: Arc<dyn SessionStore>,
    consent: Consent,
    retriever: Option<Arc<dyn Retriever>>,
    tasks: Option<Arc<dyn TaskSpawner>>,
    #[cfg(feature = "snapshot")]
    cache: CacheUse,
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
    /// How many more skills match, below the limit; they are the first that were rejected.
    #[serde(skip)]
    pub n_beyond: usize,
    /// Whether the query asks about the skills themselves.
    #[serde(skip)]
    pub meta: Option<MetaQuestion>,
}

/// How much of a message is looked at, in bytes: of a longer one, half of that at each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QueryLimits {
    /// By keywords, verbs, excludes and names; see [`EngineBuilder::max_query_bytes`].
    pub literals: usize,
    /// By patterns.
    pub patterns: usize,
}

impl Engine {
    /// Starts to put an engine together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The skills as they are now. A refresh makes another catalog and leaves this one as it is.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.snapshot().catalog)
    }

    /// What was found wrong with any skill file or source.
    pub fn diagnostics(&self) -> Arc<[Diagnostic]> {
        self.snapshot().catalog.shared_diagnostics()
    }

    /// Whether the engine was made from a snapshot of its [cache](EngineBuilder::cache), and what
    /// is wrong with that.
    #[cfg(feature = "snapshot")]
    pub fn cache_use(&self) -> &CacheUse {
        &self.0.cache
    }

    /// Every skill that `query` matches, best first.
    pub fn matches<'q>(&self, query: impl Into<Query<'q>>) -> Vec<Match> {
        let query = query.into();
        self.snapshot().search(&query, &self.session_state(&query), usize::MAX).matches
    }

    /// The best `limit` matches of `query`, with the reasons why other skills are not among them:
    /// vetoed, below the limit, not tried as too many patterns without a literal would be, filtered,
    /// or not available.
    pub fn explain<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Explanation {
        let (query, now) = (query.into(), self.snapshot());
        let Answer { matches, beyond, vetoed, quoted, untried, meta, .. } =
            now.search(&query, &self.session_state(&query), limit);
        let n_beyond = beyond.len();
        let reject = |id, reason: &str| Rejection { id, reason: reason.to_owned() };
        let mut rejected: Vec<Rejection> =
            beyond.into_iter().map(|id| reject(id, "below the limit")).collect();
        rejected.extend(vetoed.iter().map(|(id, exclude)| disclosure::veto(id, exclude)));
        rejected.extend(quoted.iter().map(|(id, trigger)| disclosure::quoted(id, trigger)));
        for (id, pattern) in untried {
            let is_found = matches.iter().any(|found| found.id == id);
            if !is_found && !rejected.iter().any(|known| known.id == id) {
                rejected.push(disclosure::untried(&id, &pattern));
            }
        }
        rejected.extend(now.out_of_reach(&query, &self.0.index));
        Explanation { matches, rejected, n_beyond, meta }
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
        let state = self.session_state(&query);
        self.disclose_after(&self.snapshot(), &query, &state, options).0
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
        let now = self.snapshot();
        let (disclosure, postponed) =
            self.disclose_after(&now, &query.into(), &state, &self.0.disclosure);
        let mut events = Vec::new();
        // The best one last: it is to be the one that was used last.
        for entry in disclosure.full.iter().rev().filter_map(|id| now.listing.get_for_anyone(id)) {
            events.push(Event::Shown { skill: &entry.id, body: entry.skill.body_hash()? });
        }
        let listed = disclosure.registry.iter().filter(|id| !state.was_listed(id));
        events.extend(listed.map(Event::Listed));
        let has_lost = state.skills.iter().any(|skill| skill.lost);
        if let Some(postponed) = postponed.as_ref().filter(|_| has_lost) {
            events.push(Event::Restored);
            events.extend(postponed.iter().map(Event::Postponed));
        }
        session.record_all(&events)?;
        Ok(disclosure)
    }

    /// What to disclose in a conversation that did so far what `state` says; and, if what it lost was
    /// considered, which of it is to be once more.
    fn disclose_after(
        &self,
        now: &Snapshot,
        query: &Query<'_>,
        state: &SessionState,
        options: &DisclosureOptions,
    ) -> (Disclosure, Option<Vec<SkillId>>) {
        let answer = (!query.is_blank()).then(|| now.search(query, state, 0));
        let evidence = Evidence {
            relevant: &|limit| self.rank(now, &query.text, limit),
            is_idle: &|| idle::is_idle(&query.text),
            exclude: &|entry| snapshot::exclude_of(entry, query, &self.0.index),
        };
        disclosure::disclose(&now.listing, answer, &evidence, state, options, &*self.0.tokens)
    }

    /// The best `limit` skills by relevance, by their places in the listing.
    fn rank(&self, now: &Snapshot, message: &str, limit: usize) -> Vec<(u32, Relevance)> {
        let mut ranked = Vec::new();
        let message = &*self.looked_at(message);
        let Some(retriever) = &self.0.retriever else {
            now.relevance().rank_into(message, limit, &mut ranked);
            return ranked;
        };
        now.relevance().rank_into(message, usize::MAX, &mut ranked);
        let candidates = now
            .listing
            .visible()
            .map(|entry| Candidate { id: &entry.id, description: entry.skill.description() });
        let candidates: Vec<Candidate<'_>> = candidates.collect();
        matcher::fuse(ranked, &**retriever, message, &candidates, limit)
    }

    /// The catalog prompt: which skills there are, for the system prompt.
    pub fn prompt(&self) -> CatalogPrompt {
        self.prompt_with(&self.0.prompt)
    }

    /// The catalog prompt, made with other options.
    pub fn prompt_with(&self, options: &PromptOptions) -> CatalogPrompt {
        disclosure::catalog_prompt(&self.snapshot().catalog, options, &*self.0.tokens)
    }

    /// How much of a message is looked at.
    pub fn query_limits(&self) -> QueryLimits {
        let literals = self.0.index.max_query_bytes.unwrap_or(usize::MAX);
        QueryLimits { literals, patterns: WINDOW_BYTES.min(literals) }
    }

    /// What is looked at of a message: all of it or, of one that is longer than
    /// [`QueryLimits::literals`], its head and its tail without the words that would be cut. What
    /// stands between these is no word.
    pub fn looked_at<'m>(&self, message: &'m str) -> Cow<'m, str> {
        matcher::looked_at(message, self.query_limits().literals)
    }

    /// The options disclosures are made with.
    pub fn disclosure_options(&self) -> &DisclosureOptions {
        &self.0.disclosure
    }

    /// The options the catalog prompt is made with.
    pub fn prompt_options(&self) -> &PromptOptions {
        &self.0.prompt
    }

    /// The tokens of `text`, by the counter that budgets use.
    pub fn count_tokens(&self, text: &str) -> usize {
        self.0.tokens.count(text)
    }

    /// The conversation with this id: what it used ranks higher in it, what stands in its context
    /// is not disclosed in full again.
    pub fn session(&self, id: &str) -> Session {
        Session::new(id, Arc::clone(&self.0.sessions))
    }

    /// What is known now; the same for the whole of a call. Threads that ask at once write to
    /// nothing they share.
    fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.0.snapshot.load()
    }

    /// What the conversation of `query` did so far.
    fn session_state(&self, query: &Query<'_>) -> SessionState {
        let session = query.session.as_deref();
        session.map_or_else(SessionState::default, |id| known(id, self.0.sessions.state(id)))
    }
}

/// A store that cannot be read costs what it knows of the conversation, not the answer.
fn known(session: &str, state: Result<SessionState, Error>) -> SessionState {
    state.unwrap_or_else(|error| {
        tracing::warn!(session, %error, "the session cannot be read");
        SessionState::default()
    })
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
