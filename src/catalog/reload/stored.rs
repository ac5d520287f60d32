//! The part of a load's memory that is written to a snapshot besides the catalog.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::catalog::reader::{Broken, Known};
use crate::diagnostic::Diagnostic;

/// Facts about skill files that their skills do not hold.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredFiles {
    /// The print of the text of each entry's file, in the order of entries; `None` for a file that
    /// is not the one its skill was read from.
    prints: Vec<Option<u64>>,
    /// The files that do not load.
    broken: Vec<(PathBuf, Findings)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Findings(#[serde(with = "crate::diagnostic::as_values")] Vec<Diagnostic>);

impl StoredFiles {
    pub(super) fn of(catalog: &Catalog, files: &HashMap<PathBuf, Known>) -> StoredFiles {
        let print = |known: &Known| match known {
            Known { good: Some((print, _)), broken: None } => Some(*print),
            _ => None,
        };
        let of_entry = |path: &Path| files.get(path).and_then(print);
        let prints = catalog.entries.iter().map(|entry| entry.skill.path().and_then(of_entry));
        let broken = files.iter().filter_map(|(path, known)| {
            Some((path.clone(), Findings(known.broken.as_ref()?.findings.clone())))
        });
        StoredFiles { prints: prints.collect(), broken: broken.collect() }
    }

    pub(super) fn known(&self, catalog: &Catalog) -> HashMap<PathBuf, Known> {
        let good = catalog.entries.iter().zip(&self.prints).filter_map(|(entry, print)| {
            let good = Some(((*print)?, Arc::clone(&entry.skill)));
            Some((entry.skill.path()?.to_owned(), Known { good, broken: None }))
        });
        let broken = self.broken.iter().map(|(path, Findings(findings))| {
            let broken = Some(Broken { findings: findings.clone(), is_new: false });
            (path.clone(), Known { good: None, broken })
        });
        good.chain(broken).collect()
    }
}
