//! Gemini CLI. From `packages/core/src/skills/`, `packages/core/src/utils/trust.ts`,
//! `packages/cli/src/config/settings.ts` and `extensions/extensionEnablement.ts` of
//! google-gemini/gemini-cli (`5411f113`).

use std::path::{Path, PathBuf};

use super::settings::{Settings, directories};
use super::{AgentState, Obstacle, SkillRoot, Start};
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
    let system = |variable: &str, name: &str| {
        let named = start.variables.get(variable).map(PathBuf::from);
        Settings::read(named.unwrap_or_else(|| start.in_system(SYSTEM).join(name)))
    };
    let defaults = system("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "system-defaults.json");
    let overrides = system("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "settings.json");
    let user = user_dir.as_deref().and_then(|dir| Settings::read(dir.join("settings.json")));
    let without_project: Vec<&Settings> =
        [&defaults, &user, &overrides].into_iter().flatten().collect();
    let distrusted = distrusted(start, user_dir.as_deref(), &without_project);
    let is_trusted = distrusted.is_none();
    let project = Settings::read(dir.join(".gemini/settings.json")).filter(|_| is_trusted);
    let files: Vec<&Settings> =
        [&defaults, &user, &project, &overrides].into_iter().flatten().collect();

    let mut state = AgentState::default();
    state.settings_dirs.extend(is_trusted.then(|| dir.clone()));
    if let Some(user_dir) = &user_dir {
        state.roots.extend(extensions(&user_dir.join("extensions"), &dir));
        state.roots.push(SkillRoot::user(user_dir.join("skills")));
    }
    let home = start.dir_of("GEMINI_CLI_HOME", "");
    state.roots.extend(home.map(|home| SkillRoot::user(home.join(".agents/skills"))));
    // It looks in the starting directory only, not in those above.
    if is_trusted {
        let own = [".gemini/skills", ".agents/skills"];
        state.roots.extend(own.map(|name| SkillRoot::project(dir.join(name))));
    }
    if let Some(by) = distrusted {
        state.switch(RuleTarget::Below(start.project()), true, by);
    }
    for file in &files {
        for name in file.texts("/skills/disabled") {
            let by = Obstacle::new(format!("skills.disabled: [\"{name}\"]"), &file.path);
            state.switch(RuleTarget::Name(name.to_owned()), true, by);
        }
    }
    if let Some(file) = turned_off(&files, "/skills/enabled") {
        state.turn_all_off(&Obstacle::new("skills.enabled: false", &file.path));
    }
    state.hooks_off = hooks_off(&files);
    state
}

/// Returns the file that turns off the switch at the JSON pointer `at`. The last file that has it decides.
fn turned_off<'f>(files: &[&'f Settings], at: &str) -> Option<&'f Settings> {
    let decides = files.iter().rev().find(|file| file.switch(at).is_some())?;
    (decides.switch(at) == Some(false)).then_some(decides)
}

/// Returns the setting that keeps our hooks from running.
fn hooks_off(files: &[&Settings]) -> Option<Obstacle> {
    if let Some(file) = turned_off(files, "/hooksConfig/enabled") {
        return Some(Obstacle::new("hooksConfig.enabled: false", &file.path));
    }
    // A hook without a name is disabled by its command.
    let is_own = |command: &&str| command.contains("hook gemini");
    files.iter().find_map(|file| {
        let command = file.texts("/hooksConfig/disabled").into_iter().find(is_own)?;
        Some(Obstacle::new(format!("hooksConfig.disabled: [\"{command}\"]"), &file.path))
    })
}

/// Returns the setting by which the user distrusts the starting directory: its settings and skills are then
/// not read. A directory that no rule mentions counts as trusted, as Gemini CLI asks about it first.
fn distrusted(start: &Start, user_dir: Option<&Path>, files: &[&Settings]) -> Option<Obstacle> {
    const VARIABLE: &str = "GEMINI_CLI_TRUST_WORKSPACE";
    match start.variables.get(VARIABLE).and_then(|value| value.to_str()) {
        Some("true") => return None,
        Some("false") => return Some(Obstacle::new("false", Path::new(VARIABLE))),
        _ => {}
    }
    if turned_off(files, "/security/folderTrust/enabled").is_some() {
        return None;
    }
    let named = start.variables.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH").map(PathBuf::from);
    let file = named.or_else(|| Some(user_dir?.join("trustedFolders.json")));
    let rules = file.and_then(Settings::read)?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let dir = real(&start.dir());
    let applies = rules.entries(&[]).into_iter().filter_map(|(path, level)| {
        let path = real(Path::new(&path));
        let reach = if level == "TRUST_PARENT" { path.parent()?.to_owned() } else { path };
        dir.starts_with(&reach).then_some((reach.as_os_str().len(), level))
    });
    // The longest path decides.
    let (_, level) = applies.max_by_key(|(n_bytes, _)| *n_bytes)?;
    (level == "DO_NOT_TRUST").then(|| Obstacle::new(level, &rules.path))
}

/// Returns the directories of skills of the extensions that are enabled in `here`.
fn extensions(dir: &Path, here: &Path) -> Vec<SkillRoot> {
    let rules = Settings::read(dir.join("extension-enablement.json"));
    let is_on = |name: &str| {
        let rules = rules.as_ref().map(|rules| rules.texts(&format!("/{name}/overrides")));
        let mut applies = rules.into_iter().flatten().filter(|rule| applies(rule, here));
        applies.next_back().is_none_or(|rule| !rule.starts_with('!'))
    };
    let named = directories(dir).into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        is_on(&name).then(|| SkillRoot::plugin(&name, path.join("skills")))
    });
    named.collect()
}

/// Tells whether a rule about an extension applies to `here`: a directory, or with `*` at its end all
/// directories below it.
fn applies(rule: &str, here: &Path) -> bool {
    let rule = rule.strip_prefix('!').unwrap_or(rule);
    match rule.strip_suffix('*') {
        Some(above) => here.starts_with(above),
        None => here == Path::new(rule.trim_end_matches('/')),
    }
}
