//! The processes that calls start, which end with them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use repertoire_system::process::Group;
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

/// The time in which what a call started must end once it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The processes that calls of a child have started.
#[derive(Default)]
pub(super) struct Started {
    /// True if the child is a client of a server: it cannot tell what the server starts.
    always: bool,
    /// True if the child said that it has children.
    noted: bool,
    /// The time at which the first of the calls that run now began, in ticks as in `stat` files.
    since: u64,
    /// Processes that belong to toolsets.
    kept: HashSet<Pid>,
}

impl Started {
    pub(super) fn new(always: bool) -> Started {
        Started { always, ..Started::default() }
    }

    /// A call begins, and no other runs.
    pub(super) fn call_begins(&mut self) {
        self.since = ticks();
    }

    /// The child says that it has children.
    pub(super) fn note(&mut self) {
        self.noted = true;
    }

    /// Keeps all processes that run now.
    pub(super) fn keep(&mut self, group: Group) {
        if self.always || self.noted {
            self.kept = group.members().iter().map(|member| member.pid).collect();
        }
    }

    /// Ends all processes of the group that were started since the first call began, except those that
    /// are kept. Returns false if they do not end.
    pub(super) fn end(&mut self, group: Group) -> bool {
        if !self.always && !self.noted {
            return true;
        }
        self.noted = false;
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            let mut members = group.members();
            members.retain(|member| member.is_alive() && self.is_of_a_call(group, member));
            if members.is_empty() {
                return true;
            }
            for member in members {
                let _ = kill_process(member.pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    fn is_of_a_call(&self, group: Group, member: &repertoire_system::process::Member) -> bool {
        member.started >= self.since && member.pid != group.id() && !self.kept.contains(&member.pid)
    }
}

/// The time since the machine started, in the ticks of `stat` files.
fn ticks() -> u64 {
    // The kernel shows times to programs in hundredths of a second.
    const PER_SECOND: i64 = 100;
    #[cfg(target_os = "linux")]
    let now = clock_gettime(ClockId::Boottime);
    #[cfg(not(target_os = "linux"))]
    let now = clock_gettime(ClockId::Monotonic);
    let ticks = now.tv_sec * PER_SECOND + now.tv_nsec / (1_000_000_000 / PER_SECOND);
    ticks.unsigned_abs()
}
