//! The differences between two states of a source that a user should see before trusting the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use similar::TextDiff;
use walkdir::WalkDir;

use repertoire::catalog::{Catalog, CatalogOptions, Entry, Source, is_skill_file};
use repertoire::skill::Manifest;

/// The largest text that is shown as a diff, in bytes.
const MAX_DIFF_BYTES: u64 = 256 << 10;

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It did not exist before.
    Added,
    /// It does not exist any more.
    Removed,
    /// It exists before and after, and differs.
    Changed,
}

impl ChangeKind {
    /// The kind in lower case, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
        }
    }

    fn of(before: bool, after: bool) -> ChangeKind {
        match (before, after) {
            (false, _) => ChangeKind::Added,
            (_, false) => ChangeKind::Removed,
            _ => ChangeKind::Changed,
        }
    }
}

/// A skill that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillChange {
    /// The id of the skill.
    pub id: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The instructions as a unified diff; `None` if they do not change.
    pub instructions: Option<String>,
    /// The description and the triggers, which decide for which messages the skill is disclosed.
    pub triggers: Lines,
    /// The rights: tools, network, files, and who may invoke the skill.
    pub rights: Lines,
    /// The other files of the skill that change.
    pub files: Vec<FileChange>,
}

/// Lines that are removed and added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Lines {
    /// The lines that only the old state has.
    pub removed: Vec<String>,
    /// The lines that only the new state has.
    pub added: Vec<String>,
}

impl Lines {
    fn between(before: &[String], after: &[String]) -> Lines {
        let missing = |of: &[String], from: &[String]| {
            of.iter().filter(|line| !from.contains(line)).cloned().collect()
        };
        Lines { removed: missing(before, after), added: missing(after, before) }
    }

    /// Tells whether nothing was removed or added.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }
}

/// A file that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileChange {
    /// The path in the directory of the skill.
    pub path: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// True if the file is code: then it runs only after the user has trusted it again.
    pub code: bool,
    /// The lines that change, as a unified diff; `None` for files that are large or not text.
    pub diff: Option<String>,
}

/// Compares the skills of two directories, which need not exist. `source_at` turns each into a source.
/// Returns the changes in the order of ids.
pub(super) fn between(
    before: &Path,
    after: &Path,
    source_at: &dyn Fn(&Path) -> Source,
) -> Vec<SkillChange> {
    let read = |root| skills(root, source_at(root));
    let (before, after) = (read(before), read(after));
    let ids: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let (none, changes) = (Skill::default(), ids.into_iter());
    let changes = changes.filter_map(|id| {
        let (old, new) = (before.get(id), after.get(id));
        let kind = ChangeKind::of(old.is_some(), new.is_some());
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        let change = SkillChange {
            id: id.clone(),
            kind,
            instructions: diff(&old.body, &new.body),
            triggers: Lines::between(&old.triggers, &new.triggers),
            rights: Lines::between(&old.rights, &new.rights),
            files: files(old, new),
        };
        let is_same = change.instructions.is_none()
            && change.triggers.is_empty()
            && change.rights.is_empty()
            && change.files.is_empty();
        (kind != ChangeKind::Changed || !is_same).then_some(change)
    });
    changes.collect()
}

fn diff(before: &str, after: &str) -> Option<String> {
    (before != after).then(|| {
        let diff = TextDiff::from_lines(before, after);
        diff.unified_diff().context_radius(2).header("before", "after").to_string()
    })
}

fn files(old: &Skill, new: &Skill) -> Vec<FileChange> {
    let paths: BTreeSet<&String> = old.files.keys().chain(new.files.keys()).collect();
    let changes = paths.into_iter().filter_map(|path| {
        let (before, after) = (old.files.get(path), new.files.get(path));
        let same = before.zip(after).is_some_and(|(before, after)| is_same(before, after));
        let text = |path: Option<&PathBuf>| path.map_or(Some(String::new()), |path| text(path));
        (!same).then(|| FileChange {
            path: path.clone(),
            kind: ChangeKind::of(before.is_some(), after.is_some()),
            code: old.is_code(path) || new.is_code(path),
            diff: text(before).zip(text(after)).and_then(|(old, new)| diff(&old, &new)),
        })
    });
    changes.collect()
}

fn is_same(before: &Path, after: &Path) -> bool {
    let bytes = |path| fs::read(path).ok();
    let is_executable = |path: &Path| path.metadata().ok().map(|metadata| metadata.permissions());
    bytes(before) == bytes(after) && is_executable(before) == is_executable(after)
}

fn text(path: &Path) -> Option<String> {
    let is_small = path.metadata().is_ok_and(|metadata| metadata.len() <= MAX_DIFF_BYTES);
    is_small.then(|| fs::read_to_string(path).ok()).flatten()
}

/// The parts of a skill that are compared.
#[derive(Default)]
pub(super) struct Skill {
    body: String,
    triggers: Vec<String>,
    pub(super) rights: Vec<String>,
    /// The files that the manifest declares as scripts, and the libraries of its toolsets.
    declared: Vec<String>,
    /// The files except the skill file, by their paths in the directory of the skill.
    files: BTreeMap<String, PathBuf>,
}

impl Skill {
    /// The scripts and libraries, by their paths in the directory of the skill.
    pub(super) fn code(&self) -> impl Iterator<Item = &String> {
        self.files.keys().filter(|path| self.is_code(path))
    }

    fn is_code(&self, path: &str) -> bool {
        ["scripts/", "toolsets/"].iter().any(|dir| path.starts_with(dir))
            || self.declared.iter().any(|declared| declared == path)
    }
}

/// The skills of a directory, by id.
pub(super) fn skills(root: &Path, source: Source) -> BTreeMap<String, Skill> {
    let catalog = Catalog::load(&CatalogOptions::new(vec![source]));
    let mut skills: BTreeMap<String, Skill> = BTreeMap::new();
    let mut of_dir: BTreeMap<PathBuf, String> = BTreeMap::new();
    for entry in catalog.entries().filter(|entry| !entry.is_shadowed()) {
        let manifest = entry.skill.manifest();
        let skill = Skill {
            body: entry.skill.body().unwrap_or_default().to_owned(),
            triggers: triggers(entry),
            rights: rights(manifest),
            declared: declared(manifest),
            files: BTreeMap::new(),
        };
        skills.insert(entry.id.to_string(), skill);
        of_dir.extend(entry.skill.dir().map(|dir| (dir.to_owned(), entry.id.to_string())));
    }
    for file in WalkDir::new(root).into_iter().filter_map(Result::ok) {
        let is_extra = file.file_type().is_file() && !is_skill_file(file.file_name());
        let owner = || file.path().ancestors().skip(1).find_map(|dir| of_dir.get_key_value(dir));
        if let Some((dir, id)) = is_extra.then(owner).flatten()
            && let Some(skill) = skills.get_mut(id)
            && let Ok(path) = file.path().strip_prefix(dir)
        {
            let path = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>();
            skill.files.insert(path.join("/"), file.path().to_owned());
        }
    }
    skills
}

fn triggers(entry: &Entry) -> Vec<String> {
    let triggers = entry.skill.triggers();
    let lists = [
        ("keyword", &triggers.keywords),
        ("verb", &triggers.verbs),
        ("pattern", &triggers.patterns),
        ("exclude", &triggers.exclude),
        ("path", &triggers.paths),
        ("phrase", &entry.skill.manifest().trigger_phrases),
    ];
    let mut lines = vec![format!("description: {}", entry.skill.description())];
    for (kind, list) in lists {
        lines.extend(list.iter().map(|one| format!("{kind}: {}", one.value)));
    }
    if entry.skill.manifest().always.as_ref().is_some_and(|always| always.value) {
        lines.push("always in the list of skills".to_owned());
    }
    lines
}

fn rights(manifest: &Manifest) -> Vec<String> {
    let mut lines = Vec::new();
    match &manifest.allowed_tools {
        None => lines.push("all tools".to_owned()),
        Some(tools) => lines.extend(tools.iter().map(|tool| format!("tool: {}", tool.value))),
    }
    let own = manifest.script_rights.clone().unwrap_or_default();
    if !own.network.is_none() {
        lines.push(format!("scripts use {}", own.network));
    }
    lines.extend(own.read.iter().map(|path| format!("scripts read `{path}`")));
    for toolset in &manifest.toolsets {
        let rights = manifest.toolset_rights.get(&toolset.value).filter(|r| !r.is_empty());
        let rights = rights.map_or_else(String::new, |rights| format!(" {rights}"));
        lines.push(format!("toolset: {}{rights}", toolset.value));
    }
    if manifest.is_model_invocation_disabled() {
        lines.push("only the user invokes it".to_owned());
    }
    if manifest.user_invocable.as_ref().is_some_and(|may| !may.value) {
        lines.push("only the model invokes it".to_owned());
    }
    lines
}

fn declared(manifest: &Manifest) -> Vec<String> {
    let scripts = manifest.scripts.iter().flatten().map(|script| script.value.clone());
    let library = |entry: &str| entry.rsplit_once(':').map(|(path, _)| path.to_owned());
    let toolsets = manifest.toolsets.iter().filter_map(|entry| library(&entry.value));
    scripts.chain(toolsets).collect()
}
