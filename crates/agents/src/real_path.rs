//! Paths without links, by which places are compared.

use std::path::{Path, PathBuf};

/// Returns the path without links, or as it is written if nothing is there.
pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
