//! Writing, comparing and removing links to skills and copies of them in the directories of agents.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use walkdir::WalkDir;

use super::copies::exchange;
use super::layout::LEFT_OUT;
use super::lock_file::{LockedFile, NEW, digest};
use super::objects::io_error;
use repertoire::catalog::COPY_MARK;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The content of the mark of a copy.
const MARK: &str = "A copy of a fetched skill. Its code is not the user's own.\n";

/// Makes `path` a link to the directory `original`. Whatever is there may go.
pub(super) fn put_link(path: &Path, original: &Path) -> Result<(), Error> {
    if fs::read_link(path).is_ok_and(|target| target == original) {
        return Ok(());
    }
    if path.symlink_metadata().is_ok() {
        remove(path)?;
    }
    link(original, path).map_err(|error| io_error("write", path, &error))
}

/// Makes `path` a copy of the directory `original` with these files, of which `sha256` is the digest, and with
/// a mark, if it is one of the user's: so that no program takes its code for the user's own. Whatever is there
/// may go.
pub(super) fn put_copy(
    path: &Path,
    original: &Path,
    files: &BTreeMap<String, LockedFile>,
    sha256: &ContentHash,
    is_of_user: bool,
) -> Result<(), Error> {
    let failed = |error: io::Error| io_error("write", path, &error);
    let mark = |dir: &Path| {
        let mark = dir.join(COPY_MARK);
        if is_of_user && !mark.exists() { fs::write(mark, MARK).map_err(failed) } else { Ok(()) }
    };
    if digest_of(path).as_ref() == Some(sha256) {
        return mark(path);
    }
    let dir = path.parent().unwrap_or(path);
    let new = tempfile::Builder::new().prefix(NEW).tempdir_in(dir).map_err(failed)?;
    for file in files.keys() {
        let to = new.path().join(file);
        fs::create_dir_all(to.parent().unwrap_or(dir)).map_err(failed)?;
        fs::copy(original.join(file), &to).map_err(failed)?;
    }
    if digest_of(new.path()).as_ref() != Some(sha256) {
        let message = format!("{} was changed after the fetch", original.display());
        return Err(Error::new(ErrorCode::ExecutionError, message, "update its source"));
    }
    mark(new.path())?;
    if path.is_symlink() {
        remove(path)?;
    }
    let mode = fs::metadata(dir).map_err(failed)?.permissions();
    fs::set_permissions(new.path(), mode).map_err(failed)?;
    exchange(new.path(), path).map_err(failed)
}

#[cfg(unix)]
fn link(original: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a link, or a directory with all it has.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    let is_dir = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(|error| io_error("remove", path, &error))
}

/// The SHA-256 of the list of files in the directory `dir`; `None` if it has anything else than files. Skips directories that are never fetched, such as the `__pycache__` of a script that ran.
pub(super) fn digest_of(dir: &Path) -> Option<ContentHash> {
    if dir.is_symlink() {
        return None;
    }
    let is_meant = |name: &std::ffi::OsStr| !LEFT_OUT.iter().any(|left_out| name == *left_out);
    let walk = WalkDir::new(dir).into_iter().filter_entry(|entry| is_meant(entry.file_name()));
    let mut files = BTreeMap::new();
    for entry in walk {
        let entry = entry.ok()?;
        if entry.file_type().is_dir() {
            continue;
        }
        if !entry.file_type().is_file() {
            return None;
        }
        let path = entry.path().strip_prefix(dir).ok()?.to_str()?;
        let sha256 = ContentHash::of_file(entry.path()).ok()?;
        if path == COPY_MARK {
            continue;
        }
        let path = path.replace(std::path::MAIN_SEPARATOR, "/");
        files.insert(path, LockedFile { sha256, executable: false });
    }
    Some(digest(&files))
}

/// The digest that [`digest_of`] finds for a copy of `files`. Modes do not count: not every system has
/// them.
pub(super) fn digest_of_files(files: &BTreeMap<String, LockedFile>) -> ContentHash {
    let plain = files.iter().map(|(path, LockedFile { sha256, .. })| {
        (path.clone(), LockedFile { sha256: sha256.clone(), executable: false })
    });
    digest(&plain.collect())
}
