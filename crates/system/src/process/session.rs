//! Starts a process in a session of its own: without a terminal, and as the first of its group.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// Starts `command` as the first process of a session and a group. The session has no terminal, so none
/// of its processes can read what the user types, even where the program that starts it has one.
///
/// `prepare` runs in the new process, after the session began and before the program. Only one thread is
/// left there, and locks of others may be held for ever: it must make system calls only, and must
/// neither allocate nor take a lock.
pub fn start(
    command: &mut Command,
    prepare: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<Child> {
    let begin = move || {
        rustix::process::setsid()?;
        prepare()
    };
    // SAFETY: between `fork` and `exec`, `begin` makes system calls only: `setsid`, and those of
    // `prepare`, which promises the same. Their errors are numbers, which need no memory.
    #[expect(unsafe_code, reason = "the standard library has no stable way to begin a session")]
    unsafe {
        command.pre_exec(begin);
    }
    command.spawn()
}
