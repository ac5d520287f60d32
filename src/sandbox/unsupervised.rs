//! A replacement for systems on which no program can supervise another.

use std::io;

#[cfg(feature = "toolsets")]
use rustix::process::Pid;

use super::Allowed;

/// A supervisor, which answers nothing.
#[derive(Debug)]
pub(crate) struct Supervisor;

impl Supervisor {
    #[cfg(feature = "toolsets")]
    pub(crate) fn start(_: Pid, _: i32, _: &Allowed) -> io::Result<Supervisor> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(feature = "scripts")]
    #[expect(clippy::unnecessary_wraps, reason = "Linux has a supervisor")]
    pub(crate) fn expect(_: Allowed) -> io::Result<(Supervisor, Handle)> {
        Ok((Supervisor, Handle))
    }
}

/// The end of the process, which gives nothing.
#[cfg(feature = "scripts")]
#[derive(Debug)]
pub(crate) struct Handle;
