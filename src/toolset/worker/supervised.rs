//! The network of a child, which this program supervises.

use crate::process::Group;
use crate::sandbox::Supervisor;
use crate::skill::Network;

/// The part of the network that a child has, and its supervisor once that was asked for.
pub(super) struct Supervised {
    /// `None` once the child has asked, or runs foreign code, and if nothing is open: only a child that has
    /// a network asks, once, before foreign code runs in it. What that code names could be anything.
    network: Option<Network>,
    supervisor: Option<Supervisor>,
}

impl Supervised {
    pub(super) fn new(network: Network) -> Supervised {
        Supervised { network: Some(network).filter(|network| !network.is_none()), supervisor: None }
    }

    /// Takes the listener of the child, the first of `group`. Returns false if that is not possible: the
    /// network of the child is then closed.
    pub(super) fn take(&mut self, group: Group, listener: i32) -> bool {
        let Some(network) = self.network.take() else { return false };
        match Supervisor::start(group.id(), listener, network) {
            Ok(supervisor) => self.supervisor = Some(supervisor),
            Err(error) => tracing::warn!("the network of a plugin stays closed: {error}"),
        }
        self.supervisor.is_some()
    }

    /// Takes no listener from now on.
    pub(super) fn disarm(&mut self) {
        self.network = None;
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
    use crate::process::session;

    #[test]
    fn a_listener_is_taken_only_before_foreign_code_runs() {
        let mut command = Command::new("/bin/sleep");
        command.arg("1000").stdin(Stdio::piped());
        let mut child = session::start(&mut command, || Ok(())).unwrap();
        let group = Group::of(&child).unwrap();
        // The standard input of the child stands for a listener.
        let taken = |mut supervised: Supervised| supervised.take(group, 0);
        let open = taken(Supervised::new(true.into()));
        let closed = taken(Supervised::new(Network::default()));
        let mut disarmed = Supervised::new(true.into());
        disarmed.disarm();
        let late = taken(disarmed);
        child.kill().and_then(|()| child.wait()).unwrap();
        if !open {
            return println!("SKIPPED: this system cannot take a descriptor of a child");
        }
        assert!(!closed && !late);
    }
}
