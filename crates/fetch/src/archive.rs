//! Archives: `.tar`, `.tar.gz` and `.zip` files, local or downloaded. Entries are read one by one; no
//! archive is unpacked to disk.

use std::collections::BTreeSet;

use super::archive_file::{Archive, EntryCallback};
use super::directory::unreadable;
use super::limits::too_large;
use super::provider::{FileCallback, SourceProvider, SourceTree, TreeEntry, TreeKind};
use super::{archive_tar, archive_zip};
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The file name extensions of archives. A `.skill` file is a `.zip` with one skill.
const ENDS: [&str; 5] = [".tar.gz", ".tgz", ".tar", ".zip", ".skill"];

impl SourceProvider for Archive {
    fn newest(&self) -> Result<Option<String>, Error> {
        let metadata = self.path.metadata().map_err(|error| unreadable(&self.path, &error))?;
        if metadata.len() > self.limits.transfer_bytes {
            return Err(too_large(&self.source, "bytes", self.limits.transfer_bytes));
        }
        let hash = ContentHash::of_file(&self.path)?.to_string();
        check_hash(&self.source, self.sha256.as_deref(), &hash)?;
        Ok(Some(hash))
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let hash = self.newest()?.unwrap_or_default();
        check_hash(&self.source, revision, &hash)?;
        let (mut entries, most) = (Vec::new(), self.limits.entries);
        self.walk(&mut |path, kind, _| {
            entries.push(TreeEntry { path: path.to_owned(), kind });
            if entries.len() > most {
                return Err(too_large(&self.source, "entries", most as u64));
            }
            Ok(())
        })?;
        Ok(Box::new(ArchiveTree { archive: self.clone(), hash, entries }))
    }
}

impl Archive {
    /// Calls `visit` with all entries, in the order of the archive.
    fn walk(&self, visit: &mut EntryCallback<'_>) -> Result<(), Error> {
        let end = self.path.extension().unwrap_or_default();
        if ["zip", "skill"].iter().any(|zip| end.eq_ignore_ascii_case(zip)) {
            archive_zip::walk(self, visit)
        } else {
            archive_tar::walk(self, visit)
        }
    }
}

/// Compares the hash of an archive with the required one, if there is one. Fails with
/// `PERMISSION_DENIED` if they differ.
pub(super) fn check_hash(source: &str, wanted: Option<&str>, hash: &str) -> Result<(), Error> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.eq_ignore_ascii_case(hash)) else {
        return Ok(());
    };
    let message = format!("{source} has the SHA-256 {hash}, not {wanted}");
    let help = "get the archive again, or pin the new hash after a look at it";
    Err(Error::new(ErrorCode::PermissionDenied, message, help))
}

/// An archive whose entries were listed.
struct ArchiveTree {
    archive: Archive,
    hash: String,
    entries: Vec<TreeEntry>,
}

impl SourceTree for ArchiveTree {
    fn revision(&self) -> Option<&str> {
        Some(&self.hash)
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        let wanted: BTreeSet<&str> = files.iter().copied().collect();
        self.archive.walk(&mut |path, kind, content| match kind {
            TreeKind::File { .. } if wanted.contains(path) => take(path, content),
            _ => Ok(()),
        })
    }
}

/// Tells whether a path or an address names an archive.
pub(super) fn is_archive(text: &str) -> bool {
    end_of(text).is_some()
}

/// The extension of an archive's name, in lower case.
pub(super) fn end_of(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    ENDS.into_iter().find(|end| text.ends_with(end))
}
