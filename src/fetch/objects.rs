//! Contents of files by their SHA-256, shared by processes. A content is written beside its place
//! and renamed into it, so that it is whole or absent, and is compared with its name when it is
//! read.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::limits::too_large;
use crate::error::{Error, ErrorCode};
use crate::trust::ContentHash;

/// The beginning of the name of a content that is not whole yet.
const NEW: &str = "new-";

/// The store of contents in a directory.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    dir: PathBuf,
}

impl Objects {
    pub(super) fn new(dir: PathBuf) -> Objects {
        Objects { dir }
    }

    /// Makes the directory, and removes what killed processes left in it. Fails with
    /// `EXECUTION_ERROR` if it cannot be written.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        let failed = |error: io::Error| io_error("create", &self.dir, &error);
        fs::create_dir_all(&self.dir).map_err(failed)?;
        sweep(&self.dir, NEW);
        Ok(())
    }

    /// Keeps a content of at most `most` bytes, and returns its hash and its size. Fails with
    /// `INVALID_PARAM` if it is larger, and with `EXECUTION_ERROR` if it cannot be read or written.
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
        if !path.is_file() {
            fs::create_dir_all(path.parent().unwrap_or(&self.dir)).map_err(failed)?;
            new.persist(&path).map_err(|error| failed(error.error))?;
        }
        Ok((hash, n_bytes))
    }

    /// Tells whether a content is there.
    pub(super) fn has(&self, hash: &ContentHash) -> bool {
        self.path(hash).is_file()
    }

    /// Reads a content, which is in memory as a whole. Fails as [`copy`](Objects::copy).
    pub(super) fn read(&self, hash: &ContentHash) -> Result<Vec<u8>, Error> {
        let path = self.path(hash);
        let content = fs::read(&path).unwrap_or_default();
        if ContentHash::of(&content) != *hash {
            let _ = fs::remove_file(&path);
            return Err(lost(hash));
        }
        Ok(content)
    }

    /// Copies a content to `to`. Fails with `NOT_FOUND` if it is not there, or is not the content of
    /// its name any more; then it is removed.
    pub(super) fn copy(&self, hash: &ContentHash, to: &Path) -> Result<(), Error> {
        let path = self.path(hash);
        let mut file = File::open(&path).map_err(|_| lost(hash))?;
        let failed = |error: io::Error| io_error("write", to, &error);
        let mut new = File::create_new(to).map_err(failed)?;
        io::copy(&mut file, &mut new).map_err(failed)?;
        if ContentHash::of_file(to)? != *hash {
            let _ = fs::remove_file(&path);
            return Err(lost(hash));
        }
        Ok(())
    }

    fn path(&self, hash: &ContentHash) -> PathBuf {
        let hash = hash.as_str();
        // A hash of a lock file may be any text.
        let (start, rest) = hash.split_at_checked(2).unwrap_or(("", hash));
        self.dir.join(start).join(rest)
    }
}

/// The error of a content that the store does not have any more.
fn lost(hash: &ContentHash) -> Error {
    let message = format!("the kept content {hash} is missing or damaged");
    Error::new(ErrorCode::NotFound, message, "fetch its source again")
}

/// The age from which something unfinished is of a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what killed processes left unfinished in a directory, by the beginning of its name.
pub(super) fn sweep(dir: &Path, prefix: &str) {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)) {
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > ABANDONED) {
            let path = entry.path();
            let _ =
                if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// The error if the system refuses to do `what` with a file.
pub(super) fn io_error(what: &str, path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    let message = format!("cannot {what} {}: {error}", path.display());
    Error::new(code, message, "see to the file and its directory, and to room on the disk")
}
