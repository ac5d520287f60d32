//! Local directories. Each file is opened below the directory without following links.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::limits::{Deadline, FetchLimits, too_large};
use super::provider::{FileCallback, SourceProvider, SourceTree, TreeEntry, TreeKind};
use repertoire::{Error, ErrorCode};
use repertoire_system::confined::{Dir, Links};

/// A directory of skills.
pub(super) struct Directory {
    pub(super) path: PathBuf,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
}

impl SourceProvider for Directory {
    fn newest(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn open(&self, _: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let source = self.path.display().to_string();
        let failed = |error: std::io::Error| unreadable(&self.path, &error);
        let root = Dir::open(&self.path).map_err(failed)?;
        let mut entries = Vec::new();
        let is_left_out = |name: &std::ffi::OsStr| name == ".git" || name == "node_modules";
        let walk = WalkDir::new(&self.path).sort_by_file_name().into_iter();
        for found in
            walk.filter_entry(|entry| entry.depth() == 0 || !is_left_out(entry.file_name()))
        {
            self.deadline.check(&source)?;
            let found = found.map_err(|error| failed(error.into()))?;
            let Ok(below) = found.path().strip_prefix(&self.path) else { continue };
            let kind = match found.file_type() {
                kind if kind.is_dir() => continue,
                _ if below.to_str().is_none() => TreeKind::Other("has a name that is not UTF-8"),
                kind if kind.is_symlink() => {
                    let target = std::fs::read_link(found.path()).map_err(failed)?;
                    TreeKind::Link { target: target.to_string_lossy().replace('\\', "/") }
                }
                kind if kind.is_file() => {
                    let metadata = found.metadata().map_err(|error| failed(error.into()))?;
                    TreeKind::File { bytes: metadata.len(), executable: is_executable(&metadata) }
                }
                _ => TreeKind::Other("is a device, a pipe or a socket"),
            };
            let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
            entries.push(TreeEntry { path: names.join("/"), kind });
            if entries.len() > self.limits.entries {
                return Err(too_large(&source, "entries", self.limits.entries as u64));
            }
        }
        Ok(Box::new(DirectoryTree { path: self.path.clone(), root, entries }))
    }
}

/// An open directory.
struct DirectoryTree {
    path: PathBuf,
    root: Dir,
    entries: Vec<TreeEntry>,
}

impl SourceTree for DirectoryTree {
    fn revision(&self) -> Option<&str> {
        None
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        for path in files {
            let opened = self.root.file(Path::new(path), Links::Never);
            let mut file = opened.map_err(|error| unreadable(&self.path.join(path), &error))?;
            take(path, &mut file)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorCode::NotFound,
        std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    let message = format!("cannot read {}: {error}", path.display());
    Error::new(code, message, "check that it is there, and that you may read it")
}
