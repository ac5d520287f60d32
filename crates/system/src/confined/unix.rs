//! The Unix version: everything below the root is reached through open directories.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{Entry, Kind, Links, has_link, leads_outside, not_regular, regular};

/// The number of links that Linux follows in one path.
const MAX_LINKS: usize = 40;

/// The flags for opening a file: for reading, without waiting for the other end of a pipe, and without
/// making a terminal the controlling one.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

const DIR: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// An open directory. It stays the same directory if its path is renamed or replaced.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl Dir {
    /// Opens the directory at `path`, which may be a link or lead through links.
    pub fn open(path: &Path) -> io::Result<Dir> {
        Ok(Dir(rustix::fs::open(path, DIR, Mode::empty())?))
    }

    /// Opens a regular file below this directory, as [`super::open`] does.
    pub fn file(&self, relative: &Path, links: Links) -> io::Result<File> {
        regular(File::from(self.look_up(relative, links, FILE)?))
    }

    /// Opens a directory below this one.
    pub fn dir(&self, relative: &Path, links: Links) -> io::Result<Dir> {
        self.look_up(relative, links, DIR).map(Dir)
    }

    /// Resolves the links in `relative`, which must all stay below this directory. Returns the path
    /// relative to it.
    pub fn resolve(&self, relative: &Path) -> io::Result<PathBuf> {
        Ok(walk(self.0.as_fd(), relative, Links::Inside, FILE)?.1)
    }

    /// The entries of the directory, in any order.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>> + '_> {
        let entries = rustix::fs::Dir::read_from(&self.0)?;
        Ok(entries.filter_map(|entry| match entry {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => None,
            Ok(entry) => Some(self.entry(&entry)),
            Err(error) => Some(Err(error.into())),
        }))
    }

    fn entry(&self, entry: &rustix::fs::DirEntry) -> io::Result<Entry> {
        let name = entry.file_name();
        // Some file systems do not report the type.
        let file_type = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        let kind = match file_type {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        Ok(Entry { name: OsString::from_vec(name.to_bytes().to_vec()), kind })
    }

    /// Makes the directory `name`, which must not exist, for this user only, and opens it.
    pub fn create_dir(&self, name: &OsStr) -> io::Result<Dir> {
        rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?;
        Ok(Dir(rustix::fs::openat(&self.0, name, DIR | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Makes the file `name`, which must not exist, for this user only, and opens it for writing.
    pub fn create_file(&self, name: &OsStr, executable: bool) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = if executable { Mode::RWXU } else { Mode::RUSR | Mode::WUSR };
        Ok(File::from(rustix::fs::openat(&self.0, name, flags | OFlags::NOFOLLOW, mode)?))
    }

    fn look_up(&self, relative: &Path, links: Links, flags: OFlags) -> io::Result<OwnedFd> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(found) = ask_kernel(self.0.as_fd(), relative, links, flags) {
            return found;
        }
        Ok(walk(self.0.as_fd(), relative, links, flags)?.0)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Asks the kernel to look up `relative` below `root`. Returns `None` if the kernel cannot (before
/// Linux 5.6, or when a filter of system calls forbids it), or gave up because something was renamed
/// during the lookup.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ask_kernel(
    root: BorrowedFd<'_>,
    relative: &Path,
    links: Links,
    flags: OFlags,
) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::ResolveFlags;
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let resolve = match links {
        Links::Never => inside | ResolveFlags::NO_SYMLINKS,
        Links::Inside => inside,
    };
    match rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve) {
        Ok(found) => Some(Ok(found)),
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => None,
        Err(Errno::XDEV) => Some(Err(leads_outside())),
        Err(Errno::LOOP) if links == Links::Never => Some(Err(has_link())),
        Err(error) => Some(Err(explained(error))),
    }
}

/// Looks up `relative` below `root` part by part. Instead of following a link, it walks the path in the
/// link's text. Returns the open file or directory, and its path without links.
pub(super) fn walk(
    root: BorrowedFd<'_>,
    relative: &Path,
    links: Links,
    flags: OFlags,
) -> io::Result<(OwnedFd, PathBuf)> {
    // The directories that were entered, outermost first. `..` goes back to one of them; the system
    // never resolves it, since the directory may have moved.
    let mut entered: Vec<(OwnedFd, OsString)> = Vec::new();
    let mut parts = parts_reversed(relative)?;
    let mut n_links = 0;
    while let Some(part) = parts.pop() {
        if part == ".." {
            entered.pop().ok_or_else(leads_outside)?;
            continue;
        }
        let here = entered.last().map_or(root, |(dir, _)| dir.as_fd());
        let flags = if parts.is_empty() { flags } else { DIR };
        match rustix::fs::openat(here, &part, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(found) => entered.push((found, part)),
            // Systems report a link with different errors.
            Err(error) => {
                let Ok(target) = rustix::fs::readlinkat(here, &part, Vec::new()) else {
                    return Err(explained(error));
                };
                if links == Links::Never {
                    return Err(has_link());
                }
                n_links += 1;
                if n_links > MAX_LINKS {
                    return Err(Errno::LOOP.into());
                }
                parts.extend(parts_reversed(Path::new(OsStr::from_bytes(target.to_bytes())))?);
            }
        }
    }
    let path = entered.iter().map(|(_, part)| part).collect();
    match entered.pop() {
        Some((found, _)) => Ok((found, path)),
        None => Ok((rustix::fs::openat(root, ".", flags, Mode::empty())?, path)),
    }
}

/// The parts of a relative path, the last one first.
fn parts_reversed(path: &Path) -> io::Result<Vec<OsString>> {
    let parts = path.components().rev().filter(|part| *part != Component::CurDir);
    parts
        .map(|part| match part {
            Component::Normal(_) | Component::ParentDir => Ok(part.as_os_str().to_owned()),
            _ => Err(leads_outside()),
        })
        .collect()
}

fn explained(error: Errno) -> io::Error {
    // The errors of Unix systems for opening a socket: it is not a regular file.
    if matches!(error, Errno::NXIO | Errno::OPNOTSUPP) { not_regular() } else { error.into() }
}
