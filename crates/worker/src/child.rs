//! The child process: opens the library, and runs calls.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::ErrorCode;
use repertoire_plugin::host::{Library, OpenOptions};
use repertoire_system::sandbox::{Reads, ResourceLimits, Rules, Sandbox, SandboxLevel, Sockets};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use serde_json::Value;

use super::caller::{Call, Caller, Connection, leave};
use super::protocol::{CallId, Failure, Frames, Load, Refusal, ToChild, ToHost};
use super::schema::Schemas;
use super::serving::{Classes, Serving, made};
use super::sizes::{TOO_LARGE, check_size};
use crate::locked;

/// The most threads. One of them always reads, so the others can run one call each.
const MAX_THREADS: usize = 16;
/// The stack size of each thread, in bytes: the usual size of a program's first thread.
const STACK: usize = 8 << 20;

/// The `main` of a plugin's child process; never returns.
///
/// A program that embeds the engine and is named in [`HostProgram`](super::HostProgram) calls this
/// function first when it is started with the arguments named there. The process gives up rights, opens
/// one library and runs its tools, until the host closes the socket that is its standard input. If it
/// was not started by a host, it says so and exits with code 2.
pub fn main() -> ! {
    run(open)
}

/// Does what [`main`] does, with `open` as the way to open a library.
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
        return Err("the first message of the host does not say what to load".to_owned());
    };
    let is_of_library = load.server.is_none();
    // A server's orphans go elsewhere: nothing here would reap them.
    #[cfg(target_os = "linux")]
    if is_of_library {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
    let connection = Connection::new(socket);
    let hand_over = |listener| {
        connection.send(&ToHost::Supervise { listener });
        match frames.next()?.map(serde_json::from_slice) {
            Some(Ok(ToChild::Supervised { is_taken: true })) => Ok(()),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        }
    };
    let sandbox = give_up_rights(&load, hand_over)
        .map_err(|error| format!("it cannot be supervised: {error}"))?;
    let shown = PathBuf::from(&load.shown_as).display().to_string();
    let child = Arc::new(Child {
        is_of_library,
        frames: Mutex::new(frames),
        connection,
        skill_dir: load.skill_dir.clone().into(),
        pool: Mutex::default(),
        calls: Mutex::default(),
        toolsets: Mutex::default(),
        classes: Mutex::default(),
    });
    // Start the second thread before opening the library: initializers of the library may never return,
    // and this process must still notice that the host has ended.
    locked(&child.pool).threads = 1;
    if !child.grow(&mut locked(&child.pool)) {
        child.connection.send(&ToHost::LoadFailed(Refusal {
            message: format!("the process of the plugin `{shown}` cannot start threads"),
            help: "raise the limits of processes and address space".to_owned(),
        }));
        return Ok(());
    }
    match open(&load) {
        Ok(classes) => *locked(&child.classes) = Some(Arc::new(classes)),
        Err(refusal) => {
            child.connection.send(&ToHost::LoadFailed(refusal));
            return Ok(());
        }
    }
    child.connection.send(&ToHost::Ready { sandbox });
    child.work()
}

/// Moves the socket away from standard input, out of the plugin's way. Standard input is then empty.
fn take_socket() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.peer_addr()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(socket)
}

/// Gives up all rights that can be given up, and returns the level reached. Failures are printed to
/// standard error, which the host logs.
fn give_up_rights(
    load: &Load,
    hand_over: impl FnOnce(i32) -> io::Result<()>,
) -> io::Result<SandboxLevel> {
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
            but: Vec::new(),
        },
        write: load.writable(),
        sockets: match &load.network {
            network if network.is_none() => Sockets::Pairs,
            network => Sockets::Some(network.clone()),
        },
    };
    let limits = ResourceLimits {
        address_space: load.address_space,
        data: load.data,
        cpu_seconds: load.cpu_seconds,
        file_bytes: load.file_bytes,
        processes: load.processes,
    };
    let rlimits = limits.set(&complain);
    let level = Sandbox::restrict(&rules, &complain).filter_process(hand_over, &complain)?;
    Ok(level.with_rlimits(rlimits))
}

/// Opens the library, or prepares the server. Messages name the author's file.
fn open(load: &Load) -> Result<Classes, Refusal> {
    #[cfg(feature = "mcp")]
    if let Some(command) = &load.server {
        return Ok(super::mcp::classes(command.clone()));
    }
    let shown_as = Some(PathBuf::from(&load.shown_as));
    let options = OpenOptions { allow_panic_abort: true, shown_as, ..OpenOptions::default() };
    let library = Library::open_with(&load.library, options)
        .map_err(|error| Refusal { message: error.to_string(), help: error.help() })?;
    Ok(Box::new(move |class, config| made(library.create(class, config))))
}

/// The state that the threads of this process share.
///
/// The thread that holds `frames` reads. When it has read a call, another thread takes over reading,
/// and the call runs on the thread that read it: it need not wait for another thread to wake up.
struct Child {
    /// False if it is the client of a server, which it waits for itself.
    is_of_library: bool,
    frames: Mutex<Frames<UnixStream>>,
    connection: Connection,
    skill_dir: PathBuf,
    pool: Mutex<Pool>,
    calls: Mutex<HashMap<CallId, Arc<Call>>>,
    toolsets: Mutex<HashMap<u32, Arc<Made>>>,
    classes: Mutex<Option<Arc<Classes>>>,
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

/// A call, with its deadline.
struct Job {
    id: CallId,
    call: Arc<Call>,
    message: ToChild<'static>,
    deadline: Option<Instant>,
}

impl Child {
    /// Reads and runs calls, in turn, for ever.
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

    /// Reads until there is a call for this thread to run, and another thread to continue reading.
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

    /// Starts another thread, unless there are enough or the system refuses it.
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

    /// Handles a message. If it is a call, returns it.
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
            ToChild::Load(_) | ToChild::Supervised { .. } => leave(),
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
        check_size(toolset.describe()).map_err(|why| Failure {
            help: TOO_LARGE.to_owned(),
            ..Failure::new(ErrorCode::Failed, why)
        })?;
        let description = toolset.describe().clone();
        let schemas = Schemas::of(&description).map_err(|why| Failure {
            help: "fix the schema in the plugin".to_owned(),
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
        let caller = Caller {
            connection: &self.connection,
            skill_dir: &self.skill_dir,
            id: job.id,
            call: &job.call,
            deadline: job.deadline,
        };
        let output = made.toolset.call(tool, arguments, &caller)?;
        Ok(ToHost::Done { id: job.id, output })
    }

    fn end(&self, id: CallId, result: Result<ToHost, Failure>) {
        let mut calls = locked(&self.calls);
        calls.remove(&id);
        // While a call runs, the children that have ended may be its own, which it waits for.
        let left = calls.is_empty() && self.is_of_library && has_children();
        drop(calls);
        if left {
            self.connection.send(&ToHost::Left);
        }
        self.connection.send(&result.unwrap_or_else(|failure| ToHost::Failed { id, failure }));
    }
}

/// Reaps the children that have ended, and tells whether there are others. What a child left behind is
/// a child of this process, which is its subreaper.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    loop {
        match waitid(WaitId::All, options) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}
