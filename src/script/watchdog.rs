//! A process that kills a group once this program is gone, even if it was killed.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

/// Waits for a line, which this program writes when all is well. No other process can write to the pipe
/// or keep it open. So if this program ends first, there is no line, and the group is killed.
const WATCH: &str = "read -r line || kill -s KILL -- \"-$1\"";

/// The watchdog process. Dropping this value calls it off.
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Starts to watch the group with this number, with the shell at this path. Returns `None` if that
    /// is not possible; the group is not killed then.
    pub(super) fn start(shell: &str, group: Pid) -> Option<Watchdog> {
        let mut command = Command::new(shell);
        command.args(["-c", WATCH, "watchdog"]).arg(group.as_raw_nonzero().to_string());
        // It has a group of its own, so that killing the group of this program does not kill it, too.
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
