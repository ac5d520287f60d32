//! The store of file contents by their SHA-256, shared by processes. A content is written to a temporary
//! file and renamed, so that it is either complete or absent. Its hash is checked when it is read.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::limits::too_large;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The prefix of the name of a content that is still being written.
const NEW: &str = "new-";

/// The lock file: shared by processes that store contents, exclusive for one that collects them.
const LOCK: &str = ".lock";

/// A content in the store.
#[derive(Debug)]
pub(super) struct Content {
    /// The SHA-256, which is also the name of its file.
    pub(super) hash: String,
    pub(super) path: PathBuf,
    pub(super) n_bytes: u64,
    /// The last time the content was stored or copied.
    pub(super) used: SystemTime,
}

/// The store of contents in a directory.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    dir: PathBuf,
}

impl Objects {
    pub(super) fn new(dir: PathBuf) -> Objects {
        Objects { dir }
    }

    /// Creates the directory, and removes the temporary files of killed processes. Fails with
    /// `EXECUTION_ERROR` if the directory cannot be written.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        let failed = |error: io::Error| io_error("create", &self.dir, &error);
        fs::create_dir_all(&self.dir).map_err(failed)?;
        sweep(&self.dir, NEW);
        Ok(())
    }

    /// Stores a content of at most `most` bytes, and returns its hash and its size. Replaces the content
    /// if it was damaged. Fails with `INVALID_PARAM` if it is larger, and with `EXECUTION_ERROR` if it
    /// cannot be read or written.
    pub(super) fn put(
        &self,
        content: &mut dyn Read,
        most: u64,
        file: &str,
    ) -> Result<(ContentHash, u64), Error> {
        let failed = |error: io::Error| io_error("write", &self.dir, &error);
        let mut new =
            tempfile::Builder::new().prefix(NEW).tempfile_in(&self.dir).map_err(failed)?;
        let mut hash = Sha256::new();
        let mut n_bytes = 0;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let n = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(io_error("read", Path::new(file), &error)),
            };
            n_bytes += n as u64;
            if n_bytes > most {
                return Err(too_large(&format!("the file {file}"), "bytes", most));
            }
            hash.update(&buffer[..n]);
            new.write_all(&buffer[..n]).map_err(failed)?;
        }
        let hash = ContentHash::finished(hash);
        let path = self.path(&hash);
        // While this lock is held, no process collects; afterwards the content is new, so none collects
        // it.
        let lock = self.open_lock().map_err(failed)?;
        lock.lock_shared().map_err(failed)?;
        // Replace the file that may be there, as it may be damaged: to rename costs less than to compare.
        fs::create_dir_all(path.parent().unwrap_or(&self.dir)).map_err(failed)?;
        new.persist(&path).map_err(|error| failed(error.error))?;
        Ok((hash, n_bytes))
    }

    /// Tells whether a content is there.
    pub(super) fn has(&self, hash: &ContentHash) -> bool {
        self.path(hash).is_file()
    }

    /// Reads a content into memory. Fails like [`copy`](Objects::copy).
    pub(super) fn read(&self, hash: &ContentHash) -> Result<Vec<u8>, Error> {
        let path = self.path(hash);
        let content = fs::read(&path).unwrap_or_default();
        if ContentHash::of(&content) != *hash {
            let _ = fs::remove_file(&path);
            return Err(missing_content(hash));
        }
        Ok(content)
    }

    /// Copies a content to `to`. Fails with `NOT_FOUND` if the content is missing or does not match its
    /// hash; in the latter case it is removed from the store.
    pub(super) fn copy(&self, hash: &ContentHash, to: &Path) -> Result<(), Error> {
        let path = self.path(hash);
        let mut file = File::open(&path).map_err(|_| missing_content(hash))?;
        let failed = |error: io::Error| io_error("write", to, &error);
        let mut new = File::create_new(to).map_err(failed)?;
        io::copy(&mut file, &mut new).map_err(failed)?;
        if ContentHash::of_file(to)? != *hash {
            let _ = fs::remove_file(&path);
            return Err(missing_content(hash));
        }
        mark_used(&path);
        Ok(())
    }

    /// Locks the store for collection. Returns `None` if another process stores or collects contents now,
    /// or if there is no store.
    pub(super) fn lock_to_collect(&self) -> Option<File> {
        let file = self.open_lock().ok()?;
        file.try_lock().ok().map(|()| file)
    }

    fn open_lock(&self) -> io::Result<File> {
        File::options().write(true).create(true).truncate(false).open(self.dir.join(LOCK))
    }

    /// Lists all contents, and skips files that are not contents.
    pub(super) fn contents(&self) -> impl Iterator<Item = Content> {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
        let is_part = |name: &str| name.bytes().all(|b| b.is_ascii_hexdigit());
        let starts = entries(&self.dir).filter_map(move |entry| {
            let start = entry.file_name().into_string().ok()?;
            (start.len() == 2 && is_part(&start)).then(|| (start, entry.path()))
        });
        starts.flat_map(move |(start, dir)| {
            entries(&dir).filter_map(move |entry| {
                let rest = entry.file_name().into_string().ok()?;
                let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                let (n_bytes, used) = (metadata.len(), metadata.modified().ok()?);
                let hash = format!("{start}{rest}");
                Some(Content { hash, path: entry.path(), n_bytes, used })
            })
        })
    }

    fn path(&self, hash: &ContentHash) -> PathBuf {
        let hash = hash.as_str();
        // A hash of a lock file may be any text.
        let (start, rest) = hash.split_at_checked(2).unwrap_or(("", hash));
        self.dir.join(start).join(rest)
    }
}

/// The error for a content that is missing or damaged.
fn missing_content(hash: &ContentHash) -> Error {
    let message = format!("the kept content {hash} is missing or damaged");
    Error::new(ErrorCode::NotFound, message, "fetch its source again")
}

/// Marks a content, or another file of the cache, as used now, if it is there.
pub(super) fn mark_used(path: &Path) {
    // If the cache is read-only, nothing can be collected either.
    if let Ok(file) = File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// The age from which an unfinished file counts as left behind by a killed process.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the entries of a directory that start with `prefix` and that killed processes left
/// unfinished.
pub(super) fn sweep(dir: &Path, prefix: &str) {
    remove_older(dir, prefix, ABANDONED);
}

/// Removes the entries of a directory that start with `prefix` and were not changed for `time`.
pub(super) fn remove_older(dir: &Path, prefix: &str, time: Duration) {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)) {
        let Ok(metadata) = entry.metadata() else { continue };
        if is_older(&metadata, time) {
            let path = entry.path();
            let _ =
                if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Tells whether a file was not changed for `time`. After the clock was set back, no file counts as old.
pub(super) fn is_older(metadata: &fs::Metadata, time: Duration) -> bool {
    let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age >= time)
}

/// The error for an operation `what` on a file that the system refuses.
pub(super) fn io_error(what: &str, path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    let message = format!("cannot {what} {}: {error}", path.display());
    Error::new(code, message, "check the file and its directory, and the room on the disk")
}
