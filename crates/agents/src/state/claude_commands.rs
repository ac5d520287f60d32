//! The commands of Claude Code, files in `commands` beside a directory of skills or those that the manifest of a plugin
//! names, which it lists to its model like skills. Observed with 2.1.332: names, precedences and switches.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use repertoire::Skill;
use repertoire::catalog::RuleTarget;
use serde_json::Value;

use super::claude_plugins::MANIFEST;
use super::manifest_path::{below, each_below};
use super::settings::{Settings, entries, text};
use super::{AgentState, Obstacle, SkillRoot};

/// The number of directories below `commands` in which files are looked for.
const DEPTH: usize = 8;
/// The description of a command without one, and without text.
const PLAIN: &str = "Custom command";

/// A command that an agent lists to its model like a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCommand {
    /// The name by which the agent calls it, such as `git:commit` for `commands/git/commit.md`.
    pub name: String,
    /// The description, or else the first line of the text.
    pub description: String,
    /// The file.
    pub path: PathBuf,
    /// The setting because of which the model cannot call it.
    pub off: Option<Obstacle>,
}

/// Returns the commands, in byte order of their names. Of several with one name, that of the user wins, and then the
/// one that is nearest to the root of the project; a skill wins over a command.
pub(super) fn commands(state: &AgentState) -> Vec<AgentCommand> {
    let mut commands: Vec<AgentCommand> = Vec::new();
    let mut names = BTreeSet::new();
    let mut plugins = BTreeSet::new();
    for root in &state.roots {
        let found = match &root.plugin_dir {
            // A plugin may have several directories of skills.
            Some(dir) if !plugins.insert(dir) => continue,
            Some(dir) => of_plugin(dir, root),
            None if root.path.ends_with("skills") => {
                in_directory(&root.path.with_file_name("commands"), root)
            }
            None => continue,
        };
        for Found { name, path, description } in found {
            let is_skill = |root: &SkillRoot| root.path.join(&name).join("SKILL.md").is_file();
            if !state.roots.iter().any(is_skill) && names.insert(name.clone()) {
                let mut command = command(name, path, root, state);
                command.description = description.unwrap_or(command.description);
                commands.push(command);
            }
        }
    }
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands
}

/// A command that was found.
struct Found {
    name: String,
    path: PathBuf,
    /// The description, if it is not that of the file.
    description: Option<String>,
}

fn in_directory(dir: &Path, root: &SkillRoot) -> Vec<Found> {
    let found =
        |path: PathBuf| Some(Found { name: name_of(&path, dir, root)?, path, description: None });
    files(dir, DEPTH).into_iter().filter_map(found).collect()
}

/// Returns the commands of the plugin in `dir`: what its manifest names in place of `commands` there, files and
/// directories or a map from names to files.
fn of_plugin(dir: &Path, root: &SkillRoot) -> Vec<Found> {
    let manifest = Settings::read(dir.join(MANIFEST));
    let named = manifest.map(|manifest| manifest.value["commands"].clone()).unwrap_or_default();
    let plugin = root.plugin.as_deref().unwrap_or_default();
    if let Some(map) = named.as_object() {
        let found = |(name, command): (&String, &Value)| {
            // A command without a file is a text in the manifest.
            let path = match command["source"].as_str() {
                Some(source) => below(dir, source)?,
                None => dir.join(MANIFEST),
            };
            let description = command["description"].as_str().map(str::to_owned);
            Some(Found { name: format!("{plugin}:{name}"), path, description })
        };
        return map.iter().filter_map(found).collect();
    }
    let paths = if named.is_null() { vec![dir.join("commands")] } else { each_below(dir, &named) };
    let found = |path: PathBuf| match path.parent().filter(|_| path.is_file()) {
        Some(above) => {
            let name = name_of(&path, above, root);
            name.map(|name| Found { name, path, description: None }).into_iter().collect()
        }
        None => in_directory(&path, root),
    };
    paths.into_iter().flat_map(found).collect()
}

/// Returns the files of commands in `dir`, down to `depth` directories.
fn files(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let below = |path: PathBuf| match path.is_dir() {
        true if depth > 0 => files(&path, depth - 1),
        _ if path.is_file() && path.extension().is_some_and(|end| end == "md") => vec![path],
        _ => Vec::new(),
    };
    entries(dir).into_iter().flat_map(below).collect()
}

/// Returns the name of the command at `path` in `dir`: the directories and the name of the file, between colons. A
/// `SKILL.md` has the name of its directory.
fn name_of(path: &Path, dir: &Path, root: &SkillRoot) -> Option<String> {
    let is_skill = path.file_name().is_some_and(|name| name == "SKILL.md");
    let path = if is_skill { path.parent()?.to_owned() } else { path.with_extension("") };
    let parts = path.strip_prefix(dir).ok()?.iter().map(|part| part.to_string_lossy());
    let parts: Vec<_> = root.plugin.iter().map(|name| name.as_str().into()).chain(parts).collect();
    (!parts.is_empty()).then(|| parts.join(":"))
}

fn command(name: String, path: PathBuf, root: &SkillRoot, state: &AgentState) -> AgentCommand {
    // Its file has the form of a skill.
    let skill = Skill::load(&path, "").ok();
    let hidden =
        skill.as_ref().is_some_and(|skill| skill.manifest().is_model_invocation_disabled());
    let by_itself = hidden.then(|| Obstacle::new("disable-model-invocation: true", &path));
    let decides = state.switches.iter().rfind(|switch| match &switch.target {
        RuleTarget::Exact(named) => *named == name,
        // A rule about the skills of plugins does not reach commands.
        RuleTarget::Name(pattern) => pattern
            .strip_suffix('*')
            .is_some_and(|start| !start.starts_with('*') && name.starts_with(start)),
        RuleTarget::Below(dir) => *dir == root.path,
        _ => false,
    });
    let by_setting = decides.filter(|switch| switch.off).map(|switch| switch.by.clone());
    let described = skill.map(|skill| skill.description().to_owned());
    let described = described.filter(|text| !text.trim().is_empty());
    let description = first_line(&path).or(described).unwrap_or_else(|| PLAIN.to_owned());
    AgentCommand { name, description, path, off: by_setting.or(by_itself) }
}

/// Returns the first line of a file without front matter, without the signs of a heading.
fn first_line(path: &Path) -> Option<String> {
    let text = text(path).filter(|text| !text.starts_with("---"))?;
    let mut lines = text.lines().map(|line| line.trim_start_matches('#').trim());
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}
