//! Private directories, which are removed when they are dropped. If a process is killed, a later process
//! removes its directories.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// The prefix of the directories' names; a random suffix follows.
const PREFIX: &str = "repertoire-";
/// The file in each directory that the owning process keeps locked. The system releases the lock,
/// however the process ends.
const LOCK: &str = "repertoire-host.lock";

/// A directory that no other user may read. It is removed when this value is dropped; if the process is
/// killed first, the next process that makes a directory below the same root removes it.
#[derive(Debug)]
pub struct PrivateDir {
    /// The directory to use. The lock file is next to it, so that a process that may write only below
    /// `path` cannot touch it.
    path: PathBuf,
    /// The directory that holds `path` and the lock file; `None` once a test has taken it.
    outer: Option<TempDir>,
    _lock: File,
}

/// The roots that this process has already swept.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl PrivateDir {
    /// Creates a directory below the system's directory for temporary files.
    pub fn new() -> io::Result<PrivateDir> {
        PrivateDir::below(&std::env::temp_dir())
    }

    /// Creates a directory below `root`. The first call for a `root` also removes the directories that
    /// killed processes left there.
    pub fn below(root: &Path) -> io::Result<PrivateDir> {
        let is_first = SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(root.to_owned());
        if is_first {
            sweep(root);
        }
        PrivateDir::new_in(root)
    }

    fn new_in(root: &Path) -> io::Result<PrivateDir> {
        let outer = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // The file gets its final name only after it is locked, so that no other process finds it
        // unlocked.
        let unnamed = outer.path().join("new.lock");
        let lock = File::create_new(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, outer.path().join(LOCK))?;
        let path = outer.path().join("dir");
        create_private(&path)?;
        Ok(PrivateDir { path, outer: Some(outer), _lock: lock })
    }

    /// Returns the directory to use.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        if let Some(outer) = &self.outer {
            open_up(outer.path());
        }
    }
}

/// The longest path that is looked at: what lies deeper is moved up, since the system takes no path that is longer than
/// 4,096 bytes.
#[cfg(unix)]
const LONGEST_PATH: usize = 2048;

/// Makes all directories at and below `top` removable: a process may have taken away this user's
/// permissions on them, also where no path is short enough to name them. Does not follow links.
#[cfg(unix)]
fn open_up(top: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let open = |dir: &Path| fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    let is_closed = |dir: &fs::DirEntry| {
        dir.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o700 != 0o700)
    };
    let _ = open(top);
    let mut n_moved = 0;
    let mut dirs = vec![top.to_owned()];
    while let Some(dir) = dirs.pop() {
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let mut path = entry.path();
            // Before it is read or moved: both need permissions on it.
            if is_closed(&entry) {
                let _ = open(&path);
            }
            let up = top.join(format!("up-{n_moved}"));
            if path.as_os_str().len() > LONGEST_PATH && fs::rename(&path, &up).is_ok() {
                n_moved += 1;
                path = up;
            }
            dirs.push(path);
        }
    }
}

#[cfg(not(unix))]
fn open_up(_: &Path) {}

/// Creates a directory that no other user may read, and those above it that are missing.
#[cfg(unix)]
pub fn create_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Creates a directory, and those above it that are missing; the system gives it the rights of the one above.
#[cfg(not(unix))]
pub fn create_private(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Removes the private directories below `root` whose process is gone.
fn sweep(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && is_ours(&path)
            && is_abandoned(&path)
        {
            tracing::debug!(path = %path.display(), "removing what a killed process left");
            open_up(&path);
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::debug!(path = %path.display(), %error, "it stays");
            }
        }
    }
}

/// Tells whether `path` is a directory of this user, and not a link to one.
fn is_ours(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    #[cfg(unix)]
    let is_ours =
        std::os::unix::fs::MetadataExt::uid(&metadata) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let is_ours = true;
    metadata.is_dir() && is_ours
}

/// Tells whether the process that made the directory is gone. If this user has no access to the
/// directory, the check grants it, and takes it back unless the directory is abandoned.
fn is_abandoned(dir: &Path) -> bool {
    let lock = dir.join(LOCK);
    let is_unlocked = || {
        let is_file = lock.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_file && File::open(&lock).is_ok_and(|file| file.try_lock().is_ok())
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(before) = dir.symlink_metadata().map(|metadata| metadata.permissions()) else {
            return false;
        };
        if before.mode() & 0o700 != 0o700 {
            let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
            let is_abandoned = is_unlocked();
            if !is_abandoned {
                let _ = fs::set_permissions(dir, before);
            }
            return is_abandoned;
        }
    }
    is_unlocked()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a directory like those that killed processes leave.
    fn abandoned(root: &Path) -> PathBuf {
        let mut dir = PrivateDir::new_in(root).unwrap();
        fs::write(dir.path.join("left"), "").unwrap();
        dir.outer.take().unwrap().keep()
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let (gone, other) = (abandoned(root.path()), root.path().join("repertoire-notes"));
        let living = PrivateDir::new_in(root.path()).unwrap();
        fs::write(living.path().join("used"), "").unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("lock"), "").unwrap();
        sweep(root.path());
        assert!(!gone.exists());
        assert!(living.path().join("used").exists() && other.exists());

        #[cfg(unix)]
        {
            let elsewhere = tempfile::tempdir().unwrap();
            let target = abandoned(elsewhere.path());
            std::os::unix::fs::symlink(&target, root.path().join("repertoire-link")).unwrap();
            sweep(root.path());
            assert!(target.exists(), "links are not followed");
        }

        drop(living);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1 + usize::from(cfg!(unix)));
    }

    #[cfg(unix)]
    #[test]
    fn what_was_closed_to_its_own_user_is_removed() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let close = |path: &Path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
        };
        let fill = |dir: &Path| {
            fs::create_dir_all(dir.join("a/b")).unwrap();
            fs::write(dir.join("a/b/file"), "").unwrap();
            close(&dir.join("a/b"));
            close(&dir.join("a"));
            close(dir);
        };
        let dir = PrivateDir::new_in(root.path()).unwrap();
        fill(dir.path());
        drop(dir);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        let gone = abandoned(root.path());
        fill(&gone.join("dir"));
        close(&gone);
        let other = root.path().join("repertoire-of-somebody");
        fs::create_dir(&other).unwrap();
        close(&other);
        sweep(root.path());
        assert!(!gone.exists());
        assert_eq!(other.metadata().unwrap().permissions().mode() & 0o777, 0);
    }
}
