//! The plugins of Claude Code. Observed with 2.1.332: which of the directories of a plugin hold skills, by its
//! manifest, by the entry of its marketplace and without either; `@skills-dir`, and the variable.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::manifest_path::{below, each_below};
use super::settings::{Settings, directories, entries};
use super::{AgentState, Obstacle, SkillRoot};
use repertoire::Skill;
use repertoire::catalog::RuleTarget;

/// The switches of plugins, by `NAME@MARKETPLACE`, each with the file that decides.
type Enabled<'f> = BTreeMap<String, (bool, &'f Path)>;

/// The path of the manifest of a plugin.
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The records of the plugins that are installed, and of the marketplaces that are known.
pub(super) struct Records {
    plugins: Option<Settings>,
    marketplaces: Option<Settings>,
}

impl Records {
    /// Reads the records in the directory of plugins.
    pub(super) fn read(dir: &Path) -> Records {
        let read = |name: &str| Settings::read(dir.join(name));
        Records {
            plugins: read("installed_plugins.json"),
            marketplaces: read("known_marketplaces.json"),
        }
    }

    /// Returns the place of a marketplace, if it is known: a directory, or its file.
    fn place(&self, marketplace: &str) -> Option<PathBuf> {
        let place = &self.marketplaces.as_ref()?.value[marketplace]["installLocation"];
        place.as_str().map(PathBuf::from)
    }
}

/// Adds the plugins that a setting turns on and that are not installed: Claude Code installs them when it
/// starts if it knows their marketplace, which it does of a directory that the user's settings `name`.
pub(super) fn to_install(
    records: &Records,
    enabled: &Enabled<'_>,
    name: &dyn Fn(&str) -> Option<PathBuf>,
    state: &mut AgentState,
) {
    let is_installed = |id: &str| {
        records.plugins.as_ref().is_some_and(|file| file.value["plugins"][id] != Value::Null)
    };
    let is_wanted = |id: &str| !id.ends_with("@skills-dir") && !is_installed(id);
    for (id, (_, file)) in enabled.iter().filter(|(id, (is_on, _))| *is_on && is_wanted(id)) {
        let (plugin, marketplace) = id.split_once('@').unwrap_or((id, ""));
        let market = records.place(marketplace).or_else(|| name(marketplace));
        let found = market.and_then(|market| Some((entry(&market, plugin)?, market)));
        let dir =
            found.as_ref().and_then(|(entry, market)| below(market, entry["source"].as_str()?));
        match dir.filter(|dir| dir.is_dir()) {
            Some(dir) => {
                let entry = found.map(|(entry, _)| entry);
                state.roots.extend(Plugin { dir, name: plugin, entry }.roots());
            }
            None => state.add_missing(id, file),
        }
    }
}

/// Adds the directories of skills of the plugins that are installed, for a start in `here`.
pub(super) fn installed(
    records: &Records,
    enabled: &Enabled<'_>,
    here: &Path,
    state: &mut AgentState,
) {
    let Some(installed) = &records.plugins else { return };
    for (id, installations) in installed.value["plugins"].as_object().into_iter().flatten() {
        let off = match enabled.get(id.as_str()) {
            Some((true, _)) => None,
            Some((false, file)) => Some(Obstacle::of_plugin(id, file)),
            None => Some(Obstacle::of_unnamed_plugin(id, &installed.path)),
        };
        let (name, marketplace) = id.split_once('@').unwrap_or((id, ""));
        let path = installation(installations, here)["installPath"].as_str().map(PathBuf::from);
        // A marketplace that it knows has to be there and to have the plugin.
        let (entry, dir) = match records.place(marketplace) {
            Some(market) => {
                let Some(entry) = entry(&market, name) else { continue };
                // It installs a plugin again from a marketplace that is a directory.
                let source = entry["source"].as_str().and_then(|source| below(&market, source));
                (Some(entry), path.filter(|path| path.is_dir()).or(source))
            }
            None => (None, path),
        };
        let plugin = dir.map(|dir| Plugin { dir, name, entry });
        for root in plugin.into_iter().flat_map(|plugin| plugin.roots()) {
            state.add(root, off.as_ref());
        }
    }
}

/// Returns the installation of a plugin that counts in `here`. Version 1 of the file has one of each plugin,
/// version 2 a list, in which a project may have its own.
fn installation<'v>(installations: &'v Value, here: &Path) -> &'v Value {
    let Some(list) = installations.as_array() else { return installations };
    let is_here = |of: &&Value| of["projectPath"].as_str().is_some_and(|at| Path::new(at) == here);
    let is_general = |of: &&Value| of["projectPath"].is_null();
    let of = list.iter().find(is_here).or_else(|| list.iter().find(is_general));
    of.or_else(|| list.first()).unwrap_or(&Value::Null)
}

/// Returns the entry of the plugin `name` in its marketplace at `place`.
fn entry(place: &Path, name: &str) -> Option<Value> {
    let in_dir = || place.join(".claude-plugin/marketplace.json");
    let file = if place.is_file() { place.to_owned() } else { in_dir() };
    let plugins = Settings::read(file)?;
    plugins.value["plugins"].as_array()?.iter().find(|plugin| plugin["name"] == name).cloned()
}

/// Adds the plugins among the directories of the user's skills, and what turns them off.
pub(super) fn in_skills(skills: &Path, enabled: &Enabled<'_>, state: &mut AgentState) {
    // Most skills are not plugins, which one system call tells.
    for dir in entries(skills) {
        let Some(manifest) = Settings::read(dir.join(MANIFEST)) else { continue };
        let Some(name) = manifest.value["name"].as_str() else { continue };
        let id = format!("{name}@skills-dir");
        match enabled.get(&id) {
            Some((false, file)) => {
                state.switch(RuleTarget::Below(dir), true, Obstacle::of_plugin(&id, file));
            }
            _ => state.roots.extend(Plugin { dir, name, entry: None }.roots()),
        }
    }
}

/// Returns the directories of skills of the plugins in the directories that `CLAUDE_CODE_PLUGIN_DIRS` names.
pub(super) fn of_variable(dirs: &OsStr) -> Vec<SkillRoot> {
    let dirs = std::env::split_paths(dirs).filter(|dir| dir.is_absolute());
    dirs.flat_map(in_place).collect()
}

/// Returns the directories of skills of the plugin in `dir`, or of the plugins in a directory of several.
pub(super) fn in_place(dir: PathBuf) -> Vec<SkillRoot> {
    let has_manifest = |dir: &PathBuf| dir.join(MANIFEST).is_file();
    let mut dirs = Vec::new();
    if !has_manifest(&dir) {
        dirs = directories(&dir).into_iter().filter(has_manifest).collect();
    }
    if dirs.is_empty() {
        dirs.push(dir);
    }
    let roots = dirs.into_iter().flat_map(|dir| {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Plugin { dir, name: &name, entry: None }.roots()
    });
    roots.collect()
}

/// A plugin.
struct Plugin<'n> {
    dir: PathBuf,
    /// Its name, if it has no manifest.
    name: &'n str,
    /// Its entry in the marketplace.
    entry: Option<Value>,
}

impl Plugin<'_> {
    /// Returns its directories of skills, and those that are skills themselves.
    fn roots(&self) -> Vec<SkillRoot> {
        let manifest = Settings::read(self.dir.join(MANIFEST));
        let manifest = manifest.map(|manifest| manifest.value).unwrap_or_default();
        let name = manifest["name"].as_str().unwrap_or(self.name);
        let of_entry = self.entry.iter().flat_map(|entry| each_below(&self.dir, &entry["skills"]));
        let of_entry: Vec<PathBuf> = of_entry.collect();
        // An entry whose plugin is the whole marketplace says which of its skills belong to it.
        let is_whole = |entry: &Value| {
            entry["source"].as_str().is_some_and(|source| matches!(source, "." | "./"))
        };
        let is_chosen = !of_entry.is_empty() && self.entry.as_ref().is_some_and(is_whole);
        let usual = Some(self.dir.join("skills")).filter(|_| !is_chosen);
        let has_usual = usual.as_ref().is_some_and(|dir| dir.is_dir());
        let alone = Some(self.dir.clone()).filter(|_| !has_usual && of_entry.is_empty());
        let paths = usual.into_iter().chain(alone.filter(|dir| is_skill(dir))).chain(of_entry);
        let paths = paths.chain(each_below(&self.dir, &manifest["skills"]));
        let root = |path: PathBuf| {
            let skill = is_skill(&path).then(|| self.name_of_skill(&path)).flatten();
            SkillRoot { skill, ..SkillRoot::plugin(name, &self.dir, path) }
        };
        paths.map(root).collect()
    }

    /// Returns the name of the skill in `dir`: that of the directory, but for the plugin's own one, which has
    /// the name of its file.
    fn name_of_skill(&self, dir: &Path) -> Option<String> {
        if dir != self.dir {
            return Some(dir.file_name()?.to_string_lossy().into_owned());
        }
        let skill = Skill::load(&dir.join("SKILL.md"), "").ok()?;
        Some(skill.name().to_owned())
    }
}

fn is_skill(dir: &Path) -> bool {
    dir.join("SKILL.md").is_file()
}
