//! An opened plugin.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{CreateError, OpenError, PluginNote, Toolset};
use crate::abi::host::Classes;

/// A plugin that is open in this process. Dropping the handle does not unload the plugin: its threads
/// and thread-locals may outlive every handle.
pub struct Library {
    path: PathBuf,
    note: PluginNote,
    classes: Classes,
}

/// Options for opening a library.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The note, if the caller has read it already; otherwise `open_with` reads and checks the file
    /// first.
    pub note: Option<PluginNote>,
    /// Also opens a plugin whose panics abort. Set this only in a process that may die.
    pub allow_panic_abort: bool,
    /// The path that errors and [`Library::path`] give, when the opened file is a copy of another file.
    pub shown_as: Option<PathBuf>,
}

impl Library {
    /// Opens the plugin at `path`, after all checks that are possible without running it.
    ///
    /// Opening runs code of the library. A damaged library that passes the checks can end the process,
    /// and so can a plugin that crashes: open only trusted files, or open them in a child process.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path, OpenOptions::default())
    }

    /// Opens the plugin at `path` with options; see [`Library::open`].
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Read { path: path.as_ref().to_owned(), source };
        // Use an absolute path, because the loader would search for a bare name elsewhere.
        let absolute = std::path::absolute(path.as_ref()).map_err(failed)?;
        let shown = options.shown_as.as_deref().unwrap_or(&absolute);
        let note = match options.note {
            Some(note) => note,
            None => PluginNote::read_as(&absolute, shown)?,
        };
        note.check(shown)?;
        if !note.unwinds() && !options.allow_panic_abort {
            return Err(OpenError::PanicAbort { path: shown.to_owned() });
        }
        let allow_abort = options.allow_panic_abort;
        let classes = Classes::load(&absolute, shown, &note.classes, allow_abort)?;
        Ok(Self { path: shown.to_owned(), note, classes })
    }

    /// Returns the path of the file, or [`OpenOptions::shown_as`] if that was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the note of the plugin.
    pub fn note(&self) -> &PluginNote {
        &self.note
    }

    /// Returns the names of the classes, in the order of the export.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.classes.names()
    }

    /// Creates a toolset. A class can be instantiated many times, with different configurations.
    pub fn create(&self, class: &str, config: &Value) -> Result<Toolset, CreateError> {
        let made = self.classes.create(class, config).ok_or_else(|| CreateError::NoClass {
            path: self.path.clone(),
            class: class.to_owned(),
            have: self.classes().map(str::to_owned).collect(),
        })?;
        Toolset::new(made, class, Some(&self.path))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("path", &self.path).finish_non_exhaustive()
    }
}
