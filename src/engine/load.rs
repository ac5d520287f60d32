//! Where the skills and the index of an engine come from: their sources, or a snapshot of what
//! another process made of them.

use super::{indexed, is_matched};
use crate::catalog::reload::{self, Memory};
use crate::catalog::{Catalog, CatalogOptions};
use crate::error::Error;
use crate::matcher::{Index, IndexOptions};

#[cfg(feature = "snapshot")]
pub use with_snapshot::SnapshotUse;
#[cfg(feature = "snapshot")]
pub(super) use with_snapshot::load_with;

/// What an engine is made of.
pub(super) struct Loaded {
    pub(super) catalog: Catalog,
    pub(super) index: Index,
}

/// Reads the sources and compiles the index.
pub(super) fn load(catalog: &CatalogOptions, index: &IndexOptions) -> Result<Loaded, Error> {
    load_and_remember(catalog, index).map(|(loaded, _)| loaded)
}

fn load_and_remember(
    catalog: &CatalogOptions,
    options: &IndexOptions,
) -> Result<(Loaded, Memory), Error> {
    let (catalog, memory) = reload::load(catalog, None);
    let index = compile(&catalog, options)?;
    Ok((Loaded { catalog, index }, memory))
}

fn compile(catalog: &Catalog, options: &IndexOptions) -> Result<Index, Error> {
    let skills: Vec<_> =
        catalog.entries().filter(|entry| is_matched(entry)).map(indexed).collect();
    Index::new(&skills, options)
}

#[cfg(feature = "snapshot")]
mod with_snapshot {
    use super::*;
    use crate::catalog::seen::Seen;
    use crate::snapshot::SnapshotCache;

    /// What became of the snapshot that an engine was to use.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub struct SnapshotUse {
        /// Whether skills and index are those of a snapshot, in which nothing has changed since.
        pub used: bool,
        /// What is wrong with the files or their directory, in a sentence each: it costs time and
        /// changes no answer.
        pub problems: Vec<String>,
    }

    /// As [`load`], from a snapshot if there is one that is current. Else one is made.
    pub(in crate::engine) fn load_with(
        cache: &SnapshotCache,
        catalog: &CatalogOptions,
        options: &IndexOptions,
    ) -> Result<(Loaded, SnapshotUse), Error> {
        let mut snapshot = SnapshotUse::default();
        let Some(key) = key(catalog, options) else {
            return Ok((load(catalog, options)?, snapshot));
        };
        match cache.read(&key, |content| read(content, catalog)) {
            Ok(Some(Some(catalog))) => {
                let index = compile(&catalog, options)?;
                snapshot.used = true;
                return Ok((Loaded { catalog, index }, snapshot));
            }
            Ok(_) => {}
            Err(problem) => snapshot.problems.push(problem),
        }
        let (loaded, memory) = load_and_remember(catalog, options)?;
        // What changed a moment ago may change again and look the same.
        if memory.seen().is_settled() {
            let written = postcard::to_stdvec(&(memory.seen(), &loaded.catalog));
            let written = written.map_err(|error| format!("no snapshot can be made: {error}"));
            let kept = written.and_then(|content| cache.write(&key, &content));
            snapshot.problems.extend(kept.err());
        }
        for problem in &snapshot.problems {
            tracing::warn!("{problem}");
        }
        Ok((loaded, snapshot))
    }

    /// All that decides what is loaded, but for what is on the disk. Paths may be relative.
    fn key(catalog: &CatalogOptions, options: &IndexOptions) -> Option<Vec<u8>> {
        let here = std::env::current_dir().ok()?;
        postcard::to_stdvec(&(here, catalog.written()?, options)).ok()
    }

    /// `None` if the content makes no sense, `Some(None)` if it is of before a change.
    fn read(content: &[u8], options: &CatalogOptions) -> Option<Option<Catalog>> {
        let (seen, rest) = postcard::take_from_bytes::<Seen>(content).ok()?;
        if !seen.is_current(&options.environment) {
            return Some(None);
        }
        postcard::from_bytes(rest).ok().map(Some)
    }
}
