//! A replacement for systems on which no program can supervise another.

use std::io;

use rustix::process::Pid;

use super::Allowed;

/// A supervisor, which answers nothing.
#[derive(Debug)]
pub struct Supervisor;

impl Supervisor {
    pub fn start(_: Pid, _: i32, _: &Allowed) -> io::Result<Supervisor> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[expect(clippy::unnecessary_wraps, reason = "Linux has a supervisor")]
    pub fn expect(_: Allowed) -> io::Result<(Supervisor, Handle)> {
        Ok((Supervisor, Handle))
    }
}

/// The end of the process, which gives nothing.
#[derive(Debug)]
pub struct Handle;
