//! A library that runs in this process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use repertoire_plugin::Host;
use repertoire_plugin::host::{self, OpenOptions, PluginNote};
use repertoire_worker::locked;
use repertoire_worker::schema::Schemas;
use repertoire_worker::sizes::{TOO_LARGE, check_size};
use serde_json::Value;

use super::error::{create_error, open_error};
use super::shared_init::SharedInit;
use crate::error::{Error, ErrorCode};

/// A library that runs in this process, and its toolsets by class.
#[derive(Debug)]
pub(super) struct InProcess {
    copy: PathBuf,
    shown_as: PathBuf,
    note: PluginNote,
    library: SharedInit<Arc<host::Library>>,
    toolsets: Mutex<HashMap<String, Arc<SharedInit<Arc<Made>>>>>,
}

/// A toolset in this process, and the schemas of its tools.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) toolset: host::Toolset,
    pub(super) schemas: Schemas,
}

impl InProcess {
    /// Creates the library whose private copy is `copy`, without opening it.
    pub(super) fn new(copy: PathBuf, shown_as: PathBuf, note: PluginNote) -> InProcess {
        let (library, toolsets) = (SharedInit::default(), Mutex::default());
        InProcess { copy, shown_as, note, library, toolsets }
    }

    /// Returns the toolset of a class. If it does not exist, it is made on this thread, unless another
    /// thread is making it.
    pub(super) fn toolset(
        &self,
        class: &str,
        config: &Value,
        host: &dyn Host,
    ) -> Result<Arc<Made>, Error> {
        let making = {
            let mut toolsets = locked(&self.toolsets);
            Arc::clone(toolsets.entry(class.to_owned()).or_default())
        };
        let may_wait = || self.may_wait(host);
        making.get_or_init(may_wait, || {
            let library = self.library.get_or_init(may_wait, || self.open())?;
            let toolset = library.create(class, config).map_err(create_error)?;
            let unusable = |why: String, help| {
                let message = format!("{}: {why}", self.shown_as.display());
                Error::new(ErrorCode::ExecutionError, message, help)
            };
            check_size(toolset.describe()).map_err(|why| unusable(why, TOO_LARGE))?;
            let schemas = Schemas::of(toolset.describe())
                .map_err(|why| unusable(why, "fix the schema in the plugin"))?;
            Ok(Arc::new(Made { toolset, schemas }))
        })
    }

    fn open(&self) -> Result<Arc<host::Library>, Error> {
        let (note, shown_as) = (Some(self.note.clone()), Some(self.shown_as.clone()));
        let options = OpenOptions { note, shown_as, ..OpenOptions::default() };
        host::Library::open_with(&self.copy, options).map(Arc::new).map_err(open_error)
    }

    /// Fails if the host no longer waits for another thread that opens the library.
    fn may_wait(&self, host: &dyn Host) -> Result<(), Error> {
        let file = self.shown_as.display();
        if host.is_cancelled() {
            let message = format!("the call to the plugin `{file}` was cancelled");
            return Err(Error::new(ErrorCode::Cancelled, message, ""));
        }
        if host.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
            let message = format!("the plugin `{file}` is still being opened");
            let help = "try again in a moment, or wait longer";
            return Err(Error::new(ErrorCode::Timeout, message, help));
        }
        Ok(())
    }
}
