//! The builder of an engine.

mod ranking;
mod switches;

use std::sync::{Arc, Mutex};
#[cfg(feature = "snapshot")]
use std::time::Duration;

#[cfg(feature = "snapshot")]
use super::cache::{self, CacheUse};
use super::{Engine, HostFindings, Inner, Outputs, RunningTasks, Snapshot, Views};
use crate::activation::{Consent, TaskSpawner};
use crate::catalog::{Allowlist, CatalogOptions, Environment, SkillChoice, Source, reload};
use crate::diagnostic::Diagnostic;
use crate::disclosure::{BytesPerToken, DisclosureOptions, PromptOptions, TokenCounter};
use crate::error::Error;
use crate::matcher::{IndexOptions, MAX_QUERY_BYTES, MetaQuestion, Retriever};
use crate::progress::{Progress, Reporter};
#[cfg(feature = "scripts")]
use crate::script::{ScriptOptions, Scripts};
use crate::session::{FallbackStore, MemoryStore, SessionStore};
use crate::skill::Skill;
#[cfg(feature = "snapshot")]
use crate::snapshot::SnapshotCache;
use crate::spans;
#[cfg(feature = "toolsets")]
use crate::toolset::{ToolsetOptions, Toolsets};
#[cfg(feature = "trust")]
use crate::trust::TrustStore;
use ranking::Meaning;

/// Builds an [`Engine`].
#[derive(Debug, Default)]
pub struct EngineBuilder {
    catalog: CatalogOptions,
    skills: Vec<Skill>,
    index: IndexOptions,
    disclosure: DisclosureOptions,
    prompt: PromptOptions,
    tokens: Option<Arc<dyn TokenCounter>>,
    sessions: Option<FallbackStore>,
    pub(super) keep_messages: bool,
    consent: Consent,
    retriever: Option<Arc<dyn Retriever>>,
    /// True if [`EngineBuilder::build`] prepares the retriever.
    prepares_retriever: bool,
    meaning: Meaning,
    tasks: Option<Arc<dyn TaskSpawner>>,
    progress: Reporter,
    #[cfg(feature = "snapshot")]
    cache: Option<SnapshotCache>,
    #[cfg(feature = "snapshot")]
    max_compile_time: Option<Duration>,
    #[cfg(feature = "toolsets")]
    toolsets: Option<ToolsetOptions>,
    #[cfg(feature = "scripts")]
    scripts: Option<ScriptOptions>,
    #[cfg(feature = "trust")]
    trust: Option<Arc<TrustStore>>,
}

impl EngineBuilder {
    /// Adds a source; it wins over the sources added before. A bare path is a source of the project, whose
    /// code must be trusted before it runs.
    #[must_use]
    pub fn source(mut self, source: impl Into<Source>) -> EngineBuilder {
        self.catalog.sources.push(source.into());
        self
    }

    /// Adds sources, lowest precedence first.
    #[must_use]
    pub fn sources(mut self, sources: impl IntoIterator<Item = Source>) -> EngineBuilder {
        self.catalog.sources.extend(sources);
        self
    }

    /// Adds a skill in memory. Skills in memory win over those of all sources. The code of a skill that was
    /// [loaded](Skill::load) from a file is that of a project: it runs only after a yes. To vouch for it, add
    /// its directory with [`Source::user`].
    #[must_use]
    pub fn skill(mut self, skill: Skill) -> EngineBuilder {
        self.skills.push(skill);
        self
    }

    /// Sets the host's brand, the name of its own block in manifests. The default is the brand of the
    /// [standard sources](crate::Source::standard), if there are any, else `repertoire`.
    #[must_use]
    pub fn brand(mut self, brand: impl Into<String>) -> EngineBuilder {
        self.catalog.brand = brand.into();
        self
    }

    /// Sets the skills that exist for this agent; all by default.
    #[must_use]
    pub fn allow(mut self, allowlist: Allowlist) -> EngineBuilder {
        self.catalog.allowlist = allowlist;
        self
    }

    /// Enables skills that are disabled, or that are bundled and off: by id or in another form in which
    /// skills are named, or by a pattern such as `acme-*`.
    #[must_use]
    pub fn enable(self, skills: impl Into<String>) -> EngineBuilder {
        self.choose([SkillChoice::on(skills)])
    }

    /// Adds settings that turn skills on or off. The last one that names a skill decides, those of
    /// [`EngineBuilder::enable`] included.
    #[must_use]
    pub fn choose(mut self, choices: impl IntoIterator<Item = SkillChoice>) -> EngineBuilder {
        self.catalog.choices.extend(choices);
        self
    }

    /// Adds a finding of the host, such as a problem with its configuration, to the
    /// [diagnostics](Engine::diagnostics).
    #[must_use]
    pub fn finding(mut self, finding: Diagnostic) -> EngineBuilder {
        self.catalog.findings.push(finding);
        self
    }

    /// Sets the environment for `requires_bins` and `requires_env`; by default that of the process.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> EngineBuilder {
        self.catalog.environment = environment;
        self
    }

    /// Sets whether verbs also match in their regular English inflections; off by default.
    #[must_use]
    pub fn inflect(mut self, inflect: bool) -> EngineBuilder {
        self.index.inflect = inflect;
        self
    }

    /// Adds a question about the skills themselves, for example in another language. The phrase is a
    /// whole sentence; case, accents and punctuation do not matter. `(a|b)` stands for one of these,
    /// `[a|b]` for one of them or none, and `*` for one or more words: `do you have [any] tricks for *`.
    #[must_use]
    pub fn meta_phrase(mut self, phrase: impl Into<String>, asks: MetaQuestion) -> EngineBuilder {
        self.index.meta_phrases.push((phrase.into(), asks));
        self
    }

    /// Sets the longest query that is searched as a whole, in bytes; 256 KiB by default. Of a longer
    /// query, only the head and the tail are searched.
    #[must_use]
    pub fn max_query_bytes(mut self, n_bytes: usize) -> EngineBuilder {
        self.index.max_query_bytes = Some(n_bytes);
        self
    }

    /// Sets the options of disclosures.
    #[must_use]
    pub fn disclosure(mut self, options: DisclosureOptions) -> EngineBuilder {
        self.disclosure = options;
        self
    }

    /// Changes the options of disclosures that were set so far.
    #[must_use]
    pub fn map_disclosure(
        mut self,
        change: impl FnOnce(DisclosureOptions) -> DisclosureOptions,
    ) -> EngineBuilder {
        self.disclosure = change(self.disclosure);
        self
    }

    /// Sets the options of the catalog prompt.
    #[must_use]
    pub fn prompt(mut self, options: PromptOptions) -> EngineBuilder {
        self.prompt = options;
        self
    }

    /// Changes the options of the catalog prompt that were set so far.
    #[must_use]
    pub fn map_prompt(
        mut self,
        change: impl FnOnce(PromptOptions) -> PromptOptions,
    ) -> EngineBuilder {
        self.prompt = change(self.prompt);
        self
    }

    /// Sets the counter of tokens for budgets; by default, four bytes are a token.
    #[must_use]
    pub fn token_counter(mut self, counter: impl TokenCounter + 'static) -> EngineBuilder {
        self.tokens = Some(Arc::new(counter));
        self
    }

    /// Sets the store of sessions; by default they are kept in memory. While the store fails, answers come from
    /// memory, and [`Session::unsaved`](crate::Session::unsaved) says why.
    #[must_use]
    pub fn session_store(mut self, store: impl SessionStore + 'static) -> EngineBuilder {
        self.sessions = Some(FallbackStore::new(store, drop));
        self
    }

    /// Sets when activations need the user's consent; by default never.
    #[must_use]
    pub fn consent(mut self, consent: Consent) -> EngineBuilder {
        self.consent = consent;
        self
    }

    /// Spawns the tasks of skills with `context: fork`; by default, these skills are activated inline.
    #[must_use]
    pub fn task_spawner(mut self, tasks: impl TaskSpawner + 'static) -> EngineBuilder {
        self.tasks = Some(Arc::new(tasks));
        self
    }

    /// Sets a callback that reports progress while [`EngineBuilder::build`] reads and compiles all
    /// skills, which takes about a second for 10,000 skills. Any of its threads may call `report`. By
    /// default there are no reports. Reading from a snapshot is not reported, as it is much faster.
    ///
    /// ```
    /// use repertoire::{Engine, Source};
    ///
    /// let engine = Engine::builder()
    ///     .source(Source::bundled("skills"))
    ///     .progress(|at| eprintln!("{:?}: {} of {}", at.phase, at.done, at.total))
    ///     .build()?;
    /// # assert!(!engine.catalog().entries().next().is_none());
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    #[must_use]
    pub fn progress(mut self, report: impl Fn(Progress) + Send + Sync + 'static) -> EngineBuilder {
        self.progress = Reporter::new(report);
        self
    }

    /// Sets a directory of snapshots; by default none is used. The engine takes skills and index from a
    /// snapshot there, as far as nothing changed since it was made; otherwise it writes a new one for
    /// later processes. All answers are those of an engine without a cache, also after
    /// [`Engine::refresh`]. Engines with skills in memory do not use the cache. [`Engine::cache_use`]
    /// reports its use.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn cache(mut self, cache: SnapshotCache) -> EngineBuilder {
        self.cache = Some(cache);
        self
    }

    /// Sets the longest time for which [`EngineBuilder::build`] may read and compile changed skills; by
    /// default there is no limit. If making the snapshot took longer, the engine uses it although skills
    /// changed since. With a sentence transformer, which takes milliseconds for a skill, the engine uses any snapshot,
    /// and without one ranks by words alone. [`CacheUse::stale`](super::CacheUse::stale) is then true, and a process
    /// in the background can take up the changes.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn max_compile_time(mut self, limit: Duration) -> EngineBuilder {
        self.max_compile_time = Some(limit);
        self
    }

    /// Loads the toolsets of skills with these options; by default none are loaded.
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn toolsets(mut self, options: ToolsetOptions) -> EngineBuilder {
        self.toolsets = Some(options);
        self
    }

    /// Changes the options of toolsets, if [they were set](EngineBuilder::toolsets).
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn map_toolsets(
        mut self,
        change: impl FnOnce(ToolsetOptions) -> ToolsetOptions,
    ) -> EngineBuilder {
        self.toolsets = self.toolsets.map(change);
        self
    }

    /// Runs the scripts of skills with these options; by default none are run.
    #[cfg(feature = "scripts")]
    #[must_use]
    pub fn scripts(mut self, options: ScriptOptions) -> EngineBuilder {
        self.scripts = Some(options);
        self
    }

    /// Changes the options of scripts, if [they were set](EngineBuilder::scripts).
    #[cfg(feature = "scripts")]
    #[must_use]
    pub fn map_scripts(
        mut self,
        change: impl FnOnce(ScriptOptions) -> ScriptOptions,
    ) -> EngineBuilder {
        self.scripts = self.scripts.map(change);
        self
    }

    /// Sets the files that may run although their source is not trusted; by default none.
    #[cfg(feature = "trust")]
    #[must_use]
    pub fn trust(mut self, store: Arc<TrustStore>) -> EngineBuilder {
        self.trust = Some(store);
        self
    }

    /// Reads the sources, compiles the triggers and indexes the texts. If the options of disclosures do
    /// not ask for relevance, the texts are indexed only on first use. A problem with a skill file or a
    /// source becomes a diagnostic.
    ///
    /// Fails only if the triggers do not fit one index, or the retriever cannot be prepared.
    pub fn build(self) -> Result<Engine, Error> {
        let span = spans::load();
        let engine = spans::within(&span, || self.load())?;
        if !span.is_disabled() {
            let catalog = engine.catalog();
            span.record("skills", spans::int(catalog.entries().count()));
            span.record("findings", spans::int(catalog.diagnostics().len()));
            #[cfg(feature = "snapshot")]
            span.record("snapshot", engine.cache_use().as_str());
        }
        Ok(engine)
    }

    fn load(mut self) -> Result<Engine, Error> {
        if !self.skills.is_empty() {
            self.catalog.sources.push(Source::memory(self.skills));
        }
        self.index.max_query_bytes.get_or_insert(MAX_QUERY_BYTES);
        let model = self.meaning.model();
        let load = |model: Option<&_>| {
            let (catalog, memory) = reload::load(&self.catalog, &self.progress);
            let snapshot = Snapshot::new(catalog, &self.index, model, &self.progress)?;
            if self.disclosure.asks_relevance() {
                snapshot.index_relevance(&self.progress);
            }
            Ok::<_, Error>((snapshot, memory))
        };
        #[cfg(feature = "snapshot")]
        let (snapshot, memory, cache) = match &self.cache {
            Some(cache) => {
                let limit = self.max_compile_time.unwrap_or(Duration::MAX);
                cache::load(cache, &self.catalog, &self.index, model.as_ref(), limit, load)?
            }
            None => load(model.as_ref())
                .map(|(snapshot, memory)| (snapshot, memory, CacheUse::default()))?,
        };
        #[cfg(not(feature = "snapshot"))]
        let (snapshot, memory) = load(model.as_ref())?;
        if let Some(retriever) = self.retriever.as_ref().filter(|_| self.prepares_retriever) {
            snapshot.retrieval(&**retriever)?;
        }
        #[cfg(any(feature = "scripts", feature = "toolsets"))]
        let trust = self.trust.unwrap_or_default();
        let in_memory = || FallbackStore::new(MemoryStore::default(), drop);
        let sessions = self.sessions.unwrap_or_else(in_memory);
        let views = Views::new(snapshot);
        let whole = Arc::clone(&views.whole);
        let inner = Inner {
            views,
            sources: self.catalog,
            memory: Mutex::new(memory),
            index: self.index,
            disclosure: self.disclosure,
            prompt: self.prompt,
            tokens: self.tokens.unwrap_or_else(|| Arc::new(BytesPerToken::default())),
            sessions: Arc::new(sessions),
            keep_messages: self.keep_messages,
            outputs: Outputs::default(),
            consent: self.consent,
            retriever: self.retriever,
            retriever_failure: Mutex::default(),
            tasks: self.tasks,
            running: RunningTasks::default(),
            findings: HostFindings::default(),
            #[cfg(feature = "snapshot")]
            cache,
            #[cfg(feature = "scripts")]
            scripts: self.scripts.map(|options| Scripts::new(options, Arc::clone(&trust))),
            #[cfg(feature = "toolsets")]
            toolsets: self.toolsets.map(|options| Toolsets::new(options, trust)),
        };
        Ok(Engine(Arc::new(inner), whole))
    }
}
