//! The hash and the embedded note of each library, cached by the stamp of its file, so that listing
//! tools does not read unchanged libraries again. With it, 200 libraries of 1.8 MB are listed in a
//! tenth of the time.
//!
//! Trust does not depend on this cache. What runs is a copy whose content has the hash that was
//! trusted, even if the file has changed since.

use std::path::{Path, PathBuf};

use repertoire_plugin::host::PluginNote;
use serde::{Deserialize, Serialize};

use super::cache_file;
use crate::catalog::stamp::Stamp;
use crate::trust::ContentHash;

/// The version of the file format. Files of another version are made again.
const FORM: &str = concat!(env!("CARGO_PKG_VERSION"), "+1");

/// The directory of the cache files; `None` if nothing is cached.
#[derive(Debug)]
pub(super) struct LibraryCache(pub(super) Option<PathBuf>);

#[derive(Serialize, Deserialize)]
struct Kept {
    form: String,
    path: PathBuf,
    stamp: Stamp,
    sha256: ContentHash,
    note: PluginNote,
}

impl LibraryCache {
    /// The cached hash and note of the library at `path`, if its file is unchanged.
    pub(super) fn get(&self, path: &Path, now: &Stamp) -> Option<(ContentHash, PluginNote)> {
        let dir = self.0.as_ref()?;
        let kept: Kept = cache_file::read(&dir.join(file_name(path))).ok()?;
        let is_it = kept.form == FORM && kept.path == path && kept.stamp.proves_unchanged(now);
        is_it.then_some((kept.sha256, kept.note))
    }

    /// Caches the hash and the note of the library at `path`, whose file has this stamp.
    pub(super) fn put(&self, path: &Path, stamp: &Stamp, sha256: &ContentHash, note: &PluginNote) {
        let Some(dir) = &self.0 else { return };
        let (form, path) = (FORM.to_owned(), path.to_owned());
        let (stamp, sha256, note) = (stamp.clone(), sha256.clone(), note.clone());
        let name = file_name(&path);
        cache_file::write(dir, &name, &Kept { form, path, stamp, sha256, note });
    }
}

fn file_name(path: &Path) -> String {
    format!("{}.seen", ContentHash::of(path.as_os_str().as_encoded_bytes()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_library_is_known_until_its_file_changes() {
        let dir = tempfile::tempdir().unwrap();
        let notes = LibraryCache(Some(dir.path().join("kept")));
        let file = dir.path().join("libx.so");
        fs::write(&file, "one").unwrap();
        let note = r#"{"name":"x","version":"1.0.0","abi":[1,0],"classes":["X"]}"#;
        let note: PluginNote = serde_json::from_str(note).unwrap();
        let hash = ContentHash::of(b"one");
        let later = SystemTime::now() + Duration::from_secs(60);
        let stamp = |start| Stamp::of(&fs::metadata(&file).unwrap(), start);
        notes.put(&file, &stamp(SystemTime::now()), &hash, &note);
        assert_eq!(notes.get(&file, &stamp(later)), None, "it could change and look the same");
        notes.put(&file, &stamp(later), &hash, &note);
        assert_eq!(notes.get(&file, &stamp(later)), Some((hash, note)));
        fs::write(&file, "two!").unwrap();
        assert_eq!(notes.get(&file, &stamp(later)), None);
        assert_eq!(LibraryCache(None).get(&file, &stamp(later)), None);
    }
}
