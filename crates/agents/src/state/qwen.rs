//! Qwen Code. From `packages/core/src/skills/skill-manager.ts`, `packages/cli/src/config/settings.ts` and
//! `settingsSchema.ts`, and `packages/core/src/hooks/` of QwenLM/qwen-code, as in the program 0.24.4.

use std::path::{Path, PathBuf};

use super::denied::deny;
use super::folders::{extensions, is_refusal, rule_about, trust_rules};
use super::settings::{Settings, Syntax, decides};
use super::start::means_yes;
use super::{AgentState, Obstacle, SkillRoot, Start, env_files, filled, server};
use crate::agent::HookAgent;
use repertoire::catalog::{RuleTarget, Scope};

/// The directory of the administrator's settings, relative to the root of the system.
const SYSTEM: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/QwenCode"
} else {
    "etc/qwen-code"
};

pub(super) fn state(start: &Start) -> AgentState {
    // Its files of variables depend on the settings, which name variables of these files.
    let files = files(start);
    let excluded = files.all().iter().find_map(|file| {
        let list = file.value.pointer("/advanced/excludedEnvVars")?;
        list.is_array().then(|| file.texts("/advanced/excludedEnvVars"))
    });
    let excluded = excluded.unwrap_or_else(|| env_files::EXCLUDED.to_vec());
    let excluded: Vec<String> = excluded.into_iter().map(str::to_owned).collect();
    let user_dir = HookAgent::Qwen.user_dir(start);
    let is_trusted = files.distrusted.is_none();
    let environment = env_files::environment(start, user_dir.as_deref(), is_trusted, &excluded);
    if environment == start.environment {
        return with(start, &files);
    }
    let start = &Start { environment, ..start.clone() };
    with(start, &self::files(start))
}

/// The settings files.
struct Files {
    defaults: Option<Settings>,
    user: Option<Settings>,
    project: Option<Settings>,
    overrides: Option<Settings>,
    /// The path of the last one.
    managed: PathBuf,
    /// The rule by which the user distrusts the starting directory.
    distrusted: Option<Obstacle>,
}

impl Files {
    /// Returns the files, lowest precedence first.
    fn all(&self) -> Vec<&Settings> {
        [&self.defaults, &self.user, &self.project, &self.overrides].into_iter().flatten().collect()
    }
}

fn files(start: &Start) -> Files {
    let dir = start.dir();
    let is_home = start.home.as_deref() == Some(&*dir);
    let user_dir = HookAgent::Qwen.user_dir(start);
    let overrides = start.variables.get("QWEN_CODE_SYSTEM_SETTINGS_PATH").map(PathBuf::from);
    let overrides = overrides.unwrap_or_else(|| start.in_system(SYSTEM).join("settings.json"));
    let defaults = start.variables.get("QWEN_CODE_SYSTEM_DEFAULTS_PATH").map(PathBuf::from);
    let defaults = defaults.unwrap_or_else(|| overrides.with_file_name("system-defaults.json"));
    let managed = overrides.clone();
    let read = |path: PathBuf| filled::read(path, &start.environment);
    let (overrides, defaults) = (read(overrides), read(defaults));
    let user = user_dir.as_deref().and_then(|dir| read(dir.join("settings.json")));
    let without_project: Vec<&Settings> =
        [&defaults, &user, &overrides].into_iter().flatten().collect();
    let distrusted = distrusted(start, user_dir.as_deref(), &without_project);
    let is_read = distrusted.is_none() && !is_home;
    let project = read(dir.join(".qwen/settings.json")).filter(|_| is_read);
    Files { defaults, user, project, overrides, managed, distrusted }
}

/// Returns the state with these settings files.
fn with(start: &Start, files: &Files) -> AgentState {
    let dir = start.dir();
    let is_home = start.home.as_deref() == Some(&*dir);
    let user_dir = HookAgent::Qwen.user_dir(start);
    let (distrusted, managed) = (files.distrusted.clone(), &files.managed);
    let is_trusted = distrusted.is_none();
    let files = files.all();
    let managed_settings = vec![managed.clone()];
    // A fault in the files of the user or a project does not stop it.
    let demanded = vec![(managed.clone(), Syntax::Lenient)];
    let mut state = AgentState { demanded, managed_settings, ..AgentState::default() };
    state.settings_dirs.extend((is_trusted && !is_home).then(|| dir.clone()));
    if let Some(user) = &user_dir {
        extensions(&user.join("extensions"), "qwen", &dir, &mut state);
    }
    let ignored = distrusted.map(|by| (dir.join(".qwen/settings.json"), by));
    state.ignored_files.extend(ignored);
    let more = files.iter().flat_map(|file| file.texts("/skills/directories"));
    let mut more: Vec<PathBuf> = more.map(|named| start.expanded(Path::new(named), &dir)).collect();
    more.reverse();
    state.roots.extend(more.into_iter().map(SkillRoot::user));
    state.roots.extend(start.in_home(".agents/skills").map(SkillRoot::user));
    state.roots.extend(user_dir.map(|user| SkillRoot::user(user.join("skills"))));
    // It looks in the starting directory only, also in one that the user distrusts.
    if !is_home {
        let own = [".agents/skills", ".qwen/skills"];
        state.roots.extend(own.map(|name| SkillRoot::project(dir.join(name))));
    }
    switch_skills(&files, &mut state);
    for file in &files {
        for rule in file.texts("/permissions/deny") {
            // It takes names of tools in any letter case.
            let is_tool = rule.eq_ignore_ascii_case("skill");
            deny(if is_tool { "Skill" } else { rule }, &file.path, &mut state);
        }
        if file.texts("/tools/exclude").iter().any(|tool| tool.eq_ignore_ascii_case("skill")) {
            state.turn_all_off(&Obstacle::new("tools.exclude: [\"skill\"]", &file.path));
        }
    }
    let off = decides(&files, "/disableAllHooks", true);
    state.server_off = server::of_gemini(HookAgent::Qwen, &files);
    state.hooks_off = off.map(|file| Obstacle::new("disableAllHooks: true", &file.path));
    if let Some(by) = without_all(start, &files) {
        state.turn_all_off(&by);
        state.server_off = Some(by.clone());
        state.hooks_off = Some(by);
    }
    state
}

/// Returns what sets a variable that starts Qwen Code without hooks, skills and servers of the user: the environment,
/// a `.env` file, or else the settings.
fn without_all(start: &Start, files: &[&Settings]) -> Option<Obstacle> {
    const NAMES: [&str; 2] = ["QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"];
    NAMES.into_iter().find_map(|name| {
        if let Some(value) = start.environment.get(name).filter(|value| !value.is_empty()) {
            return means_yes(value.as_ref()).then(|| Obstacle::of_variable(name, value));
        }
        let set = |file: &&&Settings| file.value["env"][name].is_string();
        let file = files.iter().rev().find(set)?;
        let value = file.value["env"][name].as_str().filter(|value| means_yes(value.as_ref()))?;
        Some(Obstacle::new(format!("env: {{\"{name}\": \"{value}\"}}"), &file.path))
    })
}

/// Adds the skills that the settings turn off. The lists of all files count together.
fn switch_skills(files: &[&Settings], state: &mut AgentState) {
    let enabled: Vec<String> = files
        .iter()
        .flat_map(|file| file.texts("/skills/enabled"))
        .map(str::to_lowercase)
        .collect();
    for (key, can_be_enabled) in [("defaultDisabled", true), ("disabled", false)] {
        for file in files {
            for name in file.texts(&format!("/skills/{key}")) {
                let is_off = !(can_be_enabled && enabled.contains(&name.to_lowercase()));
                let by = Obstacle::new(format!("skills.{key}: [\"{name}\"]"), &file.path);
                state.switch(RuleTarget::Caseless(name.to_owned()), is_off, by);
            }
        }
    }
    for file in files {
        for level in file.texts("/skills/disabledLevels") {
            let by = Obstacle::new(format!("skills.disabledLevels: [\"{level}\"]"), &file.path);
            let is_of_level = |root: &&SkillRoot| match root.scope {
                Scope::Project => level == "project",
                Scope::Fetched => level == "extension",
                _ => level == "user",
            };
            let roots = state.roots.iter().filter(is_of_level).map(|root| root.path.clone());
            for root in roots.collect::<Vec<_>>() {
                state.switch(RuleTarget::Below(root), true, by.clone());
            }
        }
    }
}

/// Returns the rule by which the user distrusts the starting directory: the settings there are then not
/// read. Rules count only if the user turned them on.
fn distrusted(start: &Start, user_dir: Option<&Path>, files: &[&Settings]) -> Option<Obstacle> {
    decides(files, "/security/folderTrust/enabled", true)?;
    let rules = trust_rules(start, "QWEN_CODE_TRUSTED_FOLDERS_PATH", user_dir)?;
    rule_about(&rules, &start.dir()).filter(is_refusal)
}
