//! The engine, which answers messages on any number of threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use repertoire_bindings::repertoire::{self as engine, Activate, TurnBuilder};
use repertoire_bindings::{Hosts, ScriptSettings, Settings, ToolsetSettings, audience};

use crate::activation::Activation;
use crate::arguments::Arguments;
use crate::callbacks::{Function, PythonStore, Raised, Store, approval, progress as progress_of};
use crate::catalog::{CatalogPrompt, Command};
use crate::disclosure::{Disclosure, Turn};
use crate::error::{raise, run, unlocked};
use crate::matches::{Explanation, FoundSkill, Match};
use crate::message::Message;
use crate::options::{
    AnySource, Budget, Config, DisclosureOptions, Meaning, PromptOptions, ScriptOptions, Switch,
    ToolsetOptions,
};
use crate::retriever::Retriever;
use crate::session::Session;
use crate::several::{PathText, Several};
use crate::text::Text;
use crate::tools::{ToolChanges, Tools, in_thread};
use crate::worker::worker_for;

/// A catalog of skills and its compiled index. It decides for each message which skills matter, and how
/// much of each the model should read. All methods may be called from any thread; each lets other
/// Python threads run while it works.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Engine(pub(crate) engine::Engine);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (
        sources = Several::default(), *, skills = Several::default(), brand = None, allow = None,
        enable = Several::default(), bundled_off = None, environment = None, inflect = None,
        max_query_bytes = None, meta_phrases = None, meaning = None, disclosure = None,
        prompt = None, config = None, session_store = None, consent = None, ask_consent = None,
        token_counter = None, retriever = None, task_spawner = None, toolsets = None,
        scripts = None, trust = None, approve = None, cache = None, progress = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn new(
        py: Python<'_>,
        sources: Several<AnySource>,
        skills: Several<String>,
        brand: Option<String>,
        allow: Option<Several<String>>,
        enable: Several<String>,
        bundled_off: Option<String>,
        environment: Option<BTreeMap<String, String>>,
        inflect: Option<bool>,
        max_query_bytes: Option<usize>,
        meta_phrases: Option<BTreeMap<String, String>>,
        meaning: Option<Meaning>,
        disclosure: Option<DisclosureOptions>,
        prompt: Option<PromptOptions>,
        config: Option<Config>,
        session_store: Option<Store>,
        consent: Option<String>,
        ask_consent: Option<Py<PyAny>>,
        token_counter: Option<Py<PyAny>>,
        retriever: Option<Py<PyAny>>,
        task_spawner: Option<Py<PyAny>>,
        toolsets: Option<Switch<ToolsetOptions>>,
        scripts: Option<Switch<ScriptOptions>>,
        trust: Option<PathBuf>,
        approve: Option<Py<PyAny>>,
        cache: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Engine> {
        let usual_toolsets = || ToolsetOptions(ToolsetSettings::default());
        let toolsets = toolsets.and_then(|switch| switch.options(usual_toolsets));
        let usual_scripts = || ScriptOptions(ScriptSettings::default());
        let scripts = scripts.and_then(|switch| switch.options(usual_scripts));
        let (file, object) = session_store.map(Store::parts).unwrap_or_default();
        let settings = Settings {
            sources: sources.0.into_iter().map(|source| source.0).collect(),
            skills: skills.0,
            brand,
            allow: allow.map(|allow| allow.0),
            enable: enable.0,
            bundled_off,
            environment,
            inflect,
            max_query_bytes,
            meta_phrases: meta_phrases.into_iter().flatten().collect(),
            meaning: meaning.map(|meaning| meaning.0),
            disclosure: disclosure.map(|options| options.0).unwrap_or_default(),
            prompt: prompt.map(|options| options.0).unwrap_or_default(),
            config: config.map(|config| config.0),
            sessions: file,
            consent,
            cache,
            trust,
            toolsets: toolsets.map(|options| options.0),
            scripts: scripts.map(|options| options.0),
        };
        let raised = Raised::default();
        let hosts = Hosts {
            worker: worker_for(settings.toolsets.as_ref(), py)?,
            tokens: token_counter.map(|function| Arc::new(Function(function)) as _),
            sessions: object.map(|object| Arc::new(PythonStore(object)) as _),
            ask: ask_consent.map(crate::callbacks::ask_consent),
            retriever: retriever.map(|host| Arc::new(Retriever::new(host)) as _),
            tasks: task_spawner.map(|function| Arc::new(Function(function)) as _),
            approve: approve.map(approval),
            progress: progress.map(|report| progress_of(report, raised.clone())),
        };
        let built = run(py, || settings.into_builder(hosts)?.build());
        match raised.take() {
            Some(error) => Err(raise(py, "the callback for progress", error)),
            None => built.map(Engine),
        }
    }

    /// Builds an engine, as `Engine(…)` does, without blocking the event loop.
    #[classmethod]
    #[pyo3(signature = (*args, **kwargs))]
    fn acreate<'py>(
        class: &Bound<'py, PyType>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_thread(class.as_any(), "__call__", args, kwargs)
    }

    /// Returns the session with this id; it begins with its first event.
    fn session(&self, id: &str) -> Session {
        Session(self.0.session(id))
    }

    /// Answers a message of a conversation with the text for the context and the model's tools. The
    /// session records the skills that were shown, so that none is disclosed twice.
    #[pyo3(signature = (message, session, *, paths = Several::default(), budget = None, options = None))]
    fn turn(
        &self,
        py: Python<'_>,
        message: Text<'_>,
        session: &Bound<'_, Session>,
        paths: Several<PathText>,
        budget: Option<Budget>,
        options: Option<DisclosureOptions>,
    ) -> PyResult<Turn> {
        let message = Message { text: &message, paths: paths.texts(), budget, options };
        let run = |turn: TurnBuilder<'_>| turn.run().map(Box::new);
        let turn = self.with_turn(py, &message, session.get(), run)?;
        Turn::of(py, *turn)
    }

    /// Answers a message, as `turn` does, without blocking the event loop.
    #[pyo3(signature = (*args, **kwargs))]
    fn aturn<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_thread(slf.as_any(), "turn", args, kwargs)
    }

    /// Returns what `turn` would disclose, without recording it in the session.
    #[pyo3(signature = (message, session, *, paths = Several::default(), budget = None, options = None))]
    fn preview(
        &self,
        py: Python<'_>,
        message: Text<'_>,
        session: &Bound<'_, Session>,
        paths: Several<PathText>,
        budget: Option<Budget>,
        options: Option<DisclosureOptions>,
    ) -> PyResult<Disclosure> {
        let message = Message { text: &message, paths: paths.texts(), budget, options };
        let preview = |turn: TurnBuilder<'_>| Ok(turn.preview());
        self.with_turn(py, &message, session.get(), preview).map(Disclosure::from)
    }

    /// Returns the disclosure for a message outside of any conversation.
    #[pyo3(signature = (message, *, paths = Several::default()))]
    fn disclose(
        &self,
        py: Python<'_>,
        message: Text<'_>,
        paths: Several<PathText>,
    ) -> PyResult<Disclosure> {
        let message = Message { text: &message, paths: paths.texts(), ..Message::default() };
        unlocked(py, || self.0.disclose(message.query())).map(Disclosure::from)
    }

    /// Returns a disclosure, as `disclose` does, without blocking the event loop.
    #[pyo3(signature = (*args, **kwargs))]
    fn adisclose<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_thread(slf.as_any(), "disclose", args, kwargs)
    }

    /// Returns every skill that matches a message, best first. In a session, skills that were used
    /// before rank higher.
    #[pyo3(signature = (message, session = None, *, paths = Several::default()))]
    fn matches(
        &self,
        py: Python<'_>,
        message: Text<'_>,
        session: Option<&Bound<'_, Session>>,
        paths: Several<PathText>,
    ) -> PyResult<Vec<Match>> {
        let query = Message { text: &message, paths: paths.texts(), ..Message::default() };
        let found = match session {
            None => unlocked(py, || self.0.matches(query.query())),
            Some(session) => self.with_turn(py, &query, session.get(), |turn| Ok(turn.matches())),
        };
        Ok(found?.into_iter().map(|found| Match::of(found, &message)).collect())
    }

    /// Returns the best `limit` matches of a message, and the reasons why other skills are not among
    /// them.
    #[pyo3(signature = (message, limit = 3, session = None, *, paths = Several::default()))]
    fn explain(
        &self,
        py: Python<'_>,
        message: Text<'_>,
        limit: Option<usize>,
        session: Option<&Bound<'_, Session>>,
        paths: Several<PathText>,
    ) -> PyResult<Explanation> {
        let query = Message { text: &message, paths: paths.texts(), ..Message::default() };
        let limit = limit.unwrap_or(3);
        let explain = |turn: TurnBuilder<'_>| Ok(turn.explain(limit));
        let found = match session {
            None => unlocked(py, || self.0.explain(query.query(), limit)),
            Some(session) => self.with_turn(py, &query, session.get(), explain),
        };
        found.map(|found| Explanation::of(found, &message))
    }

    /// Returns the best `limit` skills for a query, by triggers and by relevance.
    #[pyo3(signature = (query, limit = 5))]
    fn find_skills(
        &self,
        py: Python<'_>,
        query: Text<'_>,
        limit: Option<usize>,
    ) -> PyResult<Vec<FoundSkill>> {
        let found = unlocked(py, || self.0.find_skills(&*query, limit.unwrap_or(5)))?;
        Ok(found.into_iter().map(FoundSkill::from).collect())
    }

    /// Returns the catalog prompt: the list of skills for the system prompt. With a `session`, messages
    /// do not list the skills again.
    #[pyo3(signature = (options = None, *, session = None))]
    fn prompt(
        &self,
        py: Python<'_>,
        options: Option<PromptOptions>,
        session: Option<&Bound<'_, Session>>,
    ) -> PyResult<CatalogPrompt> {
        let session = session.map(|session| session.get().0.clone());
        let prompt = run(py, || {
            let usual = self.0.prompt_options().clone();
            let options = options.map(|options| options.0).unwrap_or_default().apply(usual)?;
            Ok(match &session {
                Some(session) => self.0.session_prompt_with(session, &options),
                None => self.0.prompt_with(&options),
            })
        });
        prompt.map(CatalogPrompt::from)
    }

    /// Activates the skill that `name` refers to: an id, a path, or a unique name. `audience` says who
    /// asks: `model` or `user`. `by` is the skill whose instructions asked for the activation.
    #[pyo3(signature = (name, args = None, *, session, audience = "model", by = None, inline = false))]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn activate(
        &self,
        py: Python<'_>,
        name: &str,
        args: Option<Arguments>,
        session: &Bound<'_, Session>,
        audience: Option<&str>,
        by: Option<String>,
        inline: Option<bool>,
    ) -> PyResult<Activation> {
        let session = &session.get().0;
        let activation = run(py, || {
            let audience = self::audience(audience.unwrap_or("model"))?;
            let inline = inline.unwrap_or_default();
            let how = Activate { audience, by: by.map(Into::into), inline };
            let args = args.map(|Arguments(text)| text).unwrap_or_default();
            self.0.activate_with(name, &args, session, &how)
        });
        activation.map(Activation::from)
    }

    /// Activates a skill, as `activate` does, without blocking the event loop.
    #[pyo3(signature = (*args, **kwargs))]
    fn aactivate<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_thread(slf.as_any(), "activate", args, kwargs)
    }

    /// Activates the skill of a message such as `/review PR 42`; `None` for any other message.
    fn user_message(
        &self,
        py: Python<'_>,
        message: Text<'_>,
        session: &Bound<'_, Session>,
    ) -> PyResult<Option<Activation>> {
        let session = &session.get().0;
        let activation = run(py, || self.0.user_message(&message, session))?;
        Ok(activation.map(Activation::from))
    }

    /// Returns the slash commands that users can type, in the order of skill ids.
    fn commands(&self, py: Python<'_>) -> Vec<Command> {
        py.detach(|| self.0.commands()).into_iter().map(Command::from).collect()
    }

    /// Returns the model's tools in a session.
    #[pyo3(signature = (
        session, *, names_chars = None, read_bytes = None, output_bytes = None, all_toolsets = None
    ))]
    fn tools(
        &self,
        session: &Bound<'_, Session>,
        names_chars: Option<usize>,
        read_bytes: Option<usize>,
        output_bytes: Option<usize>,
        all_toolsets: Option<bool>,
    ) -> Tools {
        let changes = ToolChanges { names_chars, read_bytes, output_bytes, all_toolsets };
        Tools::with(self.0.tools(&session.get().0), changes)
    }

    /// Returns the number of tokens of a text, as counted for budgets.
    fn count_tokens(&self, py: Python<'_>, text: Text<'_>) -> PyResult<usize> {
        unlocked(py, || self.0.count_tokens(&text))
    }
}
