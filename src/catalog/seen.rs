//! All that a catalog was made from, to see cheaply whether it is still so.
//!
//! Directories, links and skill files have a [`Stamp`]. What skills require is not stamped but
//! asked again, once a name: a dozen looks for a program cost less than to keep watch over all
//! directories of a `PATH`. Of an environment variable only whether it is set is kept, never its
//! value, which may be a secret.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::requirement::Environment;
use super::stamp::Stamp;

/// What a load has looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// When the load began. What was written down is only compared, never added to.
    #[serde(skip, default = "SystemTime::now")]
    start: SystemTime,
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

    /// Whether a load would find the same again. Costs a look at the inode of each directory, link
    /// and skill file; reads none of them.
    pub(crate) fn is_current(&self, environment: &Environment) -> bool {
        let Seen { stamps, roots, programs, variables, start: _ } = self;
        let changed = stamps.iter().find(|(path, stamp)| !stamp.is_current(path));
        if let Some((path, _)) = changed {
            tracing::debug!(path = %path.display(), "changed, or looked at too early to tell");
            return false;
        }
        roots.iter().all(|(root, real)| root.canonicalize().ok() == *real)
            && programs.iter().all(|(name, known)| environment.has_program(name) == *known)
            && variables.iter().all(|(name, known)| environment.has_variable(name) == *known)
    }
}
