//! A replacement for systems on which the processes of a script cannot be killed as a group.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) use repertoire_system::sandbox::{Reads, Sockets};

use super::{SandboxLevel, ScriptIo, ScriptLimits, ScriptOutput};

/// The files that may be read and written, and the sockets that may be used.
#[expect(dead_code, reason = "no script is started")]
pub(super) struct AllowedAccess {
    pub(super) reads: Reads,
    pub(super) write: Vec<PathBuf>,
    pub(super) sockets: Sockets,
    pub(super) scratch: Option<PathBuf>,
}

/// Fails: there is no sandbox, because scripts do not run here.
pub(super) fn sandbox() -> io::Result<SandboxLevel> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Fails: a script that cannot be stopped must not be started.
pub(super) fn run(
    _: &Path,
    _: impl FnOnce(&mut Command),
    _: AllowedAccess,
    _: &ScriptLimits,
    _: ScriptIo<'_>,
) -> io::Result<ScriptOutput> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "scripts run on Unix systems only"))
}
