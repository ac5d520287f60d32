//! Gemini CLI. From `packages/core/src/skills/`, `packages/core/src/utils/trust.ts`,
//! `packages/cli/src/config/settings.ts` and `extensions/extensionEnablement.ts` of
//! google-gemini/gemini-cli (`5411f113`).

use std::path::{Path, PathBuf};

use super::folders::{extensions, is_refusal, rule_about, trust_rules};
use super::options::Options;
use super::settings::{Settings, Syntax, decides};
use super::{AgentState, Obstacle, SkillRoot, Start, filled, server};
use crate::agent::HookAgent;
use repertoire::catalog::RuleTarget;

/// The directory of the administrator's settings, relative to the root of the system.
const SYSTEM: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/GeminiCli"
} else {
    "etc/gemini-cli"
};

pub(super) fn state(start: &Start) -> AgentState {
    let dir = start.dir();
    let user_dir = HookAgent::Gemini.user_dir(start);
    let named = |variable: &str| start.variables.get(variable).map(PathBuf::from);
    let overrides = named("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
        .unwrap_or_else(|| start.in_system(SYSTEM).join("settings.json"));
    let defaults = named("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
        .unwrap_or_else(|| overrides.with_file_name("system-defaults.json"));
    let managed_settings = vec![overrides.clone()];
    let paths = [&defaults, &overrides].map(|path| Some(path.clone()));
    let of_user = user_dir.as_deref().map(|dir| dir.join("settings.json"));
    let of_project = Some(dir.join(".gemini/settings.json"));
    let paths = paths.into_iter().chain([of_user, of_project]).flatten();
    let demanded = paths.map(|path| (path, Syntax::Lenient)).collect();
    let read =
        |path: PathBuf| filled::read(path, &start.environment).map(Settings::with_text_switches);
    let (overrides, defaults) = (read(overrides), read(defaults));
    let user = user_dir.as_deref().and_then(|dir| read(dir.join("settings.json")));
    let without_project: Vec<&Settings> =
        [&defaults, &user, &overrides].into_iter().flatten().collect();
    let trust = trust(start, user_dir.as_deref(), &without_project);
    let asks_for_trust = matches!(trust, Trust::Open);
    let distrusted = match trust {
        Trust::Refused(by) => Some(by),
        Trust::Given | Trust::Open => None,
    };
    let is_trusted = distrusted.is_none();
    let project = read(dir.join(".gemini/settings.json")).filter(|_| is_trusted);
    let files: Vec<&Settings> =
        [&defaults, &user, &project, &overrides].into_iter().flatten().collect();

    let mut state =
        AgentState { asks_for_trust, demanded, managed_settings, ..AgentState::default() };
    state.settings_dirs.extend(is_trusted.then(|| dir.clone()));
    if let Some(user_dir) = &user_dir {
        extensions(&user_dir.join("extensions"), "gemini", &dir, &mut state);
        state.roots.push(SkillRoot::user(user_dir.join("skills")));
    }
    let home = start.dir_of("GEMINI_CLI_HOME", "");
    state.roots.extend(home.map(|home| SkillRoot::user(home.join(".agents/skills"))));
    // It looks in the starting directory only, not in those above.
    for name in [".gemini/skills", ".agents/skills"] {
        state.add(SkillRoot::project(dir.join(name)), distrusted.as_ref());
    }
    if let Some(by) = distrusted {
        state.ignored_files.push((dir.join(".gemini/settings.json"), by.clone()));
        state.switch(RuleTarget::Below(start.project()), true, by);
    }
    for file in &files {
        for name in file.texts("/skills/disabled") {
            let by = Obstacle::new(format!("skills.disabled: [\"{name}\"]"), &file.path);
            state.switch(RuleTarget::Caseless(name.to_owned()), true, by);
        }
    }
    if let Some(file) = decides(&files, "/skills/enabled", false) {
        state.turn_all_off(&Obstacle::new("skills.enabled: false", &file.path));
    }
    if let Some(by) = without_tool(&files) {
        state.turn_all_off(&by);
    }
    state.server_off = server::of_gemini(HookAgent::Gemini, &files)
        .or_else(|| server::of_gemini_switch(user_dir.as_deref()));
    state.hooks_off = decides(&files, "/hooksConfig/enabled", false)
        .map(|file| Obstacle::new("hooksConfig.enabled: false", &file.path));
    state.disabled_hooks = disabled_hooks(&files);
    state
}

/// Returns the setting that takes away the tool with which the model loads skills.
fn without_tool(files: &[&Settings]) -> Option<Obstacle> {
    const TOOL: &str = "activate_skill";
    // The tool has two names here, and only one in the other list.
    const EXCLUDED: [&str; 3] = [TOOL, "ActivateSkillTool", "*"];
    for file in files {
        let mut excluded = file.texts("/tools/exclude").into_iter();
        if let Some(tool) = excluded.find(|tool| EXCLUDED.contains(tool)) {
            return Some(Obstacle::new(format!("tools.exclude: [\"{tool}\"]"), &file.path));
        }
    }
    // A list of the tools that are left, of which the one of the highest precedence counts, also without an entry.
    let file = files.iter().rev().find(|file| file.value["tools"]["core"].is_array())?;
    let is_left = file.texts("/tools/core").iter().any(|tool| tool.starts_with(TOOL));
    (!is_left).then(|| Obstacle::new(format!("tools.core without {TOOL}"), &file.path))
}

/// Returns the hooks that the user turned off: by their name or, without one, by their command.
fn disabled_hooks(files: &[&Settings]) -> Vec<(String, Obstacle)> {
    let of_file = |file: &&Settings| {
        let names = file.texts("/hooksConfig/disabled").into_iter();
        let by =
            |name: &str| Obstacle::new(format!("hooksConfig.disabled: [\"{name}\"]"), &file.path);
        names.map(|name| (name.to_owned(), by(name))).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

/// The trust in the starting directory.
enum Trust {
    Given,
    /// It is refused by a setting: the settings and skills of the directory are then not read.
    Refused(Obstacle),
    /// Nobody was asked yet. Gemini CLI asks before it reads anything, and does not start where it cannot ask.
    Open,
}

fn trust(start: &Start, user_dir: Option<&Path>, files: &[&Settings]) -> Trust {
    const RESTRICTED: &str = "GEMINI_RESTRICTED_MODE";
    const TRUST: &str = "GEMINI_CLI_TRUST_WORKSPACE";
    let value = |name: &str| start.variables.get(name).and_then(|value| value.to_str());
    if value(RESTRICTED) == Some("true") {
        return Trust::Refused(Obstacle::of_variable(RESTRICTED, "true"));
    }
    if Options::of(start).has("--skip-trust") {
        return Trust::Given;
    }
    match value(TRUST) {
        Some("true") => return Trust::Given,
        Some("false") => return Trust::Refused(Obstacle::new("false", Path::new(TRUST))),
        _ => {}
    }
    if decides(files, "/security/folderTrust/enabled", false).is_some() {
        return Trust::Given;
    }
    let rules = trust_rules(start, "GEMINI_CLI_TRUSTED_FOLDERS_PATH", user_dir);
    match rules.and_then(|rules| rule_about(&rules, &start.dir())) {
        None => Trust::Open,
        Some(by) if is_refusal(&by) => Trust::Refused(by),
        Some(_) => Trust::Given,
    }
}
