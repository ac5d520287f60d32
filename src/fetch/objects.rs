//! Contents of files by their SHA-256, shared by processes. A content is written beside its place
//! and renamed into it, so that it is whole or absent, and is compared with its name when it is
//! read.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::limits::too_large;
use crate::error::{Error, ErrorCode};
use crate::trust::ContentHash;

/// The store of contents in a directory.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    dir: PathBuf,
}

impl Objects {
    pub(super) fn new(dir: PathBuf) -> Objects {
        Objects { dir }
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
        fs::create_dir_all(&self.dir).map_err(failed)?;
        let mut new =
            tempfile::Builder::new().prefix("new-").tempfile_in(&self.dir).map_err(failed)?;
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

    /// Copies a content to `to`. Fails with `NOT_FOUND` if it is not there, or is not the content of
    /// its name any more; then it is removed.
    pub(super) fn copy(&self, hash: &ContentHash, to: &Path) -> Result<(), Error> {
        let path = self.path(hash);
        let lost = || {
            let message = format!("the kept content {hash} is missing or damaged");
            Error::new(ErrorCode::NotFound, message, "fetch its source again")
        };
        let mut file = File::open(&path).map_err(|_| lost())?;
        let failed = |error: io::Error| io_error("write", to, &error);
        let mut new = File::create_new(to).map_err(failed)?;
        io::copy(&mut file, &mut new).map_err(failed)?;
        if ContentHash::of_file(to)? != *hash {
            let _ = fs::remove_file(&path);
            return Err(lost());
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

/// The error if the system refuses to do `what` with a file.
pub(super) fn io_error(what: &str, path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    let message = format!("cannot {what} {}: {error}", path.display());
    Error::new(code, message, "see to the file and its directory, and to room on the disk")
}
