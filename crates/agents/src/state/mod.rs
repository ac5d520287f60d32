//! The state of an agent, from its own files, settings and environment: the skills that it finds, those
//! that are off, and the settings that keep it from running hooks.
//!
//! There is one file for each agent. Its comments name the agent's sources from which the paths, keys and
//! precedences were taken, or the version with which they were observed.

mod claude_code;
mod claude_commands;
mod claude_plugins;
mod claude_schema;
mod claude_settings;
mod claude_types;
mod codex;
mod copilot;
mod copilot_managed;
mod cursor;
mod denied;
mod droid;
mod env_files;
mod filled;
mod folders;
mod gemini;
mod hook_files;
mod hook_schemas;
mod manifest_path;
mod open_code;
mod options;
mod qwen;
mod server;
mod server_options;
mod settings;
mod skill_place;
mod start;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::agent::HookAgent;
use super::listing::{ListedPlace, ListingBudget};
use super::real_path::real;
use repertoire::catalog::{RuleTarget, Scope, SkillRule, Source};
use repertoire::disclosure::NativeSkills;
use repertoire_system::project::is_planted;
use settings::Syntax;

pub use claude_commands::AgentCommand;
pub use hook_files::HookFiles;
pub use skill_place::SkillPlace;
pub use start::Start;

/// An agent's state at its start in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentState {
    /// The directories in which the agent finds skills, lowest precedence first.
    pub roots: Vec<SkillRoot>,
    /// The settings that turn skills off, or on again. Of several that apply, the last one decides.
    pub switches: Vec<SkillSwitch>,
    /// The setting that keeps the agent from running hooks; `None` if it runs them.
    pub hooks_off: Option<Obstacle>,
    /// The hooks that a setting turns off, by their name or, without one, their command; only of Gemini CLI.
    pub disabled_hooks: Vec<(String, Obstacle)>,
    /// True if [`hooks_off`](Self::hooks_off) spares hooks in the administrator's settings.
    pub spares_managed_hooks: bool,
    /// True if nobody has been asked yet whether to trust the starting directory: the agent asks when it starts, and
    /// does not start without a terminal.
    pub asks_for_trust: bool,
    /// The settings files without which, if they are not valid, the agent does not start.
    pub(crate) demanded: Vec<(PathBuf, Syntax)>,
    /// The setting that takes the tools of the MCP server away from the model; not for Claude Code.
    pub(crate) server_off: Option<Obstacle>,
    /// The administrator's settings files with hooks, for an agent that has any.
    pub(crate) managed_settings: Vec<PathBuf>,
    /// The directories whose settings the agent reads as those of the project.
    pub settings_dirs: Vec<PathBuf>,
    /// The directories whose `settings.local.json` the agent reads; only Claude Code has such a file.
    pub local_settings_dirs: Vec<PathBuf>,
    /// The settings files of which the agent ignores everything, each with the setting because of which.
    pub ignored_files: Vec<(PathBuf, Obstacle)>,
    /// The settings files of which another file replaces hooks, each with the event and that file.
    pub replaced_hooks: Vec<(PathBuf, Obstacle)>,
    /// The directories of skills that the agent leaves out, each with the setting because of which: those of
    /// plugins that are turned off, or of a project that the user distrusts.
    pub left_out: Vec<(PathBuf, Obstacle)>,
    /// The plugins that a setting turns on and that are not installed, by `NAME@MARKETPLACE`, each with that setting.
    pub missing_plugins: Vec<(String, Obstacle)>,
}

/// A directory in which an agent finds skills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillRoot {
    /// The directory, which need not exist.
    pub path: PathBuf,
    /// The owner: the user, the project, or [`Scope::Fetched`] for a plugin.
    pub scope: Scope,
    /// The name of the plugin that the directory belongs to.
    pub plugin: Option<String>,
    /// If the directory is itself a skill, not one of skills: the name by which the agent calls it.
    pub skill: Option<String>,
    /// The directory of the plugin.
    pub(crate) plugin_dir: Option<PathBuf>,
}

/// A setting that turns skills off, or on again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSwitch {
    /// The skills.
    pub target: RuleTarget,
    /// True if the setting turns them off.
    pub off: bool,
    /// The setting.
    pub by: Obstacle,
}

/// A setting, and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Obstacle {
    /// The setting, as its file has it.
    pub setting: String,
    /// The file.
    pub file: PathBuf,
}

impl Obstacle {
    fn new(setting: impl Into<String>, file: &Path) -> Obstacle {
        Obstacle { setting: setting.into(), file: file.to_owned() }
    }

    /// The switch in `file` that turns the plugin `id` off.
    fn of_plugin(id: &str, file: &Path) -> Obstacle {
        Obstacle::new(format!("enabledPlugins: {{\"{id}\": false}}"), file)
    }

    /// The lack of a switch that turns the plugin `id` on, which `file` tells to be installed.
    fn of_unnamed_plugin(id: &str, file: &Path) -> Obstacle {
        Obstacle::new(format!("no `{id}` in enabledPlugins"), file)
    }

    /// A variable of the environment, in place of a file.
    fn of_variable(name: &str, value: &str) -> Obstacle {
        Obstacle::new(format!("{name}={value}"), Path::new("the environment"))
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` in {}", self.setting, self.file.display())
    }
}

impl SkillRoot {
    fn new(scope: Scope, path: impl Into<PathBuf>) -> SkillRoot {
        SkillRoot { path: path.into(), scope, plugin: None, skill: None, plugin_dir: None }
    }

    fn user(path: impl Into<PathBuf>) -> SkillRoot {
        SkillRoot::new(Scope::User, path)
    }

    fn project(path: impl Into<PathBuf>) -> SkillRoot {
        SkillRoot::new(Scope::Project, path)
    }

    /// A directory of skills of the plugin `name`, which is in `dir`.
    fn plugin(name: &str, dir: &Path, path: impl Into<PathBuf>) -> SkillRoot {
        SkillRoot {
            plugin: Some(name.to_owned()),
            plugin_dir: Some(dir.to_owned()),
            ..SkillRoot::new(Scope::Fetched, path)
        }
    }

    /// The directory in the agent's own list of skills.
    fn listed(&self, kind: usize, word: &'static str) -> ListedPlace {
        let dirs = std::iter::once(self.path.clone()).chain(links_in(&self.path).into_keys());
        ListedPlace { dirs: dirs.collect(), kind, word }
    }
}

impl HookAgent {
    /// Reads the state of the agent as it is if somebody starts it at `start`. Settings that cannot be
    /// read count as absent.
    pub fn state(self, start: &Start) -> AgentState {
        let mut state = match self {
            HookAgent::ClaudeCode => claude_code::state(start),
            HookAgent::Codex => codex::state(start),
            HookAgent::Gemini => gemini::state(start),
            HookAgent::Cursor => cursor::state(start),
            HookAgent::Copilot => copilot::state(start),
            HookAgent::OpenCode => open_code::state(start),
            HookAgent::Qwen => qwen::state(start),
            HookAgent::Droid => droid::state(start),
        };
        options::apply(self, start, &mut state);
        state
    }

    /// Returns the setting that takes the tools of this program's MCP server, `repertoire`, away from the model of the
    /// agent, if somebody starts it at `start`; `None` if the model has them, or if no server is installed.
    pub fn server_off(self, start: &Start) -> Option<Obstacle> {
        let by_option = server_options::server_off(self, start);
        by_option.or_else(|| match self {
            HookAgent::ClaudeCode => claude_code::server_off(start),
            _ => self.state(start).server_off,
        })
    }

    /// Returns the commands of users, projects and plugins that the agent lists to its model like skills, for its
    /// `state`. Reads the files. Only Claude Code has such commands.
    pub fn commands(self, state: &AgentState) -> Vec<AgentCommand> {
        match self {
            HookAgent::ClaudeCode => claude_commands::commands(state),
            _ => Vec::new(),
        }
    }

    /// Returns the budget of the agent's own list of skills, for a conversation with `model`, if the agent
    /// names one; `None` if it cuts no descriptions, or if its budget is not known.
    pub fn listing_budget(self, start: &Start, model: Option<&str>) -> Option<ListingBudget> {
        match self {
            HookAgent::ClaudeCode => Some(claude_code::listing_budget(start, model)),
            HookAgent::Codex => Some(codex::listing_budget(start)),
            HookAgent::Copilot => Some(copilot::listing_budget(start)),
            HookAgent::Droid => Some(droid::listing_budget(start, model)),
            // Measured with 300 skills: they describe each of them. Of Cursor there is no program to measure with.
            HookAgent::Gemini | HookAgent::OpenCode | HookAgent::Qwen | HookAgent::Cursor => None,
        }
    }

    /// Returns the directory of the user's settings for the agent; `None` without a home directory.
    pub fn user_dir(self, start: &Start) -> Option<PathBuf> {
        match self {
            HookAgent::ClaudeCode => start.dir_of("CLAUDE_CONFIG_DIR", ".claude"),
            HookAgent::Codex => start.dir_of("CODEX_HOME", ".codex"),
            // The variable names the home directory in which the agent's directory is.
            HookAgent::Gemini => Some(start.dir_of("GEMINI_CLI_HOME", "")?.join(".gemini")),
            HookAgent::Cursor => start.in_home(".cursor"),
            HookAgent::Copilot => start.dir_of("COPILOT_HOME", ".copilot"),
            HookAgent::Qwen => start.dir_of("QWEN_HOME", ".qwen"),
            HookAgent::Droid => Some(start.dir_of("FACTORY_HOME_OVERRIDE", "")?.join(".factory")),
            HookAgent::OpenCode => {
                let named = start.named_dir("OPENCODE_CONFIG_DIR");
                named.or_else(|| Some(start.config_home.as_ref()?.join("opencode")))
            }
        }
    }
}

impl AgentState {
    /// Returns the settings file because of which the agent does not start, with its fault. Reads the files: a hook,
    /// which an agent that has started runs, need not know.
    pub fn not_starting(&self) -> Option<Obstacle> {
        self.demanded.iter().find_map(|(path, syntax)| syntax.fault_of(path))
    }

    /// Returns the administrator's settings file with hooks: the one that names our hook for `agent`, whose state this
    /// is, or else the first. `None` for an agent that has no such file. Reads the files.
    pub fn managed_settings(&self, agent: HookAgent) -> Option<PathBuf> {
        settings::with_own_hooks(&self.managed_settings, agent)
    }

    /// Returns the native skills of `agent`, whose state this is, by their directories.
    pub fn native_skills(&self, agent: HookAgent) -> NativeSkills {
        let mut native = agent.native_skills().clone();
        let root = |root: &SkillRoot| Cow::Owned(root.path.to_string_lossy().into_owned());
        native.roots = self.roots.iter().map(root).collect();
        native.linked = self.roots.iter().flat_map(|root| links_in(&root.path)).collect();
        // Such a skill is found like one behind a link: by its own path, not by the one above.
        let single = |root: &SkillRoot| Some((root.path.canonicalize().ok()?, root.skill.clone()?));
        native.linked.extend(self.roots.iter().filter_map(single));
        let namespaces =
            self.roots.iter().filter_map(|root| Some((root.path.clone(), root.plugin.clone()?)));
        native.namespaces = namespaces.collect();
        native
    }

    /// Returns the sources of skills that the agent reads, lowest precedence first, for the project in
    /// `project`.
    pub fn sources(&self, project: &Path) -> Vec<Source> {
        let source = |root: &SkillRoot| match (&root.plugin, root.scope) {
            (Some(plugin), _) => Source::fetched(plugin, &root.path).namespaced(),
            (None, Scope::Project) => {
                Source::project(&root.path).optional().allow_links_into(project)
            }
            (None, scope) => Source::new(scope, &root.path).optional(),
        };
        // Who works in the home directory has the same directories as a user and in the project.
        let of_user = self.roots.iter().filter(|root| root.scope == Scope::User);
        let of_user: Vec<PathBuf> = of_user.map(|root| real(&root.path)).collect();
        let is_once = |root: &&SkillRoot| {
            root.scope != Scope::Project || !of_user.contains(&real(&root.path))
        };
        let is_ours = |root: &&SkillRoot| {
            root.scope != Scope::Project || !root.path.parent().is_some_and(is_planted)
        };
        self.roots.iter().filter(is_once).filter(is_ours).map(source).collect()
    }

    /// Returns the rules of the agent's settings about skills, for an engine.
    pub fn rules(&self, agent: HookAgent) -> Vec<SkillRule> {
        let rule = |switch: &SkillSwitch| SkillRule {
            target: switch.target.clone(),
            off: switch.off.then(|| format!("off in {}: {}", agent.title(), switch.by)),
        };
        self.switches.iter().map(rule).collect()
    }

    /// Adds a directory of skills, which the agent leaves out if a setting is `off`.
    fn add(&mut self, root: SkillRoot, off: Option<&Obstacle>) {
        match off {
            Some(by) => self.left_out.push((root.path, by.clone())),
            None => self.roots.push(root),
        }
    }

    /// Adds a plugin that the file turns on and that is not installed.
    fn add_missing(&mut self, id: &str, file: &Path) {
        let by = Obstacle::new(format!("enabledPlugins: {{\"{id}\": true}}"), file);
        self.missing_plugins.push((id.to_owned(), by));
    }

    /// Adds a setting that turns off everything that the agent finds.
    fn turn_all_off(&mut self, by: &Obstacle) {
        self.switch_all(true, by);
    }

    /// Adds a setting about everything that the agent finds.
    fn switch_all(&mut self, off: bool, by: &Obstacle) {
        for root in &self.roots {
            let target = RuleTarget::Below(root.path.clone());
            self.switches.push(SkillSwitch { target, off, by: by.clone() });
        }
    }

    fn switch(&mut self, target: RuleTarget, off: bool, by: Obstacle) {
        self.switches.push(SkillSwitch { target, off, by });
    }
}

/// Returns the targets of the links to directories in `root`, each with the name of its link.
fn links_in(root: &Path) -> BTreeMap<PathBuf, String> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let targets = links.filter_map(|link| {
        let target = link.path().canonicalize().ok()?;
        Some((target, link.file_name().to_string_lossy().into_owned()))
    });
    targets.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_the_user_is_not_the_projects_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let (mine, other) = (dir.path().join("mine"), dir.path().join("other"));
        std::fs::create_dir(&mine).unwrap();
        let roots = [
            SkillRoot::user(&mine),
            SkillRoot::project(&mine),
            SkillRoot::project(dir.path().join("other/../mine")),
            SkillRoot::project(&other),
        ];
        std::fs::create_dir(&other).unwrap();
        let state = AgentState { roots: roots.to_vec(), ..AgentState::default() };
        let sources = state.sources(dir.path());
        let found: Vec<_> = sources.iter().map(|source| (source.scope(), source.root())).collect();
        assert_eq!(found, [(Scope::User, Some(&*mine)), (Scope::Project, Some(&*other))]);
    }
}
