//! An opened plugin.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{CreateError, OpenError, PluginNote, Toolset};
use crate::abi::host::Classes;

/// A plugin that is open in this process. It is never unloaded, not even when this is dropped:
/// threads and thread-locals of the plugin may outlive every handle.
pub struct Library {
    path: PathBuf,
    note: PluginNote,
    classes: Classes,
}

/// Options for opening a library.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The note, if it was read before; otherwise the file is read and checked first.
    pub note: Option<PluginNote>,
    /// Opens a plugin whose panics abort. Only a process that may die should.
    pub allow_panic_abort: bool,
    /// The file that errors name, and [`Library::path`] gives, if a copy of it is opened.
    pub shown_as: Option<PathBuf>,
}

impl Library {
    /// Opens the plugin at `path`, after all checks that are possible without running it.
    ///
    /// Opening runs code of the library. A damaged library that passes the checks, and a plugin
    /// that crashes, end the process: open only trusted files, or open them in a child.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path, OpenOptions::default())
    }

    /// The same, with options.
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Read { path: path.as_ref().to_owned(), source };
        // An absolute path: the loader searches for a bare name elsewhere.
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

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The note of the plugin.
    pub fn note(&self) -> &PluginNote {
        &self.note
    }

    /// The names of the classes, in the order of the export.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.classes.names()
    }

    /// Makes a toolset. A class can be made many times, with different configurations.
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
