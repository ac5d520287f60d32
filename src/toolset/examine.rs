//! Problems of a skill's libraries that can be found without running them.

use std::path::Path;

use repertoire_plugin::host::PluginNote;

use super::entry::ToolsetEntry;
use super::error::{no_class, open_error};
use super::library::read;
use crate::error::{Error, ErrorCode};
use crate::trust::check_permissions;

/// The kinds of problems that a library can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is no such file.
    Missing,
    /// Other users can change the file.
    Unsafe,
    /// The file is not a plugin for this system.
    Unusable,
    /// The plugin has no such class.
    NoClass,
}

/// Looks for problems of the library and the class that `entry` refers to. Runs nothing, and does not
/// ask for trust.
pub fn examine(entry: &ToolsetEntry, skill_dir: &Path) -> Result<(), (Fault, Error)> {
    let (path, mut file) = entry.open(skill_dir).map_err(|error| match error.code() {
        ErrorCode::NotFound => (Fault::Missing, error),
        _ => (Fault::Unusable, error),
    })?;
    check_permissions(&path, &file).map_err(|error| (Fault::Unsafe, error))?;
    if entry.is_server() {
        return Ok(());
    }
    let unusable = |error| (Fault::Unusable, error);
    let bytes = read(&mut file, &path).map_err(unusable)?;
    let note = PluginNote::parse(&bytes, &path).and_then(|note| note.check(&path).map(|()| note));
    let note = note.map_err(|error| unusable(open_error(error)))?;
    if note.classes.iter().any(|known| known == entry.class()) {
        return Ok(());
    }
    Err((Fault::NoClass, no_class(&path, entry.class(), &note.classes)))
}
