//! Codex. From `codex-rs/core-skills/src/loader.rs` and `config_rules.rs` of openai/codex (`033d1d07`,
//! `9a5113ad`), and `codex features list` of 0.171.0.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use super::settings::{directories, toml};
use super::{AgentState, Obstacle, SkillRoot, Start};
use crate::agent::HookAgent;
use crate::listing::ListingBudget;
use repertoire::catalog::RuleTarget;

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Codex.user_dir(start);
    let levels = start.levels();
    let mut state = AgentState { settings_dirs: levels.clone(), ..AgentState::default() };
    let file = user_dir.as_deref().map(|dir| dir.join("config.toml"));
    let config = file.as_deref().and_then(toml);
    if let (Some(dir), Some(config)) = (&user_dir, &config) {
        state.roots.extend(plugins(&dir.join("plugins/cache"), config));
    }
    state.roots.push(SkillRoot::user(start.in_system("etc/codex/skills")));
    state.roots.extend(user_dir.map(|dir| SkillRoot::user(dir.join("skills"))));
    state.roots.extend(start.in_home(".agents/skills").map(SkillRoot::user));
    for dir in levels {
        state.roots.push(SkillRoot::project(dir.join(".codex/skills")));
        state.roots.push(SkillRoot::project(dir.join(".agents/skills")));
    }
    if let (Some(file), Some(config)) = (&file, &config) {
        read(config, file, &mut state);
    }
    state
}

/// Returns the budget of its list: 2 % of the context window (`codex-rs/core-skills/src/render.rs`,
/// `0899b7c4`). Without a setting, the window is that of its present models.
pub(super) fn listing_budget(start: &Start) -> ListingBudget {
    const WINDOW: i64 = 272_000;
    const PERCENT: i64 = 2;
    let file = HookAgent::Codex.user_dir(start).map(|dir| dir.join("config.toml"));
    let config = file.as_deref().and_then(toml);
    let window =
        config.as_ref().and_then(|config| config.get("model_context_window")?.as_integer());
    let limit = window.filter(|window| *window > 0).unwrap_or(WINDOW).saturating_mul(PERCENT) / 100;
    let roots = state(start).roots.into_iter().map(|root| root.path);
    let roots = roots.filter(|root| root.is_dir()).collect();
    ListingBudget::EvenTokens { limit: usize::try_from(limit).unwrap_or_default().max(1), roots }
}

/// Adds what the user's `config.toml` turns off. That of a project has no say about skills.
fn read(config: &DocumentMut, file: &Path, state: &mut AgentState) {
    for (name, off) in config_of_skills(config) {
        let by = Obstacle::new(format!("skills.config: {}", name_of(&name)), file);
        state.switch(name, off, by);
    }
    let features = config.get("features");
    let feature = |name: &str| features?.get(name)?.as_bool();
    // `codex_hooks` is the earlier name of the feature.
    let name = ["hooks", "codex_hooks"].into_iter().find(|name| feature(name) == Some(false));
    state.hooks_off = name.map(|name| Obstacle::new(format!("features.{name} = false"), file));
}

/// Returns the entries of `[[skills.config]]`, each true if it turns skills off. One with both a name and
/// a path, or neither, is ignored.
fn config_of_skills(config: &DocumentMut) -> Vec<(RuleTarget, bool)> {
    let Some(entries) = config.get("skills").and_then(|skills| skills.get("config")) else {
        return Vec::new();
    };
    let tables = entries.as_array_of_tables().into_iter().flatten().map(|table| {
        let text = |key: &str| table.get(key).and_then(Item::as_str);
        (text("name"), text("path"), table.get("enabled").and_then(Item::as_bool))
    });
    let inline = entries.as_array().into_iter().flatten().filter_map(|value| {
        let table = value.as_inline_table()?;
        let text = |key: &str| table.get(key).and_then(toml_edit::Value::as_str);
        Some((text("name"), text("path"), table.get("enabled").and_then(toml_edit::Value::as_bool)))
    });
    let target = |(name, path, enabled): (Option<&str>, Option<&str>, Option<bool>)| {
        let target = match (name.map(str::trim).filter(|name| !name.is_empty()), path) {
            (Some(name), None) => RuleTarget::Name(name.to_owned()),
            (None, Some(path)) => RuleTarget::File(PathBuf::from(path)),
            _ => return None,
        };
        Some((target, enabled == Some(false)))
    };
    tables.chain(inline).filter_map(target).collect()
}

fn name_of(target: &RuleTarget) -> String {
    match target {
        RuleTarget::Name(name) => name.clone(),
        RuleTarget::File(path) | RuleTarget::Below(path) => path.display().to_string(),
    }
}

/// Returns the directories of skills of the plugins that `config` enables. Their files are in
/// `cache/MARKETPLACE/PLUGIN/VERSION`, of which the last one is in use.
fn plugins(cache: &Path, config: &DocumentMut) -> Vec<SkillRoot> {
    let plugins = config.get("plugins").and_then(Item::as_table_like);
    let is_on = |item: &Item| item.get("enabled").and_then(Item::as_bool) != Some(false);
    let enabled = plugins.into_iter().flat_map(|plugins| plugins.iter());
    let enabled = enabled.filter(|(_, item)| is_on(item));
    let roots = enabled.filter_map(|(id, _)| {
        let (name, marketplace) = id.split_once('@')?;
        let version = directories(&cache.join(marketplace).join(name)).pop()?;
        Some(SkillRoot::plugin(name, version.join("skills")))
    });
    roots.collect()
}
