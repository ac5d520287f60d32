//! A child process: starts it, reads its messages, kills and reaps it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_system::private_dir::PrivateDir;
use repertoire_system::process::{Group, Measuring, session};
use repertoire_system::sandbox::{Allowed, describe_exit, keep_descriptors};
use rustix::process::Signal;

use super::call::{Cause, Death, End, Event, Slot};
use super::code::Code;
use super::limits::{HostProgram, Limits};
use super::looking::{Looking, interval};
use super::output::Output;
use super::protocol::{CallId, Frames, Load, ToChild, ToHost, frame};
use super::started::Started;
use super::supervised::Supervised;
use crate::locked;

/// The time that a child may leave the socket unread before it is killed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a child may take to end after it closed the socket.
const EXIT_GRACE: Duration = Duration::from_millis(300);
/// The reason why a process ends whose calls leave processes that cannot be ended.
const STAYS: &str = "what a call started goes on starting more";

/// A child process and the calls in it. If it has ended, there is a [`Death`].
pub(super) struct Process {
    group: Group,
    socket: UnixStream,
    writing: Mutex<()>,
    calls: Mutex<Calls>,
    next_id: AtomicU64,
    gone: Condvar,
    measuring: Mutex<Measuring>,
    supervised: Mutex<Supervised>,
}

#[derive(Default)]
struct Calls {
    slots: HashMap<CallId, Arc<Slot>>,
    /// The processes that calls have started.
    started: Started,
    /// The end of the last call.
    used: Option<Instant>,
    /// True if no more calls are taken. The socket closes after the last one.
    closing: bool,
    /// The reason why the host ended the process, if it did.
    cause: Option<Cause>,
    /// True once its process id may belong to another process.
    reaped: bool,
    death: Option<Arc<Death>>,
}

impl Process {
    /// Starts a child, and sends it the code to run. The child's answer to that goes to the slot with
    /// the id 0. The error is the reason why it cannot be started.
    pub(super) fn start(
        program: &HostProgram,
        code: &Code,
        shown_as: &Path,
        skill_dir: &Path,
        limits: &Limits,
    ) -> Result<(Arc<Self>, Arc<Slot>), String> {
        let scratch = PrivateDir::new();
        let scratch = scratch.map_err(|error| format!("no scratch directory: {error}"))?;
        let absolute = |path: &Path| std::path::absolute(path).map_err(|error| error.to_string());
        let skill_dir = absolute(skill_dir)?;
        if !skill_dir.is_dir() {
            return Err(format!("the skill's directory `{}` is not there", skill_dir.display()));
        }
        let load = Load {
            library: absolute(code.path())?.into(),
            shown_as: shown_as.into(),
            skill_dir: skill_dir.clone().into(),
            scratch: scratch.path().into(),
            ..Load::limited(limits)
        };
        let allowed = Allowed { network: load.network.clone(), write: load.writable() };
        let load = frame(&ToChild::Load(Box::new(code.complete(load))))?;
        let (socket, output, mut child) =
            spawn(program, &skill_dir, scratch.path(), limits, shown_as)
                .map_err(|error| error.to_string())?;
        let Some(group) = Group::of(&child) else {
            let _ = child.kill();
            return Err("the system gave it no number".to_owned());
        };
        let slot = Arc::new(Slot::default());
        let calls = Calls {
            slots: HashMap::from([(0, Arc::clone(&slot))]),
            started: Started::new(matches!(code, Code::Server { .. })),
            ..Calls::default()
        };
        let process = Arc::new(Self {
            group,
            socket,
            writing: Mutex::default(),
            calls: Mutex::new(calls),
            next_id: AtomicU64::new(1),
            gone: Condvar::new(),
            measuring: Mutex::new(Measuring::new(limits.totals(scratch.path()))),
            supervised: Mutex::new(Supervised::new(allowed)),
        });
        let reader = Arc::clone(&process);
        // Share the child, so that it can be killed and reaped here if no reader thread can be started.
        let child = Arc::new(Mutex::new((child, Some(scratch))));
        let with_reader = Arc::clone(&child);
        let idle = limits.idle;
        let read = move || {
            reader.read(idle);
            let (child, scratch) = &mut *locked(&with_reader);
            reader.reap(child, &output, scratch.take());
        };
        if let Err(error) = thread::Builder::new().name("toolset-reader".to_owned()).spawn(read) {
            let (child, _) = &mut *locked(&child);
            group.signal(Signal::KILL);
            let _ = child.wait();
            return Err(error.to_string());
        }
        process.write(&load);
        Ok((process, slot))
    }

    pub(super) fn pid(&self) -> u32 {
        self.group.id().as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn death(&self) -> Option<Arc<Death>> {
        locked(&self.calls).death.clone()
    }

    /// Tells whether the process takes no more calls.
    pub(super) fn is_over(&self) -> bool {
        let calls = locked(&self.calls);
        calls.closing || calls.cause.is_some() || calls.death.is_some()
    }

    /// Registers a new call; `None` if the process takes no more calls.
    pub(super) fn register(&self) -> Option<(CallId, Arc<Slot>)> {
        let slot = Arc::new(Slot::default());
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut calls = locked(&self.calls);
        if calls.closing || calls.cause.is_some() || calls.death.is_some() {
            return None;
        }
        if calls.slots.is_empty() {
            calls.started.call_begins();
        }
        calls.slots.insert(id, Arc::clone(&slot));
        Some((id, slot))
    }

    /// Forgets a call. If no other runs, ends the processes that were started since the first of them
    /// began.
    pub(super) fn remove(&self, id: CallId) {
        let mut calls = locked(&self.calls);
        calls.slots.remove(&id);
        calls.used = Some(Instant::now());
        if calls.slots.is_empty() && !calls.reaped && !calls.started.end(self.group) {
            calls.cause.get_or_insert_with(|| Cause::Exceeded(STAYS.to_owned()));
            self.group.signal(Signal::KILL);
        }
        if calls.closing && calls.slots.is_empty() {
            self.hang_up(&mut calls);
        }
    }

    /// Sends a message. The error is the reason why the message cannot be framed.
    pub(super) fn send(&self, message: &ToChild<'_>) -> Result<(), String> {
        let bytes = frame(message)?;
        self.write(&bytes);
        Ok(())
    }

    /// Writes a frame. If that fails, the process is killed, and all its calls fail.
    fn write(&self, bytes: &[u8]) {
        let writing = locked(&self.writing);
        let result = (&self.socket).write_all(bytes);
        drop(writing);
        match result {
            Ok(()) => {}
            // The process is gone; the reader thread finds out how it ended.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => self.kill(Cause::Protocol(format!("it does not listen: {error}"))),
        }
    }

    /// Kills the process and its group. If it is called more than once, the first cause counts.
    pub(super) fn kill(&self, cause: Cause) {
        let mut calls = locked(&self.calls);
        if calls.reaped {
            return;
        }
        calls.cause.get_or_insert(cause);
        self.group.signal(Signal::KILL);
    }

    /// Takes no more calls, and ends the process after the calls in flight.
    pub(super) fn retire(&self) {
        let mut calls = locked(&self.calls);
        calls.closing = true;
        if calls.slots.is_empty() {
            self.hang_up(&mut calls);
        }
    }

    /// Ends the process now, and waits at most this long until it is gone.
    pub(super) fn close(&self, at_most: Duration) {
        let mut calls = locked(&self.calls);
        calls.closing = true;
        self.hang_up(&mut calls);
        drop(calls);
        self.wait_until_gone(at_most);
    }

    /// Waits until the process is gone, at most this long.
    pub(super) fn wait_until_gone(&self, at_most: Duration) {
        let calls = locked(&self.calls);
        let waited = self.gone.wait_timeout_while(calls, at_most, |calls| calls.death.is_none());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn hang_up(&self, calls: &mut Calls) {
        if !calls.reaped {
            calls.cause.get_or_insert(Cause::Closed);
            let _ = self.socket.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Ends the process with all that it started, if they take more than they may. If the process has
    /// ended, kills the rest of its group: a program that it started may hold the socket open.
    pub(super) fn check(&self) {
        let calls = locked(&self.calls);
        if calls.reaped {
            return;
        }
        if self.group.has_exited() {
            return self.group.signal(Signal::KILL);
        }
        // Measuring takes a while, and the number of the group stays taken: only this process reaps it.
        drop(calls);
        if let Some(exceeded) = locked(&self.measuring).exceeded(self.group) {
            self.kill(Cause::Exceeded(format!("it {}", exceeded.describe())));
        }
    }

    /// Passes the child's messages to the calls, until the socket closes.
    fn read(&self, idle: Duration) {
        let look = || {
            self.check();
            self.end_if_idle(idle);
        };
        let mut frames = Frames::new(Looking::new(&self.socket, interval(idle), look));
        loop {
            match frames.next() {
                Ok(Some(bytes)) => match serde_json::from_slice(bytes) {
                    Ok(message) => self.dispatch(message),
                    Err(error) => return self.kill(Cause::Protocol(error.to_string())),
                },
                Ok(None) => return,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {}
                    io::ErrorKind::InvalidData => {
                        return self.kill(Cause::Protocol(error.to_string()));
                    }
                    _ => return,
                },
            }
        }
    }

    /// Ends the process if no call used it for this long. Messages of the library do not count as use.
    fn end_if_idle(&self, idle: Duration) {
        let mut calls = locked(&self.calls);
        let is_idle = calls.used.is_none_or(|used| used.elapsed() >= idle);
        if !idle.is_zero() && calls.slots.is_empty() && is_idle {
            calls.closing = true;
            self.hang_up(&mut calls);
        }
    }

    fn dispatch(&self, message: ToHost) {
        let (id, event) = match message {
            ToHost::Supervise { listener } => {
                let is_taken = locked(&self.supervised).take(self.group, listener);
                let _ = self.send(&ToChild::Supervised { is_taken });
                return;
            }
            ToHost::Left => return locked(&self.calls).started.note(),
            ToHost::Ready { sandbox } => (0, Event::End(End::Ready(sandbox))),
            ToHost::LoadFailed(refusal) => (0, Event::End(End::LoadFailed(refusal))),
            ToHost::Created { id, description } => {
                // What runs now belongs to the toolset, not to the call that made it.
                locked(&self.calls).started.keep(self.group);
                (id, Event::End(End::Created(description)))
            }
            ToHost::Done { id, output } => (id, Event::End(End::Done(output))),
            ToHost::Failed { id, failure } => (id, Event::End(End::Failed(failure))),
            ToHost::Unfit { id, problems } => (id, Event::End(End::Unfit(problems))),
            ToHost::Progress { id, fraction, message } => {
                (id, Event::Progress { fraction, message })
            }
            ToHost::Log { id, level, message } => (id, Event::Log { level, message }),
            ToHost::Request { id, request, method, params } => {
                (id, Event::Request { request, method, params })
            }
        };
        if matches!(event, Event::End(End::Ready(_) | End::LoadFailed(_))) {
            locked(&self.supervised).disarm();
        }
        let mut calls = locked(&self.calls);
        if matches!(event, Event::End(End::LoadFailed(_))) {
            // The child ends by itself after this message, which is not a crash.
            calls.closing = true;
            calls.cause.get_or_insert(Cause::Closed);
        }
        let slot = calls.slots.get(&id).cloned();
        drop(calls);
        // There is no slot if the host has given the call up.
        if let Some(slot) = slot {
            slot.put(event);
        }
    }

    /// Waits for the process to end, kills the rest of its group, and reports the end to all calls.
    fn reap(&self, child: &mut Child, output: &Output, scratch: Option<PrivateDir>) {
        let patience = Instant::now() + EXIT_GRACE;
        while !self.group.has_exited() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        let status = {
            let mut calls = locked(&self.calls);
            // Kill before reaping: until then, no other group can get the same number.
            self.group.signal(Signal::KILL);
            calls.reaped = true;
            locked(&self.supervised).end();
            child.wait()
        };
        let last_output = output.last_output(Duration::from_millis(100));
        // Remove the directory before a caller hears of the end, since it may then end this program.
        drop(scratch);
        let mut calls = locked(&self.calls);
        let cause = calls.cause.clone().unwrap_or(Cause::Crash);
        let how = status.map_or_else(|error| error.to_string(), describe_exit);
        tracing::debug!(pid = self.pid(), ?cause, how, "the process of a plugin ended");
        let death = Arc::new(Death { at: Instant::now(), cause, how, last_output });
        calls.death = Some(Arc::clone(&death));
        for (_, slot) in calls.slots.drain() {
            slot.put(Event::End(End::Died(Arc::clone(&death))));
        }
        drop(calls);
        self.gone.notify_all();
    }
}

/// Starts the program with a socket as its standard input. Its output goes to a pipe.
fn spawn(
    program: &HostProgram,
    skill_dir: &Path,
    scratch: &Path,
    limits: &Limits,
    shown_as: &Path,
) -> io::Result<(UnixStream, Arc<Output>, Child)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_write_timeout(Some(WRITE_TIMEOUT))?;
    ours.set_read_timeout(Some(interval(limits.idle)))?;
    let (reader, printer) = io::pipe()?;
    let path = match program.program.components().count() {
        0 | 1 => program.program.clone(),
        _ => std::path::absolute(&program.program)?,
    };
    let passed = limits.env.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let output = Output::follow(reader, shown_as.display().to_string())?;
    keep_descriptors();
    let mut command = Command::new(path);
    command
        .args(&program.args)
        .env_clear()
        .env("HOME", scratch)
        .env("MALLOC_ARENA_MAX", "2") // each further arena takes 64 MiB of address space
        .envs(passed)
        .env("TMPDIR", scratch)
        .current_dir(skill_dir)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(printer.try_clone()?))
        .stderr(Stdio::from(printer));
    let child = session::start(&mut command, || Ok(()))?;
    Ok((ours, output, child))
}
