//! Sub-skills: a directory below a skill that holds a skill file is a skill of its own.

use std::io;
use std::path::{Path, PathBuf};

use super::is_skill_file;
use crate::confined::{Dir, Entry, Kind, Links};

/// Tells whether a directory with this entry is a skill.
pub(crate) fn is_skill(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::File | Kind::Link) && is_skill_file(&entry.name)
}

/// The result of [`enter`].
pub(crate) enum Entered {
    Dir(Dir),
    /// The first directory on the way that is a skill of its own.
    SubSkill(PathBuf),
}

/// Enters the directory `path` below `root` part by part, following no link and not into a
/// sub-skill. Both are asked of the very directories that are gone through.
pub(crate) fn enter(root: Dir, path: &Path) -> io::Result<Entered> {
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
