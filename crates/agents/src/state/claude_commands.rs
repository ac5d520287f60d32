//! The commands of Claude Code, files in `commands` beside a directory of skills, which it lists to its model like
//! skills. Observed with 2.1.332: names, precedences and switches.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use repertoire::Skill;
use repertoire::catalog::RuleTarget;

use super::settings::{entries, text};
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
    for root in state.roots.iter().filter(|root| root.path.ends_with("skills")) {
        let dir = root.path.with_file_name("commands");
        for path in files(&dir, DEPTH) {
            let Some(name) = name_of(&path, &dir, root) else { continue };
            let is_skill = |root: &SkillRoot| root.path.join(&name).join("SKILL.md").is_file();
            if !state.roots.iter().any(is_skill) && names.insert(name.clone()) {
                commands.push(command(name, path, root, state));
            }
        }
    }
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands
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
