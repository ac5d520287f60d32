//! A replacement for systems on which no program can supervise another.

use std::io;

use rustix::process::Pid;

use crate::skill::Network;

/// A supervisor, which never exists here.
#[derive(Debug)]
pub(crate) enum Supervisor {}

impl Supervisor {
    #[cfg(feature = "toolsets")]
    pub(crate) fn start(_: Pid, _: i32, _: Network) -> io::Result<Supervisor> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The end of this program, which receives nothing.
#[cfg(feature = "scripts")]
#[derive(Debug)]
pub(crate) struct Receiver;

#[cfg(feature = "scripts")]
impl Receiver {
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "Linux has a supervisor")]
    pub(crate) fn receive(self, _: Network) -> io::Result<Option<Supervisor>> {
        Ok(None)
    }
}

/// The end of the process, which gives nothing.
#[cfg(feature = "scripts")]
#[derive(Debug)]
pub(crate) struct Handle;

#[cfg(feature = "scripts")]
#[expect(clippy::unnecessary_wraps, reason = "Linux has a supervisor")]
pub(crate) fn hand_over() -> io::Result<(Receiver, Handle)> {
    Ok((Receiver, Handle))
}
