//! The names of files and directories of skills that are passed over.

use std::ffi::OsStr;

/// Tells whether a file or directory of this name is neither listed nor read.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || is_made_by_tools(name.as_ref())
}

/// Tells whether `name` is the name of a directory that tools fill and nobody reads.
pub(crate) fn is_made_by_tools(name: &OsStr) -> bool {
    is_repository(name) || name == "node_modules" || name == "__pycache__"
}

/// Tells whether `name` is git's directory, which is not a part of the skill, and may hold secrets:
/// addresses with passwords, and deleted files. Some file systems ignore case.
pub(crate) fn is_repository(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}
