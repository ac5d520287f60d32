//! Places of a source that look as if they held skills, and from which none is taken: submodules, and
//! directories whose name is nearly `skills`.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use super::layout::{LeftOut, Unit};
use super::provider::{SUBMODULE, TreeEntry, TreeKind};
use repertoire::catalog::is_skill_file;

/// The directory in which skills lie.
const SKILLS: &str = "skills";

/// Returns the places below the directory `path` of a source, or in all of it, from which no skill is among
/// `units`, each once.
pub(super) fn untaken(entries: &[TreeEntry], units: &[Unit], path: Option<&str>) -> Vec<LeftOut> {
    let base = path.unwrap_or_default();
    let is_below =
        |entry: &&TreeEntry| base.is_empty() || is_in(&entry.path, base) || entry.path == base;
    let is_taken = |path: &str| {
        units.iter().any(|unit| unit.dir.is_empty() || path == unit.dir || is_in(path, &unit.dir))
    };
    let mut told = BTreeSet::new();
    let mut left_out = Vec::new();
    for entry in entries.iter().filter(is_below) {
        let found = match entry.kind {
            TreeKind::Other(SUBMODULE) => Some((
                entry.path.as_str(),
                "a submodule is not fetched; add its repository on its own",
            )),
            TreeKind::File { .. } => {
                misspelt(&entry.path).map(|dir| (dir, "no agent looks there: the name is `skills`"))
            }
            _ => None,
        };
        // Few entries are found, so the units are compared with these alone.
        let found = found.filter(|(dir, _)| !is_taken(&entry.path) && told.insert(*dir));
        if let Some((dir, reason)) = found {
            left_out.push(LeftOut { dir: dir.to_owned(), reason: reason.to_owned() });
        }
    }
    left_out
}

/// Tells whether `path` is below the directory `dir`.
fn is_in(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the directory above a skill file whose name is `skills` in other letters.
fn misspelt(path: &str) -> Option<&str> {
    let (dir, file) = path.rsplit_once('/')?;
    let (dir, _) = dir.rsplit_once('/').filter(|_| is_skill_file(OsStr::new(file)))?;
    let name = dir.rsplit('/').next()?;
    (name != SKILLS && name.eq_ignore_ascii_case(SKILLS)).then_some(dir)
}
