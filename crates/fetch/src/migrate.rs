//! Copies of an earlier version, which kept them in the cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::copies::Copies;
use super::fetcher::Fetcher;
use super::limits::Deadline;
use super::lock_file::{self, Locked};
use super::objects::io_error;
use repertoire::Error;
use repertoire::catalog::Scope;

impl Fetcher {
    /// Moves the copies that an earlier version kept in the cache to where this fetcher keeps them. Returns
    /// the directories that moved: from where, and to where. `user` is the directory of the user's
    /// `config.toml`; all others are those of projects.
    ///
    /// Fails with `EXECUTION_ERROR` if a copy cannot be moved, and like other commands if another process
    /// is changing it.
    pub fn migrate(&self, user: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
        let (earlier, mut moved) = (self.cache.join("copies"), Vec::new());
        if earlier == self.installed || !earlier.is_dir() {
            return Ok(moved);
        }
        let user = user.canonicalize().unwrap_or_else(|_| user.to_owned());
        for old in Copies::in_dir(&earlier) {
            let scope = if old.config_dir == user { Scope::User } else { Scope::Project };
            let new = self.copies(scope, &old.config_dir);
            moved.extend(new.take_over(&old, &self.deadline())?);
        }
        // It stays if it has copies whose configuration is not known.
        let _ = fs::remove_dir(&earlier);
        Ok(moved)
    }
}

impl Copies {
    /// Takes over the sources in `old`, an earlier place of these copies. Returns the directories that moved:
    /// from where, and to where.
    fn take_over(
        &self,
        old: &Copies,
        deadline: &Deadline,
    ) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
        let _guard = self.lock(deadline)?;
        let locked = lock_file::read(&self.config_dir.join(lock_file::NAME)).unwrap_or_default();
        let mut moved = Vec::new();
        for (name, Locked { source, .. }) in locked {
            let (from, mut state) = (old.dir.join(&name), old.state(&name));
            if !from.is_dir() || self.root(&name).is_dir() {
                continue;
            }
            let dir = self.new_dir(&name, &source);
            let to = self.dir.join(&dir);
            let failed = |error: io::Error| io_error("move", &from, &error);
            fs::create_dir_all(to.parent().unwrap_or(&self.dir)).map_err(failed)?;
            moved_dir(&from, &to).map_err(failed)?;
            state.dir = Some(dir);
            self.write_state(&name, &state)?;
            moved.push((from, to));
        }
        let _ = fs::remove_dir_all(&old.dir);
        Ok(moved)
    }
}

/// Moves a directory, to another file system if need be.
fn moved_dir(from: &Path, to: &Path) -> io::Result<()> {
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            fs::create_dir_all(target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    fs::remove_dir_all(from)
}
