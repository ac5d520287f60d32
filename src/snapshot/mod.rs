//! Snapshots: catalogs and indexes that one process has read and compiled, kept in files for later
//! processes.
//!
//! A snapshot only saves time; skill files and configuration always decide. A snapshot that is missing,
//! damaged, from another version, or owned or writable by another user, is ignored, and one that cannot
//! be written is dropped: this costs time but changes no answer. Files are replaced as a whole, so any
//! number of processes may use a directory at the same time. The module that made a snapshot checks its
//! content against the disk.

mod file;

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use file::{Parts, Unfit};

/// Snapshots that were not used for this long are removed when another one is written.
const KEEPS: Duration = Duration::from_secs(21 * 24 * 60 * 60);
/// The minimum time between two updates of a snapshot's time of use, as each update is a write.
const NOTES_USE: Duration = Duration::from_secs(24 * 60 * 60);
/// A file younger than this may still be in the process of being written, even if it is not locked.
const FRESH: Duration = Duration::from_secs(10);
/// On systems without locks, an unfinished file older than this counts as abandoned.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// The maximum size of all snapshots in a directory together, in bytes. Those unused the longest are
/// removed first.
const MAX_BYTES: u64 = 256 << 20;

const ENDING: &str = "snapshot";
const UNFINISHED: &str = "unfinished";

/// A directory of snapshots of catalogs and their compiled indexes, for short-lived processes that
/// answer a query or two. An engine with a cache ([`EngineBuilder::cache`](crate::EngineBuilder::cache))
/// gives the same answers as one without.
///
/// Only the user can read the files. Snapshots that were not used for three weeks are removed; if all
/// together are larger than 256 MiB, those unused the longest are removed too. The directory can be
/// removed at any time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotCache {
    dir: PathBuf,
}

/// A file of a [`SnapshotCache`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The reason why it cannot be used, in a phrase; `None` if it can.
    pub problem: Option<String>,
}

impl SnapshotCache {
    /// Uses the snapshots in `dir`. The first write creates the directory, with access for the user
    /// only.
    pub fn new(dir: impl Into<PathBuf>) -> SnapshotCache {
        SnapshotCache { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The snapshots in the order of their names; empty if the directory does not exist. Reads every
    /// file to check it.
    ///
    /// Fails if the directory cannot be read.
    pub fn files(&self) -> io::Result<Vec<SnapshotFile>> {
        let mut files = Vec::new();
        for (path, metadata) in self.entries(ENDING)? {
            let checked = file::read(&path).and_then(|(bytes, _)| file::check(&bytes).map(drop));
            let problem = checked.err().map(|unfit| unfit.to_string());
            files.push(SnapshotFile { path, size: metadata.len(), problem });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Passes the content kept for `key` to `take`, and returns the result. Returns `None` if there is
    /// no content for `key`, or if another version wrote it. Fails with the problem of the file if it
    /// cannot be used.
    pub(crate) fn read<T, E>(
        &self,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, String> {
        let path = self.path(key);
        let taken = file::read(&path).and_then(|(bytes, modified)| {
            let Parts { key: found, content } = file::check(&bytes)?;
            if found != key {
                return Ok(None);
            }
            let unreadable = Unfit::Foreign("its content cannot be read");
            let taken = take(content).map_err(|_| unreadable)?;
            note_use(&path, modified);
            Ok(taken)
        });
        match taken {
            Ok(taken) => Ok(taken),
            // A file of another version is not an error.
            Err(Unfit::Missing | Unfit::OtherVersion) => Ok(None),
            Err(unfit) => Err(format!("the snapshot {} is not used: {unfit}", path.display())),
        }
    }

    /// Writes `content` for `key`, replacing any other content for it, and removes old files from the
    /// directory.
    pub(crate) fn write(&self, key: &[u8], content: &[u8]) -> Result<(), String> {
        let path = self.path(key);
        let failed = |error: io::Error| {
            let help = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room on its disk"
                }
                _ => "make its directory writable",
            };
            format!("cannot write the snapshot {}: {error}; {help}", path.display())
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.dir).map_err(failed)?;
        file::replace(&path, key, content).map_err(failed)?;
        self.tidy(&path);
        Ok(())
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        // Each version has its own files, so that two versions used in turn do not replace each other's.
        hasher.write(file::VERSION.as_bytes());
        hasher.write(key);
        self.dir.join(format!("{:016x}.{ENDING}", hasher.finish()))
    }

    /// Removes files that are no longer used, except `kept`. Ignores files that cannot be removed.
    fn tidy(&self, kept: &Path) {
        let age = |metadata: &fs::Metadata| {
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            SystemTime::now().duration_since(modified).unwrap_or_default()
        };
        for (path, metadata) in self.entries(UNFINISHED).unwrap_or_default() {
            if metadata.is_file() && is_left(file::is_being_written(&path), age(&metadata)) {
                let _ = fs::remove_file(path);
            }
        }
        let mut snapshots = self.entries(ENDING).unwrap_or_default();
        snapshots.sort_by_key(|(path, metadata)| (path != kept, age(metadata)));
        let mut total = 0;
        for (path, metadata) in snapshots {
            total += metadata.len();
            if path != kept && (age(&metadata) > KEEPS || total > MAX_BYTES) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The files with this ending that this module wrote, known by names like those of
    /// [`SnapshotCache::path`]. The host may use a directory that holds other files too.
    fn entries(&self, ending: &str) -> io::Result<Vec<(PathBuf, fs::Metadata)>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let entries = entries.filter_map(Result::ok).map(|entry| entry.path());
        let entries = entries.filter(|path| is_named_by_us(path, ending));
        Ok(entries.filter_map(|path| Some((path.clone(), path.symlink_metadata().ok()?))).collect())
    }
}

/// Tells whether a file's name is that of a snapshot with this ending: it begins with the hash of the
/// key, in 16 hexadecimal digits.
fn is_named_by_us(path: &Path, ending: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let hash = name.and_then(|name| name.split_once('.')).map(|(hash, _)| hash);
    let is_hash = |hash: &str| {
        hash.len() == 16 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    hash.is_some_and(is_hash) && path.extension().is_some_and(|extension| extension == ending)
}

/// Tells whether an unfinished file of this age was left behind by a killed process.
fn is_left(is_being_written: Option<bool>, age: Duration) -> bool {
    is_being_written.map_or(age > ABANDONED, |is_being_written| !is_being_written && age > FRESH)
}

/// Updates the time at which the snapshot at `path` was last used, unless that was done recently.
fn note_use(path: &Path, noted: SystemTime) {
    let now = SystemTime::now();
    if now.duration_since(noted).is_ok_and(|since| since < NOTES_USE) {
        return;
    }
    // Ignore errors: if the directory cannot be written, snapshots cannot be removed from it either.
    let file = fs::File::options().append(true).open(path);
    let _ = file.and_then(|file| file.set_modified(now));
}

#[cfg(test)]
mod tests;
