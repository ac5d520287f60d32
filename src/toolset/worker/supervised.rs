//! The network of a child, which this program supervises.

use crate::process::Group;
use crate::sandbox::Supervisor;
use crate::skill::Network;

/// The part of the network that a child has, and its supervisor once that was asked for.
pub(super) struct Supervised {
    /// `None` once the child has asked: it can do so once, before foreign code runs in it.
    network: Option<Network>,
    supervisor: Option<Supervisor>,
}

impl Supervised {
    pub(super) fn new(network: Network) -> Supervised {
        Supervised { network: Some(network), supervisor: None }
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

    /// Ends the supervisor.
    pub(super) fn end(&mut self) {
        self.supervisor = None;
    }
}
