//! Atomic creation and replacement of files: no reader sees a file that is half written.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use repertoire::{Error, ErrorCode};
use tempfile::{Builder, NamedTempFile};

/// Replaces the file at `path` by `text` atomically. It gets the permissions of the file `like`, if
/// that exists.
pub(crate) fn replace(path: &Path, text: &str, like: &Path) -> Result<(), Error> {
    let failed = |error: io::Error| io_error("write", path, &error);
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(failed)?;
    let file = temporary(dir, text).map_err(failed)?;
    if let Ok(metadata) = fs::metadata(like) {
        file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Creates the file at `path` with `text` atomically: if that fails, there is no file. Fails if there is
/// one already, or if its directory does not exist.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    let file = temporary(path.parent().unwrap_or(Path::new(".")), text)?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// Returns the directories above `path` that do not exist, innermost first.
pub(crate) fn missing_dirs(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty());
    above.take_while(|dir| !dir.exists()).map(Path::to_owned).collect()
}

/// Writes `text` to a temporary file in `dir`.
fn temporary(dir: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    // The umask of the process applies, as it does to any new file.
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".repertoire-").tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Fails if `path` is read-only: it must not be replaced, even if its directory would allow that. The
/// help of the error ends with `otherwise`, the alternative to making the file writable.
pub(crate) fn check_writable(path: &Path, otherwise: &str) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => Err(Error::new(
            ErrorCode::PermissionDenied,
            format!("{} is read-only", path.display()),
            format!("make it writable, or {otherwise}"),
        )),
        _ => Ok(()),
    }
}

/// Returns the error for an operation `what`, such as "read", that the system refused on the file at
/// `path`.
pub(crate) fn io_error(what: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot {what} {}: {error}", path.display());
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    Error::new(code, message, "check the file and its directory")
}
