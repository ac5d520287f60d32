//! The sandbox: a process gives up rights for good. It can then no longer open other files, use the
//! network, reach other processes, leave its process group, or exceed its resource limits. Plugins give
//! up rights themselves; scripts inherit the restrictions from the thread that starts them.

/// The numbers of system calls by their names.
#[cfg(target_os = "linux")]
macro_rules! numbers {
    ($($name:ident),* $(,)?) => { &[$(linux_raw_sys::general::$name),*] };
}

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(unix)]
mod exit_status;
#[cfg(target_os = "linux")]
mod landlock;
mod level;
#[cfg(unix)]
mod resource_limits;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "unsupervised.rs"]
mod supervisor;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod syscalls;

use std::path::PathBuf;

use crate::network::Network;

#[cfg(unix)]
pub use exit_status::describe_exit;
pub use level::{FilesystemLevel, NetworkLevel, SandboxLevel};
#[cfg(unix)]
pub use resource_limits::ResourceLimits;
#[cfg(unix)]
pub use supervisor::Handle;
#[cfg(unix)]
pub use supervisor::Supervisor;
#[cfg(target_os = "linux")]
pub use syscalls::allowed_calls;

/// Tells whether this system can hold code to single addresses of the network.
pub fn limits_network() -> bool {
    #[cfg(target_os = "linux")]
    let is_possible = syscalls::are_supported() && syscalls::is_supervised();
    #[cfg(not(target_os = "linux"))]
    let is_possible = false;
    is_possible
}

/// A callback that is told what could not be enforced, and why.
#[cfg(unix)]
pub type OnUnenforced<'a> = &'a dyn Fn(&str, &dyn std::fmt::Display);

/// The rules of a sandbox: the rights that remain. Paths that do not exist are ignored.
#[derive(Debug)]
pub struct Rules {
    /// The files that may be read.
    pub reads: Reads,
    /// Files and directories that may be read and changed.
    pub write: Vec<PathBuf>,
    /// The sockets that may be used.
    pub sockets: Sockets,
}

/// The things that a supervisor does for a process that asks for them.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The addresses that it reaches.
    pub network: Network,
    /// The files and directories of which it changes the attributes.
    pub write: Vec<PathBuf>,
}

impl Rules {
    /// Returns what a supervisor does under these rules.
    pub fn allowed(&self) -> Allowed {
        let network = match &self.sockets {
            Sockets::Some(network) => network.clone(),
            Sockets::All | Sockets::Pairs => Network::default(),
        };
        Allowed { network, write: self.write.clone() }
    }
}

/// The sockets that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sockets {
    /// All sockets, including those of the user's other programs, such as Docker, an SSH agent or a
    /// session bus.
    All,
    /// Internet sockets, to this part of the network, and connected pairs. Where the system cannot hold code
    /// to single addresses, all of them are open.
    Some(Network),
    /// Connected pairs only, by which processes talk to those that they start.
    Pairs,
}

/// The files that may be read.
#[derive(Debug)]
pub enum Reads {
    /// All files except devices, and all of them may be run.
    All {
        /// Files and directories that cannot be read, nevertheless.
        but: Vec<PathBuf>,
    },
    /// The system's programs and libraries, and these paths.
    Only {
        /// Files and directories that may be read.
        read: Vec<PathBuf>,
        /// Files and directories of programs that may be read and run.
        run: Vec<PathBuf>,
        /// Files and directories that cannot be read, nevertheless.
        but: Vec<PathBuf>,
    },
}

/// Marks all open descriptors except the standard streams to be closed in the programs that are started
/// from now on: the rules above do not restrict what is inherited open. Rust already marks what it
/// opens itself; this is for descriptors that a parent process or a C library left open.
#[cfg(unix)]
pub fn keep_descriptors() {
    const FIRST: i32 = 3;
    close_fds::set_fds_cloexec_threadsafe(FIRST, &[]);
}

/// Restrictions of the calling thread, except for the filters of system calls, which are applied last:
/// nothing else can be given up, and no session begun, under them.
#[cfg(unix)]
#[derive(Debug)]
pub struct Sandbox {
    /// The level that is reached once the filters are applied.
    pub level: SandboxLevel,
    #[cfg(target_os = "linux")]
    filters: Option<syscalls::Filters>,
}

#[cfg(target_os = "linux")]
impl Sandbox {
    /// Gives up all rights except those in `rules`, for the calling thread and all that it starts
    /// later. Resource limits are set separately.
    pub fn restrict(rules: &Rules, complain: OnUnenforced<'_>) -> Sandbox {
        let no_new_privs = rustix::thread::set_no_new_privs(true)
            .inspect_err(|error| complain("no new privileges", error))
            .is_ok();
        let is_powerless = capabilities::give_up()
            .inspect_err(|error| complain("capabilities to give up", error))
            .is_ok();
        // What this system supports is read from files that Landlock closes.
        let is_filtered = syscalls::are_supported();
        let is_supervised = is_filtered && syscalls::is_supervised();
        let (filesystem, tcp_is_closed) = landlock::restrict_files(rules).unwrap_or_else(|error| {
            complain("landlock", &error);
            (FilesystemLevel::None, false)
        });
        // Who may change every file may change what the system keeps about it.
        let has_files = filesystem == FilesystemLevel::None;
        let filters = syscalls::Filters::new(rules, has_files, is_supervised);
        let filters = filters.inspect_err(|error| complain("seccomp", error)).ok();
        let filters = filters.filter(|_| is_filtered);
        let network = match (&rules.sockets, filters.is_some(), tcp_is_closed) {
            (Sockets::Pairs, true, _) => NetworkLevel::All,
            (Sockets::Pairs, false, true) => NetworkLevel::Tcp,
            (Sockets::Some(_), true, _) if is_supervised => NetworkLevel::Named,
            (Sockets::Some(_), true, _) => NetworkLevel::Internet,
            _ => NetworkLevel::Open,
        };
        let level = SandboxLevel {
            no_new_privs,
            contained: filters.is_some(),
            terminal: filters.is_some() && filesystem != FilesystemLevel::None,
            rlimits: false,
            filesystem,
            attributes: filters.is_some() && !has_files,
            // Landlock keeps a process from looking into those outside of the sandbox, but a
            // capability would override that.
            processes: is_powerless && filesystem != FilesystemLevel::None,
            network,
        };
        Sandbox { level, filters }
    }

    /// Applies the filters to the calling thread and all that it starts later, and hands over the listener
    /// of the filter that asks the supervisor. Allocates nothing.
    pub fn filter_calls(&self, handle: &Handle) -> std::io::Result<()> {
        let Some(filters) = &self.filters else { return Ok(()) };
        if let Some(asking) = &filters.asking {
            handle.give(&supervisor::install(asking, false)?)?;
        }
        filters.apply().map_err(|_| std::io::ErrorKind::PermissionDenied.into())
    }

    /// Applies the filters to all threads of this process. `hand_over` gives the number of the listener to
    /// the host, and returns once that has taken it. Returns the level reached.
    ///
    /// Fails if the filter that asks the supervisor cannot be applied: without it, more would be open than was
    /// allowed.
    pub fn filter_process(
        self,
        hand_over: impl FnOnce(i32) -> std::io::Result<()>,
        complain: OnUnenforced<'_>,
    ) -> std::io::Result<SandboxLevel> {
        use std::os::fd::AsRawFd as _;
        if let Some(asking) = self.filters.as_ref().and_then(|filters| filters.asking.as_ref()) {
            hand_over(supervisor::install(asking, true)?.as_raw_fd())?;
        }
        let applied = self.filters.is_some_and(|filters| {
            let applied = filters.apply_to_process();
            applied.inspect_err(|error| complain("seccomp", error)).is_ok()
        });
        let network = if applied { self.level.network } else { NetworkLevel::Open };
        Ok(SandboxLevel {
            contained: applied,
            terminal: self.level.terminal && applied,
            attributes: self.level.attributes && applied,
            network,
            ..self.level
        })
    }
}

/// These systems have no sandbox.
#[cfg(all(unix, not(target_os = "linux")))]
impl Sandbox {
    /// Gives up nothing.
    pub fn restrict(_: &Rules, _: OnUnenforced<'_>) -> Sandbox {
        let level = SandboxLevel {
            no_new_privs: false,
            contained: false,
            terminal: false,
            rlimits: false,
            filesystem: FilesystemLevel::None,
            attributes: false,
            processes: false,
            network: NetworkLevel::Open,
        };
        Sandbox { level }
    }

    /// Filters nothing.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "Linux filters here")]
    pub fn filter_calls(&self, _: &Handle) -> std::io::Result<()> {
        Ok(())
    }

    /// Filters nothing.
    #[expect(clippy::unnecessary_wraps, reason = "Linux filters here")]
    pub fn filter_process(
        self,
        _: impl FnOnce(i32) -> std::io::Result<()>,
        _: OnUnenforced<'_>,
    ) -> std::io::Result<SandboxLevel> {
        Ok(self.level)
    }
}
