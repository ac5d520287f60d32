//! The report of a damaged store that was set aside.

use std::fmt;
use std::path::PathBuf;

/// A damaged session store that was renamed and replaced by a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// The path of the store, where the new file is.
    pub store: PathBuf,
    /// The path to which the damaged file was renamed. Its content is unchanged.
    pub kept_as: PathBuf,
    /// A description of the damage.
    pub why: String,
}

/// Formats the report as one line for people.
impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SetAside { store, kept_as, why } = self;
        let (store, kept_as) = (store.display(), kept_as.display());
        write!(
            f,
            "the session store {store} was damaged ({why}): it is kept as {kept_as}, and a new one was created"
        )
    }
}
