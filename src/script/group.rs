//! A process group: started shut in, and ended as a whole.
//!
//! Nothing may leave the group, or it would outlive the run. A filter of system calls sees to
//! that; but it is inherited from the thread that starts the script, so it also sees the script
//! join its group. It lets exactly that pass: the group is there before, kept in being by a process
//! that has already ended and is not yet waited for. As long as that is so, the group's number is
//! nobody else's, either.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::sandbox::{Numbers, Rules, SandboxLevel, restrict_thread};

/// How long what was killed may take to be gone.
const HOPELESS: Duration = Duration::from_secs(5);

/// A script and all that it started.
#[derive(Debug)]
pub(super) struct Group {
    id: Pid,
    script: Child,
    /// Keeps the group in being.
    holder: Option<Holder>,
    ended: bool,
}

impl Group {
    /// Starts `command` in a group of its own, bound by `rules` and `numbers`.
    pub(super) fn start(
        command: &mut Command,
        mut rules: Rules,
        numbers: &Numbers,
    ) -> io::Result<(Group, SandboxLevel)> {
        let holder = Holder::start();
        let join = holder.as_ref().map_or(0, |holder| holder.0.id());
        rules.join = Some(join);
        std::os::unix::process::CommandExt::process_group(command, join as i32);
        // Rights are given up for good, so it must be a thread that ends.
        let (started, mut level) = thread::scope(|scope| {
            let restricted = || {
                let level = restrict_thread(&rules, &complain);
                (start_patiently(command), level)
            };
            let thread = thread::Builder::new().name("script-start".to_owned());
            let thread = thread.spawn_scoped(scope, restricted)?;
            thread.join().map_err(|_| io::Error::other("the thread that starts it panicked"))
        })?;
        let mut script = started?;
        let Some(own) = pid(&script) else {
            let _ = script.kill();
            return Err(io::Error::other("the system gave it no number"));
        };
        let id = holder.as_ref().and_then(|holder| pid(&holder.0)).unwrap_or(own);
        let group = Group { id, script, holder, ended: false };
        level.rlimits = group.limit(numbers);
        Ok((group, level))
    }

    /// Sends a signal to all of the group.
    pub(super) fn signal(&self, signal: Signal) {
        if !self.ended {
            let _ = kill_process_group(self.id, signal);
        }
    }

    /// Whether the script itself has ended.
    pub(super) fn has_exited(&self) -> bool {
        pid(&self.script).is_none_or(|pid| has_exited(pid, WaitIdOptions::NOHANG))
    }

    /// Kills all of the group, waits until none of it is alive, and says how the script ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        let patience = Instant::now() + HOPELESS;
        loop {
            self.signal(Signal::KILL);
            if self.has_exited() && self.members(&is_alive).is_empty() {
                break;
            }
            if Instant::now() > patience {
                tracing::warn!(group = ?self.id, "processes of a script do not die");
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.ended = true;
        let status = self.script.try_wait();
        self.holder = None;
        status?.ok_or_else(|| io::Error::other("it was killed, but does not end"))
    }

    /// Sets the limits of all processes of the group; true if that worked. They stand still
    /// meanwhile, so that none starts another one that is overlooked.
    #[cfg(target_os = "linux")]
    fn limit(&self, numbers: &Numbers) -> bool {
        self.signal(Signal::STOP);
        let members = self.members(&|_| true);
        let is_there = pid(&self.script).is_some_and(|script| members.contains(&script));
        let set = members.iter().filter(|member| numbers.set_of(**member, &complain)).count();
        self.signal(Signal::CONT);
        is_there && set == members.len()
    }

    #[cfg(not(target_os = "linux"))]
    fn limit(&self, _: &Numbers) -> bool {
        false
    }

    /// The processes of the group whose state is wanted, but for the one that holds it.
    #[cfg(target_os = "linux")]
    fn members(&self, wanted: &dyn Fn(u8) -> bool) -> Vec<Pid> {
        let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
        let group = self.id.as_raw_nonzero().get();
        let holder = self.holder.as_ref().and_then(|holder| pid(&holder.0));
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers
            .filter(|number| {
                let stat = std::fs::read(format!("/proc/{number}/stat")).unwrap_or_default();
                state_and_group(&stat).is_some_and(|(state, of)| of == group && wanted(state))
            })
            .filter_map(Pid::from_raw)
            .filter(|pid| Some(*pid) != holder)
            .collect()
    }

    /// Elsewhere there is no such list.
    #[cfg(not(target_os = "linux"))]
    fn members(&self, _: &dyn Fn(u8) -> bool) -> Vec<Pid> {
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

/// A process that is the first of a group, has ended, and stays until it is waited for.
#[derive(Debug)]
struct Holder(Child);

impl Holder {
    /// None where no group need be held, or no program is there that does nothing.
    fn start() -> Option<Holder> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let program = ["/bin/true", "/usr/bin/true", "/run/current-system/sw/bin/true"]
            .into_iter()
            .find(|program| std::path::Path::new(program).exists())?;
        let mut command = Command::new(program);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let null = std::process::Stdio::null;
        let started = command
            .env_clear()
            .current_dir("/")
            .stdin(null())
            .stdout(null())
            .stderr(null())
            .spawn();
        let holder = started.inspect_err(|error| complain("a group", error)).ok().map(Holder)?;
        has_exited(pid(&holder.0)?, WaitIdOptions::empty());
        Some(holder)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

/// Starts a program that may just have been written: while another thread of this program starts
/// one too, that one has our file open for writing for a moment.
fn start_patiently(command: &mut Command) -> io::Result<Child> {
    for _ in 0..50 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(5));
            }
            started => return started,
        }
    }
    command.spawn()
}

/// Whether a child of ours has ended; its number stays taken. Waits for that, unless `how` says
/// not to.
fn has_exited(pid: Pid, how: WaitIdOptions) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | how;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id() as i32)
}

/// Whether a process in this state can still do anything.
fn is_alive(state: u8) -> bool {
    !matches!(state, b'Z' | b'X' | b'x')
}

/// The state of a process and its group, from its `stat` of proc(5). The name before them is in
/// parentheses, and may hold any character.
#[cfg(target_os = "linux")]
fn state_and_group(stat: &[u8]) -> Option<(u8, i32)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.nth(1)?.parse().ok()?))
}

fn complain(what: &str, error: &dyn std::fmt::Display) {
    tracing::debug!("the sandbox of a script lacks {what}: {error}");
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::state_and_group;

    #[test]
    fn a_name_does_not_disguise_a_process() {
        assert_eq!(state_and_group(b"7 (sh) S 1 42 3 0"), Some((b'S', 42)));
        assert_eq!(state_and_group(b"7 (a) Z 1 9 (b c) R 1 42 3"), Some((b'R', 42)));
        assert_eq!(state_and_group(b""), None);
    }
}
