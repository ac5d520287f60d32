//! GitHub Copilot CLI. From `content/copilot/reference/copilot-cli-reference/cli-config-dir-reference.md`
//! of github/docs (`03b432e6`) and `changelog.md` of github/copilot-cli (`9532bdac`), and observed with 1.0.102
//! and a fake model: skills at any depth, the settings that count, and plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::manifest_path::{below, each_below};
use super::settings::{Settings, entries};
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use repertoire::catalog::RuleTarget;

/// The directories of skills in each directory of a project.
const PROJECT_DIRS: [&str; 3] = [".claude/skills", ".agents/skills", ".github/skills"];
/// The settings files of a repository that may turn hooks off.
const REPOSITORY: [&str; 2] =
    [".github/copilot/settings.json", ".github/copilot/settings.local.json"];
/// The switch for hooks.
const SWITCH: &str = "/disableAllHooks";
/// The files of Claude Code from which the switch for hooks is read, too.
const SHARED: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Copilot.user_dir(start);
    let of_user = |name: &str| user_dir.as_ref().and_then(|dir| Settings::read(dir.join(name)));
    // Earlier versions kept the settings in `config.json`.
    let user: Vec<Settings> =
        ["config.json", "settings.json"].into_iter().filter_map(of_user).collect();
    let mut state = AgentState { settings_dirs: vec![start.project()], ..AgentState::default() };
    if let Some(dir) = &user_dir {
        plugins(&dir.join("installed-plugins"), &user, &mut state);
        state.roots.extend(added(start, &user));
        // With a directory of its own, it leaves out the one that agents share.
        let is_named = start.named_dir("COPILOT_HOME").is_some();
        let shared = start.in_home(".agents/skills").filter(|_| !is_named);
        state.roots.extend(shared.map(SkillRoot::user));
        state.roots.push(SkillRoot::user(dir.join("skills")));
    }
    let levels = start.above_project().into_iter().chain(start.levels());
    let project =
        levels.flat_map(|dir| PROJECT_DIRS.map(|name| SkillRoot::project(dir.join(name))));
    state.roots.extend(project);
    // The files of a repository turn no skills off, nor does the earlier file.
    if let Some(file) = user.iter().find(|file| file.path.ends_with("settings.json")) {
        for name in file.texts("/disabledSkills") {
            let by = Obstacle::new(format!("disabledSkills: [\"{name}\"]"), &file.path);
            state.switch(RuleTarget::Exact(name.to_owned()), true, by);
        }
    }
    state.hooks_off = hooks_off(start);
    let hooks = user_dir.map(|dir| dir.join("hooks")).into_iter();
    let hooks = hooks.chain([start.project().join(".github/hooks")]);
    state.ignored_files = hooks.flat_map(|dir| switched_off(&dir)).collect();
    state
}

/// Returns the setting of the repository that turns all hooks off. That of the user's own settings has no
/// effect.
fn hooks_off(start: &Start) -> Option<Obstacle> {
    let in_project = |name: &&str| Settings::read(start.project().join(name));
    let mut files = SHARED.iter().chain(&REPOSITORY).filter_map(in_project);
    let off = files.find(|file| file.switch(SWITCH) == Some(true));
    off.map(|file| Obstacle::new("disableAllHooks", &file.path))
}

/// Returns the files of hooks in `dir` that turn off their own.
fn switched_off(dir: &Path) -> Vec<(PathBuf, Obstacle)> {
    let files = entries(dir).into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let off = files.filter_map(Settings::read).filter(|file| file.switch(SWITCH) == Some(true));
    let by = |file: Settings| {
        let by = Obstacle::new("disableAllHooks: true", &file.path);
        (file.path, by)
    };
    off.map(by).collect()
}

/// Returns the directories that the user adds by a setting or by a variable.
fn added(start: &Start, user: &[Settings]) -> Vec<SkillRoot> {
    let variable = start.variables.get("COPILOT_SKILLS_DIRS");
    let variable = variable.map(|dirs| dirs.to_string_lossy().into_owned()).unwrap_or_default();
    let named = variable.split(',').map(str::trim).filter(|dir| !dir.is_empty());
    let keys = ["/skillDirectories", "/skill_directories"];
    let settings = user.iter().flat_map(|file| keys.iter().flat_map(|key| file.texts(key)));
    // One that is a skill itself counts as that skill.
    let root = |path: PathBuf| {
        let name = path.file_name().filter(|_| path.join("SKILL.md").is_file());
        let skill = name.map(|name| name.to_string_lossy().into_owned());
        SkillRoot { skill, ..SkillRoot::user(path) }
    };
    settings.chain(named).map(|path| root(start.expanded(Path::new(path), &start.dir()))).collect()
}

/// Adds the directories of skills of the plugins. Their files are in `dir/MARKETPLACE/PLUGIN`, or,
/// if the marketplace is a directory, in their place there.
fn plugins(dir: &Path, user: &[Settings], state: &mut AgentState) {
    let mut enabled = BTreeMap::new();
    for file in user {
        // Earlier versions had a list of those that are installed.
        for plugin in file.value["installedPlugins"].as_array().into_iter().flatten() {
            let text = |key: &str| plugin[key].as_str().unwrap_or_default();
            let id = format!("{}@{}", text("name"), text("marketplace"));
            enabled.insert(id, (plugin["enabled"] != false, file));
        }
        for (id, value) in file.value["enabledPlugins"].as_object().into_iter().flatten() {
            enabled.insert(id.clone(), (*value == true, file));
        }
    }
    for (id, (is_on, file)) in enabled {
        let (name, marketplace) = id.split_once('@').unwrap_or((&id, ""));
        let copy = below(dir, marketplace).and_then(|dir| below(&dir, name));
        let copy = copy.filter(|copy| copy.is_dir());
        let dir = copy.or_else(|| in_marketplace(marketplace, name, user));
        let by = Obstacle::of_plugin(&id, &file.path);
        for root in dir.map(|dir| skills_of_plugin(name, &dir)).unwrap_or_default() {
            state.add(root, (!is_on).then_some(&by));
        }
    }
}

/// Returns the place of the plugin `name` in a marketplace that is a directory.
fn in_marketplace(marketplace: &str, name: &str, user: &[Settings]) -> Option<PathBuf> {
    const FILES: [&str; 2] = [".github/plugin/marketplace.json", ".claude-plugin/marketplace.json"];
    let path = user.iter().rev().find_map(|file| {
        file.value["extraKnownMarketplaces"][marketplace]["source"]["path"].as_str()
    })?;
    let dir = Path::new(path);
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
    paths.into_iter().map(|path| SkillRoot::plugin(name, path)).collect()
}
