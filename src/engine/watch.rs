//! Watching: an engine that refreshes itself when its sources change.

use std::sync::PoisonError;

use super::Engine;
use crate::catalog::{WatchOptions, Watching};
use crate::error::{Error, ErrorCode};

/// A guard that keeps an engine up to date until it is dropped.
#[derive(Debug)]
#[must_use = "nothing is watched any more when this is dropped"]
pub struct Watch {
    _watching: Watching,
}

impl Engine {
    /// Starts a thread that calls [`Engine::refresh`] whenever something may have changed. The thread
    /// ends when the guard, or the last clone and view of this engine, is dropped. [`Engine::subscribe`] reports
    /// the changes found. Errors are logged and do not end the thread.
    ///
    /// Fails with `EXECUTION_ERROR` if no thread can be started.
    pub fn watch(&self, options: WatchOptions) -> Result<Watch, Error> {
        let weak = self.whole().downgrade();
        let watching = Watching::start(options, move |show| {
            let Some(engine) = weak.upgrade() else { return false };
            if let Err(error) = engine.refresh() {
                tracing::warn!(%error, "skills could not be refreshed");
            }
            let memory = engine.0.memory.lock().unwrap_or_else(PoisonError::into_inner);
            show(memory.inputs());
            true
        });
        let watching = watching.map_err(|error| {
            let message = format!("skills cannot be watched: {error}");
            let help = "call `refresh` from time to time instead";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        })?;
        Ok(Watch { _watching: watching })
    }
}
