//! The snapshot of an engine: read from a cache if it is current, else made and written there.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::Snapshot;
use crate::catalog::inputs::{Inputs, StoredInputs};
use crate::catalog::reload::{self, Memory, StoredFiles};
use crate::catalog::{Catalog, CatalogOptions};
use crate::error::Error;
use crate::lazy::Lazy;
use crate::matcher::{Index, IndexOptions, RelevanceIndex};
use crate::snapshot::SnapshotCache;

/// The use that an engine made of its [`SnapshotCache`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheUse {
    /// True if skills and index are those of a snapshot: nothing has changed since it was made. If
    /// something has, skills that did not change are still not read again.
    pub used: bool,
    /// True if the skills are those of a snapshot though some changed since; see
    /// [`EngineBuilder::max_compile_time`](super::EngineBuilder::max_compile_time).
    pub stale: bool,
    /// True if a snapshot was written. None is written of skills that changed within the last two
    /// seconds: they could change again and look the same.
    pub written: bool,
    /// Problems of the files or their directory, in a sentence each. They cost time and change no
    /// answer.
    pub problems: Vec<String>,
}

impl CacheUse {
    /// The use in a word, for the span of a load.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            CacheUse { stale: true, .. } => "stale",
            CacheUse { used: true, .. } => "used",
            CacheUse { written: true, .. } => "written",
            CacheUse { .. } => "none",
        }
    }
}

/// The content of a file.
struct Kept {
    snapshot: Snapshot,
    memory: Memory,
    /// True if nothing changed since it was written.
    is_current: bool,
    /// The time that it took to make.
    compile_time: Duration,
}

/// The snapshot in `cache`; if it is not current, the next one, and if there is none, the one that
/// `load` makes. Those are written to `cache`. One that is not current serves as it is if it took
/// longer than `max_compile_time` to make.
pub(super) fn load(
    cache: &SnapshotCache,
    catalog: &CatalogOptions,
    index: &IndexOptions,
    max_compile_time: Duration,
    load: impl FnOnce() -> Result<(Snapshot, Memory), Error>,
) -> Result<(Snapshot, Memory, CacheUse), Error> {
    let mut cache_use = CacheUse::default();
    let mut before = None;
    let key = key(catalog, index);
    if let Some(key) = &key {
        match cache.read(key, |content| read(content, catalog).map(Some)) {
            Ok(Some(kept)) if kept.is_current || kept.compile_time > max_compile_time => {
                cache_use.used = true;
                cache_use.stale = !kept.is_current;
                return Ok((kept.snapshot, kept.memory, cache_use));
            }
            Ok(kept) => before = kept,
            Err(problem) => cache_use.problems.push(problem),
        }
    }
    let start = Instant::now();
    // If the changes do not fit, a whole load reports it.
    let next = before.and_then(|kept| next(kept, catalog, index).ok());
    let (snapshot, memory) = next.map_or_else(load, Ok)?;
    // A file that changed a moment ago may change again and look the same.
    if let Some(key) = key.filter(|_| memory.inputs().is_settled()) {
        let kept = written(&snapshot, &memory, start.elapsed())
            .and_then(|content| cache.write(&key, &content));
        cache_use.written = kept.is_ok();
        cache_use.problems.extend(kept.err());
    }
    for problem in &cache_use.problems {
        tracing::warn!("{problem}");
    }
    Ok((snapshot, memory, cache_use))
}

/// The inputs of a load except for the disk, as the key of a snapshot; `None` if skills in memory
/// are among them.
fn key(catalog: &CatalogOptions, index: &IndexOptions) -> Option<Vec<u8>> {
    let written = catalog.written()?;
    // Sources may be relative to it.
    let here = std::env::current_dir().ok()?;
    postcard::to_stdvec(&(program(), here, written, index)).ok()
}

/// The length and time of this executable, which tell builds of the same version apart, as during
/// development: the form of a snapshot is that of the types it was written from.
fn program() -> Option<(u64, SystemTime)> {
    let metadata = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn read(content: &[u8], options: &CatalogOptions) -> Result<Kept, postcard::Error> {
    let (inputs, rest) = postcard::take_from_bytes::<&[u8]>(content)?;
    let is_current =
        postcard::from_bytes::<StoredInputs<'_>>(inputs)?.is_current(&options.environment);
    let (inputs, _) = postcard::take_from_bytes::<Lazy<Inputs>>(content)?;
    let ((compile_time, files, catalog, index), relevance) =
        postcard::take_from_bytes::<(Duration, Lazy<StoredFiles>, Catalog, Index)>(rest)?;
    let snapshot = Snapshot::of(catalog, Arc::new(index));
    let ids = snapshot.listing.visible().map(|entry| entry.id.clone()).collect();
    let relevance = RelevanceIndex::read(&postcard::from_bytes(relevance)?, ids);
    snapshot.put_relevance(relevance.ok_or(postcard::Error::SerdeDeCustom)?);
    let memory = Memory::of_another_process(inputs, Arc::clone(&snapshot.catalog), files);
    Ok(Kept { snapshot, memory, is_current, compile_time })
}

/// The content that [`read`] reads.
fn written(
    snapshot: &Snapshot,
    memory: &Memory,
    compile_time: Duration,
) -> Result<Vec<u8>, String> {
    let Snapshot { catalog, index, .. } = snapshot;
    let files = Lazy::from(memory.stored_files(catalog));
    let inputs = memory.stored_inputs();
    let rest = (&**catalog, &**index);
    postcard::to_stdvec(&(inputs, compile_time, files, rest, snapshot.relevance().written()))
        .map_err(|error| format!("skills cannot be written to a snapshot: {error}"))
}

/// The one after a snapshot that is not current: only what changed is read.
fn next(
    before: Kept,
    options: &CatalogOptions,
    index: &IndexOptions,
) -> Result<(Snapshot, Memory), Error> {
    let Kept { snapshot, memory, .. } = before;
    let (catalog, memory) = reload::load_anew(options, &memory);
    Ok((snapshot.next(catalog, index)?, memory))
}
