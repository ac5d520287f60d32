//! Places of a source that look as if they held skills, and from which none is taken: submodules, and
//! directories whose name is nearly `skills`.

use std::collections::BTreeSet;

use super::layout::{LeftOut, Unit};
use super::paths::{dir_of_skill, is_below};
use super::provider::{SUBMODULE, TreeEntry, TreeKind};

/// The directory in which skills lie.
const SKILLS: &str = "skills";

/// Returns the places below the directory `path` of a source, or in all of it, from which no skill is among
/// `units`, each once.
pub(super) fn untaken(entries: &[TreeEntry], units: &[Unit], path: Option<&str>) -> Vec<LeftOut> {
    let base = path.unwrap_or_default();
    let is_of_base = |entry: &&TreeEntry| is_below(&entry.path, base) || entry.path == base;
    let is_taken =
        |path: &str| units.iter().any(|unit| path == unit.dir || is_below(path, &unit.dir));
    let mut told = BTreeSet::new();
    let mut left_out = Vec::new();
    for entry in entries.iter().filter(is_of_base) {
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

/// Returns the directory above a skill file whose name is `skills` in other letters.
fn misspelt(path: &str) -> Option<&str> {
    let (dir, _) = dir_of_skill(path)?.rsplit_once('/')?;
    let name = dir.rsplit('/').next()?;
    (name != SKILLS && name.eq_ignore_ascii_case(SKILLS)).then_some(dir)
}
