//! The inputs of a catalog, recorded so that a cheap check can tell whether they are unchanged.
//!
//! Directories, links and skill files have a [`Stamp`]. The programs and variables that skills require
//! are looked up again, once for each name: looking up a dozen programs costs less than watching all
//! directories of a `PATH`. Of an environment variable, only whether it is set is recorded, never its
//! value, which may be a secret.

#[cfg(feature = "snapshot")]
mod stored;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use super::environment::Environment;
use super::stamp::Stamp;
use crate::provider::{Listing, Provided};

#[cfg(feature = "snapshot")]
pub(crate) use stored::StoredInputs;

/// With fewer paths than this, one thread checks all of them. Starting a thread takes as long as about
/// twenty checks.
const PATHS_A_THREAD: usize = 1000;
/// The maximum number of threads. More of them would only wait for the same locks.
const MAX_THREADS: usize = 4;

/// The inputs of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// The time at which the load began.
    start: SystemTime,
    stamps: BTreeMap<PathBuf, Stamp>,
    /// The listings of providers, by their roots. Never in a snapshot.
    listings: BTreeMap<PathBuf, Arc<Listing>>,
    around: EnvironmentInputs,
}

/// The inputs of a load other than files and directories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct EnvironmentInputs {
    /// The roots of sources, each with its real path, which decides which links are followed.
    roots: BTreeMap<PathBuf, Option<PathBuf>>,
    /// Programs; true if the program was found.
    programs: BTreeMap<String, bool>,
    /// Variables; true if the variable was set and not empty.
    variables: BTreeMap<String, bool>,
}

impl Inputs {
    /// The inputs of a load that begins now: empty so far.
    pub(super) fn begin() -> Inputs {
        let (stamps, listings, around) = Default::default();
        Inputs { start: SystemTime::now(), stamps, listings, around }
    }

    /// Records the root of a source. To be called before the root is scanned.
    pub(super) fn root(&mut self, path: &Path) {
        self.path(path);
        self.around.roots.entry(path.to_owned()).or_insert_with(|| path.canonicalize().ok());
    }

    /// Records a path that the load uses. Only the first stamp of a path is kept.
    pub(super) fn path(&mut self, path: &Path) -> &Stamp {
        let start = self.start;
        self.stamps.entry(path.to_owned()).or_insert_with(|| Stamp::take(path, start))
    }

    /// The listing of a provider that the load uses. The first one is kept.
    pub(super) fn listing(&mut self, provided: &Provided) -> Arc<Listing> {
        let listing = self.listings.entry(provided.root().to_owned());
        Arc::clone(listing.or_insert_with(|| provided.listing()))
    }

    /// The listing of a provider that the load used.
    pub(super) fn listed(&self, provided: &Provided) -> Option<&Arc<Listing>> {
        self.listings.get(provided.root())
    }

    /// Forgets the revisions of files of a provider that could not be read, so that they are read again.
    pub(super) fn forget(&mut self, provided: &Provided, paths: &[String]) {
        if let Some(listing) = self.listings.get_mut(provided.root()) {
            let files = &mut Arc::make_mut(listing).files;
            files.retain(|path, _| !paths.contains(path));
        }
    }

    /// Tells whether the load used a provider, whose changes only another listing shows.
    #[cfg(feature = "watch")]
    pub(super) fn has_providers(&self) -> bool {
        !self.listings.is_empty()
    }

    /// Tells whether the program exists. Looks it up only once.
    pub(super) fn has_program(&mut self, name: &str, environment: &Environment) -> bool {
        let look = || environment.has_program(name);
        *self.around.programs.entry(name.to_owned()).or_insert_with(look)
    }

    /// Tells whether the variable is set. Looks it up only once.
    pub(super) fn has_variable(&mut self, name: &str, environment: &Environment) -> bool {
        let look = || environment.has_variable(name);
        *self.around.variables.entry(name.to_owned()).or_insert_with(look)
    }

    /// Tells whether any later change of the inputs will be noticed.
    #[cfg(feature = "snapshot")]
    pub(crate) fn is_settled(&self) -> bool {
        self.stamps.values().all(Stamp::is_settled)
    }

    /// Tells whether the load used `path`.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.stamps.contains_key(path)
    }

    /// Tells whether `now`, a later stamp of `path`, proves that nothing changed in between.
    pub(super) fn proves_unchanged(&self, path: &Path, now: &Stamp) -> bool {
        self.stamps.get(path).is_some_and(|stamp| stamp.proves_unchanged(now))
    }

    /// The recorded paths with their stamps, each path before those below it.
    #[cfg(feature = "watch")]
    pub(super) fn stamps(&self) -> impl Iterator<Item = (&Path, &Stamp)> {
        self.stamps.iter().map(|(path, stamp)| (path.as_path(), stamp))
    }

    /// The roots of sources, whether they exist or not.
    #[cfg(feature = "watch")]
    pub(super) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.around.roots.keys().map(PathBuf::as_path)
    }

    /// Tells whether a new load would find the same inputs. Reads only the inode of each directory, link
    /// and skill file, not its content.
    pub(crate) fn is_current(&self, environment: &Environment) -> bool {
        let stamps: Vec<(&PathBuf, &Stamp)> = self.stamps.iter().collect();
        let is_changed = |place: &usize| {
            let (path, stamp) = stamps[*place];
            !stamp.is_current(path)
        };
        if let Some(place) = in_parts(stamps.len(), |mut part| part.find(is_changed)) {
            tell_changed(stamps[place].0);
            return false;
        }
        self.around.is_current(environment)
    }
}

/// Unknown inputs: they are never current, and prove nothing unchanged.
impl Default for Inputs {
    fn default() -> Self {
        let mut inputs = Inputs::begin();
        inputs.stamps.insert(PathBuf::new(), Stamp::default());
        inputs
    }
}

impl EnvironmentInputs {
    fn is_current(&self, environment: &Environment) -> bool {
        let EnvironmentInputs { roots, programs, variables } = self;
        roots.iter().all(|(root, real)| root.canonicalize().ok() == *real)
            && programs.iter().all(|(name, known)| environment.has_program(name) == *known)
            && variables.iter().all(|(name, known)| environment.has_variable(name) == *known)
    }
}

fn tell_changed(path: &Path) {
    tracing::debug!(path = %path.display(), "changed, or looked at too early to tell");
}

/// Splits the places `0..n` into ranges, calls `find` on each, and returns the first place found. If
/// there are many places, several threads share the work, as each check waits for the kernel.
fn in_parts(n: usize, find: impl Fn(Range<usize>) -> Option<usize> + Sync) -> Option<usize> {
    let n_threads = match n {
        0..PATHS_A_THREAD => 1,
        _ => thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)),
    };
    let part_len = n.div_ceil(n_threads).max(1);
    let find = &find;
    thread::scope(|scope| {
        let mut parts = (0..n).step_by(part_len).map(|start| start..n.min(start + part_len));
        let own = parts.next().unwrap_or_default();
        let start = |part: Range<usize>| {
            let (thread, its_part) = (thread::Builder::new(), part.clone());
            (part, thread.spawn_scoped(scope, move || find(its_part)).ok())
        };
        let others: Vec<_> = parts.map(start).collect();
        let own = find(own);
        let others = others.into_iter().map(|(part, thread)| match thread {
            // A panicked thread counts as "changed".
            Some(thread) => thread.join().unwrap_or(Some(part.start)),
            None => find(part),
        });
        own.or_else(|| others.flatten().next())
    })
}
