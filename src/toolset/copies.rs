//! Private copies of libraries. The copies are opened instead of the originals, so that nobody can
//! change or replace them between the check and the use.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use repertoire_worker::locked;

use super::collect::{lock_to_use, note_use};
use super::private_dir::{PrivateDir, create_private};
#[cfg(feature = "mcp-toolsets")]
use super::program::File as ProgramFile;
use crate::error::{Error, ErrorCode};
use crate::trust::{ContentHash, SkillFiles};

/// The directory of the copies. If the host names none, a temporary one is made when it is first
/// needed.
#[derive(Debug)]
pub(super) struct Copies {
    place: Mutex<Option<Place>>,
}

#[derive(Debug)]
enum Place {
    Named(PathBuf),
    /// The named directory, once copies in it may be in use. Nobody collects them until the lock is
    /// dropped.
    Locked(PathBuf, #[expect(dead_code, reason = "it is kept alive")] Option<File>),
    Temporary(PrivateDir),
}

impl Copies {
    /// Puts copies in `dir`, or else in a temporary directory that is removed with this value.
    pub(super) fn new(dir: Option<PathBuf>) -> Copies {
        Copies { place: Mutex::new(dir.map(Place::Named)) }
    }

    /// The path for the copy of a library with this content, whether it exists or not.
    pub(super) fn path(&self, sha256: &ContentHash) -> Result<PathBuf, Error> {
        Ok(self.dir()?.join(format!("{sha256}{}", std::env::consts::DLL_SUFFIX)))
    }

    /// Makes the copy of a library with this content, unless it exists.
    pub(super) fn copy(&self, bytes: &[u8], sha256: &ContentHash) -> Result<(), Error> {
        let dir = self.dir()?;
        let copy = self.path(sha256)?;
        let failed = |error: std::io::Error| {
            let message = format!("cannot copy a plugin to {}: {error}", copy.display());
            let help = "name a private directory that can be written";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        };
        // A copy that another session made is used only if its content is the same.
        if holds(&copy, bytes).unwrap_or(false) {
            note_use_of(&copy);
            return Ok(());
        }
        let mut new = tempfile::NamedTempFile::new_in(&dir).map_err(failed)?;
        new.write_all(bytes).map_err(failed)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(0o500);
            new.as_file().set_permissions(mode).map_err(failed)?;
        }
        // Keep a sound copy that another thread or process made in the meantime. A child may be about
        // to open it, and its sandbox allows that very file, not another one of the same name.
        match new.persist_noclobber(&copy) {
            Ok(_) => Ok(()),
            Err(_) if holds(&copy, bytes).unwrap_or(false) => Ok(()),
            Err(damaged) => {
                damaged.file.persist(&copy).map(drop).map_err(|error| failed(error.error))
            }
        }
    }

    /// The directory for the copies of a program with this content, whether it exists or not.
    #[cfg(feature = "mcp-toolsets")]
    pub(super) fn program_dir(&self, sha256: &ContentHash) -> Result<PathBuf, Error> {
        Ok(self.dir()?.join(format!("{sha256}.program")))
    }

    /// Makes the copies of the files of a program with this content, unless they exist.
    #[cfg(feature = "mcp-toolsets")]
    pub(super) fn copy_program(
        &self,
        files: &[ProgramFile],
        sha256: &ContentHash,
    ) -> Result<(), Error> {
        let copy = self.program_dir(sha256)?;
        let failed = |error: std::io::Error| {
            let message = format!("cannot copy an MCP server to {}: {error}", copy.display());
            let help = "name a private directory that can be written";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        };
        let is_same = |dir: &Path| {
            files.iter().all(|file| holds(&dir.join(&file.path), &file.content).unwrap_or(false))
        };
        if is_same(&copy) {
            note_use_of(&copy);
            return Ok(());
        }
        let new = tempfile::tempdir_in(self.dir()?).map_err(failed)?;
        for file in files {
            let path = new.path().join(&file.path);
            fs::create_dir_all(path.parent().unwrap_or(new.path())).map_err(failed)?;
            fs::write(&path, &file.content).map_err(failed)?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = if file.is_executable { 0o500 } else { 0o400 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed)?;
            }
        }
        put(new, &copy, is_same).map_err(failed)
    }

    /// The directory for the copies of a skill with these files, whether it exists or not.
    pub(super) fn skill_dir(&self, sha256: &ContentHash) -> Result<PathBuf, Error> {
        Ok(self.dir()?.join(format!("{sha256}.skill")))
    }

    /// Makes the copies of a skill's files, whose common hash is `sha256`, unless they exist.
    pub(super) fn copy_skill(&self, files: &SkillFiles, sha256: &ContentHash) -> Result<(), Error> {
        let copy = self.skill_dir(sha256)?;
        let is_same = |dir: &Path| files.are_copied_to(dir);
        if is_same(&copy) {
            note_use_of(&copy);
            return Ok(());
        }
        let failed = |error: std::io::Error| {
            let skill = files.dir().display();
            let message = format!("cannot copy {skill} to {}: {error}", copy.display());
            let help = "list the tools again, or name a private directory that can be written";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        };
        let new = tempfile::tempdir_in(self.dir()?).map_err(failed)?;
        files.copy_to(new.path(), |_| true)?;
        put(new, &copy, is_same).map_err(failed)
    }

    fn dir(&self) -> Result<PathBuf, Error> {
        let mut place = locked(&self.place);
        let failed = |error: std::io::Error| {
            let message = format!("cannot make a directory for copies of plugins: {error}");
            let help = "name one that can be written in the toolset options";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        };
        match &*place {
            Some(Place::Temporary(dir)) => Ok(dir.path().to_owned()),
            Some(Place::Locked(dir, _)) => {
                create_private(dir).map_err(failed)?;
                Ok(dir.clone())
            }
            Some(Place::Named(dir)) => {
                create_private(dir).map_err(failed)?;
                let (dir, lock) = (dir.clone(), lock_to_use(dir));
                *place = Some(Place::Locked(dir.clone(), lock));
                Ok(dir)
            }
            None => {
                let dir = PrivateDir::new().map_err(failed)?;
                let path = dir.path().to_owned();
                *place = Some(Place::Temporary(dir));
                Ok(path)
            }
        }
    }
}

/// Notes that a copy is used.
fn note_use_of(copy: &Path) {
    if let Ok(copy) = File::open(copy) {
        note_use(&copy);
    }
}

/// Moves the directory `new` to `copy`. If another thread or process has put a sound copy there in the
/// meantime, that one stays, since it may be in use. A damaged one is replaced.
fn put(
    new: tempfile::TempDir,
    copy: &Path,
    is_same: impl Fn(&Path) -> bool,
) -> std::io::Result<()> {
    let place = || fs::rename(new.path(), copy);
    let placed = place().or_else(|error| {
        if is_same(copy) {
            return Err(error);
        }
        let _ = fs::remove_dir_all(copy);
        place()
    });
    match placed {
        Ok(()) => {
            // The directory was moved, so there is nothing left to remove at its first path.
            let _ = new.keep();
            Ok(())
        }
        Err(_) if is_same(copy) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Tells whether the file at `path` has this content. Mostly it has, and is large, so it is read in
/// pieces.
fn holds(path: &Path, content: &[u8]) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 << 10];
    let mut rest = content;
    loop {
        let n = match file.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(n) => n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match rest.strip_prefix(&buffer[..n]) {
            Some(more) => rest = more,
            None => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_counts_only_with_all_of_its_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copy");
        let content: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        let mut other = content.clone();
        other[150_000] ^= 1;
        let longer = [&content[..], &[0]].concat();
        for (found, same) in [
            (&content[..], true),
            (&other, false),
            (&content[..199_999], false),
            (&longer, false),
            (&[], false),
        ] {
            fs::write(&path, found).unwrap();
            assert_eq!(holds(&path, &content).unwrap(), same);
        }
        assert!(holds(&dir.path().join("none"), &content).is_err());
    }

    /// A child in the sandbox may open only the file that was there when the child started.
    #[cfg(unix)]
    #[test]
    fn a_copy_that_many_make_at_once_is_one_file() {
        use std::os::unix::fs::MetadataExt as _;
        use std::sync::Barrier;
        use std::thread;

        const N: usize = 8;
        let content = vec![7; 100_000];
        let sha256 = ContentHash::of(&content);
        for _ in 0..20 {
            let copies = Copies::new(None);
            let (copies, content, begun) = (&copies, &content, &Barrier::new(N));
            let make = || {
                begun.wait();
                copies.copy(content, &sha256).unwrap();
                fs::metadata(copies.path(&sha256).unwrap()).unwrap().ino()
            };
            let files: Vec<u64> = thread::scope(|scope| {
                let threads: Vec<_> = (0..N).map(|_| scope.spawn(make)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(files, [files[0]; N]);
        }
    }

    #[test]
    fn a_damaged_copy_is_replaced() {
        let copies = Copies::new(None);
        let sha256 = ContentHash::of(b"sound");
        let path = copies.path(&sha256).unwrap();
        fs::write(&path, "other").unwrap();
        copies.copy(b"sound", &sha256).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"sound");
    }
}
