//! Archives: `.tar` and `.tar.gz` files of this machine, or downloaded ones. Entries are read one by one; none is unpacked.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use tar::{Archive as Tar, EntryType};

use super::directory::unreadable;
use super::limits::{Deadline, FetchLimits, refused, too_large};
use super::provider::{SourceProvider, SourceTree, Take, TreeEntry, TreeKind};
use crate::error::{Error, ErrorCode};
use crate::trust::ContentHash;

/// The ends of archives' names.
pub(super) const ENDS: [&str; 3] = [".tar.gz", ".tgz", ".tar"];

/// An archive of skills.
pub(super) struct Archive {
    pub(super) path: PathBuf,
    /// The address that errors name: a path, or the place that it was downloaded from.
    pub(super) source: String,
    /// The SHA-256 that it must have.
    pub(super) sha256: Option<String>,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
}

impl SourceProvider for Archive {
    fn newest(&self) -> Result<Option<String>, Error> {
        let metadata = self.path.metadata().map_err(|error| unreadable(&self.path, &error))?;
        if metadata.len() > self.limits.transfer_bytes {
            return Err(self.too_large());
        }
        let hash = ContentHash::of_file(&self.path)?.to_string();
        match &self.sha256 {
            Some(wanted) if !wanted.eq_ignore_ascii_case(&hash) => {
                Err(differs(&self.source, wanted, &hash))
            }
            _ => Ok(Some(hash)),
        }
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let hash = self.newest()?.unwrap_or_default();
        if let Some(wanted) = revision.filter(|wanted| *wanted != hash) {
            return Err(differs(&self.source, wanted, &hash));
        }
        let mut tree = ArchiveTree {
            path: self.path.clone(),
            source: self.source.clone(),
            hash,
            limits: self.limits,
            deadline: self.deadline,
            entries: Vec::new(),
        };
        tree.list()?;
        Ok(Box::new(tree))
    }
}

impl Archive {
    fn too_large(&self) -> Error {
        too_large(&self.source, "bytes", self.limits.transfer_bytes)
    }
}

fn differs(source: &str, wanted: &str, hash: &str) -> Error {
    let message = format!("{source} has the SHA-256 {hash}, not {wanted}");
    let help = "get the archive again, or pin the new hash after a look at it";
    Error::new(ErrorCode::PermissionDenied, message, help)
}

/// An archive that was listed once.
struct ArchiveTree {
    path: PathBuf,
    source: String,
    hash: String,
    limits: FetchLimits,
    deadline: Deadline,
    entries: Vec<TreeEntry>,
}

impl SourceTree for ArchiveTree {
    fn revision(&self) -> Option<&str> {
        Some(&self.hash)
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn read(&mut self, files: &[&str], take: &mut Take<'_>) -> Result<(), Error> {
        let wanted: BTreeSet<&str> = files.iter().copied().collect();
        self.walk(&mut |path, kind, content| match kind {
            TreeKind::File { .. } if wanted.contains(path) => take(path, content),
            _ => Ok(()),
        })
    }
}

/// A receiver of entries: their path, their kind and their content.
type Visit<'v> = dyn FnMut(&str, TreeKind, &mut dyn Read) -> Result<(), Error> + 'v;

impl ArchiveTree {
    fn list(&mut self) -> Result<(), Error> {
        let mut entries = Vec::new();
        let (most, source) = (self.limits.entries, self.source.as_str());
        self.walk(&mut |path, kind, _| {
            entries.push(TreeEntry { path: path.to_owned(), kind });
            if entries.len() > most {
                return Err(too_large(source, "entries", most as u64));
            }
            Ok(())
        })?;
        self.entries = entries;
        Ok(())
    }

    /// Reads all entries in the order of the archive.
    fn walk(&self, visit: &mut Visit<'_>) -> Result<(), Error> {
        let source = self.source.as_str();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::FileTooLarge => {
                too_large(source, "bytes unpacked", self.limits.transfer_bytes)
            }
            io::ErrorKind::TimedOut => self.deadline.error(source),
            _ => {
                let message = format!("{source} is not a whole archive: {error}");
                Error::new(ErrorCode::InvalidParam, message, "get it again")
            }
        };
        let file = File::open(&self.path).map_err(|error| unreadable(&self.path, &error))?;
        let file = BufReader::new(file);
        let is_plain = self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("tar"));
        let unpacked: Box<dyn Read> =
            if is_plain { Box::new(file) } else { Box::new(MultiGzDecoder::new(file)) };
        let limits = (self.limits.transfer_bytes, self.deadline);
        let mut tar = Tar::new(Bounded { inner: unpacked, left: limits.0, deadline: limits.1 });
        for entry in tar.entries().map_err(failed)? {
            let mut entry = entry.map_err(failed)?;
            let path = entry.path_bytes().into_owned();
            let Ok(path) = String::from_utf8(path) else {
                return Err(refused(source, "…", "has a name that is not UTF-8"));
            };
            let kind = match entry.header().entry_type() {
                EntryType::Directory | EntryType::XGlobalHeader => continue,
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let mode = entry.header().mode().unwrap_or(0);
                    TreeKind::File { bytes: entry.size(), executable: mode & 0o100 != 0 }
                }
                EntryType::Symlink => {
                    let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                    TreeKind::Link { target: String::from_utf8_lossy(&target).into_owned() }
                }
                EntryType::Link => return Err(refused(source, &path, "is a hard link")),
                _ => return Err(refused(source, &path, "is a device, a pipe or unknown")),
            };
            visit(&path, kind, &mut entry)?;
        }
        Ok(())
    }
}

/// A reader that ends with an error where a limit is reached.
struct Bounded<R> {
    inner: R,
    left: u64,
    deadline: Deadline,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let n = self.inner.read(buffer)?;
        self.left = match self.left.checked_sub(n as u64) {
            Some(left) => left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        };
        Ok(n)
    }
}

/// Tells whether a path or an address names an archive.
pub(super) fn is_archive(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ENDS.iter().any(|end| text.ends_with(end))
}
