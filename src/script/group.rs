//! The process group of a script: started in a sandbox, and ended as a whole.
//!
//! No process may leave the group, or it would outlive the run. A filter of system calls ensures this.
//! As the filter is inherited from the thread that starts the script, it also sees the script join its
//! group, and lets only that call pass. To make this possible, the group exists before: its first
//! process has already ended, but is not reaped yet (see `Holder`). Until it is reaped, no other group
//! can get the same number.
//!
//! Resource limits apply to a whole process, so the thread cannot set them in advance. They are set
//! from here, while a shell is stopped before it becomes the script. The shell's command line is always
//! the same; the script's name and arguments are only its parameters.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::watchdog::Watchdog;
use crate::sandbox::{ResourceLimits, Rules, SandboxLevel, keep_descriptors, restrict_thread};

/// The longest time to wait for killed processes to end.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

const SHELL: &str = "/bin/sh";
const STAND_STILL: &str = "kill -STOP $$ && exec \"$@\"";
/// The name of the shell. Its error message begins with it if the system does not start the program.
const SHELL_NAME: &str = "repertoire cannot start it";

/// Returns a command that stops itself, and runs `program` once it is continued. Without a shell, it
/// runs `program` at once.
pub(super) fn command(program: &Path) -> Command {
    if !stands_still() {
        return Command::new(program);
    }
    let mut command = Command::new(SHELL);
    command.args(["-c", STAND_STILL, SHELL_NAME]).arg(program);
    command
}

/// The reason why the system did not start the program of a [`command`], from the exit code and the
/// standard error of the shell; `None` if the program was started.
pub(super) fn not_started(exit_code: Option<i32>, stderr: &[u8]) -> Option<String> {
    let complaint = stderr.strip_prefix(SHELL_NAME.as_bytes())?;
    matches!(exit_code, Some(126 | 127)).then(|| {
        let complaint = String::from_utf8_lossy(complaint);
        complaint.trim_end().rsplit(": ").next().unwrap_or_default().to_lowercase()
    })
}

/// Tells whether a [`command`] stops itself before it runs its program.
fn stands_still() -> bool {
    cfg!(target_os = "linux") && Path::new(SHELL).exists()
}

/// Does `work` with no more rights than `rules` leave open. Returns its result, and the level reached.
/// Rights are given up for good, so this happens on a thread that ends.
pub(super) fn restricted<T: Send>(
    rules: &Rules,
    work: impl FnOnce() -> T + Send,
) -> io::Result<(T, SandboxLevel)> {
    thread::scope(|scope| {
        let restricted = || {
            let level = restrict_thread(rules, &complain);
            (work(), level)
        };
        let thread = thread::Builder::new().name("script-start".to_owned());
        let thread = thread.spawn_scoped(scope, restricted)?;
        thread.join().map_err(|_| io::Error::other("the thread that starts it panicked"))
    })
}

/// A script, and all processes that it started.
#[derive(Debug)]
pub(super) struct Group {
    id: Pid,
    script: Child,
    /// Keeps the group in existence.
    holder: Option<Holder>,
    watchdog: Option<Watchdog>,
    ended: bool,
}

impl Group {
    /// Starts a [`command`] in a group of its own, restricted by `rules` and `limits`.
    pub(super) fn start(
        command: &mut Command,
        mut rules: Rules,
        limits: &ResourceLimits,
    ) -> io::Result<(Group, SandboxLevel)> {
        keep_descriptors();
        let holder = Holder::start();
        let join = holder.as_ref().map_or(0, |holder| holder.0.id());
        rules.join = Some(join);
        command.process_group(join.cast_signed());
        let (started, mut level) = restricted(&rules, || command.spawn())?;
        let mut script = started?;
        let Some(own) = pid(&script) else {
            let _ = script.kill();
            return Err(io::Error::other("the system gave it no number"));
        };
        let id = holder.as_ref().and_then(|holder| pid(&holder.0)).unwrap_or(own);
        let watchdog = Watchdog::start(SHELL, id);
        let group = Group { id, script, holder, watchdog, ended: false };
        level.rlimits = group.limit(limits);
        Ok((group, level))
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        if !self.ended {
            let _ = kill_process_group(self.id, signal);
        }
    }

    /// Tells whether the script itself has ended. It is not reaped, so its number stays taken.
    pub(super) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        pid(&self.script).is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    /// The number of processes of the group that are alive.
    pub(super) fn n_alive(&self) -> usize {
        self.members(&Stat::is_alive).len()
    }

    /// Kills the whole group, waits until none of its processes is alive, and returns how the script
    /// ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        let patience = Instant::now() + KILL_TIMEOUT;
        loop {
            self.signal(Signal::KILL);
            if self.has_exited() && self.members(&Stat::is_alive).is_empty() {
                break;
            }
            if Instant::now() > patience {
                tracing::warn!(group = ?self.id, "processes of a script do not die");
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.ended = true;
        self.reap_adopted();
        let status = self.script.try_wait();
        (self.watchdog, self.holder) = (None, None);
        status?.ok_or_else(|| io::Error::other("it was killed, but does not end"))
    }

    /// Sets the limits of all processes of the group. Returns true if that worked. The processes are
    /// stopped until it is done, so that none can start another one unnoticed.
    #[cfg(target_os = "linux")]
    fn limit(&self, limits: &ResourceLimits) -> bool {
        if !stands_still() || !self.is_standing() {
            self.signal(Signal::STOP);
        }
        let members = self.members(&|_| true);
        let is_there = pid(&self.script).is_some_and(|script| members.contains(&script));
        let set = members.iter().filter(|member| limits.set_of(**member, &complain)).count();
        self.signal(Signal::CONT);
        is_there && set == members.len()
    }

    #[cfg(not(target_os = "linux"))]
    fn limit(&self, _: &ResourceLimits) -> bool {
        false
    }

    /// Waits until the script is stopped or has ended. Returns false if it takes too long.
    #[cfg(target_os = "linux")]
    fn is_standing(&self) -> bool {
        let Some(script) = pid(&self.script) else { return false };
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED;
        let options = options | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let patience = Instant::now() + KILL_TIMEOUT;
        while Instant::now() < patience {
            if !matches!(waitid(WaitId::Pid(script), options), Ok(None)) {
                return true;
            }
            thread::sleep(Duration::from_micros(200));
        }
        false
    }

    /// Reaps processes whose parents have ended, if this program has inherited them: it is the first
    /// process of its container, or a subreaper. Nothing else reaps them.
    fn reap_adopted(&self) {
        let own = std::process::id();
        let script = pid(&self.script);
        for member in self.members(&|stat| stat.parent == own) {
            if Some(member) != script {
                let _ = waitid(WaitId::Pid(member), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
    }

    /// Returns the processes of the group for which `wanted` is true, except the one that holds the
    /// group.
    #[cfg(target_os = "linux")]
    fn members(&self, wanted: &dyn Fn(&Stat) -> bool) -> Vec<Pid> {
        let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
        let group = self.id.as_raw_nonzero().get();
        let holder = self.holder.as_ref().and_then(|holder| pid(&holder.0));
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers
            .filter(|number| {
                let stat = std::fs::read(format!("/proc/{number}/stat")).unwrap_or_default();
                Stat::read(&stat).is_some_and(|stat| stat.group == group && wanted(&stat))
            })
            .filter_map(Pid::from_raw)
            .filter(|pid| Some(*pid) != holder)
            .collect()
    }

    /// Returns nothing: other systems have no such list.
    #[cfg(not(target_os = "linux"))]
    fn members(&self, _: &dyn Fn(&Stat) -> bool) -> Vec<Pid> {
        Vec::new()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end();
        }
    }
}

/// The first process of a group. It has ended, and stays until it is reaped.
#[derive(Debug)]
struct Holder(Child);

impl Holder {
    /// Starts a holder. Returns `None` on systems where none is needed, or if no program that does
    /// nothing is found.
    fn start() -> Option<Holder> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let program = ["/bin/true", "/usr/bin/true", "/run/current-system/sw/bin/true"]
            .into_iter()
            .find(|program| Path::new(program).exists())?;
        let mut command = Command::new(program);
        command.process_group(0).env_clear().current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let holder = command.spawn().inspect_err(|error| complain("a group", error)).ok();
        let holder = Holder(holder?);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(pid(&holder.0)?), options);
        ended.inspect_err(|error| complain("a group", error)).ok().map(|_| holder)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id().cast_signed())
}

/// The fields that are needed of a process's `stat` file, see proc(5).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: u8,
    parent: u32,
    group: i32,
}

impl Stat {
    /// Parses a `stat` file. The name before the fields is in parentheses, and may contain any
    /// character.
    #[cfg(target_os = "linux")]
    fn read(stat: &[u8]) -> Option<Stat> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Stat { state, parent, group })
    }

    /// Tells whether the process can still do anything: it is not dead or a zombie.
    fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn complain(what: &str, error: &dyn std::fmt::Display) {
    tracing::debug!("the sandbox of a script lacks {what}: {error}");
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::Stat;

    #[test]
    fn a_name_does_not_disguise_a_process() {
        for (stat, expected) in [
            ("7 (sh) S 1 42 3 0", Some((b'S', 1, 42))),
            ("7 (a) Z 1 9 (b c) R 2 43 3", Some((b'R', 2, 43))),
            ("7 (sh) S 1", None),
            ("", None),
        ] {
            let expected = expected.map(|(state, parent, group)| Stat { state, parent, group });
            assert_eq!(Stat::read(stat.as_bytes()), expected);
        }
    }
}
