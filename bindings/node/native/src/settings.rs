//! The options of an engine, and its host's callbacks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use repertoire_bindings::repertoire::disclosure::{BytesPerToken, TokenCounter};
use repertoire_bindings::repertoire::session::{Event, SessionState, SessionStore, SkillState};
use repertoire_bindings::repertoire::skill::Network;
use repertoire_bindings::repertoire::toolset::{Approval, HostProgram};
use repertoire_bindings::repertoire::{Engine, Error, ErrorCode, Phase, Task, TaskSpawner};
use repertoire_bindings::without_halves;
use repertoire_bindings::{
    ConfigSetting, EventRecord, Hosts, MeaningSetting, ScriptSettings, Settings, SourceSetting,
    ToolsetSettings,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{DisclosureOptions, PromptOptions, or_default, several};
use crate::provider::HostProvider;
use crate::retriever::HostRetriever;
use crate::{host, views};

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Source {
    Path(PathBuf),
    Full(FullSource),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FullSource {
    path: Option<PathBuf>,
    /// The name of a provider, which the façade keeps under its place among the sources.
    provider: Option<String>,
    /// The scope; `None` for that of a bare path.
    scope: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    optional: bool,
    #[serde(default, deserialize_with = "or_default")]
    links_outside: bool,
    alias: Option<String>,
}

/// The ranking by meaning: a switch, or the path of a table or a model.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Meaning {
    Switch(bool),
    Path(PathBuf),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Config {
    project: PathBuf,
    home: Option<PathBuf>,
    working_dir: Option<PathBuf>,
    brand: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Toolsets {
    #[serde(deserialize_with = "or_default")]
    in_process: bool,
    policy: Option<String>,
    cache: Option<PathBuf>,
    #[serde(deserialize_with = "or_default")]
    config: Map<String, Value>,
    /// The time limit of one call, in milliseconds.
    call_timeout: Option<f64>,
    network: Option<Network>,
    #[serde(deserialize_with = "several")]
    write: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Scripts {
    /// The time limit of one run, in milliseconds.
    timeout: Option<f64>,
    output_bytes: Option<usize>,
    #[serde(deserialize_with = "several")]
    env: Vec<String>,
    #[serde(deserialize_with = "several")]
    write: Vec<PathBuf>,
    #[serde(deserialize_with = "several")]
    hidden: Vec<PathBuf>,
    network: Option<bool>,
}

/// The options of an engine as the façade writes them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Options {
    #[serde(deserialize_with = "several")]
    sources: Vec<Source>,
    #[serde(deserialize_with = "several")]
    skills: Vec<String>,
    brand: Option<String>,
    allow: Option<Vec<String>>,
    #[serde(deserialize_with = "several")]
    enable: Vec<String>,
    bundled_off: Option<String>,
    environment: Option<BTreeMap<String, String>>,
    inflect: Option<bool>,
    max_query_bytes: Option<usize>,
    #[serde(deserialize_with = "or_default")]
    meta_phrases: BTreeMap<String, String>,
    meaning: Option<Meaning>,
    #[serde(deserialize_with = "or_default")]
    disclosure: DisclosureOptions,
    #[serde(deserialize_with = "or_default")]
    prompt: PromptOptions,
    config: Option<Config>,
    sessions: Option<PathBuf>,
    consent: Option<String>,
    toolsets: Option<Toolsets>,
    scripts: Option<Scripts>,
    trust: Option<PathBuf>,
    cache: Option<PathBuf>,
    /// The number under which the façade keeps the callbacks.
    host: u32,
    /// The names of the callbacks that the host provides.
    callbacks: Vec<String>,
    /// The program that runs toolsets, and its arguments.
    worker: Vec<String>,
    /// The number of the listener that receives the progress of building.
    progress: Option<u32>,
}

impl Options {
    fn split(self) -> (Settings, Hosts) {
        let has = |name: &str| self.callbacks.iter().any(|callback| callback == name);
        let host = Host(self.host);
        let mut worker = self.worker.into_iter();
        let worker = worker.next().map(|program| HostProgram {
            program: program.into(),
            args: worker.map(Into::into).collect(),
        });
        let tell = self.progress.and_then(host::teller_of_call);
        let hosts = Hosts {
            worker,
            tokens: has("tokenCounter").then(|| Arc::new(host) as _),
            sessions: has("sessionStore").then(|| Arc::new(host) as Arc<dyn SessionStore>),
            ask: has("askConsent").then(|| host.asks_consent()),
            retriever: has("retriever").then(|| Arc::new(HostRetriever::new(self.host)) as _),
            tasks: has("taskSpawner").then(|| Arc::new(host) as _),
            approve: has("approve").then(|| host.approval()),
            progress: tell.map(|tell| {
                Box::new(move |at: repertoire_bindings::repertoire::Progress| {
                    let phase = match at.phase {
                        Phase::Reading => "reading",
                        Phase::Compiling => "compiling",
                        _ => "indexing",
                    };
                    tell(&json!({"phase": phase, "done": at.done, "total": at.total}));
                }) as _
            }),
        };
        let settings = Settings {
            sources: (0..).zip(self.sources).map(|(nth, of)| of.setting(self.host, nth)).collect(),
            skills: self.skills,
            brand: self.brand,
            allow: self.allow,
            enable: self.enable,
            bundled_off: self.bundled_off,
            environment: self.environment,
            inflect: self.inflect,
            max_query_bytes: self.max_query_bytes,
            meta_phrases: self.meta_phrases.into_iter().collect(),
            meaning: self.meaning.map(Meaning::setting),
            disclosure: self.disclosure.settings(),
            prompt: self.prompt.settings(),
            config: self.config.map(Config::setting),
            sessions: self.sessions,
            consent: self.consent,
            cache: self.cache,
            trust: self.trust,
            toolsets: self.toolsets.map(Toolsets::settings),
            scripts: self.scripts.map(Scripts::settings),
        };
        (settings, hosts)
    }
}

impl Source {
    /// The setting of the source at the place `nth`, for the callbacks of `host`.
    fn setting(self, host: u32, nth: u32) -> SourceSetting {
        let FullSource { path, provider, scope, optional, links_outside, alias } = match self {
            Source::Path(path) => return SourceSetting::bare(path),
            Source::Full(source) => source,
        };
        let bare = match provider {
            Some(name) => SourceSetting::provided(name, Arc::new(HostProvider::new(host, nth))),
            None => SourceSetting::bare(path.unwrap_or_default()),
        };
        let scope = scope.unwrap_or(bare.scope);
        SourceSetting { scope, optional, links_outside, alias, ..bare }
    }
}

impl Meaning {
    fn setting(self) -> MeaningSetting {
        match self {
            Meaning::Switch(is_on) => MeaningSetting::Switch(is_on),
            Meaning::Path(path) => MeaningSetting::Path(path),
        }
    }
}

impl Config {
    fn setting(self) -> ConfigSetting {
        let Config { project, home, working_dir, brand } = self;
        let brand = brand.unwrap_or_else(|| "repertoire".to_owned());
        ConfigSetting { project, home, working_dir, brand }
    }
}

impl Toolsets {
    fn settings(self) -> ToolsetSettings {
        let Toolsets { in_process, policy, cache, config, call_timeout, network, write } = self;
        let call_timeout = call_timeout.map(|ms| ms / 1000.0);
        ToolsetSettings { in_process, policy, cache, config, call_timeout, network, write }
    }
}

impl Scripts {
    fn settings(self) -> ScriptSettings {
        let Scripts { timeout, output_bytes, env, write, hidden, network } = self;
        let timeout = timeout.map(|ms| ms / 1000.0);
        ScriptSettings { timeout, output_bytes, env, write, hidden, network }
    }
}

/// Builds an engine from options in JSON.
pub(crate) fn build(options: &str) -> Result<Engine, Error> {
    let options: Options = serde_json::from_str(&without_halves(options)).map_err(|error| {
        let message = format!("the options of the engine do not fit: {error}");
        Error::new(ErrorCode::InvalidParam, message, "see the type `EngineOptions`")
    })?;
    let (settings, hosts) = options.split();
    settings.into_builder(hosts)?.build()
}

/// The callbacks of an engine, by the number under which the façade keeps them.
#[derive(Debug, Clone, Copy)]
struct Host(u32);

impl Host {
    fn asks_consent(self) -> repertoire_bindings::Ask {
        Box::new(move |request| {
            let request = json!({
                "audience": views::audience(request.audience),
                "request": request,
            });
            let what = "the callback for consent";
            host::asked(self.0, "askConsent", what, &request, Value::as_bool).unwrap_or(false)
        })
    }

    fn approval(self) -> Approval {
        Approval::new(move |request| {
            let request = views::trust_request(request);
            let what = "the callback for approval";
            // Null does not answer.
            let read = |answer: &Value| {
                if answer.is_null() { Some(None) } else { answer.as_bool().map(Some) }
            };
            host::asked(self.0, "approve", what, &request, read).flatten()
        })
    }
}

impl TokenCounter for Host {
    fn count(&self, text: &str) -> usize {
        let read = |answer: &Value| usize::try_from(answer.as_u64()?).ok();
        let what = "the token counter";
        let counted = host::asked(self.0, "tokenCounter", what, &json!(text), read);
        // If the callback failed, the result of the call is dropped, so any estimate will do.
        counted.unwrap_or_else(|| BytesPerToken::default().count(text))
    }
}

impl TaskSpawner for Host {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        let task = views::task(task);
        let read = |answer: &Value| answer.as_str().map(str::to_owned);
        host::asked_or(self.0, "taskSpawner", "the task spawner", &task, read)
    }
}

/// The name of the store in error messages.
const STORE: &str = "the session store";

impl SessionStore for Host {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        let event = views::event(&EventRecord::from(event));
        let payload = json!({"session": session, "event": event});
        let read = |answer: &Value| match answer {
            Value::Null => Some(None),
            state => views::read_state(state).map(Some),
        };
        host::asked_reported(self.0, "record", STORE, &payload, read)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        let read = |answer: &Value| answer.as_array()?.iter().map(views::read_state).collect();
        let skills =
            host::asked_reported(self.0, "state", STORE, &json!({"session": session}), read)?;
        Ok(SessionState { skills })
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        host::asked_reported(self.0, "end", STORE, &json!({"session": session}), |_| Some(()))
    }
}
