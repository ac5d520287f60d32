//! Writes fetched files into a directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::limits::refused;
use super::lock_file::LockedFile;
use super::objects::{Objects, io_error};
use super::paths::check_path;
use repertoire::Error;

/// Writes files from `objects` below a directory. Fails with `NOT_FOUND` if a content is missing.
pub(super) fn write_files(
    root: &Path,
    files: &BTreeMap<String, LockedFile>,
    objects: &Objects,
) -> Result<(), Error> {
    for (path, LockedFile { sha256, executable }) in files {
        check_path(path).map_err(|why| refused("the lock file", path, why))?;
        let to = root.join(path);
        let failed = |error: io::Error| io_error("write", &to, &error);
        fs::create_dir_all(to.parent().unwrap_or(root)).map_err(failed)?;
        objects.copy(sha256, &to)?;
        set_mode(&to, *executable).map_err(failed)?;
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if !executable {
        return Ok(());
    }
    let mode = path.metadata()?.permissions().mode();
    // Everyone who may read the file may run it.
    fs::set_permissions(path, fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: bool) -> io::Result<()> {
    Ok(())
}
