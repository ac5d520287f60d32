//! The engine: the façade over all other modules of the library.

mod access;
mod activate;
mod builder;
#[cfg(feature = "snapshot")]
mod cache;
mod call_io;
mod caller;
mod counters;
mod disclose;
mod explain;
mod find;
mod findings;
mod keep;
mod listeners;
mod missed;
mod outputs;
mod ranker;
mod refresh;
#[cfg(feature = "scripts")]
mod scripts;
mod session_tools;
mod snapshot;
mod tallies;
mod tasks;
#[cfg(feature = "toolsets")]
mod tools;
mod turn;
mod users_place;
mod view;
#[cfg(feature = "watch")]
mod watch;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use arc_swap::Guard;
use serde::Serialize;

use crate::activation::{Consent, TaskSpawner};
use crate::catalog::reload::Memory;
use crate::catalog::{Catalog, CatalogOptions, Entry, Source};
use crate::diagnostic::Diagnostic;
use crate::disclosure::{
    self, CatalogPrompt, DisclosureOptions, HowToLoad, PromptOptions, TokenCounter,
};
use crate::matcher::{IndexOptions, Retriever, WINDOW_BYTES};
#[cfg(feature = "scripts")]
use crate::script::Scripts;
use crate::session::{FallbackStore, Session};
#[cfg(feature = "toolsets")]
use crate::toolset::Toolsets;

pub use activate::Activate;
pub use builder::EngineBuilder;
#[cfg(feature = "snapshot")]
pub use cache::CacheUse;
pub use call_io::CallIo;
pub use caller::Caller;
use counters::Counters;
pub use counters::EngineCounts;
pub use explain::{Explanation, Weighed, WeighedTerm};
pub use find::FoundSkill;
use findings::HostFindings;
use keep::keep_query;
pub use listeners::Subscription;
pub use missed::{Misrouting, MissedMessage, MissedMessages};
use outputs::Outputs;
pub use session_tools::{SessionTools, SessionToolsOptions};
use snapshot::Snapshot;
use tasks::RunningTasks;
pub use turn::{Turn, TurnBuilder};
use view::{View, Views};
#[cfg(feature = "watch")]
pub use watch::Watch;

/// A loaded catalog and its compiled index. Answers queries from any number of threads. Cheap to clone:
/// clones share their skills, so that a [refresh](Engine::refresh) of one is seen by all. A
/// [view](Engine::view) is an engine with fewer skills over the same catalog and index.
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
#[derive(Clone)]
pub struct Engine(Arc<Inner>, Arc<View>);

/// A handle that does not keep its engine alive; see [`Engine::downgrade`].
#[derive(Clone)]
pub struct WeakEngine(Weak<Inner>, Weak<View>);

impl WeakEngine {
    /// Returns the engine; `None` if its last clone was dropped.
    pub fn upgrade(&self) -> Option<Engine> {
        Some(Engine(self.0.upgrade()?, self.1.upgrade()?))
    }
}

struct Inner {
    views: Views,
    sources: CatalogOptions,
    /// The memory of the load that made the snapshot. A refresh locks it, so that refreshes run one at a
    /// time.
    memory: Mutex<Memory>,
    index: IndexOptions,
    disclosure: DisclosureOptions,
    prompt: PromptOptions,
    tokens: Arc<dyn TokenCounter>,
    sessions: Arc<FallbackStore>,
    keep_messages: bool,
    /// The long outputs of tools, which models read in pages.
    outputs: Outputs,
    consent: Consent,
    retriever: Option<Arc<dyn Retriever>>,
    /// The failure of the retriever when it was asked last.
    retriever_failure: Mutex<Option<String>>,
    tasks: Option<Arc<dyn TaskSpawner>>,
    running: RunningTasks,
    findings: HostFindings,
    #[cfg(feature = "snapshot")]
    cache: CacheUse,
    #[cfg(feature = "scripts")]
    scripts: Option<Scripts>,
    #[cfg(feature = "toolsets")]
    toolsets: Option<Toolsets>,
}

/// The limits of the part of a message that is searched, in bytes. In a longer message, half of the
/// limit is searched at each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QueryLimits {
    /// The limit for keywords, verbs, excludes and names; see [`EngineBuilder::max_query_bytes`].
    pub literals: usize,
    /// The limit for patterns.
    pub patterns: usize,
}

/// Prints only a summary: the skills of an engine and their index would fill megabytes.
impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skills = self.snapshot().catalog.entries().count();
        f.debug_struct("Engine").field("skills", &skills).finish_non_exhaustive()
    }
}

impl fmt::Debug for WeakEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakEngine")
    }
}

impl Engine {
    /// Returns a builder of an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The numbers of queries, and of skills matched, shown and used, since the engine was built. A view does
    /// not count what the engine or another view did.
    pub fn counts(&self) -> EngineCounts {
        self.1.counters.counts()
    }

    /// Returns a handle that does not keep the engine alive, for a thread that works as long as somebody
    /// else uses the engine.
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.0), Arc::downgrade(&self.1))
    }

    /// Tells whether this is a clone of `other`. A view is not a clone of its engine.
    pub fn is_clone_of(&self, other: &Engine) -> bool {
        Arc::ptr_eq(&self.1, &other.1)
    }

    /// The current catalog. A refresh makes a new catalog and leaves this one unchanged.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.snapshot().catalog)
    }

    /// The source that a skill was read from; if the source was fetched, [`Source::name`] is its name.
    /// `None` for a skill that is in no source.
    pub fn source_of(&self, entry: &Entry) -> Option<&Source> {
        let path = entry.skill.location()?;
        let holds = |source: &&Source| source.location().is_some_and(|root| path.starts_with(root));
        let sources = self.0.sources.sources.iter().filter(holds);
        sources.max_by_key(|source| source.location().map(|root| root.components().count()))
    }

    /// The problems found in skill files and sources.
    pub fn diagnostics(&self) -> Arc<[Diagnostic]> {
        self.snapshot().catalog.shared_diagnostics()
    }

    /// Reports whether the engine was made from a snapshot in its [cache](EngineBuilder::cache), and the
    /// problems with that.
    #[cfg(feature = "snapshot")]
    pub fn cache_use(&self) -> &CacheUse {
        &self.0.cache
    }

    /// The catalog prompt: the list of skills for the system prompt.
    pub fn prompt(&self) -> CatalogPrompt {
        self.prompt_with(&self.0.prompt)
    }

    /// The catalog prompt of a conversation, which remembers that it lists these skills: messages do not
    /// list them again. A session that cannot be written does not keep the prompt back.
    pub fn session_prompt(&self, session: &Session) -> CatalogPrompt {
        self.session_prompt_with(session, &self.0.prompt)
    }

    /// The catalog prompt of a conversation, made with these options instead of the engine's.
    pub fn session_prompt_with(&self, session: &Session, options: &PromptOptions) -> CatalogPrompt {
        let prompt = self.prompt_with(options);
        if let Err(error) = session.tolerant().listed(&prompt.included) {
            tracing::warn!(session = session.id(), %error, "a catalog prompt is not remembered");
        }
        prompt
    }

    /// The catalog prompt, made with these options instead of the engine's. If they do not say how the
    /// model loads a skill, the text names the tool `use_skill`.
    pub fn prompt_with(&self, options: &PromptOptions) -> CatalogPrompt {
        let mut options = Cow::Borrowed(options);
        if options.how_to_load == HowToLoad::Unsaid {
            options.to_mut().how_to_load = HowToLoad::Tool(SessionTools::USE_SKILL.to_owned());
        }
        let runner = options.tasks;
        let runs_as_task = |entry: &Entry| self.runs_as_task(entry, runner);
        let catalog = &self.snapshot().catalog;
        disclosure::catalog_prompt(catalog, &options, &*self.0.tokens, &runs_as_task)
    }

    /// The limits of the part of a message that is searched.
    pub fn query_limits(&self) -> QueryLimits {
        let literals = self.0.index.max_query_bytes.unwrap_or(usize::MAX);
        QueryLimits { literals, patterns: WINDOW_BYTES.min(literals) }
    }

    /// The part of a message that is searched: all of it or, if it is longer than
    /// [`QueryLimits::literals`], its head and its tail without the words that would be cut. The
    /// separator between head and tail is not a word.
    pub fn searched_part<'m>(&self, message: &'m str) -> Cow<'m, str> {
        repertoire_text::searched_part(message, self.query_limits().literals)
    }

    /// The options with which the engine makes disclosures.
    pub fn disclosure_options(&self) -> &DisclosureOptions {
        &self.0.disclosure
    }

    /// The options with which the engine makes the catalog prompt.
    pub fn prompt_options(&self) -> &PromptOptions {
        &self.0.prompt
    }

    /// The number of tokens in `text`, by the counter that budgets use.
    pub fn count_tokens(&self, text: &str) -> usize {
        self.0.tokens.count(text)
    }

    /// The session of the conversation with this id. Skills that the conversation used rank higher in
    /// it, and skills whose instructions are in its context are not disclosed in full again.
    pub fn session(&self, id: &str) -> Session {
        Session::of(id, Arc::clone(&self.0.sessions)).keep_messages(self.0.keep_messages)
    }

    /// The current snapshot. A call takes one and uses it to the end. Taking it writes to no shared
    /// memory, so that threads do not slow each other down.
    fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.1.snapshot.load()
    }
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
