//! A process that kills a group once this program is gone, however it was ended.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

/// Waits for a line, which this program writes when all is well. Nobody else can write to the pipe or keeps
/// it open, so it ends without a line when this program does.
const WATCH: &str = "read -r line || kill -s KILL -- \"-$1\"";

/// The process. Dropping it calls it off.
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Begins to watch over the group of this number, with the shell at this path; `None` if that is not
    /// possible, and the group is not killed then.
    pub(super) fn start(shell: &str, group: Pid) -> Option<Watchdog> {
        let mut command = Command::new(shell);
        command.args(["-c", WATCH, "watchdog"]).arg(group.as_raw_nonzero().to_string());
        // In a group of its own: whoever kills this program's kills all of it.
        command.process_group(0).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = command.spawn();
        let started = started.inspect_err(|error| tracing::debug!("no watchdog starts: {error}"));
        started.ok().map(Watchdog)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.0.stdin.take() {
            let _ = stdin.write_all(b"\n");
        }
        let _ = self.0.wait();
    }
}
