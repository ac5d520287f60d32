//! Configuration: the settings in the `config.toml` of a user and of a project, for sources, skills,
//! limits and code.
//!
//! A file is parsed (`document.rs`), and each setting is checked (`read.rs`, `value.rs`) against the schema
//! (`schema.rs`). A [`Config`] merges the settings of both files, and applies them to options (`apply.rs`).
//! A problem becomes a [`Diagnostic`], and never stops loading.
//! The project's file wins over the user's. But the author of the project wrote it, so it decides about the
//! project's own skills alone: it grants no rights, names no source outside of the project, raises no limit,
//! and neither turns off nor hides a skill of the user.

mod apply;
mod defaults;
mod document;
mod edit;
mod fetched;
mod line_process;
mod models;
mod permission;
mod read;
mod retriever;
mod schema;
mod shown;
mod signatures;
mod sources;
mod value;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value as Json;

use read::{Found, Reader};
use repertoire::catalog::{Scope, Source};
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::disclosure::Budget;
use repertoire::matcher::MeaningModel;
use repertoire_system::project::is_planted;
use schema::{Kind, Value};

pub use edit::{disable, enable};
pub use fetched::{FetchSection, FetchSettings, PlacedCopy, remove_fetch, set_fetch};
pub use line_process::{LineFault, LineProcess};
pub use models::{Model, ModelKind, Models, open_model, set_meaning};
pub use retriever::ProgramRetriever;
pub use shown::AGENTS;
pub use signatures::{SignaturePolicy, SignedSources};

/// The name of configuration files.
const NAME: &str = "config.toml";

/// The place from which a configuration is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigPlace {
    /// The home directory of the user; `None` for a configuration of the project alone.
    pub home: Option<PathBuf>,
    /// The root of the project.
    pub project: PathBuf,
    /// The directory where the user or the agent works; see [`Source::standard_in`].
    pub working_dir: PathBuf,
    /// The host's brand. The directories of its files are called `.{brand}`.
    pub brand: String,
}

/// The channel by which skills reach a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Channel {
    /// Commands that people type.
    #[default]
    CommandLine,
    /// Hooks of agents.
    Hooks,
    /// The server of the Model Context Protocol.
    Mcp,
}

impl Channel {
    /// The setting that decides whether bundled skills are used.
    fn setting(self) -> &'static str {
        match self {
            Channel::CommandLine => "bundled.command_line",
            Channel::Hooks => "bundled.hooks",
            Channel::Mcp => "bundled.mcp",
        }
    }
}

/// A file of a [`Config`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigFile {
    /// Its scope: the user's or the project's.
    pub scope: Scope,
    /// Its path, whether it exists or not.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub path: PathBuf,
    /// True if it exists.
    pub exists: bool,
}

/// A setting that is in force.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Its name, such as `limits.max_skills`.
    pub key: String,
    /// Its value; null if it is unlimited or empty, or if the configuration does not decide it.
    pub value: Json,
    /// The scope of the file that sets it; `None` for a default.
    pub scope: Option<Scope>,
    /// The file that sets it; `None` for a default.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize_option")]
    pub path: Option<PathBuf>,
    /// The line of its key in that file, from 1; `None` for a default.
    pub line: Option<usize>,
}

/// The settings of the user and of a project.
///
/// ```
/// use repertoire::Engine;
/// use repertoire_config::{Config, ConfigPlace};
///
/// let dir = tempfile::tempdir()?;
/// std::fs::create_dir(dir.path().join(".acme"))?;
/// std::fs::write(dir.path().join(".acme/config.toml"), "[limits]\nmax_skills = 1\n")?;
///
/// let project = dir.path().to_owned();
/// let place = ConfigPlace {
///     home: None, working_dir: project.clone(), project, brand: "acme".to_owned(),
/// };
/// let engine = Config::load(&place).apply(Engine::builder()).build()?;
/// assert_eq!(engine.disclosure_options().max_skills, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Config {
    place: ConfigPlace,
    files: Vec<ConfigFile>,
    /// The settings found in the files, the user's before the project's.
    found: Vec<Found>,
    diagnostics: Vec<Diagnostic>,
    /// Sources that replace those of the files.
    sources: Option<Vec<Source>>,
    /// The sources of the host's agent.
    of_agent: Vec<Source>,
    /// Fetched sources, each with the scope of the file that names it.
    fetched: Vec<(Scope, Source)>,
    /// Copies of fetched skills in the directories of agents.
    placed: Vec<PlacedCopy>,
    /// The size of the context window in tokens, in place of that of the files.
    window: Option<usize>,
    /// The model that `routing.meaning` names.
    model: Option<Arc<MeaningModel>>,
    /// The agent whose entries of `skills.show` apply.
    agent: Option<String>,
    /// The time for all answers of the retriever together; `None` if there is no limit.
    retriever_time: Option<Duration>,
}

impl Config {
    /// Reads both files. Neither needs to exist.
    pub fn load(place: &ConfigPlace) -> Config {
        let ConfigPlace { home, project, brand, .. } = place;
        let mut config = Config { place: place.clone(), ..Config::default() };
        let of_user = home.as_deref().map(|home| Config::path(home, brand));
        let of_project = Config::path(project, brand);
        // The project may be the home directory.
        let real = |path: &Path| path.canonicalize().ok();
        let is_one =
            of_user.as_deref().and_then(real).is_some_and(|u| real(&of_project) == Some(u));
        let files = of_user.map(|path| (Scope::User, path)).into_iter();
        for (scope, path) in files.chain((!is_one).then_some((Scope::Project, of_project))) {
            // What another user put into the directory of a project counts as missing.
            let is_left_out = scope == Scope::Project && path.parent().is_some_and(is_planted);
            let exists = path.symlink_metadata().is_ok() && !is_left_out;
            if exists {
                config.read(scope, &path);
            }
            config.files.push(ConfigFile { scope, path, exists });
        }
        config.report_shares();
        config.report_standard();
        config.check_sources();
        config.check_shown();
        config
    }

    /// The path of the configuration file below `base`, the directory of a user or a project.
    pub fn path(base: &Path, brand: &str) -> PathBuf {
        base.join(format!(".{brand}")).join(NAME)
    }

    /// The place from which the configuration was loaded.
    pub fn place(&self) -> &ConfigPlace {
        &self.place
    }

    /// The files of the settings, the user's first.
    pub fn files(&self) -> &[ConfigFile] {
        &self.files
    }

    /// The problems of the files.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Tells whether bundled skills are used; by default on the command line only.
    pub fn uses_bundled(&self, channel: Channel) -> bool {
        let name = channel.setting();
        self.switch(name).unwrap_or_else(|| defaults::default_of(name) == Some(Value::Switch(true)))
    }

    /// Sets the size of the context window in tokens, for budgets that are a share of it, regardless of
    /// the files. `None` changes nothing.
    #[must_use]
    pub fn with_window(mut self, window: Option<usize>) -> Config {
        self.window = window.or(self.window);
        self
    }

    /// All settings in force: those of the files and, for keys that no file sets, the defaults. If both
    /// files have a list, both are in force.
    pub fn settings(&self) -> Vec<Setting> {
        let from = |found: &Found| Setting {
            key: found.name.clone(),
            value: found.value.to_json(),
            scope: Some(found.scope),
            path: Some(found.path.clone()),
            line: Some(found.line),
        };
        let mut settings = Vec::new();
        for key in schema::KEYS.iter().filter(|key| !key.name.contains('*')) {
            let found = self.found.iter().filter(|found| found.name == key.name);
            let found: Vec<&Found> = found.filter(|found| !self.is_open_share(found)).collect();
            let is_list =
                matches!(key.kind, Kind::Texts | Kind::Closed | Kind::Sources | Kind::Shown);
            let n_hidden = if is_list { 0 } else { found.len().saturating_sub(1) };
            settings.extend(found[n_hidden..].iter().map(|found| from(found)));
            if found.is_empty() {
                let value =
                    defaults::default_of(key.name).map_or(Json::Null, |value| value.to_json());
                let key = key.name.to_owned();
                settings.push(Setting { key, value, scope: None, path: None, line: None });
            }
        }
        let is_named = |found: &&Found| {
            schema::named(found.name.split('.').next().unwrap_or_default()).is_some()
        };
        settings.extend(self.found.iter().filter(is_named).map(from));
        settings
    }

    fn read(&mut self, scope: Scope, path: &Path) {
        let document = match document::read(path, scope, &self.place.project) {
            Ok(document) => document,
            Err(finding) => {
                // A user's file that is lost may have demanded signatures.
                if scope == Scope::User {
                    self.found.push(Found::signatures_required(&finding));
                }
                return self.diagnostics.push(*finding);
            }
        };
        let mut reader = Reader {
            path,
            text: document.raw(),
            scope,
            home: self.place.home.as_deref(),
            project: &self.place.project,
            user: &self.found,
            found: Vec::new(),
            findings: Vec::new(),
        };
        reader.read(document.as_table());
        let Reader { found, findings, .. } = reader;
        self.diagnostics.extend(findings);
        self.found.extend(found);
    }

    /// Reports budgets that are a share of the context window, if no file sets its size.
    fn report_shares(&mut self) {
        let shares = self.found.iter().filter(|found| self.is_open_share(found));
        let findings = shares.map(|found| {
            let message = format!("`{}` is a share of a window of unknown size", found.name);
            let help = "set `limits.window` to the size of the context window in tokens";
            found.finding(Code::InvalidValue, message, help)
        });
        let findings: Vec<_> = findings.collect();
        self.diagnostics.extend(findings);
    }

    /// Tells whether a setting is a share of a context window of unknown size, and so has no effect.
    fn is_open_share(&self, found: &Found) -> bool {
        match &found.value {
            Value::Budget(text) => Budget::parse(text, self.window()).is_err(),
            _ => false,
        }
    }

    /// The value of a setting, from the file that wins.
    fn value(&self, name: &str) -> Option<&Value> {
        let mut found = self.found.iter().rev();
        let found = found.find(|found| found.name == name && !self.is_open_share(found));
        found.map(|found| &found.value)
    }

    fn switch(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Switch(is_on) => Some(*is_on),
            _ => None,
        }
    }

    fn count(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Count(n) => Some(*n),
            _ => None,
        }
    }
}

impl Found {
    /// The elements of a list; none if the value is not a list.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.value.texts().iter().map(String::as_str)
    }
}

/// Returns `toolsets.Class.key` for `toolsets.skill:Class.key`.
fn without_skill(name: &str) -> Option<String> {
    let (class, key) = name.strip_prefix("toolsets.")?.rsplit_once('.')?;
    let (_, class) = class.split_once(':')?;
    Some(format!("toolsets.{class}.{key}"))
}

/// The code blocks of the page on configuration are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/config.md")]
struct ConfigPage;

#[cfg(test)]
mod code_tests;
#[cfg(test)]
mod project_tests;
#[cfg(test)]
mod tests;
