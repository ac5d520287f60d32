//! The reloading of a catalog, which reads only changed files.
//!
//! Only the reading of unchanged files is skipped. All other steps are the same as those of a first load.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
#[cfg(feature = "snapshot")]
use std::sync::Arc;

use super::inputs::Inputs;
use super::reader::{CachedFile, PreviousLoad, Reader};
use super::resolve::{CatalogOptions, resolve};
use super::source::Source;
use super::{Catalog, Entry};
use crate::lazy::Lazy;
use crate::progress::Reporter;
use crate::skill::SkillId;

#[cfg(feature = "snapshot")]
mod stored;
#[cfg(feature = "snapshot")]
pub(crate) use stored::StoredFiles;

/// The memory of a load, from which the next load knows what changed.
#[derive(Debug)]
pub(crate) struct Memory {
    inputs: Lazy<Inputs>,
    files: Files,
}

/// The skill files that were read.
#[derive(Debug)]
enum Files {
    Known(HashMap<PathBuf, CachedFile>),
    /// State restored from a snapshot of another process. It is converted on first use, which only a
    /// change causes.
    #[cfg(feature = "snapshot")]
    Stored(Arc<Catalog>, Lazy<StoredFiles>),
}

/// Loads a catalog for the first time.
pub(crate) fn load(options: &CatalogOptions, reporter: &Reporter) -> (Catalog, Memory) {
    load_after(options, None, reporter)
}

/// Loads a catalog again, with the memory of the previous load. A skill whose file no longer loads stays
/// as it was.
pub(crate) fn load_again(options: &CatalogOptions, before: &Memory) -> (Catalog, Memory) {
    load_after(options, Some(before.as_before(true)), &Reporter::default())
}

/// Loads a catalog as if for the first time, but without reading files for which `memory` is current.
#[cfg(feature = "snapshot")]
pub(crate) fn load_anew(options: &CatalogOptions, memory: &Memory) -> (Catalog, Memory) {
    load_after(options, Some(memory.as_before(false)), &Reporter::default())
}

fn load_after(
    options: &CatalogOptions,
    before: Option<PreviousLoad<'_>>,
    reporter: &Reporter,
) -> (Catalog, Memory) {
    let mut reader =
        Reader { brand: options.brand(), before, inputs: Inputs::begin(), files: HashMap::new() };
    let catalog = resolve(options, &mut reader, reporter);
    let Reader { inputs, files, .. } = reader;
    (catalog, Memory { inputs: inputs.into(), files: Files::Known(files) })
}

impl Memory {
    /// The memory of a load by another process, restored from that process's snapshot.
    #[cfg(feature = "snapshot")]
    pub(crate) fn of_another_process(
        inputs: Lazy<Inputs>,
        catalog: Arc<Catalog>,
        files: Lazy<StoredFiles>,
    ) -> Memory {
        Memory { inputs, files: Files::Stored(catalog, files) }
    }

    /// The part of the memory that another process needs in addition to the inputs and `catalog`, the
    /// result of this load.
    #[cfg(feature = "snapshot")]
    pub(crate) fn stored_files(&self, catalog: &Catalog) -> StoredFiles {
        StoredFiles::of(catalog, &self.files())
    }

    /// The inputs, for a snapshot.
    #[cfg(feature = "snapshot")]
    pub(crate) fn stored_inputs(&self) -> &Lazy<Inputs> {
        &self.inputs
    }

    fn files(&self) -> Cow<'_, HashMap<PathBuf, CachedFile>> {
        match &self.files {
            Files::Known(files) => Cow::Borrowed(files),
            #[cfg(feature = "snapshot")]
            Files::Stored(catalog, files) => Cow::Owned(files.get().known(catalog)),
        }
    }

    fn as_before(&self, keeps: bool) -> PreviousLoad<'_> {
        PreviousLoad { inputs: self.inputs.get(), files: self.files(), keeps }
    }

    /// Tells whether a new load would find the same inputs. Asks the providers for new listings.
    pub(crate) fn is_current(&self, options: &CatalogOptions) -> bool {
        let inputs = self.inputs.get();
        let mut is_current = inputs.is_current(&options.environment);
        let mut seen = BTreeSet::new();
        let providers = options.sources.iter().rev().filter_map(Source::provider);
        for provided in providers.filter(|provided| seen.insert(provided.root())) {
            let listing = provided.relist();
            is_current &= inputs.listed(provided).is_none_or(|before| **before == *listing);
        }
        is_current
    }

    /// The inputs.
    #[cfg(any(feature = "snapshot", feature = "watch"))]
    pub(crate) fn inputs(&self) -> &Inputs {
        self.inputs.get()
    }

    /// Tells whether the current load kept a skill as it was because its changed file no longer loads.
    fn was_kept(&self, entry: &Entry) -> bool {
        let files = self.files();
        let known = entry.skill.location().and_then(|path| files.get(path));
        known.is_some_and(|known| {
            known.good.is_some() && known.broken.as_ref().is_some_and(|broken| broken.is_new)
        })
    }
}

/// The difference between a catalog and the previous one, as lists of ids in their order. Skills that do
/// not exist for the agent are in none of the lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refreshed {
    /// Skills that the previous catalog did not have.
    pub added: Vec<SkillId>,
    /// Skills whose file, place or status changed.
    pub changed: Vec<SkillId>,
    /// Skills that the catalog no longer has.
    pub removed: Vec<SkillId>,
    /// Skills whose file changed and no longer loads. They stay as they were, with a diagnostic.
    pub kept: Vec<SkillId>,
}

impl Refreshed {
    /// Tells whether no skill changed.
    pub fn is_empty(&self) -> bool {
        let Refreshed { added, changed, removed, kept } = self;
        [added, changed, removed, kept].into_iter().all(Vec::is_empty)
    }

    /// The changes from `before` to `now`; `memory` is that of the load that made `now`.
    pub(crate) fn between(before: &Catalog, now: &Catalog, memory: &Memory) -> Refreshed {
        let ids = |entries: Vec<&Entry>| entries.into_iter().map(|e| e.id.clone()).collect();
        let (old, new) = (by_id(before), by_id(now));
        let added = new.values().filter(|entry| !old.contains_key(&entry.id)).copied();
        let removed = old.values().filter(|entry| !new.contains_key(&entry.id)).copied();
        let changed = new
            .values()
            .filter(|now| old.get(&now.id).is_some_and(|before| !now.is_the_same_as(before)));
        let kept = new.values().filter(|entry| memory.was_kept(entry)).copied();
        Refreshed {
            added: ids(added.collect()),
            changed: ids(changed.copied().collect()),
            removed: ids(removed.collect()),
            kept: ids(kept.collect()),
        }
    }
}

/// The skills that exist and are not shadowed.
fn by_id(catalog: &Catalog) -> BTreeMap<&SkillId, &Entry> {
    let winners = catalog.entries().filter(|entry| !entry.is_shadowed());
    winners.map(|entry| (&entry.id, entry)).collect()
}
