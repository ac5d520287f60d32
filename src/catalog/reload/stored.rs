//! The part of a load's memory that a snapshot holds in addition to the catalog.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::catalog::reader::{Broken, CachedFile};
use crate::diagnostic::Diagnostic;

/// Facts about skill files that are not part of the skills.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredFiles {
    /// The hash of the text of each entry's file, in the order of entries. `None` if the skill was not
    /// read from the current version of the file.
    text_hashes: Vec<Option<u64>>,
    /// The files that do not load.
    broken: Vec<(PathBuf, Findings)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Findings(#[serde(with = "crate::diagnostic::as_values")] Vec<Diagnostic>);

impl StoredFiles {
    pub(super) fn of(catalog: &Catalog, files: &HashMap<PathBuf, CachedFile>) -> StoredFiles {
        let text_hash = |known: &CachedFile| match known {
            CachedFile { good: Some((text_hash, _)), broken: None } => Some(*text_hash),
            _ => None,
        };
        let of_entry = |path: &Path| files.get(path).and_then(text_hash);
        let text_hashes = catalog.entries.iter().map(|entry| entry.skill.path().and_then(of_entry));
        let broken = files.iter().filter_map(|(path, known)| {
            Some((path.clone(), Findings(known.broken.as_ref()?.findings.clone())))
        });
        StoredFiles { text_hashes: text_hashes.collect(), broken: broken.collect() }
    }

    pub(super) fn known(&self, catalog: &Catalog) -> HashMap<PathBuf, CachedFile> {
        let good =
            catalog.entries.iter().zip(&self.text_hashes).filter_map(|(entry, text_hash)| {
                let good = Some(((*text_hash)?, Arc::clone(&entry.skill)));
                Some((entry.skill.path()?.to_owned(), CachedFile { good, broken: None }))
            });
        let broken = self.broken.iter().map(|(path, Findings(findings))| {
            let broken = Some(Broken { findings: findings.clone(), is_new: false });
            (path.clone(), CachedFile { good: None, broken })
        });
        good.chain(broken).collect()
    }
}
