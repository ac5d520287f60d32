//! A library and the process it runs in, as the host sees them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use repertoire_plugin::{Host, ToolOutput, ToolsetDescription};
use serde_json::Value;

use super::call::{Cause, Death, End, locked};
use super::error::{WorkerError, words};
use super::limits::{HostProgram, Limits};
use super::process::Process;
use super::protocol::{CallId, Refusal, ToChild};
use super::wait::{TICK, Wait};
use crate::sandbox::SandboxLevel;

/// The number of crashes within [`CRASH_WINDOW`] that disables a library.
const MAX_CRASHES: usize = 3;
const CRASH_WINDOW: Duration = Duration::from_secs(60);
/// The time that a dropped worker waits for the end of its process.
const FAREWELL: Duration = Duration::from_secs(1);

/// A library in a process of its own. It starts its child at the first call, keeps it warm, and
/// starts it again after a crash. Any number of threads can call at once; the child runs 15 calls
/// at a time, more wait.
pub(crate) struct Worker {
    pub(super) program: HostProgram,
    pub(super) library: PathBuf,
    pub(super) shown_as: PathBuf,
    pub(super) skill_dir: PathBuf,
    pub(super) limits: Limits,
    inner: Mutex<Inner>,
    started: Condvar,
}

#[derive(Default)]
struct Inner {
    current: Option<Arc<Running>>,
    /// A thread starts a process just now.
    starting: bool,
    crashes: VecDeque<Instant>,
    last: Option<Arc<Death>>,
    disabled: bool,
}

/// A child process, and the toolsets made in it.
struct Running {
    process: Arc<Process>,
    sandbox: OnceLock<SandboxLevel>,
    toolsets: Mutex<Vec<Arc<Instance>>>,
}

/// A toolset in a child; made once, by the first thread that needs it.
struct Instance {
    number: u32,
    class: String,
    config: Value,
    making: Mutex<()>,
    description: OnceLock<ToolsetDescription>,
}

/// The state of a library's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// It was not started, or ended for want of calls.
    Idle,
    /// It runs.
    Running {
        /// The id of the process.
        pid: u32,
        /// The level of its sandbox; `None` while the library is still being opened.
        sandbox: Option<SandboxLevel>,
    },
    /// It ended; the next call starts another.
    Crashed {
        /// The signal or the exit code.
        how: String,
        /// The end of its standard error.
        last_words: String,
        /// Crashes within the last minute.
        crashes: usize,
    },
    /// It crashed too often and is not started again until the library is rebuilt.
    Disabled {
        /// The signal or the exit code of the last crash.
        how: String,
        /// The end of its standard error.
        last_words: String,
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

    /// The reason why it does not run, in one line; `None` if nothing is wrong with it.
    pub fn reason(&self) -> Option<String> {
        let (how, last_words) = match self {
            WorkerState::Idle | WorkerState::Running { .. } => return None,
            WorkerState::Crashed { how, last_words, .. }
            | WorkerState::Disabled { how, last_words } => (how, last_words),
        };
        Some(format!("{how}{}", words(last_words)))
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("shown_as", &self.shown_as).finish_non_exhaustive()
    }
}

impl Worker {
    /// A worker for the private copy `library` of the author's file `shown_as`. Starts nothing.
    pub(crate) fn new(
        program: HostProgram,
        library: PathBuf,
        shown_as: PathBuf,
        skill_dir: PathBuf,
        limits: Limits,
    ) -> Self {
        let (inner, started) = (Mutex::default(), Condvar::new());
        Self { program, library, shown_as, skill_dir, limits, inner, started }
    }

    /// The tools of a class.
    pub(crate) fn describe(
        &self,
        class: &str,
        config: &Value,
    ) -> Result<ToolsetDescription, WorkerError> {
        /// Waits as long as the limits say.
        struct Patient;
        impl Host for Patient {}
        loop {
            let running = self.running(&Patient)?;
            let Some(instance) = self.instance(&running, class, config, &Patient)? else {
                continue;
            };
            let description = instance.description.get().cloned();
            return description.ok_or_else(|| self.confused(&running));
        }
    }

    /// Calls a tool with the JSON text of its arguments, and waits for its end.
    ///
    /// Methods of `host` run on this thread; a panic in one counts as a cancellation, or as a
    /// failed request. While `host` answers a request, neither deadline nor cancellation is seen.
    pub(crate) fn call(
        &self,
        class: &str,
        config: &Value,
        tool: &str,
        arguments: &str,
        host: &dyn Host,
    ) -> Result<ToolOutput, WorkerError> {
        loop {
            let running = self.running(host)?;
            let Some(instance) = self.instance(&running, class, config, host)? else { continue };
            let end = self.exchange(&running, host, |id, millis| ToChild::Call {
                id,
                instance: instance.number,
                tool: Cow::Borrowed(tool),
                arguments: Cow::Borrowed(arguments),
                millis,
            })?;
            return match end {
                Some(End::Done(output)) => Ok(output),
                Some(_) => Err(self.confused(&running)),
                None => continue,
            };
        }
    }

    /// The state of the process.
    pub(crate) fn state(&self) -> WorkerState {
        let mut inner = locked(&self.inner);
        inner.settle();
        if let Some(running) = &inner.current {
            let (pid, sandbox) = (running.process.pid(), running.sandbox.get().copied());
            return WorkerState::Running { pid, sandbox };
        }
        let Some(death) = &inner.last else { return WorkerState::Idle };
        let (how, last_words) = (death.how.clone(), death.last_words.clone());
        if inner.disabled {
            return WorkerState::Disabled { how, last_words };
        }
        WorkerState::Crashed { how, last_words, crashes: inner.crashes.len() }
    }

    /// Forgets the crashes, and gives the next call a new process. Calls in flight end in the old
    /// one.
    pub(crate) fn reset(&self) {
        let mut inner = locked(&self.inner);
        let old = inner.current.take();
        inner.crashes.clear();
        inner.last = None;
        inner.disabled = false;
        drop(inner);
        if let Some(old) = old {
            old.process.retire();
        }
    }

    /// The process, started if there is none.
    fn running(&self, host: &dyn Host) -> Result<Arc<Running>, WorkerError> {
        let wait = Wait::new(self, host);
        loop {
            let mut inner = locked(&self.inner);
            inner.settle();
            if inner.disabled {
                return Err(self.disabled(&inner));
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
            // The host's methods run without the lock.
            wait.check()?;
        }
        // Even a panic must let others start.
        let _starting = Starting(self);
        self.start(host)
    }

    fn start(&self, host: &dyn Host) -> Result<Arc<Running>, WorkerError> {
        let (file, program) = (self.shown_as.clone(), self.program.program.clone());
        let started = Process::start(
            &self.program,
            &self.library,
            &self.shown_as,
            &self.skill_dir,
            &self.limits,
        );
        let (process, slot) = started.map_err(|why| WorkerError::Spawn { file, program, why })?;
        let running =
            Arc::new(Running { process, sandbox: OnceLock::new(), toolsets: Mutex::default() });
        locked(&self.inner).current = Some(Arc::clone(&running));
        let end = Wait::new(self, host).end(&running.process, 0, &slot);
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
        host: &dyn Host,
    ) -> Result<Option<Arc<Instance>>, WorkerError> {
        let instance = running.instance(class, config);
        if instance.description.get().is_some() {
            return Ok(Some(instance));
        }
        let making = locked(&instance.making);
        if instance.description.get().is_none() {
            let end = self.exchange(running, host, |id, millis| ToChild::Create {
                id,
                instance: instance.number,
                class: Cow::Borrowed(class),
                config: Cow::Borrowed(config),
                millis,
            });
            let end = end.map_err(|error| match error {
                WorkerError::Failed { code, message } => WorkerError::Create { code, message },
                error => error,
            })?;
            match end {
                Some(End::Created(description)) => {
                    let _ = instance.description.set(description);
                }
                Some(_) => return Err(self.confused(running)),
                None => return Ok(None),
            }
        }
        drop(making);
        Ok(Some(instance))
    }

    /// Sends a call and waits for its end; `None` if the process takes no more calls.
    fn exchange<'a>(
        &self,
        running: &Running,
        host: &dyn Host,
        message: impl FnOnce(CallId, u64) -> ToChild<'a>,
    ) -> Result<Option<End>, WorkerError> {
        let wait = Wait::new(self, host);
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

    /// Counts a crash, and turns it into the error of the call.
    fn settled(&self, end: Result<End, WorkerError>) -> Result<End, WorkerError> {
        match end {
            Ok(End::Died(death)) => {
                let mut inner = locked(&self.inner);
                inner.settle();
                drop(inner);
                Err(self.died(&death))
            }
            Ok(End::Failed(failure)) => Err(WorkerError::Failed {
                code: repertoire_plugin::ErrorCode::from_number(failure.code),
                message: failure.message,
            }),
            end => end,
        }
    }

    fn died(&self, death: &Death) -> WorkerError {
        let file = self.shown_as.clone();
        let how = match &death.cause {
            Cause::Crash => death.how.clone(),
            Cause::Protocol(message) => return self.protocol(message.as_str()),
            Cause::Call { reason, .. } => (*reason).to_owned(),
            Cause::Closed => "its process was ended".to_owned(),
        };
        WorkerError::Crashed { file, how, last_words: death.last_words.clone() }
    }

    fn disabled(&self, inner: &Inner) -> WorkerError {
        let (how, last_words) = inner
            .last
            .as_ref()
            .map(|death| (death.how.clone(), death.last_words.clone()))
            .unwrap_or_default();
        let (file, crashes) = (self.shown_as.clone(), MAX_CRASHES);
        WorkerError::Disabled { file, crashes, how, last_words }
    }

    /// The error for an answer that does not fit the request.
    fn confused(&self, running: &Running) -> WorkerError {
        let message = "it answers something else than what was asked";
        running.process.kill(Cause::Protocol(message.to_owned()));
        self.protocol(message)
    }

    fn protocol(&self, message: impl Into<String>) -> WorkerError {
        WorkerError::Protocol { file: self.shown_as.clone(), message: message.into() }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = inner.current.take() {
            running.process.close(FAREWELL);
        }
    }
}

/// A guard held while a thread starts a process.
struct Starting<'a>(&'a Worker);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        locked(&self.0.inner).starting = false;
        self.0.started.notify_all();
    }
}

impl Inner {
    /// Takes note of the end of the process.
    fn settle(&mut self) {
        let death = self.current.as_ref().and_then(|running| running.process.death());
        let Some(death) = death else { return };
        self.current = None;
        self.last = None;
        if matches!(death.cause, Cause::Crash | Cause::Protocol(_)) {
            self.crashes.retain(|at| death.at.saturating_duration_since(*at) < CRASH_WINDOW);
            self.crashes.push_back(death.at);
            self.disabled = self.crashes.len() >= MAX_CRASHES;
            self.last = Some(death);
        }
    }
}

impl Running {
    /// The toolset of a class and a configuration, made or not.
    fn instance(&self, class: &str, config: &Value) -> Arc<Instance> {
        let mut toolsets = locked(&self.toolsets);
        let known = toolsets.iter().find(|known| known.class == class && known.config == *config);
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let instance = Arc::new(Instance {
            number: toolsets.len() as u32,
            class: class.to_owned(),
            config: config.clone(),
            making: Mutex::default(),
            description: OnceLock::new(),
        });
        toolsets.push(Arc::clone(&instance));
        instance
    }
}
