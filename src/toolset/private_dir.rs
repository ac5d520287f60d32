//! Private directories that live as long as this process; those of killed processes are removed
//! later.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

use tempfile::TempDir;

/// The prefix of the directories' names, before a random end.
const PREFIX: &str = "repertoire-";
/// The file in them that their process holds locked: the system unlocks it, however the process
/// ends.
const LOCK: &str = "repertoire-host.lock";

/// A directory that nobody else may read, below the system's for temporary files. It is removed
/// with this value; if the process is killed first, by the next one that makes such a directory.
#[derive(Debug)]
pub(super) struct PrivateDir {
    /// The directory for use; the lock is beside it, out of the way of processes that may write in
    /// it.
    path: PathBuf,
    _outer: TempDir,
    _lock: File,
}

impl PrivateDir {
    pub(super) fn new() -> io::Result<PrivateDir> {
        static SWEPT: Once = Once::new();
        let root = std::env::temp_dir();
        SWEPT.call_once(|| sweep(&root));
        PrivateDir::new_in(&root)
    }

    fn new_in(root: &Path) -> io::Result<PrivateDir> {
        let outer = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // It gets its name when it is locked, so that nobody finds it unlocked.
        let unnamed = outer.path().join("new.lock");
        let lock = File::create_new(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, outer.path().join(LOCK))?;
        let path = outer.path().join("dir");
        create_private(&path)?;
        Ok(PrivateDir { path, _outer: outer, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
pub(super) fn create_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
pub(super) fn create_private(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Removes such directories below `root` whose process is gone.
fn sweep(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && is_ours(&path)
            && is_abandoned(&path.join(LOCK))
        {
            tracing::debug!(path = %path.display(), "removing what a killed process left");
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::debug!(path = %path.display(), %error, "it stays");
            }
        }
    }
}

/// Tells whether `path` is a directory, not a link to one, of this user.
fn is_ours(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    #[cfg(unix)]
    let is_ours =
        std::os::unix::fs::MetadataExt::uid(&metadata) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let is_ours = true;
    metadata.is_dir() && is_ours
}

fn is_abandoned(lock: &Path) -> bool {
    let is_file = lock.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(lock).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a directory such as a killed process leaves.
    fn abandoned(root: &Path) -> PathBuf {
        let PrivateDir { path, _outer: outer, _lock: lock } = PrivateDir::new_in(root).unwrap();
        fs::write(path.join("left"), "").unwrap();
        drop(lock);
        outer.keep()
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
}
