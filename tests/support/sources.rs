//! Finds the source files of this repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the Rust files below `dir`, except build output.
pub(crate) fn rust_files(dir: &Path) -> Vec<PathBuf> {
    if dir.ends_with("target") {
        return Vec::new();
    }
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}
