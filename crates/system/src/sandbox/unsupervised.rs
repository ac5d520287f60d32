//! A replacement for systems on which no program can supervise another.

use std::io;

use rustix::process::Pid;

use super::Allowed;

/// A supervisor, which answers nothing.
#[derive(Debug)]
pub struct Supervisor;

impl Supervisor {
    /// Fails: nothing can answer the calls of another process.
    pub fn start(_: Pid, _: i32, _: &Allowed) -> io::Result<Supervisor> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns a supervisor that answers nothing, and the end of the process for it.
    #[expect(clippy::unnecessary_wraps, reason = "Linux has a supervisor")]
    pub fn expect(_: Allowed) -> io::Result<(Supervisor, Handle)> {
        Ok((Supervisor, Handle))
    }
}

/// The end of the process, which gives nothing.
#[derive(Debug)]
pub struct Handle;
