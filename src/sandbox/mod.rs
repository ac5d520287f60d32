//! The sandbox: a process gives up rights for good. It can then no longer open other files, use the
//! network, reach other processes, leave its process group, or exceed its resource limits. Plugins give
//! up rights themselves; scripts inherit the restrictions from the thread that starts them.

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(unix)]
mod exit_status;
#[cfg(target_os = "linux")]
mod landlock;
mod level;
#[cfg(unix)]
mod resource_limits;
#[cfg(target_os = "linux")]
mod syscalls;

#[cfg(unix)]
use std::path::PathBuf;

#[cfg(unix)]
pub(crate) use exit_status::describe_exit;
pub use level::{FilesystemLevel, NetworkLevel, SandboxLevel};
#[cfg(unix)]
pub(crate) use resource_limits::ResourceLimits;

/// A callback that is told what could not be enforced, and why.
#[cfg(unix)]
pub(crate) type OnUnenforced<'a> = &'a dyn Fn(&str, &dyn std::fmt::Display);

/// The rules of a sandbox: the rights that remain. Paths that do not exist are ignored.
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can enforce it"))]
#[derive(Debug)]
pub(crate) struct Rules {
    /// The files that may be read.
    pub(crate) reads: Reads,
    /// Files and directories that may be read and changed.
    pub(crate) write: Vec<PathBuf>,
    /// The sockets that may be used.
    pub(crate) sockets: Sockets,
    /// The process group that the process may join, `0` for one of its own; `None` if it must stay in
    /// its group.
    pub(crate) join: Option<u32>,
}

/// The sockets that may be used.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// All sockets, including those of the user's other programs, such as Docker, an SSH agent or a
    /// session bus.
    #[cfg_attr(not(feature = "scripts"), expect(dead_code, reason = "scripts of users alone"))]
    All,
    /// Internet sockets, and connected pairs.
    Internet,
    /// Connected pairs only, by which processes talk to those that they start.
    Pairs,
}

/// The files that may be read.
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can enforce it"))]
#[derive(Debug)]
pub(crate) enum Reads {
    /// All files, and all of them may be run.
    #[cfg_attr(not(feature = "scripts"), expect(dead_code, reason = "scripts read everything"))]
    All,
    /// The system's programs and libraries, and these paths.
    #[cfg_attr(not(feature = "toolsets"), expect(dead_code, reason = "plugins read little"))]
    Only {
        /// Files and directories that may be read.
        read: Vec<PathBuf>,
        /// Files and directories of programs that may be read and run.
        run: Vec<PathBuf>,
    },
}

/// Marks all open descriptors except the standard streams to be closed in the programs that are started
/// from now on: the rules above do not restrict what is inherited open. Rust already marks what it
/// opens itself; this is for descriptors that a parent process or a C library left open.
#[cfg(unix)]
pub(crate) fn keep_descriptors() {
    const FIRST: i32 = 3;
    close_fds::set_fds_cloexec_threadsafe(FIRST, &[]);
}

/// Gives up all rights except those in `rules`, for the calling thread and all that it starts later.
/// Returns the level reached. Resource limits are set separately.
#[cfg(target_os = "linux")]
pub(crate) fn restrict_thread(rules: &Rules, complain: OnUnenforced<'_>) -> SandboxLevel {
    let no_new_privs = rustix::thread::set_no_new_privs(true)
        .inspect_err(|error| complain("no new privileges", error))
        .is_ok();
    let is_powerless = capabilities::give_up()
        .inspect_err(|error| complain("capabilities to give up", error))
        .is_ok();
    let (filesystem, tcp_is_closed) = landlock::restrict_files(rules).unwrap_or_else(|error| {
        complain("landlock", &error);
        (FilesystemLevel::None, false)
    });
    let filtered =
        syscalls::filter_calls(rules).inspect_err(|error| complain("seccomp", error)).is_ok();
    let network = match (rules.sockets, filtered, tcp_is_closed) {
        (Sockets::Pairs, true, _) => NetworkLevel::All,
        (Sockets::Pairs, false, true) => NetworkLevel::Tcp,
        (Sockets::Internet, true, _) => NetworkLevel::Internet,
        _ => NetworkLevel::Open,
    };
    SandboxLevel {
        no_new_privs,
        contained: filtered && rules.join != Some(0),
        rlimits: false,
        filesystem,
        attributes: false,
        // Landlock keeps a process from looking into those outside of the sandbox, but a capability
        // would override that.
        processes: is_powerless && filesystem != FilesystemLevel::None,
        network,
    }
}

/// Gives up nothing: these systems have no sandbox.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn restrict_thread(_: &Rules, _: OnUnenforced<'_>) -> SandboxLevel {
    SandboxLevel {
        no_new_privs: false,
        contained: false,
        rlimits: false,
        filesystem: FilesystemLevel::None,
        attributes: false,
        processes: false,
        network: NetworkLevel::Open,
    }
}
