//! The host's side of a library that runs in a child process.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use repertoire_plugin::{Host, ToolOutput, ToolsetDescription};
use repertoire_system::sandbox::SandboxLevel;
use serde_json::Value;

use super::call::End;
use super::code::Code;
use super::error::{WorkerError, words};
use super::health::Health;
use super::limits::{HostProgram, Limits};
use super::protocol::ToChild;
use super::running::Ready;
use super::shared::{CLOSE_TIMEOUT, Shared};
use super::wait::Wait;
use crate::locked;

/// A library that runs in a process of its own. The child process is started at the first call, kept
/// warm, and replaced after a crash. Any number of threads can call at once; the child runs 15 calls at
/// a time, and further calls wait.
///
/// Separate threads (`shared`) start the child and have it open the library and make toolsets, within
/// the time limit for loading. Each caller waits as long as its own host does; one that gives up does
/// not affect the others.
pub struct Worker(Arc<Shared>);

/// The state of a library's process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerState {
    /// The process was not started yet, or was ended because there were no calls.
    Idle,
    /// The process runs.
    Running {
        /// The id of the process.
        pid: u32,
        /// The level of its sandbox; `None` while the library is still being opened.
        sandbox: Option<SandboxLevel>,
    },
    /// The process ended; the next call starts another.
    Crashed {
        /// The signal or the exit code.
        how: String,
        /// The end of its output.
        last_output: String,
        /// The number of crashes within the last minute.
        crashes: usize,
    },
    /// The process crashed too often, or was not ready in time, and is not started for a while.
    Disabled {
        /// The signal or the exit code of the last crash, or the step that was not done in time.
        how: String,
        /// The end of its output.
        last_output: String,
        /// The time until it is tried again. A rebuilt library is tried at once.
        retry_in: Duration,
    },
}

impl WorkerState {
    /// The state in a word: `idle`, `running`, `crashed` or `disabled`.
    pub fn as_str(&self) -> &'static str {
        match self {
            WorkerState::Idle => "idle",
            WorkerState::Running { .. } => "running",
            WorkerState::Crashed { .. } => "crashed",
            WorkerState::Disabled { .. } => "disabled",
        }
    }

    /// The reason why the process does not run, in one line; `None` if nothing is wrong with it.
    pub fn reason(&self) -> Option<String> {
        let (how, last_output) = match self {
            WorkerState::Idle | WorkerState::Running { .. } => return None,
            WorkerState::Crashed { how, last_output, .. }
            | WorkerState::Disabled { how, last_output, .. } => (how, last_output),
        };
        Some(format!("{how}{}", words(last_output)))
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("shown_as", &self.0.shown_as).finish_non_exhaustive()
    }
}

impl Worker {
    /// Creates a worker for `code`, the private copy of the author's file `shown_as`. Starts nothing.
    pub fn new(
        program: HostProgram,
        code: Code,
        shown_as: PathBuf,
        skill_dir: PathBuf,
        limits: Limits,
    ) -> Self {
        let (inner, started) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { program, code, shown_as, skill_dir, limits, inner, started }))
    }

    /// Returns the tools of a class. If the library has to be opened first, waits for it as long as
    /// `host` does.
    pub fn describe(
        &self,
        class: &str,
        config: &Value,
        host: &dyn Host,
    ) -> Result<ToolsetDescription, WorkerError> {
        let Ready { running, instance } = self.0.ready(class, config, host)?;
        let description = instance.description.get().cloned();
        description.ok_or_else(|| self.0.unexpected_reply(&running))
    }

    /// Calls a tool with the JSON text of its arguments, and waits for its end. Fails with `OtherTools`, and
    /// calls nothing, if `accepts` returns false for the description of the toolset.
    ///
    /// Methods of `host` run on this thread. A panic in one counts as a cancellation, or as a failed
    /// request. While `host` answers a request, neither the deadline nor a cancellation is noticed.
    pub fn call(
        &self,
        class: &str,
        config: &Value,
        tool: &str,
        arguments: &str,
        accepts: &dyn Fn(&ToolsetDescription) -> bool,
        host: &dyn Host,
    ) -> Result<ToolOutput, WorkerError> {
        loop {
            let Ready { running, instance } = self.0.ready(class, config, host)?;
            if !instance.description.get().is_some_and(accepts) {
                return Err(WorkerError::OtherTools);
            }
            running.is_called.store(true, Ordering::Relaxed);
            let wait = Wait::for_call(&self.0.shown_as, &self.0.limits, host);
            let end = self.0.exchange(&running, &wait, |id, millis| ToChild::Call {
                id,
                instance: instance.number,
                tool: Cow::Borrowed(tool),
                arguments: Cow::Borrowed(arguments),
                millis,
            })?;
            return match end {
                Some(End::Done(output)) => {
                    self.0.note_success();
                    Ok(output)
                }
                Some(End::Unfit(problems)) => Err(WorkerError::Unfit { problems }),
                Some(_) => Err(self.0.unexpected_reply(&running)),
                None => continue,
            };
        }
    }

    /// The description of a toolset as the running process has it; `None` if it was not made there.
    pub fn made(&self, class: &str, config: &Value) -> Option<ToolsetDescription> {
        let inner = locked(&self.0.inner);
        inner.ready(class, config)?.instance.description.get().cloned()
    }

    /// The state of the process.
    pub fn state(&self) -> WorkerState {
        let mut inner = locked(&self.0.inner);
        inner.settle(self.0.limits.retry);
        let current = inner.current.as_ref();
        if let Some(running) = current.filter(|running| !running.process.is_over()) {
            let (pid, sandbox) = (running.process.pid(), running.sandbox.get().copied());
            return WorkerState::Running { pid, sandbox };
        }
        let Some(death) = &inner.health.last else { return WorkerState::Idle };
        let (how, last_output) = (death.how().to_owned(), death.last_output.clone());
        match inner.health.time_until_retry(Instant::now()) {
            Some(retry_in) => WorkerState::Disabled { how, last_output, retry_in },
            None => WorkerState::Crashed { how, last_output, crashes: inner.health.crashes.len() },
        }
    }

    /// Forgets the failures, and gives the next call a new process. Calls in flight finish in the old
    /// one.
    pub fn reset(&self) {
        let mut inner = locked(&self.0.inner);
        let old = inner.current.take();
        inner.health = Health::default();
        drop(inner);
        if let Some(old) = old {
            old.process.retire();
        }
    }

    /// Forgets the failures of a library that is disabled.
    pub fn enable(&self) {
        let mut inner = locked(&self.0.inner);
        inner.settle(self.0.limits.retry);
        if inner.health.is_recovering() {
            inner.health = Health::default();
        }
    }

    /// Ends a process that only described toolsets: one in which no tool was called.
    pub fn rest(&self) {
        let inner = locked(&self.0.inner);
        let unused = inner.current.as_ref().filter(|running| {
            !running.is_called.load(Ordering::Relaxed) && inner.openings.is_empty()
        });
        if let Some(running) = unused.cloned() {
            drop(inner);
            running.process.retire();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut inner = locked(&self.0.inner);
        inner.closed = true;
        let current = inner.current.take();
        drop(inner);
        if let Some(running) = current {
            running.process.close(CLOSE_TIMEOUT);
        }
    }
}
