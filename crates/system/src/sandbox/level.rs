//! The degree to which a process is confined.

use serde::{Deserialize, Serialize};

/// The parts of the sandbox that are in force for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is reached or not, apart from the others")]
#[non_exhaustive]
pub struct SandboxLevel {
    /// True if programs that the process starts cannot gain rights, for example by a set-user-id bit.
    pub no_new_privs: bool,
    /// True if programs that the process starts cannot leave its process group, which is killed as a
    /// whole.
    pub contained: bool,
    /// True if no terminal can be read, changed or taken over: the processes are in a session without
    /// one, and cannot open any.
    pub terminal: bool,
    /// True if all its resource limits are set.
    pub rlimits: bool,
    /// The files that can be opened: only those that are allowed, or more. For a script, this is about
    /// opening files for writing; it may read all files.
    pub filesystem: FilesystemLevel,
    /// True if modes, owners, times and extended attributes can be changed only where the process may write. Where
    /// the system does not let a program supervise another, this is refused everywhere, and programs such as `touch`
    /// and `cp -p` fail.
    pub attributes: bool,
    /// True if the memory, the environment and the open files of processes outside the sandbox are out
    /// of reach. This holds for root, too, who gives up all capabilities except access to the files of
    /// others.
    pub processes: bool,
    /// The part of the network that is closed.
    pub network: NetworkLevel,
}

impl SandboxLevel {
    /// Returns the level of a process of which all resource limits are set, or not.
    #[must_use]
    pub fn with_rlimits(self, rlimits: bool) -> SandboxLevel {
        SandboxLevel { rlimits, ..self }
    }
}

/// The degree to which files are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FilesystemLevel {
    /// Files are not closed: every file of the user is open.
    None,
    /// Files are closed as far as an older kernel can do it.
    Partial,
    /// All files are closed, except those that are allowed.
    Full,
}

/// The degree to which the network is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NetworkLevel {
    /// The network is open, because it is allowed or because the system cannot close it.
    Open,
    /// Only Internet sockets are open, not the sockets that reach other programs by a path. All addresses
    /// answer, those of this machine included: the system cannot hold code to single addresses.
    Internet,
    /// Only the addresses answer that were asked for and allowed, and those of this machine only if they
    /// are named.
    Named,
    /// TCP is closed, UDP is not.
    Tcp,
    /// All sockets are closed, except connected pairs, which lead nowhere else.
    All,
}
