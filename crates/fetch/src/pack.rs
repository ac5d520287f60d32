//! Reproducible archives: the same files give the same bytes, on any machine and at any time.

use std::collections::BTreeMap;
use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::lock_file::LockedFile;
use super::objects::Objects;
use super::signature::{LIST, SIGNATURE};
use repertoire::{Error, ErrorCode};

/// Packs files as `.tar.gz`: in the order of their paths, with user and group 0, a time of 1970, and the
/// modes 0644 and 0755. Skills are put below `skills/`, unless the whole source is one skill. The
/// signature of the author is put at the root.
///
/// Fails with `NOT_FOUND` if a content is missing from the cache.
pub(super) fn pack(
    files: &BTreeMap<String, LockedFile>,
    objects: &Objects,
) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| {
        let message = format!("cannot pack the skills: {error}");
        Error::new(ErrorCode::ExecutionError, message, "give its files shorter names")
    };
    let is_signature = |path: &str| path == LIST || path == SIGNATURE;
    let is_one_skill = files.keys().any(|path| !path.contains('/') && !is_signature(path));
    // The encoder writes neither a name nor a time.
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, LockedFile { sha256, executable }) in files {
        let content = objects.read(sha256)?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(content.len() as u64);
        header.set_mode(if *executable { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        let is_at_root = is_one_skill || is_signature(path);
        let path = if is_at_root { path.clone() } else { format!("skills/{path}") };
        tar.append_data(&mut header, path, content.as_slice()).map_err(failed)?;
    }
    tar.into_inner().and_then(GzEncoder::finish).map_err(failed)
}
