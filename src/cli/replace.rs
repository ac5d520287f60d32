//! Files replaced as a whole, so that no reader sees half of one.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use repertoire::{Error, ErrorCode};
use tempfile::Builder;

/// Writes `text` to `path` as a whole, with the rights that `like` has.
pub(crate) fn replace(path: &Path, text: &str, like: &Path) -> Result<(), Error> {
    let failed = |error: io::Error| io_error("write", path, &error);
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(failed)?;
    let mut builder = Builder::new();
    // The process's mask applies, as it does to any new file.
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".repertoire-").tempfile_in(dir).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(metadata) = fs::metadata(like) {
        file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A file that may not be written is not replaced either, though its directory would allow it.
/// `otherwise` is the alternative to making it writable.
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

/// The error if the system refuses to do `what` with a file.
pub(crate) fn io_error(what: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot {what} {}: {error}", path.display());
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    Error::new(code, message, "check the file and its directory")
}
