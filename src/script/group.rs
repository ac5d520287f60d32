//! The processes of a script: started in a sandbox, and ended as a whole.
//!
//! Rights are given up in two steps, because nothing that a thread gave up comes back: a thread that
//! ends gives up files, capabilities and the network, and starts the script from there. The new process
//! begins its session, sets its resource limits and filters its own system calls, and only then becomes
//! the script. From that filter on, no process can leave the group, or it would outlive the run.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_system::process::{Group, session};
use repertoire_system::sandbox::{
    ResourceLimits, Rules, Sandbox, SandboxLevel, Supervisor, keep_descriptors,
};
use rustix::process::Signal;

use super::watchdog::Watchdog;

/// The longest time to wait for killed processes to end.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The shell of the watchdog.
const SHELL: &str = "/bin/sh";

/// Does `work` with no more rights than `rules` leave open, on a thread that ends. Returns its result.
pub(super) fn restricted<T: Send>(
    rules: &Rules,
    work: impl FnOnce(Sandbox) -> T + Send,
) -> io::Result<T> {
    thread::scope(|scope| {
        let restricted = || work(Sandbox::restrict(rules, &complain));
        let thread = thread::Builder::new().name("script-start".to_owned());
        let thread = thread.spawn_scoped(scope, restricted)?;
        thread.join().map_err(|_| io::Error::other("the thread that starts it panicked"))
    })
}

/// A script, and all processes that it started.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) group: Group,
    script: Child,
    watchdog: Option<Watchdog>,
    /// Decides about its network, if that is limited, and about attributes of files.
    _supervisor: Supervisor,
    ended: bool,
}

impl Running {
    /// Starts `command` in a group of its own, restricted by `rules` and `limits`.
    pub(super) fn start(
        command: &mut Command,
        rules: &Rules,
        limits: ResourceLimits,
    ) -> io::Result<(Running, SandboxLevel)> {
        keep_descriptors();
        let (supervisor, handle) = Supervisor::expect(rules.allowed())?;
        let started = restricted(rules, |sandbox| {
            let level = sandbox.level.with_rlimits(cfg!(target_os = "linux"));
            let prepare = move || {
                #[cfg(target_os = "linux")]
                limits.apply()?;
                #[cfg(not(target_os = "linux"))]
                let _ = &limits;
                sandbox.filter_calls(&handle)
            };
            session::start(command, prepare).map(|script| (script, level))
        });
        let (mut script, level) = started??;
        let Some(group) = Group::of(&script) else {
            let _ = script.kill();
            return Err(io::Error::other("the system gave it no number"));
        };
        let watchdog = Watchdog::start(SHELL, group.id());
        let running = Running { group, script, watchdog, _supervisor: supervisor, ended: false };
        Ok((running, level))
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        if !self.ended {
            self.group.signal(signal);
        }
    }

    /// Kills the whole group, waits until none of its processes is alive, and returns how the script
    /// ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        let patience = Instant::now() + KILL_TIMEOUT;
        loop {
            self.signal(Signal::KILL);
            if self.group.has_exited() && !self.group.is_alive() {
                break;
            }
            if Instant::now() > patience {
                tracing::warn!(group = ?self.group, "processes of a script do not die");
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.ended = true;
        self.group.reap_adopted();
        let status = self.script.try_wait();
        self.watchdog = None;
        status?.ok_or_else(|| io::Error::other("it was killed, but does not end"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end();
        }
    }
}

fn complain(what: &str, error: &dyn std::fmt::Display) {
    tracing::debug!("the sandbox of a script lacks {what}: {error}");
}
