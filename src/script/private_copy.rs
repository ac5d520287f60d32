//! Private copies of a skill's scripts, in a directory that looks like the skill's. They ensure that
//! the scripts that run are those that were checked.
//!
//! Paths such as `$(dirname "$0")/../references` and imports of modules next to a script work in it. If
//! the files of the skill were compared, it has copies of these. Otherwise, files that are not scripts
//! are links to the skill. In both cases, `scripts/` has nothing but copies.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use repertoire_system::confined::{Dir, Links};
use repertoire_system::private_dir::PrivateDir;

use super::files::{BYTECODE, Checked, Files, SCRIPTS};
use crate::error::Error;
use crate::trust::SkillFiles;

/// A private copy of a skill for one run, in a directory that is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    dir: PrivateDir,
}

impl PrivateCopy {
    /// Makes a private copy of the skill with copies of `checked`, in `parent` or the system's directory
    /// for temporary files. All other files are links to the skill if `is_linked`, and missing otherwise.
    pub(super) fn new(
        files: &Files,
        checked: &[Checked],
        is_linked: bool,
        parent: Option<&Path>,
    ) -> io::Result<PrivateCopy> {
        let dir = PrivateDir::below(parent.unwrap_or(&std::env::temp_dir()))?;
        let copy = PrivateCopy { dir };
        let top = Dir::open(copy.dir.path())?;
        top.create_dir("tmp".as_ref())?;
        let skill = top.create_dir("skill".as_ref())?;
        let mut dirs: BTreeSet<&Path> = [Path::new(""), Path::new(SCRIPTS)].into();
        dirs.extend(checked.iter().flat_map(|file| Path::new(&file.path).ancestors().skip(1)));
        for path in &dirs {
            let here = match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => below(&skill, parent)?.create_dir(name)?,
                _ => below(&skill, path)?,
            };
            let copies = checked.iter().filter(|file| Path::new(&file.path).parent() == Some(path));
            let mut made: BTreeSet<&str> = BTreeSet::new();
            for file in copies {
                let name = file.path.rsplit('/').next().unwrap_or(&file.path);
                here.create_file(name.as_ref(), file.is_executable)?.write_all(&file.content)?;
                made.insert(name);
            }
            if path.starts_with(SCRIPTS) || !is_linked {
                continue;
            }
            for entry in below(&files.dir, path)?.entries()? {
                let name = entry?.name;
                let is_made = name.to_str().is_some_and(|name| made.contains(name))
                    || dirs.contains(&*path.join(&name));
                if !is_made && name != BYTECODE {
                    link(&files.root.join(path).join(&name), &copy.file_at(path).join(&name))?;
                }
            }
        }
        Ok(copy)
    }

    /// Adds copies of the skill's other files, which were compared.
    pub(super) fn add(&self, compared: &SkillFiles, files: &Files) -> Result<(), Error> {
        let is_script =
            |path: &str| Path::new(path).starts_with(SCRIPTS) || files.is_declared(path);
        compared.copy_to(&self.file_at(Path::new("")), |path| !is_script(path))
    }

    /// The path of a file of the skill in the private copy.
    pub(super) fn file_at(&self, path: &Path) -> PathBuf {
        let skill = self.dir.path().join("skill");
        if path == Path::new("") { skill } else { skill.join(path) }
    }

    /// The directory in which the script may write.
    pub(super) fn scratch(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }
}

fn below(dir: &Dir, path: &Path) -> io::Result<Dir> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    dir.dir(path, Links::Never)
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

/// Fails: scripts do not run on these systems, so no links are needed.
#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
