//! The snapshot of an engine: read from a cache if it is current, otherwise made and written there.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::Snapshot;
use crate::catalog::inputs::{Inputs, StoredInputs};
use crate::catalog::reload::{self, Memory, StoredFiles};
use crate::catalog::{Catalog, CatalogOptions};
use crate::error::Error;
use crate::lazy::Lazy;
use crate::matcher::{Index, IndexOptions, MeaningModel, RelevanceIndex};
use crate::snapshot::SnapshotCache;

/// A report on how an engine used its [`SnapshotCache`] when it was built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheUse {
    /// True if skills and index were taken from a snapshot as they are: nothing changed since it was
    /// made, or `stale` is true. If it is false, skills that did not change since a snapshot was made
    /// are still not read again.
    pub used: bool,
    /// True if there was no time for what changed: the skills were taken from a snapshot although some changed since,
    /// or are ranked by words alone until a snapshot has their meaning; see
    /// [`EngineBuilder::max_compile_time`](super::EngineBuilder::max_compile_time).
    pub stale: bool,
    /// True if a snapshot was written. It is not written if a skill changed within the last two seconds:
    /// the file could change again without a visible difference.
    pub written: bool,
    /// Problems with the snapshot files or their directory, each in a sentence. They cost time but
    /// change no answer.
    pub problems: Vec<String>,
}

impl CacheUse {
    /// The use in one word, for the span of a load.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            CacheUse { stale: true, .. } => "stale",
            CacheUse { used: true, .. } => "used",
            CacheUse { written: true, .. } => "written",
            CacheUse { .. } => "none",
        }
    }
}

/// The content of a snapshot file.
struct Kept {
    snapshot: Snapshot,
    memory: Memory,
    /// True if nothing changed since the file was written.
    is_current: bool,
    /// The time that it took to make the snapshot.
    compile_time: Duration,
}

/// Returns the snapshot in `cache`. If it is not current, reads what changed, and if there is none,
/// calls `load` with the model; writes the new snapshot to `cache`. A snapshot that took longer than `max_compile_time`
/// to make is used as it is, even if it is not current; so is every one if there is such a limit and the model is slow,
/// and without one, skills are loaded without the model.
pub(super) fn load(
    cache: &SnapshotCache,
    catalog: &CatalogOptions,
    index: &IndexOptions,
    model: Option<&Arc<MeaningModel>>,
    max_compile_time: Duration,
    load: impl FnOnce(Option<&Arc<MeaningModel>>) -> Result<(Snapshot, Memory), Error>,
) -> Result<(Snapshot, Memory, CacheUse), Error> {
    let mut cache_use = CacheUse::default();
    let mut before = None;
    let key = key(catalog, index, model);
    let is_hurried = max_compile_time < Duration::MAX && model.is_some_and(|of| of.is_slow());
    let is_final =
        |kept: &Kept| kept.is_current || is_hurried || kept.compile_time > max_compile_time;
    if let Some(key) = &key {
        match cache.read(key, |content| read(content, catalog, model).map(Some)) {
            Ok(Some(kept)) if is_final(&kept) => {
                cache_use.used = true;
                cache_use.stale = !kept.is_current;
                return Ok((kept.snapshot, kept.memory, cache_use));
            }
            Ok(kept) => before = kept,
            Err(problem) => cache_use.problems.push(problem),
        }
    }
    if is_hurried && key.is_some() {
        cache_use.stale = true;
        return load(None).map(|(snapshot, memory)| (snapshot, memory, cache_use));
    }
    let start = Instant::now();
    // Only what changed is read. If the changed skills do not fit one index, the full load reports it.
    let next = before.and_then(|Kept { snapshot, memory, .. }| {
        let (now, memory) = reload::load_anew(catalog, &memory);
        Some((snapshot.next(now, index).ok()?, memory))
    });
    let (snapshot, memory) = next.map_or_else(|| load(model), Ok)?;
    // A file that changed a moment ago may change again without a visible difference.
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

/// The key of a snapshot: all inputs of a load that are not on the disk. `None` if skills exist only in
/// memory.
fn key(
    catalog: &CatalogOptions,
    index: &IndexOptions,
    model: Option<&Arc<MeaningModel>>,
) -> Option<Vec<u8>> {
    let model = model.map(|model| model.fingerprint());
    let written = catalog.written()?;
    // Paths of sources may be relative to the working directory.
    let here = std::env::current_dir().ok()?;
    postcard::to_stdvec(&(program(), here, written, index, model)).ok()
}

/// The length and modification time of this executable. They tell builds of the same version apart, for
/// example during development: the format of a snapshot depends on the types from which it was written.
fn program() -> Option<(u64, SystemTime)> {
    let metadata = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn read(
    content: &[u8],
    options: &CatalogOptions,
    model: Option<&Arc<MeaningModel>>,
) -> Result<Kept, postcard::Error> {
    let (inputs, rest) = postcard::take_from_bytes::<&[u8]>(content)?;
    let is_current =
        postcard::from_bytes::<StoredInputs<'_>>(inputs)?.is_current(&options.environment);
    let (inputs, _) = postcard::take_from_bytes::<Lazy<Inputs>>(content)?;
    let ((compile_time, files, catalog, index), relevance) =
        postcard::take_from_bytes::<(Duration, Lazy<StoredFiles>, Catalog, Index)>(rest)?;
    let snapshot = Snapshot::of(catalog, Arc::new(index), model);
    let ids = snapshot.listing.visible().map(|entry| entry.id.clone()).collect();
    let relevance = RelevanceIndex::read(postcard::from_bytes(relevance)?, ids, model);
    snapshot.put_relevance(relevance.ok_or(postcard::Error::SerdeDeCustom)?);
    let memory = Memory::of_another_process(inputs, Arc::clone(&snapshot.catalog), files);
    Ok(Kept { snapshot, memory, is_current, compile_time })
}

/// The content of a snapshot file, as [`read`] reads it.
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
