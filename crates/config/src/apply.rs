//! The application of settings to the options of an engine.

use std::collections::{BTreeMap, BTreeSet};

use super::read::Found;
use super::schema::Value;
use super::{Channel, Config};
use repertoire::EngineBuilder;
use repertoire::catalog::{Scope, SkillChoice};
use repertoire::diagnostic::Code;
use repertoire::disclosure::{Budget, DisclosureOptions, PromptOptions};
use repertoire::matcher::MetaQuestion;
use repertoire::script::{ProjectScripts, ScriptLimits, ScriptOptions};
use repertoire::skill::Network;
use repertoire::toolset::{Limits, ToolsetOptions};
use repertoire_sessions::ServerOptions;

/// The reason why bundled skills are off if no setting turns them on.
const BUNDLED_OFF: &str = "bundled skills are off here unless they are asked for";

impl Config {
    /// The settings that turn skills on and off; the last one that names a skill decides. The project's
    /// file wins over the user's about the project's own skills; in the same file, `disabled` wins over
    /// `enabled`, and `off` in `show` over both.
    pub(crate) fn choices(&self) -> Vec<SkillChoice> {
        let mut choices = Vec::new();
        for file in &self.files {
            for setting in ["skills.enabled", "skills.disabled"] {
                let of_file = self.found.iter().filter(|found| found.path == file.path);
                for found in of_file.filter(|found| found.name == setting) {
                    choices.extend(found.texts().map(|skills| choice(found, skills)));
                }
            }
            let of_file = self.found.iter().filter(|found| found.path == file.path);
            choices.extend(of_file.flat_map(|found| self.hidden_by(found)));
        }
        choices
    }

    /// Applies the settings to `builder`: the brand, the sources, the skills that are on and off, and
    /// the options of messages, disclosures and the catalog prompt. Settings of toolsets and scripts
    /// apply only if the builder was given their options before. Later calls of the builder override
    /// these settings. The findings of the configuration are added to the
    /// [diagnostics](repertoire::Engine::diagnostics).
    #[must_use]
    pub fn apply(&self, builder: EngineBuilder) -> EngineBuilder {
        let mut builder = builder
            .brand(&self.place.brand)
            .sources(self.sources())
            .choose(self.choices())
            .expose(self.exposures())
            .map_disclosure(|options| self.disclosure(options))
            .map_prompt(|options| self.prompt(options))
            .map_toolsets(|options| self.toolsets(options))
            .map_scripts(|options| self.scripts(options));
        if let Some(keep) = self.switch("routing.keep_messages") {
            builder = builder.keep_messages(keep);
        }
        self.diagnostics.iter().cloned().fold(self.apply_ranking(builder), EngineBuilder::finding)
    }

    /// Applies only the settings that rank skills for a message: the phrases of questions about skills, inflection,
    /// the model of meanings, the retriever and the length of a message. Sources, and what turns skills on or off, are
    /// left as the builder has them.
    #[must_use]
    pub fn apply_ranking(&self, mut builder: EngineBuilder) -> EngineBuilder {
        for (phrase, asks) in self.meta_phrases() {
            builder = builder.meta_phrase(phrase, asks);
        }
        if let Some(inflect) = self.switch("routing.inflect") {
            builder = builder.inflect(inflect);
        }
        builder = self.apply_meaning(builder);
        if let Some(retriever) = self.retriever() {
            builder = builder.retriever_on_use(retriever);
        }
        if let Some(n_bytes) = self.size("limits.max_query_bytes") {
            builder = builder.max_query_bytes(n_bytes);
        }
        builder
    }

    /// The reason, in a phrase, why bundled skills that no setting enables are off in `channel`; `None`
    /// if they are on. It is the argument for
    /// [`EngineBuilder::bundled_off`](repertoire::EngineBuilder::bundled_off).
    pub fn bundled_off(&self, channel: Channel) -> Option<String> {
        if self.uses_bundled(channel) {
            return None;
        }
        let found = self.found.iter().rev().find(|found| found.name == channel.setting());
        Some(match found {
            Some(Found { name, path, .. }) => format!("`{name}` is false in {}", path.display()),
            None => BUNDLED_OFF.to_owned(),
        })
    }

    pub(crate) fn meta_phrases(&self) -> Vec<(String, MetaQuestion)> {
        let phrase = |found: &Found| {
            let asks = match found.name.as_str() {
                "meta_phrases.registry" => MetaQuestion::Registry,
                "meta_phrases.show_all" => MetaQuestion::ShowAll,
                _ => return Vec::new(),
            };
            found.texts().map(|text| (text.to_owned(), asks)).collect()
        };
        self.found.iter().flat_map(phrase).collect()
    }

    /// Returns `options` with the settings for disclosures applied.
    pub fn disclosure(&self, mut options: DisclosureOptions) -> DisclosureOptions {
        set(&mut options.max_skills, self.size("limits.max_skills"));
        set(&mut options.max_all_skills, self.size("limits.max_all_skills"));
        set(&mut options.max_lines, self.size("limits.max_lines"));
        set(&mut options.budget, self.budget("limits.budget").map(Some));
        if let Some(Value::Margin(margin)) = self.value("routing.relevance") {
            options.relevance = *margin;
        }
        options
    }

    /// Returns `options` with the settings for the catalog prompt applied.
    pub fn prompt(&self, mut options: PromptOptions) -> PromptOptions {
        set(&mut options.budget, self.budget("limits.prompt_budget").map(Some));
        set(&mut options.context_window, self.window().map(Some));
        options
    }

    /// Tells whether the texts of messages are kept, for
    /// [`Session::keep_messages`](repertoire::session::Session::keep_messages).
    pub fn keeps_messages(&self) -> bool {
        self.switch("routing.keep_messages").unwrap_or_default()
    }

    /// The address of the server that keeps the sessions, for
    /// [`session::open_url`](repertoire_sessions::open_url); `None` if no file names one. It may hold a
    /// password.
    pub fn session_store(&self) -> Option<&str> {
        match self.value("sessions.store")? {
            Value::Address(url) => Some(url),
            _ => None,
        }
    }

    /// Returns `options` with the settings for sessions on a server applied.
    pub fn sessions(&self, mut options: ServerOptions) -> ServerOptions {
        set(&mut options.timeout, self.seconds("sessions.timeout"));
        options
    }

    /// The size of the context window in tokens, if [`with_window`](Config::with_window) or a file sets
    /// it.
    pub fn window(&self) -> Option<usize> {
        self.window.or_else(|| self.size("limits.window"))
    }

    /// The same settings without those of the project's file.
    fn of_user(&self) -> Config {
        let mut config = self.clone();
        config.found.retain(|found| found.scope != Scope::Project);
        config
    }

    /// Returns `options` with the settings for scripts applied. Those of the project's file apply only to the
    /// project's scripts, which read the project, unless `options` names another workspace.
    pub fn scripts(&self, mut options: ScriptOptions) -> ScriptOptions {
        let is_own =
            |found: &Found| found.scope == Scope::Project && found.name.starts_with("scripts.");
        if self.found.iter().any(is_own) {
            let (mut limits, mut network) = (options.limits.clone(), options.network);
            self.script_limits(&mut limits, &mut network);
            options.project = Some(ProjectScripts { limits, network });
        }
        self.of_user().script_limits(&mut options.limits, &mut options.network);
        options.workspace.get_or_insert_with(|| self.place.project.clone());
        let listed = |name: &str| self.value(name).map(Value::texts).unwrap_or_default();
        options.write.extend(listed("scripts.write").iter().map(Into::into));
        options.env.extend_from_slice(listed("scripts.env"));
        options
    }

    fn script_limits(&self, limits: &mut ScriptLimits, network: &mut bool) {
        set(&mut limits.timeout, self.seconds("scripts.timeout"));
        set(&mut limits.grace, self.seconds("scripts.grace"));
        set(&mut limits.output_bytes, self.size("scripts.output_bytes"));
        set(&mut limits.args, self.size("scripts.args"));
        set(&mut limits.arg_bytes, self.size("scripts.arg_bytes"));
        set(&mut limits.cpu_seconds, self.count("scripts.cpu_seconds").map(Some));
        set(&mut limits.memory, self.count("scripts.memory").map(Some));
        set(&mut limits.address_space, self.count("scripts.address_space").map(Some));
        set(&mut limits.file_bytes, self.count("scripts.file_bytes").map(Some));
        set(&mut limits.scratch_bytes, self.count("scripts.scratch_bytes").map(Some));
        set(&mut limits.group_processes, self.count("scripts.group_processes").map(Some));
        set(&mut limits.processes, self.count("scripts.processes").map(Some));
        set(network, self.switch("scripts.network"));
    }

    /// Returns `options` with the settings for classes of tools applied. Those of the project's file apply only
    /// to classes of the project's skills.
    pub fn toolsets(&self, mut options: ToolsetOptions) -> ToolsetOptions {
        for found in &self.found {
            let Some((class, "config")) = class_and_key(&found.name) else { continue };
            let Value::Table(table) = &found.value else { continue };
            let configs = match found.scope {
                Scope::Project => &mut options.project_config,
                _ => &mut options.config,
            };
            configs.insert(class.to_owned(), table.clone().into());
        }
        if self.found.iter().any(|found| found.scope == Scope::Project) {
            options.project_limits = options.limits.clone();
            self.class_limits(&mut options.project_limits);
        }
        self.of_user().class_limits(&mut options.limits);
        options
    }

    fn class_limits(&self, all: &mut BTreeMap<String, Limits>) {
        let with_limits = self.found.iter().filter_map(|found| class_and_key(&found.name));
        let classes: BTreeSet<&str> =
            with_limits.filter(|(_, key)| *key != "config").map(|(class, _)| class).collect();
        for class in classes {
            let limits = all.entry(class.to_owned()).or_default();
            if let Some((_, general)) = class.split_once(':') {
                self.limit(limits, general);
            }
            self.limit(limits, class);
        }
    }

    /// Applies the settings for one class.
    fn limit(&self, limits: &mut Limits, class: &str) {
        let name = |key: &str| format!("toolsets.{class}.{key}");
        set(&mut limits.call_timeout, self.seconds(&name("call_timeout")));
        set(&mut limits.load_timeout, self.seconds(&name("load_timeout")));
        set(&mut limits.retry, self.seconds(&name("retry")));
        set(&mut limits.grace, self.seconds(&name("grace")));
        set(&mut limits.idle, self.seconds(&name("idle")));
        set(&mut limits.cpu_seconds, self.count(&name("cpu_seconds")).map(Some));
        set(&mut limits.address_space, self.count(&name("address_space")).map(Some));
        set(&mut limits.file_bytes, self.count(&name("file_bytes")).map(Some));
        set(&mut limits.processes, self.count(&name("processes")).map(Some));
        set(&mut limits.network, self.network(&name("network")));
        let listed = |key: &str| self.value(&name(key)).map(Value::texts).unwrap_or_default();
        limits.read.extend(listed("read").iter().map(Into::into));
        limits.write.extend(listed("write").iter().map(Into::into));
        limits.env.extend_from_slice(listed("env"));
    }

    fn network(&self, name: &str) -> Option<Network> {
        match self.value(name)? {
            Value::Network(network) => Some(network.clone()),
            _ => None,
        }
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.count(name).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    }

    pub(crate) fn seconds(&self, name: &str) -> Option<std::time::Duration> {
        match self.value(name)? {
            Value::Seconds(time) => Some(*time),
            _ => None,
        }
    }

    fn budget(&self, name: &str) -> Option<Budget> {
        match self.value(name)? {
            Value::Budget(text) => Budget::parse(text, self.window()).ok(),
            _ => None,
        }
    }
}

/// The choice that a setting makes about one of its entries.
fn choice(found: &Found, skills: &str) -> SkillChoice {
    let is_off = found.name == "skills.disabled";
    let message = format!("`{}` names `{skills}`, but there is no such skill", found.name);
    let help = "correct the id, or remove it";
    SkillChoice {
        skills: skills.to_owned(),
        off: is_off.then(|| format!("disabled in {}", found.path.display())),
        of_project: found.scope == Scope::Project,
        unknown: found.finding(Code::UnknownSkill, message, help),
    }
}

fn set<T>(option: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *option = value;
    }
}

/// Splits `toolsets.Class.key` into the class and the key.
fn class_and_key(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("toolsets.")?.rsplit_once('.')
}
