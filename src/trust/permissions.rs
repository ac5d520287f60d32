//! Permissions: the check on who can change a file. Another user who can write it, or put another file in
//! its place, can run code as the user of this process. The rule is that of sshd and sudo.

use std::fs::File;
use std::path::Path;

use crate::error::Error;

/// Refuses a `file` at `path` that another user can change or replace. The file and the directories
/// above it must belong to the user of this process or to root, and must be writable neither by everybody
/// nor by a foreign group. Sticky directories such as `/tmp` may be writable. The user's own group is the
/// one with the user's id as its number, as on systems that give each user a group; root's group is
/// allowed too.
///
/// Fails with `PERMISSION_DENIED`. The remedy is the command that corrects the permissions.
#[cfg(unix)]
pub fn check_permissions(path: &Path, file: &File) -> Result<(), Error> {
    use super::{io_error, quoted};
    use crate::error::{ErrorCode, Remedy};
    use std::os::unix::fs::MetadataExt as _;
    const STICKY: u32 = 0o1000;
    const GROUP_WRITABLE: u32 = 0o020;
    const WORLD_WRITABLE: u32 = 0o002;
    let us = rustix::process::geteuid().as_raw();
    let metadata = file.metadata().map_err(|error| io_error("read", path, error))?;
    let absolute = path.canonicalize().map_err(|error| io_error("read", path, error))?;
    let refuse = |what: &Path, why: String, command: String| {
        let what = if what == absolute { "it".into() } else { what.to_string_lossy() };
        let message = format!("{} is not safe to use: {what} {why}", path.display());
        let help = "the user has to decide who may change it";
        let error = Error::new(ErrorCode::PermissionDenied, message, help);
        Err(error.with_remedy(Remedy::Run(command)))
    };
    let above = absolute.ancestors().skip(1).map(|dir| (dir, dir.metadata()));
    for (place, metadata) in std::iter::once((&*absolute, Ok(metadata))).chain(above) {
        let metadata = metadata.map_err(|error| io_error("read", place, error))?;
        let mode = metadata.mode();
        let others_may = metadata.is_file() || mode & STICKY == 0;
        if mode & WORLD_WRITABLE != 0 && others_may {
            let command = format!("chmod o-w {}", quoted(place));
            return refuse(place, "can be written by everybody".to_owned(), command);
        }
        if mode & GROUP_WRITABLE != 0 && others_may && ![us, 0].contains(&metadata.gid()) {
            let command = format!("chmod g-w {}", quoted(place));
            let why = format!("can be written by group {}", metadata.gid());
            return refuse(place, why, command);
        }
        if metadata.uid() != us && metadata.uid() != 0 {
            let command = format!("chown $(id -u) {}", quoted(place));
            return refuse(place, format!("belongs to user {}", metadata.uid()), command);
        }
    }
    Ok(())
}

/// Accepts every file: systems other than Unix have no such permissions to check.
#[cfg(not(unix))]
pub fn check_permissions(_path: &Path, _file: &File) -> Result<(), Error> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::error::{ErrorCode, Remedy};

    #[test]
    fn what_everybody_can_write_is_refused_with_the_command_that_mends_it() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a skill");
        let path = inner.join("tool.so");
        fs::create_dir(&inner).unwrap();
        fs::write(&path, "").unwrap();
        let set = |place: &Path, mode| {
            fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
        };
        let check = || check_permissions(&path, &File::open(&path).unwrap());
        set(&path, 0o644);
        check().unwrap();
        for (place, mode) in [(&path, 0o646), (&inner, 0o757)] {
            set(place, mode);
            let error = check().unwrap_err();
            assert_eq!(error.code(), ErrorCode::PermissionDenied);
            let real = place.canonicalize().unwrap();
            let command = format!("chmod o-w '{}'", real.display());
            assert_eq!(error.remedy(), Some(&Remedy::Run(command)));
            assert!(!format!("{error:#}").contains("chmod"), "{error:#}");
            let named = error.message().matches(path.to_str().unwrap()).count();
            assert_eq!(named, 1, "{error}");
            set(place, if place.is_dir() { 0o755 } else { 0o644 });
        }
        set(&inner, 0o1777);
        check().unwrap();
        set(&path, 0o664);
        check().unwrap();
        // Only root can give a file to another group.
        if std::os::unix::fs::chown(&path, None, Some(4321)).is_ok() {
            set(&path, 0o664);
            let error = check().unwrap_err();
            assert!(error.message().contains("can be written by group 4321"), "{error}");
            set(&path, 0o644);
            check().unwrap();
        }
    }
}
