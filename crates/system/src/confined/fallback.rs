//! A replacement for systems without `openat`: names are resolved and compared. Between that and the
//! opening, a directory can be swapped for a link; the opened file is then not confined.
#![cfg_attr(unix, expect(unreachable_pub, reason = "only tests use it there"))]

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Entry, Kind, Links, has_link, leads_outside, not_regular, regular};

/// A directory, as its path without links.
#[derive(Debug)]
pub struct Dir(PathBuf);

impl Dir {
    /// Opens the directory at `path`, which may be a link or lead through links.
    pub fn open(path: &Path) -> io::Result<Dir> {
        let path = path.canonicalize()?;
        if !path.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Dir(path))
    }

    /// Opens a regular file below this directory, as [`super::open`] does.
    pub fn file(&self, relative: &Path, links: Links) -> io::Result<File> {
        let path = self.look_up(relative, links)?;
        let kind = path.symlink_metadata()?.file_type();
        // Opening a pipe would block, and not every system can open a directory.
        if !kind.is_file() && !kind.is_dir() {
            return Err(not_regular());
        }
        if kind.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        regular(File::open(path)?)
    }

    /// Opens a directory below this one.
    pub fn dir(&self, relative: &Path, links: Links) -> io::Result<Dir> {
        Dir::open(&self.look_up(relative, links)?)
    }

    /// Resolves the links in `relative`, which must all stay below this directory. Returns the path
    /// relative to it.
    pub fn resolve(&self, relative: &Path) -> io::Result<PathBuf> {
        let path = self.look_up(relative, Links::Inside)?;
        Ok(path.strip_prefix(&self.0).map_err(|_| leads_outside())?.to_owned())
    }

    /// The entries of the directory, in any order.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>> + '_> {
        Ok(fs::read_dir(&self.0)?.map(|entry| {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_file() => Kind::File,
                kind if kind.is_dir() => Kind::Dir,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            Ok(Entry { name: entry.file_name(), kind })
        }))
    }

    /// Makes the directory `name`, which must not exist, and opens it.
    pub fn create_dir(&self, name: &OsStr) -> io::Result<Dir> {
        let path = self.0.join(name);
        fs::create_dir(&path)?;
        Ok(Dir(path))
    }

    /// Makes the file `name`, which must not exist, and opens it for writing. These systems have no
    /// mode that makes a file executable.
    pub fn create_file(&self, name: &OsStr, _executable: bool) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    fn look_up(&self, relative: &Path, links: Links) -> io::Result<PathBuf> {
        if relative
            .components()
            .any(|part| matches!(part, Component::Prefix(_) | Component::RootDir))
        {
            return Err(leads_outside());
        }
        if links == Links::Never {
            let mut path = self.0.clone();
            for part in relative.components() {
                path.push(part);
                if path.symlink_metadata()?.is_symlink() {
                    return Err(has_link());
                }
            }
        }
        let path = self.0.join(relative).canonicalize()?;
        if path.starts_with(&self.0) { Ok(path) } else { Err(leads_outside()) }
    }
}
