//! The calls of a child that this program makes for it: those that reach the network, and those that change
//! attributes of files.

use repertoire_system::process::Group;
use repertoire_system::sandbox::{Allowed, Supervisor};

/// The things that a child may do, and its supervisor once that was asked for.
pub(super) struct Supervised {
    /// `None` once the child has asked, or runs foreign code: it asks once, before foreign code runs in it. What
    /// that code names could be anything.
    allowed: Option<Allowed>,
    supervisor: Option<Supervisor>,
}

impl Supervised {
    pub(super) fn new(allowed: Allowed) -> Supervised {
        Supervised { allowed: Some(allowed), supervisor: None }
    }

    /// Takes the listener of the child, the first of `group`. Returns false if that is not possible: the child
    /// then can do nothing of it.
    pub(super) fn take(&mut self, group: Group, listener: i32) -> bool {
        let Some(allowed) = self.allowed.take() else { return false };
        match Supervisor::start(group.id(), listener, &allowed) {
            Ok(supervisor) => self.supervisor = Some(supervisor),
            Err(error) => tracing::warn!("a plugin cannot be supervised: {error}"),
        }
        self.supervisor.is_some()
    }

    /// Takes no listener from now on.
    pub(super) fn disarm(&mut self) {
        self.allowed = None;
    }

    /// Ends the supervisor.
    pub(super) fn end(&mut self) {
        self.supervisor = None;
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use repertoire_system::process::session;

    #[test]
    fn a_listener_is_taken_only_before_foreign_code_runs() {
        let mut command = Command::new("/bin/sleep");
        command.arg("1000").stdin(Stdio::piped());
        let mut child = session::start(&mut command, || Ok(())).unwrap();
        let group = Group::of(&child).unwrap();
        // The standard input of the child stands for a listener.
        let taken = |mut supervised: Supervised| supervised.take(group, 0);
        let armed = || Supervised::new(Allowed { network: true.into(), write: Vec::new() });
        let open = taken(armed());
        let mut disarmed = armed();
        disarmed.disarm();
        let late = taken(disarmed);
        child.kill().and_then(|()| child.wait()).unwrap();
        if !open {
            return println!("SKIPPED: this system cannot take a descriptor of a child");
        }
        assert!(!late);
    }
}
