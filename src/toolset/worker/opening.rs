//! The opening of a library and the making of its toolsets, on a thread of its own.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use repertoire_plugin::Host;
use serde_json::Value;

use super::call::{End, locked};
use super::error::WorkerError;
use super::process::Process;
use super::protocol::{Refusal, ToChild};
use super::wait::{TICK, Wait};
use super::worker::{FAREWELL, Inner, Instance, Ready, Running, Shared};

/// A toolset that is being made, for all who wait for it.
pub(super) struct Opening {
    class: String,
    config: Value,
    result: Mutex<Option<Result<Ready, WorkerError>>>,
    ended: Condvar,
}

impl Opening {
    /// Waits for the toolset as long as the host does.
    fn wait(&self, wait: &Wait<'_>) -> Result<Ready, WorkerError> {
        loop {
            let result = locked(&self.result);
            let waited = self.ended.wait_timeout_while(result, TICK, |result| result.is_none());
            let (result, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if let Some(result) = &*result {
                return result.clone();
            }
            // The host's methods run without the lock.
            drop(result);
            wait.check_opening()?;
        }
    }

    fn end(&self, result: Result<Ready, WorkerError>) {
        *locked(&self.result) = Some(result);
        self.ended.notify_all();
    }
}

impl Shared {
    /// The toolset of a class and a configuration. If it is not made yet, it is made on another
    /// thread, and waited for as long as `host` does.
    pub(super) fn ready(
        self: &Arc<Self>,
        class: &str,
        config: &Value,
        host: &dyn Host,
    ) -> Result<Ready, WorkerError> {
        if let Some(ready) = self.look(class, config)? {
            return Ok(ready);
        }
        let wait = Wait::for_others(self, host);
        wait.check_opening()?;
        self.opening(class, config)?.wait(&wait)
    }

    /// The toolset if it is made; an error if the library is disabled.
    fn look(&self, class: &str, config: &Value) -> Result<Option<Ready>, WorkerError> {
        let mut inner = locked(&self.inner);
        inner.settle(self.limits.retry);
        match self.refusal(&inner) {
            Some(refusal) => Err(refusal),
            None => Ok(inner.ready(class, config)),
        }
    }

    /// The making of a toolset, begun if nobody has.
    fn opening(self: &Arc<Self>, class: &str, config: &Value) -> Result<Arc<Opening>, WorkerError> {
        let mut inner = locked(&self.inner);
        let is_it = |known: &&Arc<Opening>| known.class == class && known.config == *config;
        if let Some(known) = inner.openings.iter().find(is_it) {
            return Ok(Arc::clone(known));
        }
        let opening = Arc::new(Opening {
            class: class.to_owned(),
            config: config.clone(),
            result: Mutex::default(),
            ended: Condvar::new(),
        });
        let (shared, begun) = (Arc::clone(self), Arc::clone(&opening));
        let run = move || shared.open(&begun);
        let builder = thread::Builder::new().name("toolset-opening".to_owned());
        builder.spawn(run).map_err(|error| self.spawn_error(error.to_string()))?;
        inner.openings.push(Arc::clone(&opening));
        Ok(opening)
    }

    fn open(&self, opening: &Arc<Opening>) {
        let make = AssertUnwindSafe(|| self.make(&opening.class, &opening.config));
        let result =
            catch_unwind(make).unwrap_or_else(|_| Err(self.spawn_error("it panicked".to_owned())));
        locked(&self.inner).openings.retain(|known| !Arc::ptr_eq(known, opening));
        opening.end(result);
    }

    fn make(&self, class: &str, config: &Value) -> Result<Ready, WorkerError> {
        loop {
            let running = self.running()?;
            if let Some(instance) = self.instance(&running, class, config)? {
                return Ok(Ready { running, instance });
            }
        }
    }

    /// The process, started if there is none.
    fn running(&self) -> Result<Arc<Running>, WorkerError> {
        loop {
            let mut inner = locked(&self.inner);
            inner.settle(self.limits.retry);
            if inner.closed {
                return Err(self.spawn_error("it is no longer needed".to_owned()));
            }
            if let Some(refusal) = self.refusal(&inner) {
                return Err(refusal);
            }
            if inner.starting {
                let waited = self.started.wait_timeout(inner, TICK);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            } else if let Some(running) = inner.current.clone() {
                if !running.process.is_over() {
                    return Ok(running);
                }
                drop(inner);
                running.process.wait_buried(TICK);
            } else {
                inner.starting = true;
                break;
            }
        }
        // Even a panic must let others start.
        let _starting = Starting(self);
        self.start()
    }

    fn start(&self) -> Result<Arc<Running>, WorkerError> {
        let started = Process::start(
            &self.program,
            &self.code,
            &self.shown_as,
            &self.skill_dir,
            &self.limits,
        );
        let (process, slot) = started.map_err(|why| self.spawn_error(why))?;
        let running = Arc::new(Running::new(process));
        let mut inner = locked(&self.inner);
        let Inner { closed, current, .. } = &mut *inner;
        if !*closed {
            *current = Some(Arc::clone(&running));
        }
        let is_closed = *closed;
        drop(inner);
        if is_closed {
            running.process.close(FAREWELL);
        }
        let end = Wait::for_library(self, "open".to_owned()).end(&running.process, 0, &slot);
        running.process.remove(0);
        let error = match self.settled(end) {
            Ok(End::Ready(sandbox)) => {
                tracing::debug!(plugin = %self.shown_as.display(), ?sandbox, "started a plugin");
                let _ = running.sandbox.set(sandbox);
                return Ok(running);
            }
            Ok(End::LoadFailed(Refusal { message, help })) => WorkerError::Load { message, help },
            Ok(_) => self.confused(&running),
            Err(error) => error,
        };
        running.process.close(FAREWELL);
        Err(error)
    }

    /// The toolset of a class and a configuration, made if it is not there; `None` if the process
    /// takes no more calls.
    fn instance(
        &self,
        running: &Running,
        class: &str,
        config: &Value,
    ) -> Result<Option<Arc<Instance>>, WorkerError> {
        let instance = running.instance(class, config);
        if instance.description.get().is_some() {
            return Ok(Some(instance));
        }
        let wait = Wait::for_library(self, format!("make the toolset `{class}`"));
        let end = self.exchange(running, &wait, |id, millis| ToChild::Create {
            id,
            instance: instance.number,
            class: Cow::Borrowed(class),
            config: Cow::Borrowed(config),
            millis,
        });
        let end = end.map_err(|error| match error {
            WorkerError::Failed { code, message, help } => {
                WorkerError::Create { code, message, help }
            }
            error => error,
        })?;
        match end {
            Some(End::Created(description)) => {
                let _ = instance.description.set(description);
                Ok(Some(instance))
            }
            Some(_) => Err(self.confused(running)),
            None => Ok(None),
        }
    }

    fn spawn_error(&self, why: String) -> WorkerError {
        let (file, program) = (self.shown_as.clone(), self.program.program.clone());
        WorkerError::Spawn { file, program, why }
    }
}

/// A guard held while a thread starts a process.
struct Starting<'a>(&'a Shared);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        locked(&self.0.inner).starting = false;
        self.0.started.notify_all();
    }
}
