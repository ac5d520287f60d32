//! A toolset that is being made, and the threads that wait for it.

use std::sync::{Condvar, Mutex, PoisonError};

use serde_json::Value;

use super::error::WorkerError;
use super::running::Ready;
use super::wait::{TICK, Wait};
use crate::locked;

/// A toolset that is being made, shared by all threads that wait for it.
pub(super) struct Opening {
    pub(super) class: String,
    pub(super) config: Value,
    result: Mutex<Option<Result<Ready, WorkerError>>>,
    ended: Condvar,
}

impl Opening {
    pub(super) fn new(class: &str, config: &Value) -> Opening {
        let (class, config) = (class.to_owned(), config.clone());
        Opening { class, config, result: Mutex::default(), ended: Condvar::new() }
    }

    /// Waits for the toolset as long as the host does.
    pub(super) fn wait(&self, wait: &Wait<'_>) -> Result<Ready, WorkerError> {
        loop {
            let result = locked(&self.result);
            let waited = self.ended.wait_timeout_while(result, TICK, |result| result.is_none());
            let (result, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if let Some(result) = &*result {
                return result.clone();
            }
            // Release the lock before methods of the host run.
            drop(result);
            wait.check_opening()?;
        }
    }

    pub(super) fn end(&self, result: Result<Ready, WorkerError>) {
        *locked(&self.result) = Some(result);
        self.ended.notify_all();
    }
}
