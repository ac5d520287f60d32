//! An engine's snapshot taken from a cache, if it is current, and else kept there for others.

use std::time::SystemTime;

use super::Snapshot;
use crate::catalog::reload::Memory;
use crate::catalog::seen::Seen;
use crate::catalog::{Catalog, CatalogOptions};
use crate::error::Error;
use crate::matcher::{Index, IndexOptions};
use crate::snapshot::SnapshotCache;

/// What use an engine could make of its [`SnapshotCache`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheUse {
    /// Whether skills and index are those of a snapshot: nothing has changed since it was made.
    pub used: bool,
    /// What is wrong with the files or their directory, in a sentence each. That costs time and
    /// changes no answer.
    pub problems: Vec<String>,
}

/// The snapshot in `cache`; if there is none that is current, what `load` makes, which is kept.
pub(super) fn load(
    cache: &SnapshotCache,
    catalog: &CatalogOptions,
    index: &IndexOptions,
    load: impl FnOnce() -> Result<(Snapshot, Memory), Error>,
) -> Result<(Snapshot, Memory, CacheUse), Error> {
    let mut cache_use = CacheUse::default();
    let key = key(catalog, index);
    if let Some(key) = &key {
        match cache.read(key, |content| read(content, catalog, index)) {
            Ok(Some((snapshot, memory))) => {
                cache_use.used = true;
                return Ok((snapshot, memory, cache_use));
            }
            Ok(None) => {}
            Err(problem) => cache_use.problems.push(problem),
        }
    }
    let (snapshot, memory) = load()?;
    // What changed a moment ago may change again and look the same.
    if let Some(key) = key.filter(|_| memory.seen().is_settled()) {
        let written =
            postcard::to_stdvec(&(memory.seen(), &*snapshot.catalog, snapshot.index.base()));
        let kept = written
            .map_err(|error| format!("skills cannot be written to a snapshot: {error}"))
            .and_then(|content| cache.write(&key, &content));
        cache_use.problems.extend(kept.err());
    }
    for problem in &cache_use.problems {
        tracing::warn!("{problem}");
    }
    Ok((snapshot, memory, cache_use))
}

/// All that decides what is loaded, but for what is on the disk; `None` if skills in memory do.
fn key(catalog: &CatalogOptions, index: &IndexOptions) -> Option<Vec<u8>> {
    let written = catalog.written()?;
    // Sources may be relative to it.
    let here = std::env::current_dir().ok()?;
    postcard::to_stdvec(&(program(), here, written, index)).ok()
}

/// What tells this program from one that was compiled of other sources under the same version, as
/// by those who work on it: the form of a snapshot is that of the types it was written from.
fn program() -> Option<(u64, SystemTime)> {
    let metadata = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// `None` if something changed since it was written.
fn read(
    content: &[u8],
    options: &CatalogOptions,
    index_options: &IndexOptions,
) -> Result<Option<(Snapshot, Memory)>, postcard::Error> {
    let (seen, rest) = postcard::take_from_bytes::<Seen>(content)?;
    if !seen.is_current(&options.environment) {
        return Ok(None);
    }
    let (catalog, index) = postcard::from_bytes::<(Catalog, Index)>(rest)?;
    Ok(Some((Snapshot::of(catalog, index, index_options), Memory::of_another_process(seen))))
}
