//! Changes of a `config.toml`: one process at a time, and never outside of the project that it is for.

use std::fs::{self, File, TryLockError};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::limits::INTERVAL;
use super::lock_file::replace;
use super::objects::io_error;
use repertoire::{Error, ErrorCode};

/// The longest time to wait for another process that changes the file.
const LOCK_TIME: Duration = Duration::from_secs(10);

/// The maximum number of links that are followed to a file.
const MAX_LINKS: usize = 40;

/// Replaces the text of the `config.toml` at `path`, or of the file that it links to, by the result of
/// `edit`. No other process changes the file in between. Returns the path of the file itself. `project`
/// is the root of the project if the file is a project's.
///
/// Fails as `edit` does, with `PERMISSION_DENIED` if the file is read-only or a link that leaves the
/// project, and with `EXECUTION_ERROR` if it cannot be read or written. Then the file stays
/// as it is.
pub fn change_config(
    path: &Path,
    project: Option<&Path>,
    edit: impl FnOnce(&str) -> Result<String, Error>,
) -> Result<PathBuf, Error> {
    let file = file_itself(path, project)?;
    let _lock = lock(&file).map_err(|error| io_error("lock", &file, &error))?;
    let before = match fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(|error| io_error("read", &file, &error))?,
    };
    let after = edit(&before)?;
    if after != before {
        check_writable(&file)?;
        replace(&file, after).map_err(|error| io_error("write", &file, &error))?;
    }
    Ok(file)
}

/// Fails if [`change_config`] may not write the file at `path`.
pub(super) fn check_config(path: &Path, project: Option<&Path>) -> Result<(), Error> {
    check_writable(&file_itself(path, project)?)
}

/// Returns the path of the file to replace: users may keep their settings elsewhere, behind a link.
fn file_itself(path: &Path, project: Option<&Path>) -> Result<PathBuf, Error> {
    let file = real(path);
    let is_inside = |root: &Path| {
        file.starts_with(real(root)) && !file.components().any(|part| part == Component::ParentDir)
    };
    if project.is_some_and(|root| !is_inside(root)) {
        let message = format!("{} is a link that leaves the project", path.display());
        let help = "put the file itself there";
        return Err(Error::new(ErrorCode::PermissionDenied, message, help));
    }
    Ok(file)
}

fn check_writable(file: &Path) -> Result<(), Error> {
    if file.metadata().is_ok_and(|metadata| metadata.permissions().readonly()) {
        let message = format!("{} is read-only", file.display());
        return Err(Error::new(ErrorCode::PermissionDenied, message, "make it writable"));
    }
    Ok(())
}

/// Follows all links in `path`, whose file need not exist.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MAX_LINKS {
        let Ok(target) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    for dir in path.ancestors() {
        if let (Ok(real), Ok(missing)) = (dir.canonicalize(), path.strip_prefix(dir)) {
            return real.components().chain(missing.components()).collect();
        }
    }
    path
}

/// Locks the directory of `file` until the guard is dropped. A lock on the file would end when the file
/// is replaced, and a lock file would stay in the project.
#[cfg(unix)]
fn lock(file: &Path) -> io::Result<File> {
    use rustix::io::Errno;

    let lock = File::open(existing_dir(file)?)?;
    match locked(&lock) {
        // NFS locks only what is open for writing, as a directory cannot be. Then two changes at once
        // may still lose one.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::BADF) => Ok(lock),
        result => result.map(|()| lock),
    }
}

/// Locks a file beside `file` until the guard is dropped: not every system can lock a directory.
#[cfg(not(unix))]
fn lock(file: &Path) -> io::Result<File> {
    let path = existing_dir(file)?.join("config.lock");
    let lock = File::options().write(true).create(true).truncate(false).open(path)?;
    locked(&lock).map(|()| lock)
}

/// Locks `file`, within [`LOCK_TIME`].
fn locked(file: &File) -> io::Result<()> {
    let end = Instant::now() + LOCK_TIME;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(INTERVAL),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Returns the directory of `file`. Creates it if it is missing.
fn existing_dir(file: &Path) -> io::Result<&Path> {
    let dir = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_at_once_are_all_kept_and_leave_no_other_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".acme/config.toml");
        thread::scope(|scope| {
            for nth in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let add = |before: &str| Ok(format!("{before}# {nth}\n"));
                    change_config(path, Some(dir_of(path, 2)), add).unwrap();
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 8, "{text}");
        if cfg!(unix) {
            assert_eq!(fs::read_dir(dir_of(&path, 1)).unwrap().count(), 1);
        }
    }

    fn dir_of(path: &Path, n_levels: usize) -> &Path {
        path.ancestors().nth(n_levels).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_link_of_a_project_is_not_followed_out_of_it() {
        use std::os::unix::fs::symlink;
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, path) = (project.path().join("in"), project.path().join("link/config.toml"));
        let targets = [outside.path().to_owned(), outside.path().join("new/.."), inside.clone()];
        for (nth, target) in targets.iter().enumerate() {
            symlink(target, project.path().join("link")).unwrap();
            fs::create_dir_all(&inside).unwrap();
            let changed = change_config(&path, Some(project.path()), |_| Ok("x".to_owned()));
            assert_eq!(changed.is_ok(), nth == 2, "{}: {changed:?}", target.display());
            fs::remove_file(project.path().join("link")).unwrap();
        }
        assert!(inside.join("config.toml").is_file());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);

        // Neither does a link to a file that does not exist yet.
        for target in ["../new", "new/../../../new", outside.path().join("new").to_str().unwrap()] {
            let path = inside.join("other.toml");
            symlink(target, &path).unwrap();
            let changed = change_config(&path, Some(&inside), |_| Ok("x".to_owned()));
            assert_eq!(changed.unwrap_err().code(), ErrorCode::PermissionDenied, "{target}");
            assert!(path.is_symlink());
            fs::remove_file(path).unwrap();
        }
    }
}
