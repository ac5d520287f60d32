//! Droid, the agent of Factory. Observed with 0.215.0 (`droid exec`) and a fake model: where skills and settings
//! are found, and what each setting does. Its documentation: `docs.factory.ai/cli/configuration`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::options::Options;
use super::settings::{Settings, Syntax, entries};
use super::{AgentState, Obstacle, SkillRoot, Start, server};
use crate::agent::HookAgent;
use crate::listing::ListingBudget;
use repertoire::catalog::RuleTarget;

/// The directories of skills in each directory of a project, lowest precedence first.
const PROJECT_DIRS: [&str; 3] = [".agent/skills", ".agents/skills", ".factory/skills"];

/// The settings files of the user and in each directory of a project, lowest precedence first.
const FILES: [&str; 2] = ["settings.json", "settings.local.json"];

/// Returns the settings files, lowest precedence first, and those that it ignores, each with the reason.
fn settings(start: &Start, levels: &[PathBuf]) -> (Vec<Settings>, Vec<(PathBuf, Obstacle)>) {
    let user = HookAgent::Droid.user_dir(start).into_iter();
    let levels = levels.iter().map(|dir| dir.join(".factory"));
    let paths = user.chain(levels).flat_map(|dir| FILES.map(|name| dir.join(name)));
    let files = paths.filter_map(|path| Settings::read_valid(path, Syntax::Comments));
    let mut ignored = Vec::new();
    let valid =
        files.filter_map(|file| file.map_err(|by| ignored.push((by.file.clone(), by))).ok());
    (valid.collect(), ignored)
}

/// Returns the budget of its list: 6 % of the tokens after which it compacts a conversation, in characters. Its
/// own skills always keep their descriptions; their length was measured with 0.215.0.
pub(super) fn listing_budget(start: &Start, model: Option<&str>) -> ListingBudget {
    /// The number of tokens for models with large windows, and for those of one's own.
    const TOKENS: u64 = 250_000;
    const BUNDLED: usize = 5276;
    const LONGEST: usize = 1024;
    let (files, _) = settings(start, &start.levels());
    let has_own = !Options::of(start).has("--disable-builtin-skills");
    let set = |at: &dyn Fn(&Settings) -> Option<u64>| files.iter().rev().find_map(at);
    let of_model = |file: &Settings| {
        let model = model.or_else(|| file.value["model"].as_str())?;
        file.value["compactionTokenLimitPerModel"][model].as_u64()
    };
    let tokens = set(&of_model)
        .or_else(|| set(&|file| file.value["compactionTokenLimit"].as_u64()))
        .filter(|tokens| *tokens > 0);
    let tokens = tokens.unwrap_or(TOKENS);
    let places = state(start).roots.into_iter().rev().zip(0..);
    ListingBudget::WholeByPlace {
        limit: usize::try_from(tokens.saturating_mul(6) / 100).unwrap_or(usize::MAX).max(1),
        longest: LONGEST,
        bundled: if has_own { BUNDLED } else { 0 },
        places: places.map(|(root, kind)| root.listed(kind, "")).collect(),
    }
}

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Droid.user_dir(start);
    let levels = start.levels();
    let (files, ignored_files) = settings(start, &levels);
    let mut state =
        AgentState { settings_dirs: levels.clone(), ignored_files, ..AgentState::default() };
    let home = start.dir_of("FACTORY_HOME_OVERRIDE", "");
    let shared = [".agent/skills", ".agents/skills"];
    let shared = home.iter().flat_map(|home| shared.map(|name| home.join(name)));
    let installed = user_dir.as_ref().map(|dir| dir.join("plugins/installed_plugins"));
    plugins(installed.as_deref(), &files, &mut state);
    state.roots.extend(shared.map(SkillRoot::user));
    state.roots.extend(user_dir.iter().map(|dir| SkillRoot::user(dir.join("skills"))));
    let project = levels.iter().flat_map(|dir| PROJECT_DIRS.map(|name| dir.join(name)));
    state.roots.extend(project.map(SkillRoot::project));
    let by = Obstacle::new("enabled: false", Path::new("its front matter"));
    state.switch(RuleTarget::Key("enabled", false), true, by);
    for file in &files {
        for name in file.texts("/disabledSkills") {
            let by = Obstacle::new(format!("disabledSkills: [\"{name}\"]"), &file.path);
            state.switch(RuleTarget::Caseless(normalized(name)), true, by);
        }
    }
    let dirs: Vec<PathBuf> =
        user_dir.into_iter().chain(levels.iter().map(|dir| dir.join(".factory"))).collect();
    state.server_off = server::of_droid(
        dirs.iter()
            .filter_map(|dir| Settings::read(dir.join("mcp.json")))
            .collect::<Vec<_>>()
            .into_iter(),
    );
    state.hooks_off = hooks_off(&dirs, &files);
    state.replaced_hooks = dirs.iter().filter_map(|dir| replaced(dir)).collect();
    state
}

/// Returns the setting that keeps hooks from running. In each directory, `hooks.json` wins over the shared settings;
/// those of one user have no say.
fn hooks_off(dirs: &[PathBuf], files: &[Settings]) -> Option<Obstacle> {
    let decided = dirs.iter().rev().find_map(|dir| {
        let own = Settings::read(dir.join("hooks.json"));
        let own = own.and_then(|file| Some((file.switch("/hooksDisabled")?, file.path)));
        let shared = files.iter().find(|file| file.path == dir.join("settings.json"));
        let of_shared =
            |file: &Settings| Some((file.switch("/hooks/hooksDisabled")?, file.path.clone()));
        own.or_else(|| of_shared(shared?))
    });
    let (is_off, path) = decided?;
    is_off.then(|| Obstacle::new("hooksDisabled: true", &path))
}

/// Returns the settings file in `dir` with the event whose hooks `hooks.json` replaces.
fn replaced(dir: &Path) -> Option<(PathBuf, Obstacle)> {
    let own = Settings::read(dir.join("hooks.json"))?;
    let events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"];
    let is_own = |event: &&str| own.value[*event].as_array().is_some_and(|list| !list.is_empty());
    let event = events.into_iter().find(is_own)?;
    Some((dir.join("settings.json"), Obstacle::new(event, &own.path)))
}

/// Adds the directories of skills of the plugins. A file in `dir` tells of each installation. The agent calls
/// their skills by the plain names.
fn plugins(dir: Option<&Path>, files: &[Settings], state: &mut AgentState) {
    let mut found = Vec::new();
    for installed in dir.map(entries).unwrap_or_default().into_iter().filter_map(Settings::read) {
        let id = installed.value["pluginId"].as_str().unwrap_or_default();
        found.push(id.to_owned());
        let Some(place) = installed.value["entry"]["installPath"].as_str() else { continue };
        let decides = files.iter().rev().find(|file| !file.value["enabledPlugins"][id].is_null());
        let off = match decides {
            Some(file) if file.value["enabledPlugins"][id] == true => None,
            Some(file) => Some(Obstacle::of_plugin(id, &file.path)),
            None => Some(Obstacle::of_unnamed_plugin(id, &installed.path)),
        };
        let place = PathBuf::from(place);
        let root = SkillRoot::user(place.join("skills"));
        state.add(SkillRoot { plugin_dir: Some(place), ..root }, off.as_ref());
    }
    // It installs none by itself, also if it knows the marketplace.
    let mut enabled = BTreeMap::new();
    for file in files {
        for (id, value) in file.value["enabledPlugins"].as_object().into_iter().flatten() {
            enabled.insert(id, (*value == true, &file.path));
        }
    }
    for (id, (_, path)) in
        enabled.into_iter().filter(|(id, (is_on, _))| *is_on && !found.contains(id))
    {
        state.add_missing(id, path);
    }
}

/// The form in which it compares names: other signs than letters and digits of ASCII are hyphens.
fn normalized(name: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let signs: String = name.to_lowercase().chars().map(sign).collect();
    let parts = signs.split('-').filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}
