//! The program and the limits of a plugin's process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The processes and threads that a child may add to those of the system.
const MORE_TASKS: u64 = 512;

/// The program of a plugin's child process: with these arguments, it does nothing but call
/// [`worker_main`](crate::toolset::worker_main).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgram {
    /// The program; a name without `/` is searched in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Limits of a plugin's process. Resource limits are enforced on Unix, the rest of the sandbox on
/// Linux; [`SandboxLevel`](crate::toolset::SandboxLevel) says how much was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Address space in bytes, 1 GiB by default. Threads and mapped files count too.
    pub address_space: Option<u64>,
    /// Processor time in seconds over the whole life of the process, 600 by default: a last net,
    /// the time of one call is `call_timeout`.
    pub cpu_seconds: Option<u64>,
    /// Size in bytes of any file it writes, 1 GiB by default.
    pub file_bytes: Option<u64>,
    /// Processes and threads **of the user**, those outside of Repertoire included. By default, on
    /// Linux, 512 more than the whole system runs when the child starts. The system does not enforce
    /// it for the superuser.
    pub processes: Option<u64>,
    /// Time for one call, 60 s by default. A host's own deadline can shorten it.
    pub call_timeout: Duration,
    /// Time for opening the library, and for making a toolset, each; 10 s by default. A library
    /// that takes longer is disabled for a while. A caller with a deadline of its own waits no
    /// longer than that, and the library goes on.
    pub load_timeout: Duration,
    /// Time after which a disabled library is tried again, 60 s by default. It doubles with each
    /// trial that fails, up to an hour.
    pub retry: Duration,
    /// Time a tool has to stop after it was asked to, before its process is killed; 2 s.
    pub grace: Duration,
    /// Permits sockets of the Internet; off by default. Those of Unix, which lead to other programs of
    /// this machine, are never permitted but as connected pairs.
    pub network: bool,
    /// Files and directories it may read, beside the skill's directory and the system's programs
    /// and libraries. Missing ones are left out.
    pub read: Vec<PathBuf>,
    /// Files and directories it may read and write, beside its own scratch directory, which is
    /// its `TMPDIR` and, if `env` does not pass it, its `HOME`.
    pub write: Vec<PathBuf>,
    /// Names of environment variables it gets; by default `LANG`, `LC_ALL`, `PATH` and `TZ`.
    pub env: Vec<String>,
    /// Time without a call after which it is ended, 5 minutes by default; zero for never.
    pub idle: Duration,
}

impl Limits {
    /// The limit of processes and threads of a child that starts now.
    pub(super) fn processes_now(&self) -> Option<u64> {
        self.processes.or_else(|| {
            // `0.42 0.40 0.41 2/1234 5678`: 1234 tasks of all users, so no fewer than the user's.
            let load = std::fs::read_to_string("/proc/loadavg").ok()?;
            let tasks = load.split(' ').nth(3)?.split_once('/')?.1;
            Some(tasks.parse::<u64>().ok()? + MORE_TASKS)
        })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            address_space: Some(1 << 30),
            cpu_seconds: Some(600),
            file_bytes: Some(1 << 30),
            processes: None,
            call_timeout: Duration::from_secs(60),
            load_timeout: Duration::from_secs(10),
            retry: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            network: false,
            read: Vec::new(),
            write: Vec::new(),
            env: ["LANG", "LC_ALL", "PATH", "TZ"].map(str::to_owned).to_vec(),
            idle: Duration::from_secs(300),
        }
    }
}
