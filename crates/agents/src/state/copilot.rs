//! GitHub Copilot CLI. From `content/copilot/reference/copilot-cli-reference/cli-config-dir-reference.md`
//! of github/docs (`03b432e6`) and `changelog.md` of github/copilot-cli (`9532bdac`), and observed with 1.0.102
//! and a fake model: skills at any depth, the order of directories, the budget of the list, the settings that
//! count, and plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::copilot_managed::Managed;
use super::hook_schemas::fault_of;
use super::manifest_path::{below, each_below};
use super::options::{added_directories, named_plugins};
use super::server_options::is_turned_on;
use super::settings::{Settings, entries};
use super::{AgentState, Obstacle, SkillRoot, Start, server};
use crate::agent::HookAgent;
use crate::listing::ListingBudget;
use repertoire::catalog::RuleTarget;

/// The directories of skills in each directory of a project, highest precedence first.
const PROJECT_DIRS: [&str; 3] = [".github/skills", ".agents/skills", CLAUDE_DIR];
const CLAUDE_DIR: &str = ".claude/skills";
/// The settings files of a repository that may turn hooks off.
const REPOSITORY: [&str; 2] =
    [".github/copilot/settings.json", ".github/copilot/settings.local.json"];
/// The switch for hooks.
const SWITCH: &str = "/disableAllHooks";
/// The files of Claude Code from which the switch for hooks is read, too.
const SHARED: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Copilot.user_dir(start);
    let files = Files::read(start, user_dir.as_deref());
    let mut state = AgentState { settings_dirs: vec![start.project()], ..AgentState::default() };
    let mut places = places(start, user_dir.as_deref(), &files, &mut state);
    places.reverse();
    state.roots.extend(places.into_iter().map(|(root, _)| root));
    // The files of a repository turn no skills off, nor does the earlier file.
    if let Some(file) = &files.user {
        for key in ["disabledSkills", "disabled_skills"] {
            for name in file.texts(&format!("/{key}")) {
                let by = Obstacle::new(format!("{key}: [\"{name}\"]"), &file.path);
                state.switch(RuleTarget::Exact(name.to_owned()), true, by);
            }
        }
    }
    let managed = &files.managed;
    managed.apply(&mut state);
    let servers = user_dir.as_ref().map(|dir| dir.join("mcp-config.json"));
    let servers = servers.and_then(Settings::read);
    // An option starts a server in spite of the user's settings.
    let user = files.user.as_ref().filter(|_| !is_turned_on(start));
    let server_off = server::of_copilot(user, servers.as_ref(), managed.file.as_ref());
    state.server_off = server_off.or_else(|| managed.plugins_only("mcp"));
    let of_repository = hooks_off(start);
    let only_managed = managed.only_managed_hooks();
    state.spares_managed_hooks = of_repository.is_some() || only_managed.is_some();
    state.hooks_off = only_managed.or(of_repository);
    state.managed_settings = managed.hooks_files();
    let hooks = user_dir.map(|dir| dir.join("hooks")).into_iter();
    let hooks = hooks.chain([start.project().join(".github/hooks"), managed.hooks.clone()]);
    state.ignored_files = hooks.flat_map(|dir| ignored(&dir)).collect();
    state
}

/// Returns the directories of skills, highest precedence first, each with its kind.
fn places(
    start: &Start,
    user_dir: Option<&Path>,
    files: &Files,
    state: &mut AgentState,
) -> Vec<(SkillRoot, Kind)> {
    let mut levels = levels(start);
    let above = levels.split_off(levels.len().min(1));
    let mut places = Vec::new();
    for name in PROJECT_DIRS {
        for (dirs, kind) in [(&levels, Kind::Project), (&above, Kind::Inherited)] {
            // The home directory has skills for Claude Code, not for a project.
            let is_read = |dir: &&PathBuf| name != CLAUDE_DIR || start.home.as_ref() != Some(*dir);
            let dirs = dirs.iter().filter(is_read);
            places.extend(dirs.map(|dir| (SkillRoot::project(dir.join(name)), kind)));
        }
    }
    // Of a directory that the user adds, only the first of these counts.
    let more = added_directories(start).into_iter();
    let more = more.map(|dir| SkillRoot::project(dir.join(PROJECT_DIRS[0])));
    places.extend(more.map(|root| (root, Kind::Project)));
    if let Some(dir) = user_dir {
        places.push((SkillRoot::user(dir.join("skills")), Kind::Personal));
        // With a directory of its own, it leaves out the one that agents share.
        let is_named = start.named_dir("COPILOT_HOME").is_some();
        let shared = start.in_home(".agents/skills").filter(|_| !is_named);
        places.extend(shared.map(|dir| (SkillRoot::user(dir), Kind::Shared)));
        let plugins = plugins(&dir.join("installed-plugins"), files, state).into_iter();
        places.extend(plugins.map(|root| (root, Kind::Plugin)));
    }
    for dir in named_plugins(start) {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        places.extend(skills_of_plugin(&name, &dir).into_iter().map(|root| (root, Kind::Plugin)));
    }
    places.extend(added(start, files).into_iter().map(|root| (root, Kind::Custom)));
    places
}

/// Returns the directories in which those of skills are looked for, from the starting directory up to the root of
/// the repository; without one, up to the home directory, or to `/`.
fn levels(start: &Start) -> Vec<PathBuf> {
    let is_above = |home: &&PathBuf| {
        let project = start.project();
        project != **home && project.starts_with(home) && start.project_with_git().is_none()
    };
    let home = start.home.iter().filter(is_above).cloned();
    let levels = home.chain(start.above_project()).chain(start.levels());
    let mut levels: Vec<PathBuf> = levels.collect();
    levels.reverse();
    levels
}

/// A kind of directories of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Project,
    Inherited,
    Personal,
    Shared,
    Plugin,
    Custom,
}

impl Kind {
    /// The word for the kind in the list.
    fn word(self) -> &'static str {
        match self {
            Kind::Project | Kind::Inherited => "project",
            Kind::Personal | Kind::Shared => "user",
            Kind::Plugin => "plugin",
            Kind::Custom => "custom",
        }
    }
}

/// Returns the budget of its list: 15,000 characters, unless a variable has another number. It describes skills
/// in the order of their directories; in adjacent directories of one kind, in the order of names.
pub(super) fn listing_budget(start: &Start) -> ListingBudget {
    const LIMIT: usize = 15_000;
    let named = start.variables.get("SKILL_CHAR_BUDGET").and_then(|value| value.to_str());
    let digits = |value: &str| {
        let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        value[..end].parse::<usize>().ok()
    };
    let limit = named.and_then(|value| digits(value.trim())).filter(|limit| *limit > 0);
    let user_dir = HookAgent::Copilot.user_dir(start);
    let files = Files::read(start, user_dir.as_deref());
    let places = places(start, user_dir.as_deref(), &files, &mut AgentState::default());
    let places = places.iter().map(|(root, kind)| root.listed(*kind as usize, kind.word()));
    ListingBudget::Entries { limit: limit.unwrap_or(LIMIT), places: places.collect() }
}

/// The settings files of the user and the administrator.
struct Files {
    /// That of the user in earlier versions.
    earlier: Option<Settings>,
    user: Option<Settings>,
    managed: Managed,
}

impl Files {
    fn read(start: &Start, user_dir: Option<&Path>) -> Files {
        let of_user = |name: &str| Settings::read(user_dir?.join(name));
        let (earlier, user) = (of_user("config.json"), of_user("settings.json"));
        Files { earlier, user, managed: Managed::read(start) }
    }

    fn of_user(&self) -> impl DoubleEndedIterator<Item = &Settings> {
        self.earlier.iter().chain(&self.user)
    }

    /// Returns all files, whose plugins count: those of the administrator win.
    fn all(&self) -> impl DoubleEndedIterator<Item = &Settings> {
        self.of_user().chain(&self.managed.file)
    }

    /// Returns the place of a marketplace that is a directory.
    fn place_of(&self, marketplace: &str) -> Option<&Path> {
        let marketplaces = self.all().rev().map(|file| &file.value["extraKnownMarketplaces"]);
        let mut paths = marketplaces.map(|known| &known[marketplace]["source"]["path"]);
        paths.find_map(Value::as_str).map(Path::new)
    }
}

/// Returns the setting of the repository that turns all hooks off. That of the user's own settings has no
/// effect.
fn hooks_off(start: &Start) -> Option<Obstacle> {
    let in_project = |name: &&str| Settings::read(start.project().join(name));
    let mut files = SHARED.iter().chain(&REPOSITORY).filter_map(in_project);
    let off = files.find(|file| file.switch(SWITCH) == Some(true));
    off.map(|file| Obstacle::new("disableAllHooks", &file.path))
}

/// Returns the files of hooks in `dir` that it cannot read, or that turn off their own.
fn ignored(dir: &Path) -> Vec<(PathBuf, Obstacle)> {
    let files = entries(dir).into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let switched_off = |path: &PathBuf| {
        let file = Settings::read(path).filter(|file| file.switch(SWITCH) == Some(true))?;
        let by = Obstacle::new("disableAllHooks: true", &file.path);
        Some((file.path, by))
    };
    files
        .filter_map(|path| fault_of(HookAgent::Copilot, &path).or_else(|| switched_off(&path)))
        .collect()
}

/// Returns the directories that the user adds by a setting or by a variable.
fn added(start: &Start, files: &Files) -> Vec<SkillRoot> {
    let variable = start.variables.get("COPILOT_SKILLS_DIRS");
    let variable = variable.map(|dirs| dirs.to_string_lossy().into_owned()).unwrap_or_default();
    let named = variable.split(',').map(str::trim).filter(|dir| !dir.is_empty());
    let keys = ["/skillDirectories", "/skill_directories"];
    let settings = files.of_user().flat_map(|file| keys.iter().flat_map(|key| file.texts(key)));
    // One that is a skill itself counts as that skill.
    let root = |path: PathBuf| {
        let name = path.file_name().filter(|_| path.join("SKILL.md").is_file());
        let skill = name.map(|name| name.to_string_lossy().into_owned());
        SkillRoot { skill, ..SkillRoot::user(path) }
    };
    settings.chain(named).map(|path| root(start.expanded(Path::new(path), &start.dir()))).collect()
}

/// Returns the directories of skills of the plugins that are on. Their files are in `dir/MARKETPLACE/PLUGIN`,
/// or, if the marketplace is a directory, in their place there.
fn plugins(dir: &Path, files: &Files, state: &mut AgentState) -> Vec<SkillRoot> {
    let mut found = BTreeMap::new();
    for file in files.all() {
        // The list of the copied ones, of which those without a marketplace have a directory of their own.
        for plugin in file.value["installedPlugins"].as_array().into_iter().flatten() {
            let text = |key: &str| plugin[key].as_str().unwrap_or_default();
            let (name, marketplace) = (text("name"), text("marketplace"));
            let copy = match text("cache_path") {
                "" => below(dir, marketplace).and_then(|dir| below(&dir, name)),
                path => Some(PathBuf::from(path)),
            };
            let id = format!("{name}@{marketplace}");
            found.insert(id, (plugin["enabled"] != false, file, copy));
        }
        for (id, value) in file.value["enabledPlugins"].as_object().into_iter().flatten() {
            let (name, marketplace) = id.split_once('@').unwrap_or((id, ""));
            let copy = found.remove(id).and_then(|(.., copy)| copy);
            let copy = copy.or_else(|| in_marketplace(marketplace, name, files));
            found.insert(id.clone(), (*value == true, file, copy));
        }
    }
    let mut roots = Vec::new();
    for (id, (is_on, file, dir)) in found {
        let (name, marketplace) = id.split_once('@').unwrap_or((&id, ""));
        let off = (!is_on).then(|| Obstacle::of_plugin(&id, &file.path));
        if dir.is_none() && is_on {
            state.add_missing(&id, &file.path);
        }
        let off = off.or_else(|| files.managed.refuses(files.place_of(marketplace)));
        for root in dir.map(|dir| skills_of_plugin(name, &dir)).unwrap_or_default() {
            match &off {
                None => roots.push(root),
                Some(by) => state.left_out.push((root.path, by.clone())),
            }
        }
    }
    roots
}

/// Returns the place of the plugin `name` in a marketplace that is a directory.
fn in_marketplace(marketplace: &str, name: &str, files: &Files) -> Option<PathBuf> {
    const FILES: [&str; 2] = [".github/plugin/marketplace.json", ".claude-plugin/marketplace.json"];
    let dir = files.place_of(marketplace)?;
    let plugins = FILES.iter().find_map(|file| Settings::read(dir.join(file)))?;
    let plugins = plugins.value["plugins"].as_array()?;
    let source = plugins.iter().find(|plugin| plugin["name"] == name)?["source"].as_str()?;
    below(dir, source)
}

/// Returns the directories of skills of the plugin in `dir`: those that its manifest names, or else `skills`.
fn skills_of_plugin(name: &str, dir: &Path) -> Vec<SkillRoot> {
    const MANIFESTS: [&str; 3] =
        ["plugin.json", ".github/plugin/plugin.json", ".claude-plugin/plugin.json"];
    let manifest = MANIFESTS.iter().find_map(|name| Settings::read(dir.join(name)));
    let value = manifest.map(|manifest| manifest.value["skills"].clone()).unwrap_or_default();
    let names_any = value.is_string() || value.as_array().is_some_and(|list| !list.is_empty());
    let paths = if names_any { each_below(dir, &value) } else { vec![dir.join("skills")] };
    paths.into_iter().map(|path| SkillRoot::plugin(name, dir, path)).collect()
}
