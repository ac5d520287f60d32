//! The state of a library that its callers share with the threads that open it. Starts the child
//! process, makes toolsets on separate threads, exchanges messages, and counts failures.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::Host;
use serde_json::Value;

use super::call::{Cause, Death, End};
use super::code::Code;
use super::error::WorkerError;
use super::health::Health;
use super::limits::{HostProgram, Limits};
use super::opening::Opening;
use super::process::Process;
use super::protocol::{CallId, Refusal, ToChild};
use super::running::{Instance, Ready, Running};
use super::wait::{TICK, Wait};
use crate::locked;

/// The time that a dropped worker waits for the end of its process.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The state of a worker, shared with the threads that open its library.
pub(super) struct Shared {
    pub(super) program: HostProgram,
    pub(super) code: Code,
    pub(super) shown_as: PathBuf,
    pub(super) skill_dir: PathBuf,
    pub(super) limits: Limits,
    pub(super) inner: Mutex<Inner>,
    /// Notified when a process was started, or could not be started.
    pub(super) started: Condvar,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) current: Option<Arc<Running>>,
    /// True while a thread is starting a process.
    pub(super) starting: bool,
    /// The toolsets that are being made.
    pub(super) openings: Vec<Arc<Opening>>,
    pub(super) health: Health,
    /// True once the worker was dropped: nothing more is started.
    pub(super) closed: bool,
}

impl Shared {
    /// Returns the toolset of a class and a configuration. If it is not made yet, another thread makes
    /// it, and this one waits as long as `host` does.
    pub(super) fn ready(
        self: &Arc<Self>,
        class: &str,
        config: &Value,
        host: &dyn Host,
    ) -> Result<Ready, WorkerError> {
        if let Some(ready) = self.look(class, config)? {
            return Ok(ready);
        }
        let wait = Wait::for_others(&self.shown_as, &self.limits, host);
        wait.check_opening()?;
        self.opening(class, config)?.wait(&wait)
    }

    /// Returns the toolset if it is made already. Fails if the library is disabled.
    fn look(&self, class: &str, config: &Value) -> Result<Option<Ready>, WorkerError> {
        let mut inner = locked(&self.inner);
        inner.settle(self.limits.retry);
        match self.refusal(&inner) {
            Some(refusal) => Err(refusal),
            None => Ok(inner.ready(class, config)),
        }
    }

    /// Returns the toolset that is being made, or starts a thread to make it.
    fn opening(self: &Arc<Self>, class: &str, config: &Value) -> Result<Arc<Opening>, WorkerError> {
        let mut inner = locked(&self.inner);
        let is_it = |known: &&Arc<Opening>| known.class == class && known.config == *config;
        if let Some(known) = inner.openings.iter().find(is_it) {
            return Ok(Arc::clone(known));
        }
        let opening = Arc::new(Opening::new(class, config));
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

    /// Returns the process, and starts it if there is none.
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
                running.process.wait_until_gone(TICK);
            } else {
                inner.starting = true;
                break;
            }
        }
        // The guard lets other threads start a process, even after a panic in this one.
        let _starting = Starting(self);
        self.start()
    }

    fn start(&self) -> Result<Arc<Running>, WorkerError> {
        let started = Process::start(
            &self.program, &self.code, &self.shown_as, &self.skill_dir, &self.limits,
        );
        let (process, slot) = started.map_err(|why| self.spawn_error(why))?;
        let running = Arc::new(Running::new(process));
        let mut inner = locked(&self.inner);
        let is_closed = inner.closed;
        if !is_closed {
            inner.current = Some(Arc::clone(&running));
        }
        drop(inner);
        if is_closed {
            running.process.close(CLOSE_TIMEOUT);
        }
        let wait = Wait::for_library(&self.shown_as, &self.limits, "open".to_owned());
        let end = wait.end(&running.process, 0, &slot);
        running.process.remove(0);
        let error = match self.settled(end) {
            Ok(End::Ready(sandbox)) => {
                tracing::debug!(plugin = %self.shown_as.display(), ?sandbox, "started a plugin");
                let _ = running.sandbox.set(sandbox);
                return Ok(running);
            }
            Ok(End::LoadFailed(Refusal { message, help })) => WorkerError::Load { message, help },
            Ok(_) => self.unexpected_reply(&running),
            Err(error) => error,
        };
        running.process.close(CLOSE_TIMEOUT);
        Err(error)
    }

    /// Returns the toolset of a class and a configuration, and makes it if needed. Returns `None` if
    /// the process takes no more calls.
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
        let doing = match self.code {
            Code::Library(_) => format!("make the toolset `{class}`"),
            Code::Server { .. } => "answer as an MCP server".to_owned(),
        };
        let wait = Wait::for_library(&self.shown_as, &self.limits, doing);
        let end = self.exchange(running, &wait, |id, millis| ToChild::Create {
            id,
            instance: instance.number,
            class: Cow::Borrowed(class),
            config: Cow::Borrowed(config),
            millis,
        });
        let end = end.map_err(|error| match error {
            WorkerError::Failed { code, message, help } => {
                let message = match self.code {
                    Code::Library(_) => message,
                    Code::Server { .. } => {
                        format!("the MCP server {}: {message}", self.shown_as.display())
                    }
                };
                WorkerError::Create { code, message, help }
            }
            error => error,
        })?;
        match end {
            Some(End::Created(description)) => {
                let _ = instance.description.set(description);
                Ok(Some(instance))
            }
            Some(_) => Err(self.unexpected_reply(running)),
            None => Ok(None),
        }
    }

    fn spawn_error(&self, why: String) -> WorkerError {
        let (file, program) = (self.shown_as.clone(), self.program.program.clone());
        WorkerError::Spawn { file, program, why }
    }

    /// Sends a call and waits for its end. Returns `None` if the process takes no more calls.
    pub(super) fn exchange<'a>(
        &self,
        running: &Running,
        wait: &Wait<'_>,
        message: impl FnOnce(CallId, u64) -> ToChild<'a>,
    ) -> Result<Option<End>, WorkerError> {
        wait.check()?;
        let process = &running.process;
        let Some((id, slot)) = process.register() else { return Ok(None) };
        let end = match process.send(&message(id, wait.millis())) {
            Ok(()) => wait.end(process, id, &slot),
            Err(message) => Err(self.protocol(message)),
        };
        process.remove(id);
        self.settled(end).map(Some)
    }

    /// Counts the failure if the process failed, and turns failures into the error of the call.
    pub(super) fn settled(&self, end: Result<End, WorkerError>) -> Result<End, WorkerError> {
        if matches!(end, Ok(End::Died(_)) | Err(WorkerError::Stuck { .. })) {
            locked(&self.inner).settle(self.limits.retry);
        }
        match end {
            Ok(End::Died(death)) => Err(self.died(&death)),
            Ok(End::Failed(failure)) => Err(WorkerError::Failed {
                code: repertoire_plugin::ErrorCode::from_number(failure.code),
                message: failure.message,
                help: failure.help,
            }),
            end => end,
        }
    }

    fn died(&self, death: &Death) -> WorkerError {
        let file = self.shown_as.clone();
        let how = match &death.cause {
            Cause::Crash => death.how.clone(),
            Cause::Protocol(message) => return self.protocol(message.as_str()),
            Cause::Stuck(why) | Cause::Exceeded(why) => format!("its process was ended: {why}"),
            Cause::Call { reason, .. } => (*reason).to_owned(),
            Cause::Closed => "its process was ended".to_owned(),
        };
        WorkerError::Crashed { file, how, last_output: death.last_output.clone() }
    }

    /// The error for calls of a library that is disabled; `None` if it is not.
    pub(super) fn refusal(&self, inner: &Inner) -> Option<WorkerError> {
        let retry_in = inner.health.time_until_retry(Instant::now())?;
        let (file, why) = (self.shown_as.clone(), inner.health.why());
        Some(WorkerError::Disabled { file, why, retry_in })
    }

    pub(super) fn note_success(&self) {
        let mut inner = locked(&self.inner);
        if inner.health.is_recovering() {
            inner.health.note_success();
        }
    }

    /// Kills the process, and returns the error for a reply that does not fit the request.
    pub(super) fn unexpected_reply(&self, running: &Running) -> WorkerError {
        let message = "unexpected reply from the plugin's process";
        running.process.kill(Cause::Protocol(message.to_owned()));
        self.protocol(message)
    }

    fn protocol(&self, message: impl Into<String>) -> WorkerError {
        WorkerError::Protocol { file: self.shown_as.clone(), message: message.into() }
    }
}

impl Inner {
    /// If the process has ended, counts its failure. `pause` is the first pause of a disabled library.
    pub(super) fn settle(&mut self, pause: Duration) {
        let death = self.current.as_ref().and_then(|running| running.process.death());
        if let Some(death) = death {
            self.current = None;
            self.health.note(&death, pause);
        }
    }

    /// The toolset of a class and a configuration, if it is made in the running process.
    pub(super) fn ready(&self, class: &str, config: &Value) -> Option<Ready> {
        let running = self.current.as_ref().filter(|running| !running.process.is_over())?;
        let instance = running.instance(class, config);
        let is_made = instance.description.get().is_some();
        is_made.then(|| Ready { running: Arc::clone(running), instance })
    }
}

/// A guard that is held while a thread starts a process.
struct Starting<'a>(&'a Shared);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        locked(&self.0.inner).starting = false;
        self.0.started.notify_all();
    }
}
