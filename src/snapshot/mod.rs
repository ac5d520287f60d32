//! Snapshots: catalogs and indexes that one process read and compiled, kept in files for later
//! ones.
//!
//! A snapshot is never the truth, only a faster way to it. One that is missing, damaged, of another
//! version or of somebody else is ignored, and one that cannot be written is dropped: that costs
//! time and changes no answer. A file is replaced as a whole, so that any number of processes may
//! use a directory at once. The module that made a snapshot checks its content against the disk.

mod file;

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use file::{Parts, Unfit};

/// Snapshots that were not used for this long are removed when another one is written.
const KEEPS: Duration = Duration::from_secs(21 * 24 * 60 * 60);
/// The least time between two notes of a snapshot's use: each is a write.
const NOTES_USE: Duration = Duration::from_secs(24 * 60 * 60);
/// A file younger than this may still be written even if it is not locked.
const FRESH: Duration = Duration::from_secs(10);
/// If locks do not tell whether a file is still being written, it is abandoned after this long.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// All snapshots of a directory together, in bytes; those unused the longest are removed first.
const MAX_BYTES: u64 = 256 << 20;

const ENDING: &str = "snapshot";
const UNFINISHED: &str = "unfinished";

/// A directory of snapshots: of catalogs and their compiled indexes, for processes that ask a
/// question or two and end. An engine that is made with one
/// ([`EngineBuilder::cache`](crate::EngineBuilder::cache)) gives the same answers as one without.
///
/// The files are for the user only. Those unused for three weeks are removed, and those unused
/// the longest beyond 256 MiB. The directory can be removed at any time.
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
    /// The snapshots in `dir`, which is made, for the user only, when the first one is written.
    pub fn new(dir: impl Into<PathBuf>) -> SnapshotCache {
        SnapshotCache { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The snapshots by name; empty if the directory does not exist. Reads all of them.
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

    /// Returns what `take` makes of the content kept for `key`; `None` if there is none, or it is
    /// useless. The error tells the problem of the file there, which is worth a note.
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
            // A file of another version is not a fault.
            Err(Unfit::Missing | Unfit::OtherVersion) => Ok(None),
            Err(unfit) => Err(format!("the snapshot {} is not used: {unfit}", path.display())),
        }
    }

    /// Keeps `content` for `key` in place of any other, and tidies up the directory.
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
        // Another version has files of its own: two that take turns do not undo each other's work.
        hasher.write(file::VERSION.as_bytes());
        hasher.write(key);
        self.dir.join(format!("{:016x}.{ENDING}", hasher.finish()))
    }

    /// Removes files that nobody uses any more, except `kept`. Those that cannot be removed stay.
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

    /// The files of ours with this ending: their names begin as those of [`SnapshotCache::path`]. A host
    /// may name a directory that has other files, too.
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

/// Tells whether a file has a name of a snapshot with this ending: the hash of its key, in 16 digits,
/// comes first.
fn is_named_by_us(path: &Path, ending: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let hash = name.and_then(|name| name.split_once('.')).map(|(hash, _)| hash);
    let is_hash = |hash: &str| {
        hash.len() == 16 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    hash.is_some_and(is_hash) && path.extension().is_some_and(|extension| extension == ending)
}

/// Tells whether an unfinished file of some age was left by a process that was killed.
fn is_left(is_being_written: Option<bool>, age: Duration) -> bool {
    is_being_written.map_or(age > ABANDONED, |is_being_written| !is_being_written && age > FRESH)
}

/// Notes that the snapshot at `path` is used, unless that was noted not long ago.
fn note_use(path: &Path, noted: SystemTime) {
    let now = SystemTime::now();
    if now.duration_since(noted).is_ok_and(|since| since < NOTES_USE) {
        return;
    }
    // If that cannot be noted, nothing can be removed either.
    let file = fs::File::options().append(true).open(path);
    let _ = file.and_then(|file| file.set_modified(now));
}

#[cfg(test)]
mod tests;
