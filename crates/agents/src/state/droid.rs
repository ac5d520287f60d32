//! Droid, the agent of Factory. Observed with 0.215.0 (`droid exec`) and a fake model: where skills and settings
//! are found, and what each setting does. Its documentation: `docs.factory.ai/cli/configuration`.

use super::settings::Settings;
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use repertoire::catalog::RuleTarget;

/// The directories of skills in each directory of a project, lowest precedence first.
const PROJECT_DIRS: [&str; 3] = [".agent/skills", ".agents/skills", ".factory/skills"];

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Droid.user_dir(start);
    let levels = start.levels();
    let user = user_dir.iter().map(|dir| dir.join("settings.json"));
    let of_project = levels.iter().map(|dir| dir.join(".factory/settings.json"));
    let files: Vec<Settings> = user.chain(of_project).filter_map(Settings::read).collect();
    let mut state = AgentState { settings_dirs: levels.clone(), ..AgentState::default() };
    let home = start.dir_of("FACTORY_HOME_OVERRIDE", "");
    state.roots.extend(home.map(|home| SkillRoot::user(home.join(".agents/skills"))));
    state.roots.extend(user_dir.map(|dir| SkillRoot::user(dir.join("skills"))));
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
