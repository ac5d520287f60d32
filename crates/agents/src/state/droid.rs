//! Droid, the agent of Factory. Observed with 0.215.0 (`droid exec`) and a fake model: where skills and settings
//! are found, and what each setting does. Its documentation: `docs.factory.ai/cli/configuration`.

use std::path::Path;

use super::settings::{Settings, entries};
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use repertoire::catalog::RuleTarget;

/// The directories of skills in each directory of a project, lowest precedence first.
const PROJECT_DIRS: [&str; 3] = [".agent/skills", ".agents/skills", ".factory/skills"];

/// The settings files in each directory of a project, lowest precedence first.
const PROJECT_FILES: [&str; 2] = [".factory/settings.json", ".factory/settings.local.json"];

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Droid.user_dir(start);
    let levels = start.levels();
    let user = user_dir.iter().map(|dir| dir.join("settings.json"));
    let of_project = levels.iter().flat_map(|dir| PROJECT_FILES.map(|name| dir.join(name)));
    let files: Vec<Settings> = user.chain(of_project).filter_map(Settings::read).collect();
    let mut state = AgentState { settings_dirs: levels.clone(), ..AgentState::default() };
    let home = start.dir_of("FACTORY_HOME_OVERRIDE", "");
    let shared = [".agent/skills", ".agents/skills"];
    let shared = home.iter().flat_map(|home| shared.map(|name| home.join(name)));
    state.roots.extend(shared.map(SkillRoot::user));
    if let Some(dir) = &user_dir {
        plugins(&dir.join("plugins/installed_plugins"), &files, &mut state);
        state.roots.push(SkillRoot::user(dir.join("skills")));
    }
    let project = levels.iter().flat_map(|dir| PROJECT_DIRS.map(|name| dir.join(name)));
    state.roots.extend(project.map(SkillRoot::project));
    for file in &files {
        for name in file.texts("/disabledSkills") {
            let by = Obstacle::new(format!("disabledSkills: [\"{name}\"]"), &file.path);
            state.switch(RuleTarget::Name(name.to_owned()), true, by);
        }
    }
    let off = files.iter().find(|file| file.switch("/hooks/hooksDisabled") == Some(true));
    state.hooks_off = off.map(|file| Obstacle::new("hooks.hooksDisabled: true", &file.path));
    state
}

/// Adds the directories of skills of the plugins. A file in `dir` tells of each installation. The agent calls
/// their skills by the plain names.
fn plugins(dir: &Path, files: &[Settings], state: &mut AgentState) {
    for installed in entries(dir).into_iter().filter_map(Settings::read) {
        let id = installed.value["pluginId"].as_str().unwrap_or_default();
        let Some(place) = installed.value["entry"]["installPath"].as_str() else { continue };
        let decides = files.iter().rev().find(|file| !file.value["enabledPlugins"][id].is_null());
        let off = match decides {
            Some(file) if file.value["enabledPlugins"][id] == true => None,
            Some(file) => Some(Obstacle::of_plugin(id, &file.path)),
            None => Some(Obstacle::of_unnamed_plugin(id, &installed.path)),
        };
        state.add(SkillRoot::user(Path::new(place).join("skills")), off.as_ref());
    }
}
