//! All that a catalog was made from, to see cheaply whether it is still so.
//!
//! Directories, links and skill files have a [`Stamp`]. What skills require is not stamped but
//! asked again, once a name: a dozen looks for a program cost less than to keep watch over all
//! directories of a `PATH`. Of an environment variable only whether it is set is kept, never its
//! value, which may be a secret.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::requirement::Environment;
use super::stamp::Stamp;

/// So many paths are looked at by one thread: to start another takes as long as some twenty looks.
const PATHS_A_THREAD: usize = 1000;
/// More threads than this wait for the same locks.
const MAX_THREADS: usize = 4;

/// What a load has looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// When the load began. What was written down is only compared, never added to.
    #[serde(skip, default = "SystemTime::now")]
    start: SystemTime,
    #[serde(deserialize_with = "in_order")]
    stamps: BTreeMap<PathBuf, Stamp>,
    /// Roots of sources, with their places without links: these decide which links are followed.
    roots: BTreeMap<PathBuf, Option<PathBuf>>,
    /// Whether these programs were there.
    programs: BTreeMap<String, bool>,
    /// Whether these variables were set.
    variables: BTreeMap<String, bool>,
}

impl Seen {
    /// Nothing so far, by a load that begins now.
    pub(super) fn begin() -> Seen {
        Seen {
            start: SystemTime::now(),
            stamps: BTreeMap::new(),
            roots: BTreeMap::new(),
            programs: BTreeMap::new(),
            variables: BTreeMap::new(),
        }
    }

    /// Notes the root of a source, before it is looked at.
    pub(super) fn root(&mut self, path: &Path) {
        self.path(path);
        self.roots.entry(path.to_owned()).or_insert_with(|| path.canonicalize().ok());
    }

    /// Notes a path that is looked at. The first stamp counts.
    pub(super) fn path(&mut self, path: &Path) -> &Stamp {
        let start = self.start;
        self.stamps.entry(path.to_owned()).or_insert_with(|| Stamp::take(path, start))
    }

    /// Whether there is such a program, looked up once.
    pub(super) fn has_program(&mut self, name: &str, environment: &Environment) -> bool {
        let look = || environment.has_program(name);
        *self.programs.entry(name.to_owned()).or_insert_with(look)
    }

    /// Whether there is such a variable.
    pub(super) fn has_variable(&mut self, name: &str, environment: &Environment) -> bool {
        let look = || environment.has_variable(name);
        *self.variables.entry(name.to_owned()).or_insert_with(look)
    }

    /// Whether every later change of what was looked at will show.
    #[cfg(feature = "snapshot")]
    pub(crate) fn is_settled(&self) -> bool {
        self.stamps.values().all(Stamp::is_settled)
    }

    /// Whether `now`, a later stamp of `path`, is proof that nothing changed in between.
    pub(super) fn vouches_for(&self, path: &Path, now: &Stamp) -> bool {
        self.stamps.get(path).is_some_and(|stamp| stamp.vouches_for(now))
    }

    /// The paths that were looked at, each before those below it.
    #[cfg(feature = "watch")]
    pub(super) fn stamps(&self) -> impl Iterator<Item = (&Path, &Stamp)> {
        self.stamps.iter().map(|(path, stamp)| (path.as_path(), stamp))
    }

    /// The roots of sources, there or not.
    #[cfg(feature = "watch")]
    pub(super) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.keys().map(PathBuf::as_path)
    }

    /// Whether a load would find the same again. Costs a look at the inode of each directory, link
    /// and skill file; reads none of them.
    pub(crate) fn is_current(&self, environment: &Environment) -> bool {
        let Seen { stamps, roots, programs, variables, start: _ } = self;
        if let Some(path) = changed(stamps) {
            tracing::debug!(path = %path.display(), "changed, or looked at too early to tell");
            return false;
        }
        roots.iter().all(|(root, real)| root.canonicalize().ok() == *real)
            && programs.iter().all(|(name, known)| environment.has_program(name) == *known)
            && variables.iter().all(|(name, known)| environment.has_variable(name) == *known)
    }
}

/// A path that is not as it was. Many are looked at by several threads, as each look waits for the
/// kernel.
fn changed(stamps: &BTreeMap<PathBuf, Stamp>) -> Option<&Path> {
    let all: Vec<(&Path, &Stamp)> =
        stamps.iter().map(|(path, stamp)| (path.as_path(), stamp)).collect();
    let n_threads = match all.len() {
        0..PATHS_A_THREAD => 1,
        _ => thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)),
    };
    let part_len = all.len().div_ceil(n_threads).max(1);
    thread::scope(|scope| {
        let mut parts = all.chunks(part_len);
        let own = parts.next().unwrap_or_default();
        let start = |part| {
            let thread = thread::Builder::new();
            (part, thread.spawn_scoped(scope, move || first_changed(part)).ok())
        };
        let others: Vec<_> = parts.map(start).collect();
        let own = first_changed(own);
        let others = others.into_iter().map(|(part, thread)| match thread {
            // Who panics has proved nothing.
            Some(thread) => thread.join().unwrap_or_else(|_| part.first().map(|first| first.0)),
            None => first_changed(part),
        });
        own.or_else(|| others.flatten().next())
    })
}

fn first_changed<'a>(part: &[(&'a Path, &Stamp)]) -> Option<&'a Path> {
    part.iter().find(|(path, stamp)| !stamp.is_current(path)).map(|(path, _)| *path)
}

/// A map from its entries in their order, which is made at once.
fn in_order<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<PathBuf, Stamp>, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(PathBuf, Stamp)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("stamps by path")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries).map(BTreeMap::from_iter)
}
