//! Sub-skills: a directory below a skill that holds a skill file is a skill of its own.

use std::io;
use std::path::{Path, PathBuf};

use repertoire_system::confined::{Dir, Entry, Kind, Links};

use super::is_skill_file;

/// Tells whether a directory with this entry is a skill of its own.
pub(crate) fn is_skill(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::File | Kind::Link) && is_skill_file(&entry.name)
}

/// The result of [`enter`].
pub enum Entered {
    /// The directory, which is part of the skill.
    Dir(Dir),
    /// The path ends in, or leads through, a sub-skill: the first directory on it that is a skill of its
    /// own.
    SubSkill(PathBuf),
}

/// Enters the directory `path` below `root` part by part. Does not follow links, and stops at a
/// sub-skill. Both are checked on the opened directories themselves, so that a concurrent change cannot
/// evade the checks.
pub fn enter(root: Dir, path: &Path) -> io::Result<Entered> {
    let mut here = root;
    let mut entered = PathBuf::new();
    for part in path.components() {
        entered.push(part);
        here = here.dir(Path::new(part.as_os_str()), Links::Never)?;
        for entry in here.entries()? {
            if is_skill(&entry?) {
                return Ok(Entered::SubSkill(entered));
            }
        }
    }
    Ok(Entered::Dir(here))
}
