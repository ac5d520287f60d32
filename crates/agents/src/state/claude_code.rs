//! Claude Code. Observed with 2.1.197 and a fake model: where skills and settings are found from a
//! subdirectory, from a worktree and without a repository, by which name a skill is called, and what each
//! setting does. Keys: `code.claude.com/docs/en/settings` and `/skills`; `CHANGELOG.md` of
//! anthropics/claude-code (`5cfc0a19`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::settings::Settings;
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use crate::listing::ListingBudget;
use repertoire::catalog::RuleTarget;

/// The directory of managed settings, relative to the root of the system.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/ClaudeCode"
} else {
    "etc/claude-code"
};

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::ClaudeCode.user_dir(start);
    let files = Files::read(start, user_dir.as_deref());
    let mut state = AgentState { settings_dirs: vec![start.dir()], ..AgentState::default() };
    let plugins = user_dir.iter().flat_map(|dir| plugins(&dir.join("plugins"), &files));
    state.roots.extend(plugins);
    state.roots.extend(user_dir.map(|dir| SkillRoot::user(dir.join("skills"))));
    // Without a repository, it looks in all directories above.
    let dirs = start.above_project().into_iter().chain(start.levels());
    state.roots.extend(dirs.map(|dir| SkillRoot::project(dir.join(".claude/skills"))));
    let managed = start.in_system(MANAGED);
    state.roots.push(SkillRoot::user(managed.join(".claude/skills")));
    overrides(&files, &mut state);
    for file in files.all() {
        for rule in file.texts("/permissions/deny") {
            deny(rule, &file.path, &mut state);
        }
    }
    state.hooks_off = hooks_off(&files);
    state
}

/// The settings files. In a subdirectory, those of the project's root are not read.
struct Files {
    /// The files of the user, the project, and the user in the project, lowest precedence first.
    own: Vec<Settings>,
    /// The files of the administrator, which win over the others.
    managed: Vec<Settings>,
}

impl Files {
    fn read(start: &Start, user_dir: Option<&Path>) -> Files {
        let dir = start.dir();
        let own = user_dir
            .map(|dir| dir.join("settings.json"))
            .into_iter()
            .chain([dir.join(".claude/settings.json"), dir.join(".claude/settings.local.json")]);
        let managed = start.in_system(MANAGED);
        let parts = std::fs::read_dir(managed.join("managed-settings.d")).into_iter().flatten();
        let mut parts: Vec<PathBuf> = parts.flatten().map(|part| part.path()).collect();
        parts.sort();
        let managed = std::iter::once(managed.join("managed-settings.json")).chain(parts);
        Files {
            own: own.filter_map(Settings::read).collect(),
            managed: managed.filter_map(Settings::read).collect(),
        }
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Settings> {
        self.own.iter().chain(&self.managed)
    }
}

/// Adds the skills that `skillOverrides` hides from the model. A later file wins for each skill.
fn overrides(files: &Files, state: &mut AgentState) {
    for file in files.all() {
        for (name, value) in file.entries(&["skillOverrides"]) {
            let is_off = matches!(value.as_str(), "off" | "user-invocable-only");
            let by =
                Obstacle::new(format!("skillOverrides: {{\"{name}\": \"{value}\"}}"), &file.path);
            state.switch(RuleTarget::Name(name), is_off, by);
        }
    }
}

/// Adds the skills that a rule in `permissions.deny` denies: `Skill(name)`, and `Skill(name:*)` or
/// `Skill(name *)` for all whose names begin so. `Skill`, `Skill(*)` and `*` take away the whole tool.
fn deny(rule: &str, file: &Path, state: &mut AgentState) {
    let by = Obstacle::new(format!("permissions.deny: [\"{rule}\"]"), file);
    let rule = rule.trim();
    let Some(named) = rule.strip_prefix("Skill(").and_then(|rest| rest.strip_suffix(')')) else {
        if matches!(rule, "Skill" | "*") {
            state.turn_all_off(&by);
        }
        return;
    };
    let named = named.trim();
    let named = named.strip_prefix('/').unwrap_or(named);
    if named == "*" {
        return state.turn_all_off(&by);
    }
    let start = named.strip_suffix(":*").or_else(|| named.strip_suffix(" *"));
    // Elsewhere, a star is an ordinary character, which no name has.
    let is_pattern = start.unwrap_or(named).contains('*');
    let pattern = start.map_or_else(|| named.to_owned(), |start| format!("{start}*"));
    if !is_pattern {
        state.switch(RuleTarget::Name(pattern), true, by);
    }
}

/// Returns the setting that keeps hooks from running: for all, or for those that the administrator did
/// not write.
fn hooks_off(files: &Files) -> Option<Obstacle> {
    let set = |file: &Settings, key: &str| {
        (file.switch(&format!("/{key}"))?).then(|| Obstacle::new(key, &file.path))
    };
    let managed = files.managed.iter().rev();
    let by_managed = managed.clone().find_map(|file| set(file, "allowManagedHooksOnly"));
    // The file of the highest precedence that has the key decides.
    let decides = files.all().rev().find(|file| file.switch("/disableAllHooks").is_some());
    by_managed.or_else(|| set(decides?, "disableAllHooks"))
}

/// Returns the budget of its list: by default 1 % of the context window. Its own skills always keep their
/// descriptions; how long those are was measured with 2.1.197, as were the windows of models.
pub(super) fn listing_budget(start: &Start, model: Option<&str>) -> ListingBudget {
    const SHARE: f64 = 0.01;
    const LONGEST: u64 = 1536;
    const BUNDLED: usize = 4250;
    let user_dir = HookAgent::ClaudeCode.user_dir(start);
    let files = Files::read(start, user_dir.as_deref());
    let set =
        |key: &str| files.all().rev().map(|file| &file.value[key]).find(|value| !value.is_null());
    let named = start.variables.get("SLASH_COMMAND_TOOL_CHAR_BUDGET").and_then(|n| n.to_str());
    let named = named.and_then(|n| n.parse::<usize>().ok()).filter(|n| *n > 0);
    let of_settings = set("model").and_then(Value::as_str);
    let of_environment = start.variables.get("ANTHROPIC_MODEL").and_then(|model| model.to_str());
    let window = window_chars(model.or(of_environment).or(of_settings));
    let share = set("skillListingBudgetFraction").and_then(Value::as_f64).unwrap_or(SHARE);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small length")]
    let limit = named.unwrap_or((window * share) as usize);
    let longest = set("skillListingMaxDescChars").and_then(Value::as_u64).unwrap_or(LONGEST);
    let overrides = files.all().flat_map(|file| file.entries(&["skillOverrides"]));
    let overrides: BTreeMap<String, String> = overrides.collect();
    let name_only = overrides.into_iter().filter(|(_, value)| value == "name-only");
    ListingBudget::WholeByUse {
        limit,
        longest: usize::try_from(longest).unwrap_or(usize::MAX),
        bundled: BUNDLED,
        name_only: name_only.map(|(name, _)| name).collect(),
        uses: uses(start),
    }
}

/// Returns the size of the context window of a model, in characters as Claude Code counts them. A window
/// of a million tokens is the default, and `[1m]` after another model.
fn window_chars(model: Option<&str>) -> f64 {
    /// Models whose tokens have 4 characters; those of later ones have 3.
    const EARLIER: [&str; 7] =
        ["claude-3", "haiku-4-", "opus-4-0", "opus-4-1", "opus-4-5", "opus-4-6", "sonnet-4-"];
    let Some(model) = model.filter(|model| *model != "default") else { return 3_000_000.0 };
    let is_earlier = model == "haiku" || EARLIER.iter().any(|name| model.contains(name));
    let chars_per_token = if is_earlier { 4.0 } else { 3.0 };
    let tokens = if model.contains("[1m]") { 1_000_000.0 } else { 200_000.0 };
    tokens * chars_per_token
}

/// Returns how much each skill was used, as Claude Code weighs it: the number of uses, halved with each
/// week since the last one, to a tenth.
fn uses(start: &Start) -> BTreeMap<String, f64> {
    const WEEK: f64 = 7.0 * 86_400_000.0;
    let dir = start.dir_of("CLAUDE_CONFIG_DIR", "");
    let Some(state) = dir.and_then(|dir| Settings::read(dir.join(".claude.json"))) else {
        return BTreeMap::new();
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = now.as_secs_f64() * 1000.0;
    let used = state.value["skillUsage"].as_object().into_iter().flatten();
    let weigh = |(name, usage): (&String, &Value)| {
        let (n, last) = (usage["usageCount"].as_f64()?, usage["lastUsedAt"].as_f64()?);
        Some((name.clone(), n * 0.5_f64.powf((now - last) / WEEK).max(0.1)))
    };
    used.filter_map(weigh).collect()
}

/// Returns the directories of skills of the enabled plugins, whose files are below `dir`.
fn plugins(dir: &Path, files: &Files) -> Vec<SkillRoot> {
    let mut enabled: BTreeMap<&str, bool> = BTreeMap::new();
    for file in files.all() {
        for (id, value) in file.value["enabledPlugins"].as_object().into_iter().flatten() {
            enabled.insert(id, *value != Value::Bool(false));
        }
    }
    let Some(installed) = Settings::read(dir.join("installed_plugins.json")) else {
        return Vec::new();
    };
    let mut roots = Vec::new();
    for (id, installations) in installed.value["plugins"].as_object().into_iter().flatten() {
        if enabled.get(id.as_str()) != Some(&true) {
            continue;
        }
        // Version 1 of the file has one installation of each plugin, version 2 a list.
        let first = installations.as_array().and_then(|list| list.first());
        let path = first.unwrap_or(installations)["installPath"].as_str();
        let name = id.split('@').next().unwrap_or(id);
        roots.extend(path.into_iter().flat_map(|path| skills_of_plugin(name, Path::new(path))));
    }
    roots
}

/// Returns the directories of skills of a plugin: `skills`, and those that its manifest adds.
fn skills_of_plugin(name: &str, dir: &Path) -> Vec<SkillRoot> {
    let manifest = Settings::read(dir.join(".claude-plugin/plugin.json"));
    let value = manifest.as_ref().map(|manifest| &manifest.value["skills"]);
    let one = value.and_then(Value::as_str);
    let several = manifest.as_ref().map(|manifest| manifest.texts("/skills")).unwrap_or_default();
    let named = manifest.as_ref().and_then(|manifest| manifest.value["name"].as_str());
    let added = one.into_iter().chain(several).map(|path| dir.join(path.trim_start_matches("./")));
    let added = added.filter(|path| path.starts_with(dir));
    let paths = std::iter::once(dir.join("skills")).chain(added);
    paths.map(|path| SkillRoot::plugin(named.unwrap_or(name), path)).collect()
}
