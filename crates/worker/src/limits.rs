//! The program and the limits of a plugin's process.

use std::ffi::OsString;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use repertoire_system::network::Network;
#[cfg(unix)]
use repertoire_system::process::{Totals, tasks};

/// The program that runs as a plugin's child process. With these arguments, it must do nothing but call
/// [`main`](crate::main).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgram {
    /// The program. A name without `/` is looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Limits of a plugin's process. Resource limits are enforced on Unix, the rest of the sandbox on
/// Linux; [`SandboxLevel`](repertoire_system::sandbox::SandboxLevel) says how much of it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the address space of each process, 1 GiB by default, in which threads and mapped files
    /// count too; and of the memory of all processes together, shared memory included. The sum is
    /// measured about twenty times a second during calls; more than that ends the process.
    pub address_space: Option<u64>,
    /// Processor time in seconds over the whole life of the process, 600 by default. It is a last
    /// resort: `call_timeout` limits the time of one call.
    pub cpu_seconds: Option<u64>,
    /// Size in bytes of any file that the process writes, 1 GiB by default.
    pub file_bytes: Option<u64>,
    /// Disk space in bytes of all files in the scratch directory, 1 GiB by default. It is measured as
    /// the memory is.
    pub scratch_bytes: Option<u64>,
    /// Number of running processes of the child and all that it started, with each of their threads, 512 by
    /// default. They are counted as the memory is measured.
    pub group_processes: Option<u64>,
    /// Processes and threads **of the user**, including those outside of Repertoire. The default, on
    /// Linux, is `group_processes` more than the whole system runs when the child starts. The system
    /// does not enforce it for root.
    pub processes: Option<u64>,
    /// Time for one call, 60 s by default. A host's own deadline can shorten it.
    pub call_timeout: Duration,
    /// Time for opening the library, and for making each toolset, 10 s by default. A library that takes
    /// longer is disabled for a while. A caller with an earlier deadline stops waiting then, while the
    /// library continues to open.
    pub load_timeout: Duration,
    /// Time after which a disabled library is tried again, 60 s by default. It doubles with each failed
    /// try, up to an hour.
    pub retry: Duration,
    /// Time that a tool has to stop after it was asked to, before its process is killed; 2 s by
    /// default.
    pub grace: Duration,
    /// The part of the network that the process may use; none by default. Addresses of this machine answer
    /// only if they are named. Unix sockets, which reach other programs on this machine, are never permitted,
    /// except as connected pairs.
    pub network: Network,
    /// Files and directories that the process may read, besides the skill's directory and the system's
    /// programs and libraries. Paths that do not exist are ignored.
    pub read: Vec<PathBuf>,
    /// Files and directories that the process may read and write, besides its own scratch directory.
    /// That directory is its `TMPDIR` and, unless `env` passes `HOME`, its `HOME`.
    pub write: Vec<PathBuf>,
    /// Names of the environment variables that the process gets; by default `LANG`, `LC_ALL`, `PATH`
    /// and `TZ`.
    pub env: Vec<String>,
    /// Time without a call after which the process is ended, 5 minutes by default; zero for never.
    pub idle: Duration,
}

impl Limits {
    /// The limit of processes and threads of a child that starts now.
    pub(super) fn processes_now(&self) -> Option<u64> {
        #[cfg(unix)]
        let there = tasks;
        #[cfg(not(unix))]
        let there = || None;
        let and_more = || Some(self.group_processes?.saturating_add(there()?));
        self.processes.or_else(and_more)
    }

    /// The limits on a child together with all that it started.
    #[cfg(unix)]
    pub(super) fn totals(&self, scratch: &Path) -> Totals {
        let space = self.scratch_bytes.map(|most| (scratch.to_owned(), most));
        Totals { memory: self.address_space, processes: self.group_processes, space }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            address_space: Some(1 << 30),
            cpu_seconds: Some(600),
            file_bytes: Some(1 << 30),
            scratch_bytes: Some(1 << 30),
            group_processes: Some(512),
            processes: None,
            call_timeout: Duration::from_secs(60),
            load_timeout: Duration::from_secs(10),
            retry: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            network: Network::default(),
            read: Vec::new(),
            write: Vec::new(),
            env: ["LANG", "LC_ALL", "PATH", "TZ"].map(str::to_owned).to_vec(),
            idle: Duration::from_secs(300),
        }
    }
}
