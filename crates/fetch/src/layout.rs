//! The layouts of repositories with skills: where the skills are, and which files belong to them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use serde::Serialize;
use serde_json::Value as Json;

use super::limits::refused;
use super::path_index::{Found, Node, PathIndex};
use super::paths::{check_path, plain_dir};
use super::provider::{SUBMODULE, TreeEntry, TreeKind};
use super::signature::{LIST, SIGNATURE};
use repertoire::Error;
use repertoire::catalog::is_skill_file;

/// The directories that are searched for skills first. Those of other agents, such as `.codex/skills`,
/// come next.
const ROOTS: [&str; 4] = ["skills", ".claude/skills", ".agents/skills", ".github/skills"];

/// The file of a Claude Code marketplace that lists its plugins.
pub(super) const MARKETPLACE: &str = ".claude-plugin/marketplace.json";

/// Directories that are never part of a skill.
pub(super) const LEFT_OUT: [&str; 3] = [".git", "node_modules", "__pycache__"];

/// The maximum depth of directories that are searched for skills.
const MAX_DEPTH: usize = 16;

/// A skill of a source: a directory with a skill file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The path of its directory in the source; empty for the root.
    pub(super) dir: String,
    /// The path of the directory in the copy; empty for a skill at the root of the source.
    pub(super) at: String,
    /// The path of the file with the instructions, as the source lists it.
    pub(super) skill_file: String,
}

/// The files to take: the entries of the source, by their paths in the copy.
pub(super) type Files<'a> = BTreeMap<String, &'a TreeEntry>;

/// Finds the skills of a source, or only those in its directory `path` if one is given: in the plugins
/// of a marketplace, unless there is a `path`, and in the usual directories; everywhere if these have no
/// skill. If the top directory itself has a skill file, everything in it is one skill.
pub(super) fn units(
    names: &PathIndex<'_>,
    path: Option<&str>,
    marketplace: &[String],
) -> Vec<Unit> {
    let base = path.unwrap_or_default();
    let (known, walked) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Search { names, units: Vec::new(), known, walked };
    let Found::Dir(dir) = names.find(base) else { return found.units };
    if skill_file(names, base, dir).is_none() {
        for root in if path.is_none() { marketplace } else { &[] } {
            found.below(root, "", true, 0);
        }
        for root in roots(dir) {
            found.below(&join(base, &root), "", true, 0);
        }
    }
    if found.units.is_empty() {
        found.below(base, "", false, 0);
    }
    found.units
}

/// Finds the skills of the directory `path` that are not among `known`. Their paths in the copy differ
/// from those of `known`.
pub(super) fn units_in(names: &PathIndex<'_>, path: &str, known: Vec<Unit>) -> Vec<Unit> {
    let Ok(path) = plain_dir(path) else { return Vec::new() };
    let n_known = known.len();
    let known_files = known.iter().map(|unit| unit.skill_file.clone()).collect();
    let mut found = Search { names, units: known, known: known_files, walked: BTreeSet::new() };
    found.below(&path, "", true, 0);
    found.units.split_off(n_known)
}

/// The directories in `dir` that usually hold skills; they need not exist.
fn roots(dir: &BTreeMap<&str, Node<'_>>) -> Vec<String> {
    let mut roots: Vec<String> = ROOTS.map(str::to_owned).to_vec();
    let others = dir.keys().filter(|name| name.starts_with('.') && !LEFT_OUT.contains(name));
    let others = others.map(|name| format!("{name}/skills"));
    roots.extend(others.filter(|root| !ROOTS.contains(&root.as_str())));
    roots
}

struct Search<'t, 'a> {
    names: &'t PathIndex<'a>,
    units: Vec<Unit>,
    /// The skill files that were found already.
    known: BTreeSet<String>,
    /// Directories that were searched already: links can make many paths lead to one directory.
    walked: BTreeSet<*const ()>,
}

impl Search<'_, '_> {
    /// Adds the skills below a directory. Skills inside the directory of a skill are part of that skill.
    /// Hidden directories are searched only if `hidden` is set; in the copy, their names have no leading
    /// dot.
    fn below(&mut self, path: &str, at: &str, hidden: bool, depth: usize) {
        let Found::Dir(dir) = self.names.find(path) else { return };
        if let Some(skill_file) = skill_file(self.names, path, dir) {
            // The same directory may be reached by a link, or be listed twice.
            if self.known.insert(skill_file.clone()) {
                let at = self.free(path, at);
                self.units.push(Unit { dir: path.to_owned(), at, skill_file });
            }
            return;
        }
        if depth > MAX_DEPTH || !self.walked.insert(std::ptr::from_ref(dir).cast()) {
            return;
        }
        for name in dir.keys().filter(|name| !LEFT_OUT.contains(name)) {
            let shown = name.trim_start_matches('.');
            if !shown.is_empty() && (hidden || shown == *name) {
                self.below(&join(path, name), &join(at, shown), hidden, depth + 1);
            }
        }
    }

    /// A path in the copy that no other skill uses.
    fn free(&self, path: &str, at: &str) -> String {
        let at = if at.is_empty() { path.rsplit('/').next().unwrap_or(path) } else { at };
        let is_taken = |at: &str| self.units.iter().any(|unit| unit.at.eq_ignore_ascii_case(at));
        if !is_taken(at) {
            return at.to_owned();
        }
        path.split('/').map(|part| part.trim_start_matches('.')).collect::<Vec<_>>().join("/")
    }
}

/// The skill file of a directory, as the source lists it. `SKILL.md` is preferred to other spellings.
fn skill_file(names: &PathIndex<'_>, path: &str, dir: &BTreeMap<&str, Node<'_>>) -> Option<String> {
    let mut spellings: Vec<&&str> = dir.keys().filter(|n| is_skill_file(OsStr::new(n))).collect();
    spellings.sort_by_key(|name| **name != "SKILL.md");
    spellings.into_iter().find_map(|name| match names.find(&join(path, name)) {
        Found::Leaf(TreeEntry { path, kind: TreeKind::File { .. } }) => Some(path.clone()),
        _ => None,
    })
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The directories that the text of a marketplace names: the skills that each plugin lists, and its
/// `skills` directory. Skips plugins in other repositories.
pub(super) fn marketplace_dirs(text: &str) -> Vec<String> {
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let base = json["metadata"]["pluginRoot"].as_str().unwrap_or_default();
    let mut dirs = Vec::new();
    for plugin in json["plugins"].as_array().into_iter().flatten() {
        let Some(source) = plugin["source"].as_str() else { continue };
        let starts = [join(base, source), source.to_owned()];
        let listed = plugin["skills"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let listed = listed.chain(plugin["skills"].as_str());
        for skill in listed.map(str::to_owned).chain(["skills".to_owned()]) {
            for start in &starts {
                let dir = plain_dir(&format!("{start}/{skill}"));
                dirs.extend(dir.ok().filter(|dir| !dir.is_empty() && !dirs.contains(dir)));
            }
        }
    }
    dirs
}

/// A skill of a source that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its directory in the source.
    pub dir: String,
    /// The reason, as a clause about the skill.
    pub reason: String,
}

/// Collects the files of `units`, by their paths in the copy. Leaves out skills with a link that leaves
/// the source, since its author may have had something there, but nobody else has; and those with a submodule
/// that is not fetched.
///
/// Fails with `PERMISSION_DENIED` if the only skill has one of these, if a file is not a regular file, if a
/// name is not valid on every system, or if two names differ only in case. Fails with `INVALID_PARAM` if
/// the skills have more than `most` files.
pub(super) fn files<'a>(
    names: &PathIndex<'a>,
    units: &[Unit],
    most: usize,
) -> Result<(Files<'a>, Vec<LeftOut>), Error> {
    let (files, folded) = (BTreeMap::new(), BTreeMap::new());
    let mut taken = Taken { names, files, folded, n_steps: 0, most };
    let mut left_out = Vec::new();
    for unit in units {
        match taken.missing(&unit.dir, &mut Vec::new())? {
            None => taken.below(&unit.dir, &unit.at, &mut Vec::new())?,
            Some((path, why)) if units.len() == 1 => return Err(refused(names.source, &path, why)),
            Some((path, why)) => left_out.push(LeftOut {
                dir: unit.dir.clone(),
                reason: format!("its `{path}` {}", why.replace("leaves it", "leaves the source")),
            }),
        }
    }
    if taken.files.is_empty()
        && let Some(LeftOut { dir, reason }) = left_out.first()
    {
        return Err(refused(names.source, dir, &format!("cannot be taken: {reason}")));
    }
    Ok((taken.files, left_out))
}

/// Returns the directories in the copy of those units that are the same as an earlier one, file by file:
/// many repositories keep a copy of their skills for each agent.
pub(super) fn repeated<T: Ord>(units: &[Unit], files: &BTreeMap<String, T>) -> Vec<String> {
    let (mut seen, mut repeated) = (BTreeSet::new(), Vec::new());
    for unit in units.iter().filter(|unit| !unit.at.is_empty()) {
        let start = join(&unit.at, "");
        let below = files.iter().filter_map(|(at, file)| Some((at.strip_prefix(&start)?, file)));
        let content: Vec<(&str, &T)> = below.collect();
        if !content.is_empty() && !seen.insert((unit.at.rsplit('/').next(), content)) {
            repeated.push(unit.at.clone());
        }
    }
    repeated
}

/// Adds the list of files that an author signed, and its signature, if the directory `path` has both.
/// They are added once, at the root of the copy.
pub(super) fn add_signature<'a>(names: &PathIndex<'a>, path: Option<&str>, files: &mut Files<'a>) {
    let find = |name: &str| match names.find(&join(path.unwrap_or_default(), name)) {
        Found::Leaf(entry @ TreeEntry { kind: TreeKind::File { .. }, .. }) => Some(entry),
        _ => None,
    };
    let Some((list, signature)) = find(LIST).zip(find(SIGNATURE)) else { return };
    files.retain(|_, entry| entry.path != list.path && entry.path != signature.path);
    // A skill may have a directory of one of these names.
    let is_dir = |path: &String| matches!(path.split_once('/'), Some((LIST | SIGNATURE, _)));
    if !files.keys().any(is_dir) {
        files.insert(LIST.to_owned(), list);
        files.insert(SIGNATURE.to_owned(), signature);
    }
}

struct Taken<'t, 'a> {
    names: &'t PathIndex<'a>,
    files: Files<'a>,
    /// Each path and each directory above it: in lower case, with the spelling that came first.
    folded: BTreeMap<String, String>,
    /// The number of names visited; a name counts again each time a link leads to it.
    n_steps: usize,
    most: usize,
}

impl<'a> Taken<'_, 'a> {
    /// Returns the first thing below a directory that is not in the source, with why not: a link that leaves
    /// it, or a submodule that is not fetched.
    fn missing(
        &mut self,
        path: &str,
        above: &mut Vec<*const ()>,
    ) -> Result<Option<(String, &'static str)>, Error> {
        self.count_step()?;
        match self.names.find(path) {
            Found::Outside => Ok(Some((path.to_owned(), "is a link that leaves it"))),
            Found::Leaf(TreeEntry { kind: TreeKind::Other(SUBMODULE), .. }) => {
                Ok(Some((path.to_owned(), SUBMODULE)))
            }
            Found::Nothing | Found::Leaf(_) => Ok(None),
            Found::Dir(dir) => {
                let this = std::ptr::from_ref(dir).cast();
                if above.contains(&this) || above.len() > 64 {
                    return Ok(None);
                }
                above.push(this);
                for name in dir.keys().filter(|name| !LEFT_OUT.contains(name)) {
                    if let Some(missing) = self.missing(&join(path, name), above)? {
                        return Ok(Some(missing));
                    }
                }
                above.pop();
                Ok(None)
            }
        }
    }

    fn count_step(&mut self) -> Result<(), Error> {
        self.n_steps += 1;
        if self.n_steps > 8 * self.most {
            let (source, most) = (self.names.source, self.most as u64);
            return Err(super::limits::too_large(source, "names below skills", most));
        }
        Ok(())
    }

    /// Takes all files of a directory. `above` holds the directories that lead here, so that a link back
    /// to one of them is skipped.
    fn below(&mut self, path: &str, at: &str, above: &mut Vec<*const ()>) -> Result<(), Error> {
        let source = self.names.source;
        self.count_step()?;
        match self.names.find(path) {
            Found::Outside => Err(refused(source, path, "is a link that leaves it")),
            // A broken link does no harm.
            Found::Nothing => Ok(()),
            Found::Leaf(entry) => match entry.kind {
                TreeKind::Other(what) => Err(refused(source, path, what)),
                _ => self.take(at, entry),
            },
            Found::Dir(dir) => {
                let this = std::ptr::from_ref(dir).cast();
                if above.contains(&this) || above.len() > 64 {
                    return Ok(());
                }
                above.push(this);
                for name in dir.keys().filter(|name| !LEFT_OUT.contains(name)) {
                    self.below(&join(path, name), &join(at, name), above)?;
                }
                above.pop();
                Ok(())
            }
        }
    }

    fn take(&mut self, at: &str, entry: &'a TreeEntry) -> Result<(), Error> {
        let source = self.names.source;
        check_path(at).map_err(|why| refused(source, at, why))?;
        let ends = at.match_indices('/').map(|(end, _)| end).chain([at.len()]);
        for end in ends {
            let part = &at[..end];
            let known = self.folded.entry(part.to_lowercase()).or_insert_with(|| part.to_owned());
            if known != part {
                let why = format!("and `{known}` are the same where case does not matter");
                return Err(refused(source, part, &why));
            }
        }
        self.files.insert(at.to_owned(), entry);
        if self.files.len() > self.most {
            return Err(super::limits::too_large(source, "files of skills", self.most as u64));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
