//! Descriptions of toolsets, cached by content of the library, class and configuration, so that tools
//! are listed without running a library.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use repertoire_plugin::ToolsetDescription;
use repertoire_worker::locked;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cache_file;
use crate::trust::ContentHash;

/// The version of the file format. Files of another version are made again.
const FORM: &str = concat!(env!("CARGO_PKG_VERSION"), "+1");

/// Descriptions in memory and, if there is a directory for them, in files.
///
/// A file that is missing, damaged, of another version or writable by others is ignored, and written
/// again when the toolset is next made. The configuration may hold secrets, so a file has only its
/// hash.
#[derive(Debug)]
pub(super) struct Descriptions {
    dir: Option<PathBuf>,
    known: Mutex<HashMap<Key, Arc<ToolsetDescription>>>,
}

/// The inputs that a description depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Key {
    form: String,
    library: ContentHash,
    class: String,
    config: ContentHash,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: Key,
    description: ToolsetDescription,
}

impl Key {
    pub(super) fn new(library: &ContentHash, class: &str, config: &Value) -> Key {
        Key {
            form: FORM.to_owned(),
            library: library.clone(),
            class: class.to_owned(),
            config: ContentHash::of(config.to_string().as_bytes()),
        }
    }

    fn file_name(&self) -> String {
        let Key { form, library, class, config } = self;
        let hash = ContentHash::of(format!("{form}\n{library}\n{class}\n{config}").as_bytes());
        format!("{hash}.tools")
    }
}

impl Descriptions {
    pub(super) fn new(dir: Option<PathBuf>) -> Descriptions {
        Descriptions { dir, known: Mutex::default() }
    }

    /// The cached description for `key`.
    pub(super) fn get(&self, key: &Key) -> Option<Arc<ToolsetDescription>> {
        let known = locked(&self.known).get(key).cloned();
        if known.is_some() {
            return known;
        }
        let path = self.dir.as_ref()?.join(key.file_name());
        let kept = cache_file::read::<Kept>(&path).ok().filter(|kept| kept.key == *key)?;
        let description = Arc::new(kept.description);
        self.note(key, &description);
        Some(description)
    }

    /// Caches the description for `key`, in place of any other. If it cannot be written to a file, the
    /// next process makes it again.
    pub(super) fn put(&self, key: &Key, description: ToolsetDescription) {
        let kept = Kept { key: key.clone(), description };
        if let Some(dir) = &self.dir {
            cache_file::write(dir, &key.file_name(), &kept);
        }
        self.note(key, &Arc::new(kept.description));
    }

    /// Removes the description for `key` from the cache.
    pub(super) fn forget(&self, key: &Key) {
        locked(&self.known).remove(key);
        if let Some(dir) = &self.dir {
            let _ = fs::remove_file(dir.join(key.file_name()));
        }
    }

    fn note(&self, key: &Key, description: &Arc<ToolsetDescription>) {
        locked(&self.known).insert(key.clone(), Arc::clone(description));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn description(class: &str) -> ToolsetDescription {
        let mut description = ToolsetDescription::default();
        class.clone_into(&mut description.class);
        description
    }

    #[test]
    fn a_description_is_kept_for_its_library_class_and_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        let (a, b) = (ContentHash::of(b"a"), ContentHash::of(b"b"));
        let key = Key::new(&a, "Hello", &json!({"secret": "s3cret"}));
        Descriptions::new(Some(kept.clone())).put(&key, description("Hello"));
        let next = Descriptions::new(Some(kept.clone()));
        assert_eq!(next.get(&key).unwrap().class, "Hello");
        for other in [
            Key::new(&b, "Hello", &json!({"secret": "s3cret"})),
            Key::new(&a, "Mood", &json!({"secret": "s3cret"})),
            Key::new(&a, "Hello", &json!({})),
        ] {
            assert!(next.get(&other).is_none(), "{other:?}");
        }
        let text = fs::read_to_string(kept.join(key.file_name())).unwrap();
        assert!(!text.contains("s3cret"), "{text}");
    }

    #[test]
    fn a_file_that_is_wrong_is_ignored_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let key = Key::new(&ContentHash::of(b"a"), "Hello", &json!({}));
        let fresh = || Descriptions::new(Some(dir.path().to_owned()));
        fresh().put(&key, description("Hello"));
        let path = dir.path().join(key.file_name());
        let good = fs::read_to_string(&path).unwrap();
        let other = Key::new(&ContentHash::of(b"a"), "Mood", &json!({}));
        fresh().put(&other, description("Mood"));
        let foreign = fs::read_to_string(dir.path().join(other.file_name())).unwrap();
        for wrong in ["", "\n", &good[..good.len() / 2], &good.replace("Hello", "Jello"), &foreign]
        {
            fs::write(&path, wrong).unwrap();
            assert!(fresh().get(&key).is_none(), "{wrong}");
            fresh().put(&key, description("Hello"));
            assert!(fresh().get(&key).is_some());
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
            assert!(fresh().get(&key).is_none(), "anybody could have written it");
        }
    }
}
