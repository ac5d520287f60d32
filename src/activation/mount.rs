//! Mounts: copies of a skill's directory, each for one task.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use repertoire_system::confined::{Dir, Entry, Kind, Links, plain};
use serde::Serialize;

use crate::catalog::files::{has_one_name, holds_skill, is_executable, list, no_directory};
use crate::catalog::passed_over::is_repository;
use crate::catalog::sub_skill::{Entered, enter};
use crate::error::{Error, ErrorCode};

/// The most levels of directories that are copied.
const MAX_DEPTH: usize = 64;

/// The limits of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MountLimits {
    /// The most entries of directories, including those that are left out. Default 10,000.
    pub max_entries: usize,
    /// The most bytes of all files together. Default 256 MiB.
    pub max_bytes: u64,
    /// True if sub-skills are copied too. Default false.
    pub sub_skills: bool,
}

impl Default for MountLimits {
    fn default() -> MountLimits {
        MountLimits { max_entries: 10_000, max_bytes: 256 * 1024 * 1024, sub_skills: false }
    }
}

/// The copy of a skill's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mounted {
    /// The directory of the copy.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub dir: PathBuf,
    /// The number of files in the copy.
    pub files: usize,
    /// The size of all files in the copy, in bytes.
    pub bytes: u64,
    /// The parts of the skill's directory that were left out of the copy.
    pub left_out: Vec<LeftOut>,
}

/// A part of a skill's directory that was left out of the copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The path below the skill's directory, with `/`.
    pub path: String,
    /// The reason why it was left out.
    pub reason: LeftOutReason,
}

/// The reason why a part of a skill's directory was left out of the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOutReason {
    /// `.git` or `node_modules`, or a link into one.
    NotOfTheSkill,
    /// A sub-skill, or a link into one.
    SubSkill,
    /// A link that leads out of the skill.
    LinkOutside,
    /// A link to nothing, to itself, or to a directory that contains the link.
    LinkBroken,
    /// A file with a second name (hard link), which may be outside of the skill.
    HardLink,
    /// A pipe, a socket or a device.
    NotAFile,
    /// A file or directory that cannot be read, or that was replaced while it was copied.
    Unreadable,
}

/// Copies `dir`, the directory of the skill `id`, into a new directory below `target`, named after the
/// last part of the id. Only the current user can enter the copy.
///
/// The copy consists of files and directories only. Links that stay inside of the skill become copies of
/// their targets, so that nothing in the copy can lead out of it. Everything that is not copied is
/// reported. Files stay executable if they were, and have no other special mode.
///
/// Fails with `INVALID_PARAM` if the id cannot be the name of a directory, if the new directory exists
/// and is not empty or would be inside the skill, or if `target` does not exist; with `NOT_FOUND` if the skill's directory cannot be read; with
/// `EXECUTION_ERROR` if a limit is exceeded, or the copy cannot be written. A failed call leaves nothing
/// behind.
pub fn mount(id: &str, dir: &Path, target: &Path, limits: &MountLimits) -> Result<Mounted, Error> {
    let name = id.rsplit('/').next().unwrap_or(id);
    if plain(name).as_deref() != Ok(name) {
        return Err(Error::new(
            ErrorCode::InvalidParam,
            format!(
                "skill `{}` cannot be mounted: its id cannot be the name of a directory",
                id.escape_debug()
            ),
            "give the skill a `name` of lower-case letters, digits and hyphens",
        ));
    }
    let root = Dir::open(dir).map_err(|error| no_directory(dir, &error))?;
    let (copy, path) =
        create(target, name, dir).map_err(|error| fail_to_create(id, target, error))?;
    let mut mounting = Mounting {
        root: &root,
        limits,
        n_left: limits.max_entries,
        mounted: Mounted { dir: path, files: 0, bytes: 0, left_out: Vec::new() },
        entered: vec![PathBuf::new()],
    };
    let copied = mounting.copy_root(&copy);
    let mounted = mounting.mounted;
    copied.map_err(|failure| {
        // The directory was created by this call, and no other code knows of it yet.
        if let Err(error) = fs::remove_dir_all(&mounted.dir) {
            tracing::warn!("cannot remove {}: {error}", mounted.dir.display());
        }
        failure.into_error(id, dir)
    })?;
    Ok(mounted)
}

/// Creates the directory `name` below `target`, for the current user only. An empty directory of this
/// name is replaced.
fn create(target: &Path, name: &str, skill_dir: &Path) -> io::Result<(Dir, PathBuf)> {
    let target = target.canonicalize()?;
    if target.starts_with(skill_dir.canonicalize()?) {
        let why = "it is inside the skill's directory";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let path = target.join(name);
    if let Err(error) = fs::remove_dir(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        let why = format!("there is a `{name}` already, and it is not an empty directory");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    Ok((Dir::open(&target)?.create_dir(name.as_ref())?, path))
}

fn fail_to_create(id: &str, target: &Path, error: io::Error) -> Error {
    let message = format!("skill `{id}` cannot be mounted below {}: {error}", target.display());
    let (code, help) = match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidInput => {
            (ErrorCode::InvalidParam, "give each task a directory of its own, outside the skills")
        }
        io::ErrorKind::NotFound => (ErrorCode::InvalidParam, "make the directory first"),
        _ => (ErrorCode::ExecutionError, "check that the directory can be written"),
    };
    Error::new(code, message, help).with_source(error)
}

/// The reason why a mount fails as a whole.
enum Failure {
    TooManyEntries(usize),
    TooManyBytes(u64),
    TooDeep,
    Gone,
    Write(PathBuf, io::Error),
}

impl Failure {
    fn into_error(self, id: &str, dir: &Path) -> Error {
        let smaller = "remove what is not needed from the skill, or raise the limit";
        let (why, help) = match &self {
            Failure::TooManyEntries(max) => {
                (format!("it has more than {max} files and directories"), smaller)
            }
            Failure::TooManyBytes(max) => {
                (format!("its files have more than {max} bytes"), smaller)
            }
            Failure::TooDeep => (
                format!("it has more than {MAX_DEPTH} directories inside each other"),
                "flatten the directories of the skill",
            ),
            Failure::Gone => (
                "its directory cannot be read".to_owned(),
                "check the permissions of the directory, and try again",
            ),
            Failure::Write(path, error) => (
                format!("the copy of `{}` cannot be written: {error}", path.display()),
                "check the space and the permissions of the target",
            ),
        };
        let message = format!("skill `{id}` ({}) cannot be mounted: {why}", dir.display());
        Error::new(ErrorCode::ExecutionError, message, help)
    }
}

/// A mount in progress.
struct Mounting<'a> {
    /// The skill's open directory, which stays the same even if it is renamed or replaced.
    root: &'a Dir,
    limits: &'a MountLimits,
    /// The number of entries that may still be added.
    n_left: usize,
    mounted: Mounted,
    /// The directories of the skill that are being copied, outermost first, with links resolved.
    entered: Vec<PathBuf>,
}

impl Mounting<'_> {
    fn copy_root(&mut self, to: &Dir) -> Result<(), Failure> {
        match self.list(self.root)? {
            Some(entries) => self.copy_entries(&entries, self.root, to, Path::new("")),
            None => Err(Failure::Gone),
        }
    }

    /// Returns the entries of `dir`, or `None` if it cannot be read.
    fn list(&mut self, dir: &Dir) -> Result<Option<Vec<Entry>>, Failure> {
        match list(dir, &mut self.n_left) {
            Ok(listing) if listing.complete => Ok(Some(listing.entries)),
            Ok(_) => Err(Failure::TooManyEntries(self.limits.max_entries)),
            Err(_) => Ok(None),
        }
    }

    /// Copies `entries`, which are in `from`, into `to`, which is at `path` in the mount.
    fn copy_entries(
        &mut self,
        entries: &[Entry],
        from: &Dir,
        to: &Dir,
        path: &Path,
    ) -> Result<(), Failure> {
        for Entry { name, kind } in entries {
            let path = path.join(name);
            let name = Path::new(name);
            // The path with links resolved. Below a link it differs from the path in the mount.
            let here = self.entered.last().map_or_else(PathBuf::new, |dir| dir.join(name));
            let found = match kind {
                _ if is_not_of_the_skill(name) => Err(LeftOutReason::NotOfTheSkill),
                Kind::Other => Err(LeftOutReason::NotAFile),
                Kind::File => file(from, name),
                Kind::Dir => from
                    .dir(name, Links::Never)
                    .map(|dir| Found::Dir(dir, here))
                    .map_err(|_| LeftOutReason::Unreadable),
                Kind::Link => self.follow(&here),
            };
            match found {
                Ok(Found::File(source)) => self.copy_file(source, to, &path)?,
                Ok(Found::Dir(source, at)) => self.copy_dir(&source, at, to, &path)?,
                Err(reason) => self.leave_out(&path, reason),
            }
        }
        Ok(())
    }

    /// Copies `from`, which is at the path `at` below the skill's directory, to `path` in the mount,
    /// below the directory `to`.
    fn copy_dir(&mut self, from: &Dir, at: PathBuf, to: &Dir, path: &Path) -> Result<(), Failure> {
        let reason = match self.list(from)? {
            _ if self.entered.contains(&at) => LeftOutReason::LinkBroken,
            None => LeftOutReason::Unreadable,
            Some(entries) if !self.limits.sub_skills && holds_skill(&entries) => {
                LeftOutReason::SubSkill
            }
            Some(_) if self.entered.len() > MAX_DEPTH => return Err(Failure::TooDeep),
            Some(entries) => {
                let name = path.file_name().unwrap_or_default();
                let copy = to.create_dir(name).map_err(|e| Failure::Write(path.to_owned(), e))?;
                self.entered.push(at);
                let copied = self.copy_entries(&entries, from, &copy, path);
                self.entered.pop();
                return copied;
            }
        };
        self.leave_out(path, reason);
        Ok(())
    }

    fn copy_file(&mut self, from: fs::File, to: &Dir, path: &Path) -> Result<(), Failure> {
        let write = |error| Failure::Write(path.to_owned(), error);
        let name = path.file_name().unwrap_or_default();
        let mut copy = to.create_file(name, is_executable(&from)).map_err(write)?;
        let n_left = self.limits.max_bytes.saturating_sub(self.mounted.bytes);
        let n_copied =
            io::copy(&mut from.take(n_left.saturating_add(1)), &mut copy).map_err(write)?;
        if n_copied > n_left {
            return Err(Failure::TooManyBytes(self.limits.max_bytes));
        }
        self.mounted.bytes += n_copied;
        self.mounted.files += 1;
        Ok(())
    }

    /// Opens the target of `link`, a path below the skill's directory.
    fn follow(&self, link: &Path) -> Result<Found, LeftOutReason> {
        let target = self.root.resolve(link).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => LeftOutReason::LinkOutside,
            _ => LeftOutReason::LinkBroken,
        })?;
        if is_not_of_the_skill(&target) {
            return Err(LeftOutReason::NotOfTheSkill);
        }
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(LeftOutReason::LinkBroken);
        };
        let unreadable = |_| LeftOutReason::Unreadable;
        let root = self.root.dir(Path::new("."), Links::Never).map_err(unreadable)?;
        let parent = if self.limits.sub_skills {
            root.dir(&Path::new(".").join(parent), Links::Never).map_err(unreadable)?
        } else {
            match enter(root, parent).map_err(unreadable)? {
                Entered::Dir(dir) => dir,
                Entered::SubSkill(_) => return Err(LeftOutReason::SubSkill),
            }
        };
        match parent.dir(Path::new(name), Links::Never) {
            Ok(dir) => Ok(Found::Dir(dir, target)),
            Err(_) => file(&parent, Path::new(name)),
        }
    }

    fn leave_out(&mut self, path: &Path, reason: LeftOutReason) {
        let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
        let path = parts.collect::<Vec<_>>().join("/");
        self.mounted.left_out.push(LeftOut { path, reason });
    }
}

/// A file or directory to copy.
enum Found {
    File(fs::File),
    /// A directory, and its path below the skill's directory with links resolved.
    Dir(Dir, PathBuf),
}

fn file(dir: &Dir, name: &Path) -> Result<Found, LeftOutReason> {
    let file = dir.file(name, Links::Never).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => LeftOutReason::NotAFile,
        _ => LeftOutReason::Unreadable,
    })?;
    match file.metadata().map(|metadata| has_one_name(&metadata)) {
        Ok(true) => Ok(Found::File(file)),
        Ok(false) => Err(LeftOutReason::HardLink),
        Err(_) => Err(LeftOutReason::Unreadable),
    }
}

/// Tells whether a part of `path` is a directory that does not belong to any skill.
fn is_not_of_the_skill(path: &Path) -> bool {
    path.iter().any(|part| is_repository(part) || part == "node_modules")
}

#[cfg(test)]
mod tests;
