//! GitHub Copilot CLI. From `content/copilot/reference/copilot-cli-reference/cli-config-dir-reference.md`
//! of github/docs (`03b432e6`) and `changelog.md` of github/copilot-cli (`9532bdac`).

use std::path::{Path, PathBuf};

use super::settings::{Settings, directories};
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use repertoire::catalog::RuleTarget;

/// The directories of skills in each directory of a project.
const PROJECT_DIRS: [&str; 3] = [".claude/skills", ".agents/skills", ".github/skills"];
/// The settings files of a repository that may turn skills off.
const REPOSITORY: [&str; 2] =
    [".github/copilot/settings.json", ".github/copilot/settings.local.json"];
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
        state.roots.extend(plugins(&dir.join("installed-plugins"), &user));
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
    let in_project = |name: &&str| Settings::read(start.project().join(name));
    let repository: Vec<Settings> = REPOSITORY.iter().filter_map(in_project).collect();
    for file in user.iter().chain(&repository) {
        let names =
            ["/disabledSkills", "/disabled_skills"].into_iter().flat_map(|at| file.texts(at));
        for name in names {
            let by = Obstacle::new(format!("disabledSkills: [\"{name}\"]"), &file.path);
            state.switch(RuleTarget::Name(name.to_owned()), true, by);
        }
    }
    let shared: Vec<Settings> = SHARED.iter().filter_map(in_project).collect();
    let mut files = user.iter().chain(&shared).chain(&repository);
    let off = files.find(|file| file.switch("/disableAllHooks") == Some(true));
    state.hooks_off = off.map(|file| Obstacle::new("disableAllHooks", &file.path));
    state
}

/// Returns the directories that the user adds by a setting or by a variable.
fn added(start: &Start, user: &[Settings]) -> Vec<SkillRoot> {
    let variable = start.variables.get("COPILOT_SKILLS_DIRS");
    let variable = variable.map(|dirs| dirs.to_string_lossy().into_owned()).unwrap_or_default();
    let named = variable.split(',').map(str::trim).filter(|dir| !dir.is_empty());
    let keys = ["/skillDirectories", "/skill_directories"];
    let settings = user.iter().flat_map(|file| keys.iter().flat_map(|key| file.texts(key)));
    let in_home = |path: &str| match path.strip_prefix("~/") {
        Some(rest) => start.in_home(rest).unwrap_or_else(|| PathBuf::from(path)),
        None => start.dir().join(path),
    };
    settings.chain(named).map(|path| SkillRoot::user(in_home(path))).collect()
}

/// Returns the directories of skills of the plugins in `dir`, which are in `MARKETPLACE/PLUGIN`, except
/// those that the user turned off.
fn plugins(dir: &Path, user: &[Settings]) -> Vec<SkillRoot> {
    let is_off = |name: &str, marketplace: &str| {
        user.iter().any(|file| {
            let id = format!("{name}@{marketplace}");
            let state = file.value["installedPlugins"].as_array().into_iter().flatten();
            let mut of_it = state.filter(|plugin| plugin["name"] == name);
            of_it.any(|plugin| plugin["enabled"] == false)
                || file.value["enabledPlugins"][id] == false
        })
    };
    let mut roots = Vec::new();
    for marketplace in directories(dir) {
        for plugin in directories(&marketplace) {
            let name =
                |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !is_off(&name(&plugin), &name(&marketplace)) {
                roots.push(SkillRoot::plugin(&name(&plugin), plugin.join("skills")));
            }
        }
    }
    roots
}
