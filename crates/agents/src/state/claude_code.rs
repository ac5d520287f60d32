//! Claude Code. Observed with 2.1.197, and again with 2.1.332, and a fake model: where skills and settings
//! are found from a subdirectory, from a worktree and without a repository, by which name a skill is
//! called, and what each setting does. Keys: `code.claude.com/docs/en/settings` and `/skills`;
//! `CHANGELOG.md` of anthropics/claude-code (`5cfc0a19`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::claude_plugins::{Records, in_place, in_skills, installed, of_variable, to_install};
use super::claude_settings::{Files, MANAGED, local_dirs};
use super::denied::deny;
use super::options::{added_directories, named_plugins};
use super::settings::{Settings, Syntax};
use super::{AgentState, Obstacle, SkillRoot, Start, server};
use crate::agent::HookAgent;
use crate::listing::ListingBudget;
use repertoire::catalog::RuleTarget;

/// Variables that start Claude Code without hooks, skills and servers, whatever their settings say.
const WITHOUT_ALL: [&str; 2] = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"];
/// One that does the same, and that settings cannot set.
const RESTRICTED: &str = "CLAUDE_CODE_RESTRICTED";

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::ClaudeCode.user_dir(start);
    let files = Files::read(start, user_dir.as_deref());
    let mut state = AgentState {
        settings_dirs: vec![start.dir()],
        local_settings_dirs: local_dirs(start),
        ignored_files: files.ignored.clone(),
        ..AgentState::default()
    };
    let enabled = files.enabled_plugins();
    state.roots.extend(user_dir.iter().map(|dir| SkillRoot::user(dir.join("skills"))));
    // Without a repository, it looks in all directories above.
    let dirs = start.above_project().into_iter().chain(start.levels());
    let dirs = main_checkout_of_bare_worktree(start).into_iter().chain(dirs);
    let dirs = dirs.chain(added_directories(start));
    state.roots.extend(dirs.map(|dir| SkillRoot::project(dir.join(".claude/skills"))));
    if let Some(by) = files.plugins_only("skills") {
        state.turn_all_off(&by);
    }
    let plugin_dirs = files.variable(start, "CLAUDE_CODE_PLUGIN_DIRS");
    state.roots.extend(plugin_dirs.iter().flat_map(|(dirs, _)| of_variable(dirs)));
    state.roots.extend(named_plugins(start).into_iter().flat_map(in_place));
    if let Some(user_dir) = &user_dir {
        let records = Records::read(&user_dir.join(files.plugins_dir));
        installed(&records, &enabled, &start.dir(), &mut state);
        to_install(&records, &enabled, &|name| files.marketplace(name), &mut state);
        in_skills(&user_dir.join("skills"), &enabled, &mut state);
    }
    let managed = start.in_system(MANAGED);
    state.roots.push(SkillRoot::user(managed.join(".claude/skills")));
    overrides(&files, &mut state);
    for file in files.all() {
        for rule in file.texts("/permissions/deny") {
            deny(rule, &file.path, &mut state);
        }
    }
    let by_variable = without_all(&files, start);
    if let Some(by) = &by_variable {
        state.turn_all_off(by);
    }
    let by_managed = hooks_of_managed_only(&files);
    let by_switch = hooks_off(&files);
    // A switch of the user or a project leaves the administrator's hooks on.
    let is_below = |by: &Obstacle| !files.managed.iter().any(|file| file.path == by.file);
    state.spares_managed_hooks =
        by_variable.is_none() && by_switch.as_ref().map_or(by_managed.is_some(), is_below);
    state.hooks_off = by_variable.or(by_managed).or(by_switch);
    state.managed_settings.clone_from(&files.managed_paths);
    let of_managed = files.managed_paths.iter();
    state.demanded = of_managed.map(|path| (path.clone(), Syntax::Json)).collect();
    state
}

/// Returns the setting that takes the tools of the MCP server away. It reads a large file, which hooks do without.
pub(super) fn server_off(start: &Start) -> Option<Obstacle> {
    let user_dir = HookAgent::ClaudeCode.user_dir(start);
    let files = Files::read(start, user_dir.as_deref());
    without_all(&files, start).or_else(|| server::of_claude_code(&files, start))
}

/// Returns the variable that starts Claude Code without hooks, skills and servers.
fn without_all(files: &Files, start: &Start) -> Option<Obstacle> {
    let by_name = WITHOUT_ALL.into_iter().find_map(|name| files.turned_on(start, name));
    by_name.or_else(|| start.turned_on(RESTRICTED))
}

/// Returns the main checkout, if the project is a worktree without skills of its own: those of the main
/// checkout are then read.
fn main_checkout_of_bare_worktree(start: &Start) -> Option<PathBuf> {
    start.main_checkout().filter(|_| !start.project().join(".claude/skills").is_dir())
}

/// Adds the skills that `skillOverrides` hides from the model. A later file wins for each skill. Those of
/// plugins cannot be hidden so.
fn overrides(files: &Files, state: &mut AgentState) {
    for file in files.all() {
        for (name, value) in file.entries(&["skillOverrides"]) {
            let is_off = matches!(value.as_str(), "off" | "user-invocable-only");
            let by =
                Obstacle::new(format!("skillOverrides: {{\"{name}\": \"{value}\"}}"), &file.path);
            if !name.contains(':') {
                state.switch(RuleTarget::Exact(name), is_off, by);
            }
        }
    }
}

/// Returns the setting that keeps hooks from running.
fn hooks_off(files: &Files) -> Option<Obstacle> {
    // The file of the highest precedence that has the key decides.
    let decides = files.all().rev().find(|file| file.switch("/disableAllHooks").is_some())?;
    set(decides, "disableAllHooks")
}

/// Returns the setting by which only the administrator's hooks run.
fn hooks_of_managed_only(files: &Files) -> Option<Obstacle> {
    let mut managed = files.managed.iter().rev();
    let by_managed = managed.find_map(|file| set(file, "allowManagedHooksOnly"));
    by_managed.or_else(|| files.plugins_only("hooks"))
}

/// Returns the switch `key`, if it is on in the file.
fn set(file: &Settings, key: &str) -> Option<Obstacle> {
    file.switch(&format!("/{key}"))?.then(|| Obstacle::new(key, &file.path))
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
    let variable = |name| files.variable(start, name)?.0.into_string().ok();
    let named = variable("SLASH_COMMAND_TOOL_CHAR_BUDGET");
    let named = named.and_then(|n| n.parse::<usize>().ok()).filter(|n| *n > 0);
    let of_settings = set("model").and_then(Value::as_str);
    let of_environment = variable("ANTHROPIC_MODEL");
    let window = window_chars(model.or(of_environment.as_deref()).or(of_settings));
    let share = set("skillListingBudgetFraction").and_then(Value::as_f64).unwrap_or(SHARE);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small length")]
    let limit = named.unwrap_or((window * share) as usize);
    // It then has no list at all, and still the tool that loads skills.
    let is_listed = files.turned_on(start, "CLAUDE_CODE_DISABLE_ATTACHMENTS").is_none();
    let limit = if is_listed { limit } else { 0 };
    let longest = set("skillListingMaxDescChars").and_then(Value::as_u64).unwrap_or(LONGEST);
    let overrides = files.all().flat_map(|file| file.entries(&["skillOverrides"]));
    let overrides: BTreeMap<String, String> = overrides.collect();
    let name_only = overrides.into_iter().filter(|(_, value)| value == "name-only");
    ListingBudget::WholeByUse {
        limit,
        longest: usize::try_from(longest).unwrap_or(usize::MAX),
        bundled: if files.has_own_skills(start) { BUNDLED } else { 0 },
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
