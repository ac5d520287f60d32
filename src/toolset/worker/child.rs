//! The child process: opens the library, and runs the calls.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::host::{CreateError, Library, OpenOptions, Toolset};
use repertoire_plugin::{ErrorCode, Host, ToolOutput, ToolsetDescription};
use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
use serde_json::Value;

use super::super::schema::Schemas;
use super::call::locked;
use super::caller::Caller;
use super::protocol::{CallId, Failure, Frames, Load, Refusal, ToChild, ToHost, frame};
use crate::sandbox::{self, Numbers, Reads, Rules, SandboxLevel, Sockets};

/// Threads that run calls or read; one always reads, the others can run a call each.
const MAX_THREADS: usize = 16;
/// The stack of each, in bytes: the same as a program's first thread has.
const STACK: usize = 8 << 20;

/// A toolset of a library or of a server.
pub(super) trait Serving: Send + Sync {
    /// The tools.
    fn describe(&self) -> &ToolsetDescription;

    /// Calls a tool with the JSON text of its arguments, and waits for its end.
    fn call(&self, tool: &str, arguments: &str, host: &dyn Host) -> Result<ToolOutput, Failure>;
}

impl Serving for Toolset {
    fn describe(&self) -> &ToolsetDescription {
        Toolset::describe(self)
    }

    fn call(&self, tool: &str, arguments: &str, host: &dyn Host) -> Result<ToolOutput, Failure> {
        let answer = Toolset::call(self, tool, arguments, host);
        answer.map_err(|error| Failure::new(error.code, error.message))
    }
}

/// Makes toolsets of what was opened.
pub(super) type Classes =
    Box<dyn Fn(&str, &Value) -> Result<Box<dyn Serving>, Failure> + Send + Sync>;

/// The `main` of a plugin's child process; never returns.
///
/// A program that embeds the engine and is named by [`HostProgram`](super::HostProgram) calls it
/// first thing when it is started with the arguments named there. The process gives up rights,
/// opens one library and runs its tools, until the host closes the socket that is its standard
/// input. Started by anybody else it says so and exits with code 2.
pub fn main() -> ! {
    run(open)
}

/// The same with another way to open a library.
pub(super) fn run(open: fn(&Load) -> Result<Classes, Refusal>) -> ! {
    match serve(open) {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            let _ = writeln!(io::stderr(), "cannot run a plugin: {error}");
            std::process::exit(2)
        }
    }
}

fn serve(open: fn(&Load) -> Result<Classes, Refusal>) -> Result<(), String> {
    let socket = take_socket().map_err(|error| {
        format!("standard input is not a socket of the host that starts this process ({error})")
    })?;
    let reader = socket.try_clone().map_err(|error| error.to_string())?;
    let mut frames = Frames::new(reader);
    let first = frames.next().map_err(|error| error.to_string())?.ok_or("the host is gone")?;
    let ToChild::Load(load) = serde_json::from_slice(first).map_err(|error| error.to_string())?
    else {
        return Err("the host says something else than what to load".to_owned());
    };
    let sandbox = give_up_rights(&load);
    let shown = PathBuf::from(&load.shown_as).display().to_string();
    let child = Arc::new(Child {
        frames: Mutex::new(frames),
        socket: Mutex::new(socket),
        skill_dir: load.skill_dir.clone().into(),
        pool: Mutex::default(),
        calls: Mutex::default(),
        toolsets: Mutex::default(),
        classes: Mutex::default(),
        next_request: AtomicU64::new(0),
    });
    // Before the library is opened: its initializers may never end, the host may.
    locked(&child.pool).threads = 1;
    if !child.grow(&mut locked(&child.pool)) {
        child.send(&ToHost::LoadFailed(Refusal {
            message: format!("the process of the plugin `{shown}` cannot start threads"),
            help: "raise the limits of processes and address space".to_owned(),
        }));
        return Ok(());
    }
    match open(&load) {
        Ok(classes) => *locked(&child.classes) = Some(Arc::new(classes)),
        Err(refusal) => {
            child.send(&ToHost::LoadFailed(refusal));
            return Ok(());
        }
    }
    child.send(&ToHost::Ready { sandbox });
    child.work()
}

/// Moves the socket out of the way of the plugin; standard input is then empty.
fn take_socket() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.peer_addr()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(socket)
}

/// Gives up all rights that can be given up, and returns the level reached; the host logs the rest.
fn give_up_rights(load: &Load) -> SandboxLevel {
    let complain = |what: &str, error: &dyn std::fmt::Display| {
        let _ = writeln!(io::stderr(), "the sandbox lacks {what}: {error}");
    };
    let paths = |paths: &[OsString], own: &[&OsString]| -> Vec<PathBuf> {
        paths.iter().chain(own.iter().copied()).map(PathBuf::from).collect()
    };
    let rules = Rules {
        reads: Reads::Only {
            read: paths(&load.read, &[&load.library, &load.skill_dir]),
            run: paths(&load.run, &[]),
        },
        write: paths(&load.write, &[&load.scratch]),
        sockets: if load.network { Sockets::Internet } else { Sockets::Pairs },
        join: None,
    };
    let numbers = Numbers {
        address_space: load.address_space,
        data: load.data,
        cpu_seconds: load.cpu_seconds,
        file_bytes: load.file_bytes,
        processes: load.processes,
    };
    let rlimits = numbers.set(&complain);
    SandboxLevel { rlimits, ..sandbox::restrict_thread(&rules, &complain) }
}

/// Opens the library, or prepares the server; messages name the author's file.
fn open(load: &Load) -> Result<Classes, Refusal> {
    #[cfg(feature = "mcp-toolsets")]
    if let Some(command) = &load.server {
        return Ok(super::mcp::classes(command.clone()));
    }
    let shown_as = Some(PathBuf::from(&load.shown_as));
    let options = OpenOptions { allow_panic_abort: true, shown_as, ..OpenOptions::default() };
    let library = Library::open_with(&load.library, options)
        .map_err(|error| Refusal { message: error.to_string(), help: error.help() })?;
    Ok(Box::new(move |class, config| made(library.create(class, config))))
}

/// A toolset of a library, or the reason why there is none.
pub(super) fn made(toolset: Result<Toolset, CreateError>) -> Result<Box<dyn Serving>, Failure> {
    let toolset = toolset.map_err(|error| {
        let code = match &error {
            CreateError::NoClass { .. } => ErrorCode::UnknownTool,
            CreateError::Create { code, .. } => *code,
            _ => ErrorCode::Failed,
        };
        Failure { help: error.help(), ..Failure::new(code, error.to_string()) }
    })?;
    Ok(Box::new(toolset))
}

/// The process, as its threads share it.
///
/// The thread that holds `frames` reads. When it reads a call, another thread takes over reading,
/// and the call runs on the thread that read it, without waiting for another to wake up.
pub(super) struct Child {
    frames: Mutex<Frames<UnixStream>>,
    pub(super) socket: Mutex<UnixStream>,
    pub(super) skill_dir: PathBuf,
    pool: Mutex<Pool>,
    calls: Mutex<HashMap<CallId, Arc<Call>>>,
    toolsets: Mutex<HashMap<u32, Arc<Made>>>,
    classes: Mutex<Option<Arc<Classes>>>,
    pub(super) next_request: AtomicU64,
}

/// A toolset, and the schemas of its tools.
struct Made {
    toolset: Box<dyn Serving>,
    schemas: Schemas,
}

#[derive(Default)]
struct Pool {
    threads: usize,
    /// Threads that wait for their turn to read.
    waiting: usize,
    /// Calls for which there was no thread.
    queue: VecDeque<Job>,
}

/// A call that runs or waits for a thread.
#[derive(Default)]
pub(super) struct Call {
    pub(super) cancelled: AtomicBool,
    pub(super) answers: Mutex<HashMap<u64, Result<Value, Failure>>>,
    pub(super) answered: Condvar,
}

/// A call and when it must have ended.
pub(super) struct Job {
    pub(super) id: CallId,
    pub(super) call: Arc<Call>,
    message: ToChild<'static>,
    pub(super) deadline: Option<Instant>,
}

impl Child {
    /// Reads and runs, in turn, for ever.
    fn work(self: &Arc<Self>) -> ! {
        loop {
            let queued = {
                let mut pool = locked(&self.pool);
                let queued = pool.queue.pop_front();
                pool.waiting += usize::from(queued.is_none());
                queued
            };
            let job = queued.unwrap_or_else(|| self.lead());
            self.run(&job);
        }
    }

    /// Reads until there is a call for this thread, and another thread that reads on.
    fn lead(self: &Arc<Self>) -> Job {
        let mut frames = locked(&self.frames);
        locked(&self.pool).waiting -= 1;
        loop {
            let Some(job) = self.read(&mut frames) else { continue };
            let mut pool = locked(&self.pool);
            if pool.waiting > 0 || self.grow(&mut pool) {
                return job;
            }
            pool.queue.push_back(job);
        }
    }

    /// Adds a thread, if there may be one more and the system has one.
    fn grow(self: &Arc<Self>, pool: &mut Pool) -> bool {
        if pool.threads >= MAX_THREADS {
            return false;
        }
        let child = Arc::clone(self);
        let builder = thread::Builder::new().name("toolset".to_owned()).stack_size(STACK);
        let started = builder.spawn(move || child.work()).is_ok();
        pool.threads += usize::from(started);
        started
    }

    /// Handles a message; returns the call to run, if it is one.
    fn read(&self, frames: &mut Frames<UnixStream>) -> Option<Job> {
        let Ok(Some(bytes)) = frames.next() else { leave() };
        let Ok(message) = serde_json::from_slice::<ToChild<'static>>(bytes) else { leave() };
        match message {
            ToChild::Create { id, millis, .. } | ToChild::Call { id, millis, .. } => {
                let call = Arc::new(Call::default());
                locked(&self.calls).insert(id, Arc::clone(&call));
                let deadline = Instant::now().checked_add(Duration::from_millis(millis));
                return Some(Job { id, call, message, deadline });
            }
            ToChild::Cancel { id } => {
                if let Some(call) = locked(&self.calls).get(&id) {
                    call.cancelled.store(true, Ordering::Relaxed);
                }
                let mut pool = locked(&self.pool);
                let queued = pool.queue.iter().position(|job| job.id == id);
                if let Some(job) = queued.and_then(|at| pool.queue.remove(at)) {
                    drop(pool);
                    self.end(job.id, Err(Failure::new(ErrorCode::Cancelled, "cancelled")));
                }
            }
            ToChild::Answer { id, request, result } => {
                if let Some(call) = locked(&self.calls).get(&id) {
                    locked(&call.answers).insert(request, result);
                    call.answered.notify_all();
                }
            }
            ToChild::Load(_) => leave(),
        }
        None
    }

    fn run(&self, job: &Job) {
        let result = match &job.message {
            ToChild::Create { instance, class, config, .. } => {
                self.create(job.id, *instance, class, config)
            }
            ToChild::Call { instance, tool, arguments, .. } => {
                self.call(job, *instance, tool, arguments)
            }
            _ => Err(Failure::new(ErrorCode::Border, "not a call")),
        };
        self.end(job.id, result);
    }

    fn create(
        &self,
        id: CallId,
        instance: u32,
        class: &str,
        config: &Value,
    ) -> Result<ToHost, Failure> {
        let classes = locked(&self.classes).clone();
        let classes = classes.ok_or_else(|| Failure::new(ErrorCode::Border, "nothing is open"))?;
        let toolset = classes(class, config)?;
        let description = toolset.describe().clone();
        let schemas = Schemas::of(&description).map_err(|why| Failure {
            help: "mend the schema in the plugin".to_owned(),
            ..Failure::new(ErrorCode::Failed, format!("the toolset `{class}`: {why}"))
        })?;
        locked(&self.toolsets).insert(instance, Arc::new(Made { toolset, schemas }));
        Ok(ToHost::Created { id, description })
    }

    fn call(
        &self,
        job: &Job,
        instance: u32,
        tool: &str,
        arguments: &str,
    ) -> Result<ToHost, Failure> {
        let made = locked(&self.toolsets).get(&instance).cloned();
        let made =
            made.ok_or_else(|| Failure::new(ErrorCode::Border, "the toolset is not there"))?;
        let value = serde_json::from_str(arguments)
            .map_err(|error| Failure::new(ErrorCode::InvalidArguments, error.to_string()))?;
        if let Err(problems) = made.schemas.check(tool, &value) {
            return Ok(ToHost::Unfit { id: job.id, problems });
        }
        let output = made.toolset.call(tool, arguments, &Caller { child: self, job })?;
        Ok(ToHost::Done { id: job.id, output })
    }

    fn end(&self, id: CallId, result: Result<ToHost, Failure>) {
        locked(&self.calls).remove(&id);
        self.send(&result.unwrap_or_else(|failure| ToHost::Failed { id, failure }));
    }

    pub(super) fn send(&self, message: &ToHost) {
        let bytes = frame(message).or_else(|why| {
            let failure = Failure::new(ErrorCode::Failed, format!("cannot be sent: {why}"));
            match message {
                ToHost::Created { id, .. } | ToHost::Done { id, .. } => {
                    frame(&ToHost::Failed { id: *id, failure })
                }
                _ => Err(why),
            }
        });
        if bytes.is_ok_and(|bytes| locked(&self.socket).write_all(&bytes).is_err()) {
            leave();
        }
    }
}

/// Ends at once, with all that was started: the host is gone, or sends invalid messages.
pub(super) fn leave() -> ! {
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    std::process::abort()
}
