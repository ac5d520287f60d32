//! The files and directories that sandboxed code may change.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Result;

/// Files and directories, held open, so that they stay the ones that the rules of Landlock name even if others
/// move or replace them.
#[derive(Debug)]
pub(super) struct Writable(Vec<OwnedFd>);

impl Writable {
    /// Opens the files and directories. Those that do not exist are ignored.
    pub(super) fn open(paths: &[PathBuf]) -> Writable {
        let open = |path| openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok();
        Writable(paths.iter().filter_map(open).collect())
    }

    /// Tells whether an open file is one of these, or lies beneath one.
    pub(super) fn holds(&self, file: BorrowedFd<'_>) -> Result<bool> {
        let place = place(file)?;
        let holds =
            |dir: &OwnedFd| self::place(dir.as_fd()).is_ok_and(|dir| place.starts_with(dir));
        Ok(self.0.iter().any(holds))
    }
}

/// The path by which an open file is reached in `/proc`, whatever becomes of its name.
pub(super) fn link(file: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Returns the place of an open file, as the kernel knows it. What is not a file has a place that is not an
/// absolute path.
fn place(file: BorrowedFd<'_>) -> Result<PathBuf> {
    let place = readlinkat(CWD, link(file), Vec::new())?;
    Ok(Path::new(&OsString::from_vec(place.into_bytes())).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn what_lies_beneath_is_decided_by_the_place_of_the_open_file() {
        let dir = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "owner"].map(|name| dir.path().join(name));
        for dir in [&own, &other] {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join("file"), "").unwrap();
        }
        let single = dir.path().join("single");
        fs::write(&single, "").unwrap();
        let writable = Writable::open(&[own.clone(), single.clone(), dir.path().join("missing")]);
        let holds = |path: &Path| writable.holds(File::open(path).unwrap().as_fd()).unwrap();
        assert!(holds(&own) && holds(&own.join("file")) && holds(&single));
        assert!(!holds(&other.join("file")) && !holds(dir.path()) && !holds(Path::new("/")));
        assert!(!writable.holds(std::io::pipe().unwrap().0.as_fd()).unwrap());
        // A file without a name is still there; a directory that was moved takes its right along.
        let file = File::open(own.join("file")).unwrap();
        fs::remove_file(own.join("file")).unwrap();
        assert!(writable.holds(file.as_fd()).unwrap());
        let moved = dir.path().join("moved");
        fs::rename(&own, &moved).unwrap();
        fs::create_dir(&own).unwrap();
        assert!(holds(&moved) && !holds(&own));
        // So does a file that was replaced: its successor is another one.
        fs::write(dir.path().join("new"), "").unwrap();
        fs::rename(dir.path().join("new"), &single).unwrap();
        assert!(!holds(&single));
    }
}
