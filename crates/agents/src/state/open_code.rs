//! `OpenCode`. From `packages/opencode/src/skill/index.ts` (`048f74f4`) and
//! `packages/web/src/content/docs/skills.mdx` (`02bae89d`) of anomalyco/opencode.

use std::path::PathBuf;

use super::settings::Settings;
use super::{AgentState, Obstacle, SkillRoot, Start};
use repertoire::catalog::{RuleTarget, Scope};

/// The names of a configuration file.
const NAMES: [&str; 3] = ["config.json", "opencode.json", "opencode.jsonc"];

pub(super) fn state(start: &Start) -> AgentState {
    let levels = start.levels();
    let mut state = AgentState { settings_dirs: levels.clone(), ..AgentState::default() };
    if !start.is_set("OPENCODE_DISABLE_EXTERNAL_SKILLS") {
        let claude = !start.is_set("OPENCODE_DISABLE_CLAUDE_CODE_SKILLS");
        let dirs = [".claude/skills", ".agents/skills"].into_iter().skip(usize::from(!claude));
        let user = dirs.clone().filter_map(|dir| start.in_home(dir)).map(SkillRoot::user);
        state.roots.extend(user);
        for level in &levels {
            let own = dirs.clone().map(|dir| SkillRoot::project(level.join(dir)));
            state.roots.extend(own);
        }
    }
    let dirs = config_dirs(start, &levels);
    for (scope, dir) in &dirs {
        let roots = ["skill", "skills"].map(|name| dir.join(name));
        state.roots.extend(roots.map(|path| SkillRoot { path, scope: *scope, plugin: None }));
    }
    let files = config_files(start, &levels, &dirs);
    for (scope, file) in &files {
        let dir = file.path.parent().unwrap_or(&file.path);
        let paths = file.texts("/skills/paths").into_iter().filter_map(|path| {
            path.strip_prefix("~/").map_or_else(|| Some(dir.join(path)), |rest| start.in_home(rest))
        });
        state.roots.extend(paths.map(|path| SkillRoot { path, scope: *scope, plugin: None }));
    }
    for (_, file) in &files {
        switches(file, &mut state);
    }
    state
}

/// Returns the directories of configuration, each with its owner, lowest precedence first.
fn config_dirs(start: &Start, levels: &[PathBuf]) -> Vec<(Scope, PathBuf)> {
    let global = start.config_home.as_ref().map(|dir| dir.join("opencode"));
    let user = global.into_iter().chain(start.in_home(".opencode"));
    let project = levels.iter().map(|dir| (Scope::Project, dir.join(".opencode")));
    let named = start.named_dir("OPENCODE_CONFIG_DIR").map(|dir| (Scope::User, dir));
    user.map(|dir| (Scope::User, dir)).chain(project).chain(named).collect()
}

/// Returns the configuration files, lowest precedence first.
fn config_files(
    start: &Start,
    levels: &[PathBuf],
    dirs: &[(Scope, PathBuf)],
) -> Vec<(Scope, Settings)> {
    let in_dir = |(scope, dir): &(Scope, PathBuf)| NAMES.map(|name| (*scope, dir.join(name)));
    let (global, others) = dirs.split_at(dirs.len().min(1));
    let named = start.variables.get("OPENCODE_CONFIG").map(|path| (Scope::User, path.into()));
    let in_project = levels.iter().flat_map(|dir| {
        NAMES[1..].iter().map(|name| (Scope::Project, dir.join(name))).collect::<Vec<_>>()
    });
    let paths = global.iter().flat_map(in_dir).chain(named).chain(in_project);
    let paths = paths.chain(others.iter().flat_map(in_dir));
    paths.filter_map(|(scope, path)| Some((scope, Settings::read(path)?))).collect()
}

/// Adds the rules of `permission.skill`, of which the last that matches decides, those of the agent
/// `build`, which is in use by default, and the switch of the whole tool.
fn switches(file: &Settings, state: &mut AgentState) {
    for keys in [&["permission", "skill"][..], &["agent", "build", "permission", "skill"]] {
        let at = format!("/{}", keys.join("/"));
        let setting = keys.join(".");
        if let Some(action) = file.value.pointer(&at).and_then(|value| value.as_str()) {
            let by = Obstacle::new(format!("{setting}: \"{action}\""), &file.path);
            if action == "deny" {
                state.turn_all_off(&by);
            }
        }
        for (pattern, action) in file.entries(keys) {
            let by =
                Obstacle::new(format!("{setting}: {{\"{pattern}\": \"{action}\"}}"), &file.path);
            match (pattern.as_str(), action == "deny") {
                ("*", true) => state.turn_all_off(&by),
                (_, off) => state.switch(RuleTarget::Name(pattern), off, by),
            }
        }
    }
    for at in ["/tools/skill", "/agent/build/tools/skill"] {
        if file.switch(at) == Some(false) {
            let setting = at[1..].replace('/', ".");
            state.turn_all_off(&Obstacle::new(format!("{setting}: false"), &file.path));
        }
    }
}
