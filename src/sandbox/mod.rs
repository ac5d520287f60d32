//! The sandbox: rights that a process gives up for good: to open files, use the network, reach other
//! processes, leave its process group, exceed numbers. Plugins give them up themselves; scripts inherit
//! that from the thread that starts them.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(unix)]
mod exit_status;
#[cfg(target_os = "linux")]
mod files;
mod level;
#[cfg(unix)]
mod numbers;

#[cfg(unix)]
use std::path::PathBuf;

#[cfg(unix)]
pub(crate) use exit_status::how;
pub use level::{FilesystemLevel, NetworkLevel, SandboxLevel};
#[cfg(unix)]
pub(crate) use numbers::Numbers;

/// Is told what could not be enforced, and why.
#[cfg(unix)]
pub(crate) type Complain<'a> = &'a dyn Fn(&str, &dyn std::fmt::Display);

/// The rules of a sandbox: the rights that stay. Paths that do not exist are left out.
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can enforce it"))]
#[derive(Debug)]
pub(crate) struct Rules {
    /// The files that may be read.
    pub(crate) reads: Reads,
    /// Files and directories that may be read and changed.
    pub(crate) write: Vec<PathBuf>,
    /// The sockets that it may use.
    pub(crate) sockets: Sockets,
    /// The process group it may join, `0` for one of its own; `None` if it stays where it is.
    pub(crate) join: Option<u32>,
}

/// The sockets that may be used.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// All, those of other programs of the user among them: Docker, an agent of SSH, a session bus.
    #[cfg_attr(not(feature = "scripts"), expect(dead_code, reason = "scripts of users alone"))]
    All,
    /// Those of the Internet, and connected pairs.
    Internet,
    /// Connected pairs only, which processes talk with to those they start.
    Pairs,
}

/// The files that may be read.
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can enforce it"))]
#[derive(Debug)]
pub(crate) enum Reads {
    /// Everything, and all of it may be run.
    #[cfg_attr(not(feature = "scripts"), expect(dead_code, reason = "scripts read everything"))]
    All,
    /// The system's programs and libraries, and these.
    #[cfg_attr(not(feature = "toolsets"), expect(dead_code, reason = "plugins read little"))]
    Only {
        /// Files and directories.
        read: Vec<PathBuf>,
        /// Files and directories of programs that may be run.
        run: Vec<PathBuf>,
    },
}

/// Keeps to this process what it has open, but for the standard streams: nothing above binds what
/// is inherited open. What Rust opens is kept anyway; this is for what a parent or a library of C
/// left open for every program that is started, and holds from now on.
#[cfg(unix)]
pub(crate) fn keep_descriptors() {
    const FIRST: i32 = 3;
    close_fds::set_fds_cloexec_threadsafe(FIRST, &[]);
}

/// Gives up all but what `rules` leave open, and says how far that went; numbers are set apart.
/// The calling thread is bound, and what it starts later.
#[cfg(target_os = "linux")]
pub(crate) fn restrict_thread(rules: &Rules, complain: Complain<'_>) -> SandboxLevel {
    let no_new_privs = rustix::thread::set_no_new_privs(true)
        .inspect_err(|error| complain("no new privileges", error))
        .is_ok();
    let is_powerless = capabilities::give_up()
        .inspect_err(|error| complain("capabilities to give up", error))
        .is_ok();
    let (filesystem, tcp_is_closed) = files::restrict_files(rules).unwrap_or_else(|error| {
        complain("landlock", &error);
        (FilesystemLevel::None, false)
    });
    let filtered =
        calls::filter_calls(rules).inspect_err(|error| complain("seccomp", error)).is_ok();
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
        // Landlock lets no process look into one that it does not bind; a capability would.
        processes: is_powerless && filesystem != FilesystemLevel::None,
        network,
    }
}

/// Systems that have no such thing: nothing is given up.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn restrict_thread(_: &Rules, _: Complain<'_>) -> SandboxLevel {
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
