//! How far a process is shut in.

use serde::{Deserialize, Serialize};

/// How much of its sandbox a process reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is reached or not, apart from the others")]
pub struct SandboxLevel {
    /// Programs it starts gain no rights, as from a set-user-id bit.
    pub no_new_privs: bool,
    /// True if the programs it starts cannot leave its process group, with which they are killed.
    pub contained: bool,
    /// True if all its limits in numbers are set.
    pub rlimits: bool,
    /// The files that can be opened: those allowed alone, or more; of a script, opened for writing.
    pub filesystem: FilesystemLevel,
    /// True if modes, owners, times and extended attributes of files are closed too. Never so far:
    /// Landlock does not know them, and refused as system calls they would also be missing where
    /// the process may write, for `touch`, `cp` and `tar`.
    pub attributes: bool,
    /// The memory, the environment and the open files of processes outside are out of reach, also for
    /// root, who gives up all capabilities but that to files of others.
    pub processes: bool,
    /// The part of the network that is closed.
    pub network: NetworkLevel,
}

/// How far files are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilesystemLevel {
    /// Not at all: every file of the user is open.
    None,
    /// As far as an older kernel can.
    Partial,
    /// Wholly.
    Full,
}

/// How far the network is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkLevel {
    /// Not at all, because it is allowed or because the system cannot.
    Open,
    /// Only sockets of the Internet are open: none that lead to other programs by a path.
    Internet,
    /// TCP is closed, UDP is not.
    Tcp,
    /// All sockets are closed but connected pairs, which lead nowhere else.
    All,
}
