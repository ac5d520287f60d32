//! Codex. From `codex-rs/core-skills/src/loader.rs` and `config_rules.rs` of openai/codex (`033d1d07`,
//! `9a5113ad`), and observed with 0.171.0 and a fake model: the layers of `config.toml`, roots of projects,
//! worktrees, and the manifests of plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table};

use super::hook_schemas::fault_of;
use super::manifest_path::below;
use super::options::{Options, PLACE, by};
use super::settings::{Settings, Syntax, directories, toml};
use super::{AgentState, Obstacle, SkillRoot, Start, server};
use crate::agent::HookAgent;
use crate::listing::ListingBudget;
use crate::real_path::real;
use repertoire::catalog::{RuleTarget, levels};
use repertoire_system::project::project_marked_by;

/// The manifests of a plugin, of which it needs one.
const MANIFESTS: [&str; 2] = [".codex-plugin/plugin.json", ".claude-plugin/plugin.json"];

/// The option by which the user's configuration is not read.
const IGNORE_USER: &str = "--ignore-user-config";

pub(super) fn state(start: &Start) -> AgentState {
    let user_dir = HookAgent::Codex.user_dir(start);
    let user = user_dir.as_deref().and_then(|dir| Layer::read(dir.join("config.toml")));
    let ignores_user = Options::of(start).has(IGNORE_USER);
    let ignored = user
        .as_ref()
        .filter(|_| ignores_user)
        .is_some_and(|user| server::is_in_codex(&user.config));
    let user = user.filter(|_| !ignores_user);
    let levels = project_levels(start, user.as_ref());
    let layers = layers(start, user, &levels);
    let hooks_dirs: Vec<PathBuf> = levels.iter().map(|dir| hooks_dir(start, dir)).collect();
    let hooks = hooks_dirs.iter().map(|dir| dir.join(".codex")).chain(user_dir.clone());
    let hooks = hooks.chain([start.in_system("etc/codex")]).map(|dir| dir.join("hooks.json"));
    let ignored_files = hooks.filter_map(|path| fault_of(HookAgent::Codex, &path)).collect();
    let mut state =
        AgentState { settings_dirs: hooks_dirs, ignored_files, ..AgentState::default() };
    if let Some(dir) = &user_dir {
        plugins(&dir.join("plugins/cache"), &layers, &mut state);
    }
    state.roots.push(SkillRoot::user(start.in_system("etc/codex/skills")));
    state.roots.extend(user_dir.map(|dir| SkillRoot::user(dir.join("skills"))));
    state.roots.extend(start.in_home(".agents/skills").map(SkillRoot::user));
    for dir in levels {
        state.roots.push(SkillRoot::project(dir.join(".codex/skills")));
        state.roots.push(SkillRoot::project(dir.join(".agents/skills")));
    }
    for layer in layers.iter().filter(|layer| layer.is_user) {
        switch_skills(layer, start, &mut state);
    }
    if let Some(by) = without_list(&layers) {
        state.turn_all_off(&by);
    }
    // The administrator's files, the first in JSON. All configurations have to obey the second.
    let managed = ["hooks.json", "requirements.toml", "managed_config.toml", "config.toml"];
    let managed = managed.map(|name| start.in_system("etc/codex").join(name));
    let requirements = Layer::read(managed[1].clone());
    let requirements = requirements.as_ref();
    let managed_only = requirements.and_then(of_managed_only);
    let off = hooks_off(&layers, requirements);
    state.spares_managed_hooks = managed_only.is_some() && off.is_none();
    state.hooks_off = off.or(managed_only);
    let ignored = ignored.then(|| by(IGNORE_USER));
    state.server_off = server_off(&layers, requirements, ignored);
    state.demanded = managed[1..].iter().map(|path| (path.clone(), Syntax::Toml)).collect();
    // It runs the hooks of each of these files without asking for trust.
    state.managed_settings.extend(managed);
    state
}

/// A `config.toml`.
struct Layer {
    path: PathBuf,
    config: DocumentMut,
    /// True for that of the user, and for the user's command line.
    is_user: bool,
}

impl Layer {
    fn read(path: PathBuf) -> Option<Layer> {
        let config = toml(&path)?;
        Some(Layer { path, config, is_user: false })
    }

    fn feature(&self, name: &str) -> Option<bool> {
        self.config.get("features")?.get(name)?.as_bool()
    }
}

/// Returns the directories from the root of the project down to the starting directory. By
/// `project_root_markers`, the root may be another one than that of the repository.
fn project_levels(start: &Start, user: Option<&Layer>) -> Vec<PathBuf> {
    let markers = user.and_then(|user| user.config.get("project_root_markers")?.as_array());
    let Some(markers) = markers else { return start.levels() };
    let markers: Vec<&str> = markers.iter().filter_map(|marker| marker.as_str()).collect();
    let dir = start.dir();
    levels(project_marked_by(&dir, &markers).root, &dir)
}

/// Returns the layers of the configuration, lowest precedence first. Those of a project count if the user
/// trusts it.
fn layers(start: &Start, user: Option<Layer>, levels: &[PathBuf]) -> Vec<Layer> {
    let checkout = start.main_checkout();
    let is_trusted =
        |user: &Layer| levels.iter().chain(&checkout).any(|dir| trusts(&user.config, dir));
    let is_trusted = user.as_ref().is_some_and(is_trusted);
    let system = Layer::read(start.in_system("etc/codex/config.toml"));
    let user = user.map(|user| Layer { is_user: true, ..user });
    let of_project = levels.iter().filter(|_| is_trusted);
    let of_project = of_project.filter_map(|dir| Layer::read(dir.join(".codex/config.toml")));
    let below = system.into_iter().chain(user).chain(of_project);
    // The administrator's file wins over all others, also for those who start Codex with options.
    let managed = Layer::read(start.in_system("etc/codex/managed_config.toml"));
    below.chain(profile(start)).chain(of_options(start)).chain(managed).collect()
}

/// Returns the profile that the command line names: a file beside the user's configuration.
fn profile(start: &Start) -> Option<Layer> {
    let name = Options::of(start).values(&["-p", "--profile"]).into_iter().next_back()?;
    let dir = HookAgent::Codex.user_dir(start)?;
    let layer = Layer::read(below(&dir, &format!("{name}.config.toml"))?)?;
    Some(Layer { is_user: true, ..layer })
}

/// Returns the settings of the command line. A value that is not TOML is text.
fn of_options(start: &Start) -> Option<Layer> {
    let options = Options::of(start);
    let set = options.values(&["-c", "--config"]).into_iter().filter_map(|set| {
        let (key, value) = set.split_once('=')?;
        let plain = format!("{key} = {value}");
        let quoted = || format!("{key} = {}", toml_edit::Value::from(value.trim()));
        Some(if plain.parse::<DocumentMut>().is_ok() { plain } else { quoted() })
    });
    let switch = |name, on| {
        let features = options.values(&[name]).into_iter();
        features.map(move |feature| format!("features.{feature} = {on}"))
    };
    let mut config = DocumentMut::new();
    for line in set.chain(switch("--enable", true)).chain(switch("--disable", false)) {
        // A key that is set again replaces the earlier value, where a file would be invalid.
        if let Ok(later) = line.parse::<DocumentMut>() {
            merge(config.as_table_mut(), later.as_table());
        }
    }
    let layer = Layer { path: PathBuf::from(PLACE), config, is_user: true };
    (!layer.config.is_empty()).then_some(layer)
}

fn merge(config: &mut Table, later: &Table) {
    for (key, value) in later {
        match (config.get_mut(key).and_then(Item::as_table_mut), value.as_table()) {
            (Some(table), Some(later)) => merge(table, later),
            _ => {
                config.insert(key, value.clone());
            }
        }
    }
}

fn trusts(config: &DocumentMut, project: &Path) -> bool {
    [project, &real(project)].into_iter().any(|path| {
        let entry = config.get("projects").and_then(|all| all.get(&*path.to_string_lossy()));
        let level = entry.and_then(|entry| entry.get("trust_level")).and_then(Item::as_str);
        level == Some("trusted")
    })
}

/// Returns the directory whose hooks count for a directory of the project: in a worktree, that of the main
/// checkout.
fn hooks_dir(start: &Start, dir: &Path) -> PathBuf {
    let Some(main) = start.main_checkout() else { return dir.to_owned() };
    match dir.strip_prefix(start.project()) {
        Ok(inside) => main.components().chain(inside.components()).collect(),
        Err(_) => dir.to_owned(),
    }
}

/// Returns the budget of its list: 2 % of the context window (`codex-rs/core-skills/src/render.rs`,
/// `0899b7c4`). Without a setting, the window is that of its present models.
pub(super) fn listing_budget(start: &Start) -> ListingBudget {
    const WINDOW: i64 = 272_000;
    const PERCENT: i64 = 2;
    let file = HookAgent::Codex.user_dir(start).map(|dir| dir.join("config.toml"));
    let config = file.as_deref().and_then(toml);
    let number = |value: Option<&Item>| value?.as_integer().filter(|n| *n > 0);
    let config = config.as_ref();
    let window = number(config.and_then(|config| config.get("model_context_window")));
    let skills = config.and_then(|config| config.get("skills"));
    let limit = number(skills.and_then(|skills| skills.get("max_context_tokens")))
        .unwrap_or_else(|| window.unwrap_or(WINDOW).saturating_mul(PERCENT) / 100);
    let roots = state(start).roots.into_iter().map(|root| root.path);
    let roots = roots.filter(|root| root.is_dir()).collect();
    ListingBudget::EvenTokens { limit: usize::try_from(limit).unwrap_or_default().max(1), roots }
}

/// Adds the skills that the user's `config.toml` turns off. That of a project has no say about them.
fn switch_skills(user: &Layer, start: &Start, state: &mut AgentState) {
    let dir = user.path.parent().unwrap_or(&user.path);
    for (target, off) in config_of_skills(&user.config) {
        let by = Obstacle::new(format!("skills.config: {}", name_of(&target)), &user.path);
        let target = match target {
            RuleTarget::File(path) => RuleTarget::File(start.expanded(&path, dir)),
            other => other,
        };
        state.switch(target, off, by);
    }
}

/// Returns the setting by which the model gets no list of skills.
fn without_list(layers: &[Layer]) -> Option<Obstacle> {
    const KEY: &str = "include_instructions";
    let value = |layer: &Layer| layer.config.get("skills")?.get(KEY)?.as_bool();
    let decides = layers.iter().rev().find(|layer| value(layer).is_some())?;
    (value(decides) == Some(false))
        .then(|| Obstacle::new(format!("skills.{KEY} = false"), &decides.path))
}

/// Returns the setting of the `requirements` by which only the administrator's hooks run.
fn of_managed_only(requirements: &Layer) -> Option<Obstacle> {
    const KEY: &str = "allow_managed_hooks_only";
    let is_set = requirements.config.get(KEY).and_then(Item::as_bool) == Some(true);
    is_set.then(|| Obstacle::new(format!("{KEY} = true"), &requirements.path))
}

/// Returns the setting that takes the tools of the server away: in the last layer that has it, or of the administrator.
/// If no layer has it, it was in the user's, which is `ignored`.
fn server_off(
    layers: &[Layer],
    requirements: Option<&Layer>,
    ignored: Option<Obstacle>,
) -> Option<Obstacle> {
    let found = layers.iter().rev().find(|layer| server::is_in_codex(&layer.config));
    let Some(layer) = found else { return ignored };
    let by_layer = server::of_codex(&layer.config);
    by_layer.map(|setting| Obstacle::new(setting, &layer.path)).or_else(|| {
        let requirements = requirements?;
        let command = layers.iter().rev().find_map(|layer| server::command_in_codex(&layer.config));
        let setting = server::required_in_codex(&requirements.config, command)?;
        Some(Obstacle::new(setting, &requirements.path))
    })
}

/// Returns the setting that keeps all hooks from running.
fn hooks_off(layers: &[Layer], requirements: Option<&Layer>) -> Option<Obstacle> {
    // `codex_hooks` is the earlier name of the feature.
    const NAMES: [&str; 2] = ["hooks", "codex_hooks"];
    let off = |name: &str, file: &Layer| {
        let is_off = file.feature(name) == Some(false);
        is_off.then(|| Obstacle::new(format!("features.{name} = false"), &file.path))
    };
    if let Some(by) = requirements.and_then(|file| NAMES.iter().find_map(|name| off(name, file))) {
        return Some(by);
    }
    let (name, decides) = NAMES.into_iter().find_map(|name| {
        Some((name, layers.iter().rev().find(|layer| layer.feature(name).is_some())?))
    })?;
    off(name, decides)
}

/// Returns the entries of `[[skills.config]]`, each true if it turns skills off. One with both a name and
/// a path, or neither, is ignored, and so is the path of a directory.
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
            (Some(name), None) => RuleTarget::Exact(name.to_owned()),
            (None, Some(path)) if path.ends_with("SKILL.md") => {
                RuleTarget::File(PathBuf::from(path))
            }
            _ => return None,
        };
        Some((target, enabled == Some(false)))
    };
    tables.chain(inline).filter_map(target).collect()
}

fn name_of(target: &RuleTarget) -> String {
    match target {
        RuleTarget::Name(name) | RuleTarget::Exact(name) | RuleTarget::Caseless(name) => {
            name.clone()
        }
        RuleTarget::File(path) | RuleTarget::Below(path) => path.display().to_string(),
        RuleTarget::Key(key, value) => format!("{key}: {value}"),
    }
}

/// Adds the directories of skills of the plugins that the configuration names. Their files are in
/// `cache/MARKETPLACE/PLUGIN/VERSION`, of which the highest version is in use.
fn plugins(cache: &Path, layers: &[Layer], state: &mut AgentState) {
    let features = layers.iter().rev().find(|layer| layer.feature("plugins").is_some());
    let without = features.filter(|layer| layer.feature("plugins") == Some(false));
    let without = without.map(|layer| Obstacle::new("features.plugins = false", &layer.path));
    let mut enabled = BTreeMap::new();
    for layer in layers {
        let plugins = layer.config.get("plugins").and_then(Item::as_table_like);
        for (id, item) in plugins.into_iter().flat_map(|plugins| plugins.iter()) {
            let is_off = item.get("enabled").and_then(Item::as_bool) == Some(false);
            let setting = format!("plugins.\"{id}\".enabled = false");
            enabled.insert(id, is_off.then(|| Obstacle::new(setting, &layer.path)));
        }
    }
    let root = |id: &str| {
        let (name, marketplace) = id.split_once('@')?;
        let versions = directories(&below(&below(cache, marketplace)?, name)?);
        let dir = versions.into_iter().max_by_key(|dir| (version(dir), dir.clone()))?;
        let manifest = MANIFESTS.iter().find_map(|name| Settings::read(dir.join(name)))?;
        let skills = below(&dir, manifest.value["skills"].as_str().unwrap_or("skills"))?;
        Some(SkillRoot::plugin(manifest.value["name"].as_str().unwrap_or(name), &dir, skills))
    };
    for (id, off) in enabled {
        match root(id) {
            Some(root) => state.add(root, off.as_ref().or(without.as_ref())),
            None if off.is_none() => {
                let file = layers.iter().rev().find(|layer| names_plugin(layer, id));
                let by = file.map(|file| Obstacle::new(format!("plugins.\"{id}\""), &file.path));
                state.missing_plugins.extend(by.map(|by| (id.to_owned(), by)));
            }
            None => {}
        }
    }
}

fn names_plugin(layer: &Layer, id: &str) -> bool {
    layer.config.get("plugins").is_some_and(|plugins| plugins.get(id).is_some())
}

/// The numbers of the version that the name of a directory tells.
fn version(dir: &Path) -> Vec<u64> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    numbers.map(|part| part.parse().unwrap_or_default()).collect()
}
