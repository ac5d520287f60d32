//! The settings of an engine as plain values, and the builder made from them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use repertoire::catalog::{Environment, SkillChoice};
use repertoire::matcher::MeaningModel;
use repertoire::session::MemoryStore;
use repertoire::trust::TrustStore;
use repertoire::{
    Allowlist, Consent, DisclosureOptions, Engine, EngineBuilder, Error, ErrorCode, PromptOptions,
    Skill, SnapshotCache,
};
use repertoire_config::{Config, ConfigPlace, Models, open_model};
use repertoire_fetch::Fetcher;

use crate::code::{ScriptSettings, ToolsetSettings};
use crate::hosts::{Hosts, Shared};
use crate::names;
use crate::options::{DisclosureSettings, PromptSettings};
use crate::source::SourceSetting;
use crate::store::{GuardedStore, open_sessions, session_file};

/// The directories in which `config.toml` and the standard sources are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSetting {
    /// The root of the project.
    pub project: PathBuf,
    /// The user's home directory; `None` to use the project's configuration only.
    pub home: Option<PathBuf>,
    /// The directory in which the agent works; by default the project.
    pub working_dir: Option<PathBuf>,
    /// The host's brand.
    pub brand: String,
}

impl ConfigSetting {
    /// Reads the configuration, including the skills that were fetched for it. Does not use the
    /// network.
    fn load(self) -> Config {
        let fetched = self.user_dir("XDG_CACHE_HOME", ".cache").map(|dir| dir.join("fetch"));
        let data = self.user_dir("XDG_DATA_HOME", ".local/share");
        let ConfigSetting { project, home, working_dir, brand } = self;
        let working_dir = working_dir.unwrap_or_else(|| project.clone());
        let mut config = Config::load(&ConfigPlace { home, project, working_dir, brand });
        if let Some(data) = &data {
            config = config.with_models(&Models::new(data.join("models")));
        }
        match fetched.zip(data) {
            Some((cache, data)) => Fetcher::new(cache).installed_in(data).apply(config),
            None => config,
        }
    }

    /// Returns a directory in which the host's command line (by its brand) keeps files: the one that
    /// `variable` names, otherwise `usual` in the home directory; `None` without one.
    fn user_dir(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        let named = std::env::var_os(variable).map(PathBuf::from);
        let home = || self.home.clone().or_else(std::env::home_dir);
        let named = named.filter(|dir| dir.is_absolute());
        let dir = named.or_else(|| Some(home()?.join(usual)))?;
        Some(dir.join(&self.brand))
    }
}

/// The ranking of skills by their meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeaningSetting {
    /// By the table in this package, or by words alone.
    Switch(bool),
    /// By a model in a file, or in a directory with `model.safetensors` and `tokenizer.json`.
    Path(PathBuf),
}

impl MeaningSetting {
    fn model(self) -> Result<Option<Arc<MeaningModel>>, Error> {
        Ok(match self {
            MeaningSetting::Switch(false) => None,
            // The bytes of the table are not copied.
            MeaningSetting::Switch(true) => Some(Arc::new(MeaningModel::bundled())),
            MeaningSetting::Path(path) => Some(Arc::new(open_model(&path)?)),
        })
    }
}

/// The settings of an engine, except for callbacks.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Directories of skills, lowest precedence first.
    pub sources: Vec<SourceSetting>,
    /// The texts of skills in memory.
    pub skills: Vec<String>,
    /// The host's brand.
    pub brand: Option<String>,
    /// The only skills that exist for this agent, by id or name; `None` for all.
    pub allow: Option<Vec<String>>,
    /// Skills to use even though they are disabled.
    pub enable: Vec<String>,
    /// If given, bundled skills that are not enabled are off, for this reason.
    pub bundled_off: Option<String>,
    /// The variables that requirements are checked against.
    pub environment: Option<BTreeMap<String, String>>,
    /// True if verbs also match in their inflected forms.
    pub inflect: Option<bool>,
    /// The length in bytes up to which a message is searched as a whole.
    pub max_query_bytes: Option<usize>,
    /// Phrases that ask about the skills themselves, each with `registry` or `show_all`.
    pub meta_phrases: Vec<(String, String)>,
    /// The ranking by meaning; `None` for that of the configuration.
    pub meaning: Option<MeaningSetting>,
    /// The options of disclosures.
    pub disclosure: DisclosureSettings,
    /// The options of the catalog prompt.
    pub prompt: PromptSettings,
    /// The directories in which `config.toml` is found.
    pub config: Option<ConfigSetting>,
    /// The file or the URL of the session database (`sqlite:`, `postgres:`, `redis:`, `rediss:`); `None` keeps
    /// sessions in memory.
    pub sessions: Option<PathBuf>,
    /// The consent policy: `never`, `first-use` or `always`.
    pub consent: Option<String>,
    /// The directory for snapshots.
    pub cache: Option<PathBuf>,
    /// The file that lists approved code.
    pub trust: Option<PathBuf>,
    /// Options for toolsets; `None` loads no toolsets.
    pub toolsets: Option<ToolsetSettings>,
    /// Options for scripts; `None` runs no scripts.
    pub scripts: Option<ScriptSettings>,
}

impl Settings {
    /// Returns the builder of an engine with these settings and callbacks.
    ///
    /// Fails with `INVALID_PARAM` if a value is invalid; the error names the setting and says what to
    /// write. Fails with `EXECUTION_ERROR` if the file of sessions or of approved code cannot be
    /// opened.
    pub fn into_builder(self, hosts: Hosts) -> Result<EngineBuilder, Error> {
        let mut builder = self.catalog(Engine::builder())?;
        let trust = self.trust.as_ref().map(TrustStore::open).transpose()?;
        let approve = hosts.approve;
        if let Some(toolsets) = &self.toolsets {
            builder = builder.toolsets(toolsets.to_engine(hosts.worker, approve.clone())?);
        }
        if let Some(scripts) = &self.scripts {
            let mut scripts = scripts.to_engine(approve)?;
            scripts.hidden.extend(self.records());
            builder = builder.scripts(scripts);
        }
        if let Some(trust) = trust {
            builder = builder.trust(Arc::new(trust));
        }
        // The configuration comes after toolsets and scripts, because it configures them, and before
        // the disclosure options, which take precedence over it.
        let (mut disclosure, mut prompt) = (DisclosureOptions::default(), PromptOptions::default());
        if let Some(place) = self.config {
            let config = place.load();
            (disclosure, prompt) = (config.disclosure(disclosure), config.prompt(prompt));
            builder = config.apply(builder);
        }
        if let Some(meaning) = self.meaning {
            builder = builder.meaning(meaning.model()?);
        }
        // Sources from the settings come last, so that they take precedence over those of the
        // configuration.
        for source in &self.sources {
            builder = builder.source(source.to_engine()?);
        }
        builder = builder.disclosure(self.disclosure.apply(disclosure)?);
        builder = builder.prompt(self.prompt.apply(prompt)?);
        if let Some(cache) = self.cache {
            builder = builder.cache(SnapshotCache::new(cache));
        }
        let mut consent = Consent::new(match &self.consent {
            Some(policy) => names::consent_policy(policy)?,
            None => repertoire::ConsentPolicy::default(),
        });
        if let Some(ask) = hosts.ask {
            consent = consent.ask(ask);
        }
        builder = builder.consent(consent);
        let sessions = match (hosts.sessions, self.sessions) {
            (Some(store), _) => store,
            (None, Some(place)) => open_sessions(&place)?,
            (None, None) => Arc::new(MemoryStore::default()),
        };
        builder = builder.session_store(GuardedStore::new(sessions));
        if let Some(tokens) = hosts.tokens {
            builder = builder.token_counter(Shared(tokens));
        }
        if let Some(retriever) = hosts.retriever {
            builder = builder.retriever(Shared(retriever));
        }
        if let Some(tasks) = hosts.tasks {
            builder = builder.task_spawner(Shared(tasks));
        }
        Ok(match hosts.progress {
            Some(report) => builder.progress(report),
            None => builder,
        })
    }

    /// The files in which the engine records trust and sessions: whoever reads a file can also lock it.
    fn records(&self) -> Vec<PathBuf> {
        let trust = self.trust.iter().flat_map(|file| TrustStore::files(file));
        trust.chain(self.sessions.iter().filter_map(|place| session_file(place))).collect()
    }

    /// Sets the skills in memory, the catalog options and the matching options.
    fn catalog(&self, mut builder: EngineBuilder) -> Result<EngineBuilder, Error> {
        let brand = self.brand.as_deref();
        for text in &self.skills {
            let skill = match brand {
                None => text.parse()?,
                Some(brand) => Skill::parse(text, brand).map_err(|found| refusal(&found))?,
            };
            builder = builder.skill(skill);
        }
        if let Some(brand) = brand {
            builder = builder.brand(brand);
        }
        builder = builder.allow(Allowlist::from_entries(self.allow.as_deref()));
        builder = builder.choose(self.enable.iter().map(SkillChoice::on));
        if let Some(reason) = &self.bundled_off {
            builder = builder.bundled_off(reason);
        }
        if let Some(variables) = &self.environment {
            let variables = variables.iter().map(|(k, v)| (OsString::from(k), OsString::from(v)));
            builder = builder.environment(Environment::Fixed(variables.collect()));
        }
        if let Some(inflect) = self.inflect {
            builder = builder.inflect(inflect);
        }
        if let Some(n_bytes) = self.max_query_bytes {
            builder = builder.max_query_bytes(n_bytes);
        }
        for (phrase, asks) in &self.meta_phrases {
            builder = builder.meta_phrase(phrase, names::meta_question(asks)?);
        }
        Ok(builder)
    }
}

/// Returns the error for a text that cannot be a skill: the most severe of its findings.
pub fn refusal(diagnostics: &[repertoire::Diagnostic]) -> Error {
    let worst = diagnostics.iter().max_by_key(|found| found.severity);
    worst
        .map_or_else(|| Error::new(ErrorCode::InvalidParam, "a skill was refused", ""), Error::from)
}

#[cfg(test)]
mod tests {
    use repertoire::catalog::Scope;
    use repertoire_config::FetchSettings;
    use repertoire_fetch::SourceList;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn scripts_cannot_read_the_trust_store_and_the_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let skill = dir.path().join("skills/reader");
        std::fs::create_dir_all(skill.join("scripts")).unwrap();
        let front = "---\nname: reader\ndescription: Reads.\n---\nB\n";
        std::fs::write(skill.join("SKILL.md"), front).unwrap();
        let text =
            "#!/bin/sh\nfor file; do cat \"$file\" >/dev/null 2>&1 && echo open; done; echo end\n";
        std::fs::write(skill.join("scripts/a.sh"), text).unwrap();
        let [trust, sessions, other] =
            ["trust.json", "sessions.sqlite", "other"].map(|name| dir.path().join(name));
        std::fs::write(&other, "").unwrap();
        let mut source = SourceSetting::bare(dir.path().join("skills"));
        source.scope = "user".to_owned();
        TrustStore::open(&trust).unwrap().add(&other).unwrap();
        let url = |start: &str| PathBuf::from(format!("{start}{}", sessions.display()));
        for place in [sessions.clone(), url("sqlite:"), url("sqlite://")] {
            let engine = build(Settings {
                sources: vec![source.clone()],
                trust: Some(trust.clone()),
                sessions: Some(place.clone()),
                scripts: Some(ScriptSettings::default()),
                ..Settings::default()
            })
            .unwrap();
            let session = engine.session("s");
            session.record_use(&"reader".into()).unwrap();
            let tools = engine.tools(&session);
            let printed = |files: &[&PathBuf]| {
                let arguments =
                    serde_json::json!({"skill": "reader", "script": "a.sh", "args": files});
                let answer = tools.call("run_skill_script", &arguments);
                serde_json::to_value(&answer).unwrap()["data"]["stdout"].clone()
            };
            // Also what is set aside after the engine was built.
            std::fs::write(dir.path().join("sessions.sqlite.damaged-1"), "").unwrap();
            let entries = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            let is_record = |path: &PathBuf| path.is_file() && *path != other;
            let records: Vec<PathBuf> = entries.filter(is_record).collect();
            assert!(records.len() >= 5, "{records:?}");
            let records: Vec<&PathBuf> = records.iter().collect();
            assert_eq!(printed(&records), "end\n", "{} {records:?}", place.display());
            assert_eq!(printed(&[&other]), "open\nend\n");
        }
    }

    fn build(settings: Settings) -> Result<Engine, Error> {
        settings.into_builder(Hosts::default())?.build()
    }

    #[test]
    fn settings_make_an_engine() {
        let text = "---\nname: git\ndescription: d\ntriggers: [commit]\n---\nBody\n".to_owned();
        let engine = build(Settings { skills: vec![text], ..Settings::default() }).unwrap();
        assert_eq!(engine.disclose("a commit").full, ["git"]);
    }

    #[test]
    fn fetched_skills_of_the_configuration_are_found_without_a_network() {
        let dir = tempfile::tempdir().unwrap();
        let (project, skill) = (dir.path().join("project"), dir.path().join("team/ship"));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(&skill).unwrap();
        let text = "---\nname: ship\ndescription: d\ntriggers: [ship]\n---\nBody\n";
        std::fs::write(skill.join("SKILL.md"), text).unwrap();
        let (home, brand) = (Some(dir.path().to_owned()), "acme".to_owned());
        let config = ConfigSetting { project, home, working_dir: None, brand };

        let cache = config.user_dir("XDG_CACHE_HOME", ".cache").unwrap().join("fetch");
        let data = config.user_dir("XDG_DATA_HOME", ".local/share").unwrap();
        let fetcher = Fetcher::new(cache).installed_in(data);
        let list = SourceList::new(&fetcher, Scope::User, dir.path(), "acme");
        let source = dir.path().join("team").display().to_string();
        let settings = FetchSettings { source, ..FetchSettings::default() };
        let added = list.add(Some("team"), &settings, dir.path()).unwrap();
        std::fs::remove_dir_all(dir.path().join("team")).unwrap();
        let engine =
            build(Settings { config: Some(config.clone()), ..Settings::default() }).unwrap();
        assert_eq!(engine.disclose("ship it").full, ["ship"]);

        std::fs::remove_dir_all(list.copy_of(&added.name)).unwrap();
        let engine = build(Settings { config: Some(config), ..Settings::default() }).unwrap();
        let findings = engine.diagnostics();
        let is_missing =
            |found: &repertoire::Diagnostic| found.code.as_str() == "source-not-fetched";
        assert!(findings.iter().any(is_missing), "{findings:?}");
    }

    #[test]
    fn values_that_are_not_legal_say_what_to_write() {
        let source =
            SourceSetting { scope: "mine".to_owned(), ..SourceSetting::bare("skills".into()) };
        let wrong = [
            Settings { sources: vec![source], ..Settings::default() },
            Settings { skills: vec!["no front matter".to_owned()], ..Settings::default() },
            Settings { consent: Some("sometimes".to_owned()), ..Settings::default() },
            Settings { sessions: Some("mysql://host/db".into()), ..Settings::default() },
            Settings { toolsets: Some(ToolsetSettings::default()), ..Settings::default() },
            Settings {
                scripts: Some(ScriptSettings { timeout: Some(-1.0), ..ScriptSettings::default() }),
                ..Settings::default()
            },
        ];
        for settings in wrong {
            let error = build(settings.clone()).expect_err(&format!("{settings:?}"));
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
            assert!(!error.help().is_empty(), "{error}");
        }
    }
}
