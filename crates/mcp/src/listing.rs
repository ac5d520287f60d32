//! The decision who shows a client's model the list of skills: the client itself, another part of the
//! host such as a hook, or this server's instructions.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, SKILLS_EXTENSION_ID};

/// A host that shares the decision with the server. Both methods may read and write files.
///
/// A client that declares MCP's Skills extension lists the skills itself, so the server's instructions
/// never do.
pub trait ListingHost: Debug + Send + Sync {
    /// Tells whether the model of the client with this name gets the list of skills elsewhere, such as
    /// from a hook. The instructions leave the list out then.
    fn is_listed_elsewhere(&self, client: &str) -> bool;

    /// Records whether the client with this name lists the skills itself: true once it has declared the
    /// extension or requested `skills/list`, false when a connection ended without either.
    fn note(&self, client: &str, lists_skills: bool);
}

/// The part of one connection in the decision.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) host: OnceLock<Arc<dyn ListingHost>>,
    client: OnceLock<String>,
    is_by_client: AtomicBool,
}

impl Listing {
    /// Records the client's introduction. Returns true if the instructions need the list of skills.
    pub(super) fn is_needed(&self, client: &str, capabilities: &ClientCapabilities) -> bool {
        let client = self.client.get_or_init(|| client.to_owned());
        let extensions = capabilities.extensions.as_ref();
        if extensions.is_some_and(|declared| declared.contains_key(SKILLS_EXTENSION_ID)) {
            self.note_by_client();
            return false;
        }
        self.host.get().is_none_or(|host| !host.is_listed_elsewhere(client))
    }

    /// Records that the client, with this name, lists the skills itself.
    pub(super) fn note_request(&self, client: Option<String>) {
        if let Some(client) = client {
            self.client.get_or_init(|| client);
        }
        self.note_by_client();
    }

    fn note_by_client(&self) {
        if !self.is_by_client.swap(true, Ordering::Relaxed) {
            self.tell();
        }
    }

    fn tell(&self) {
        if let (Some(host), Some(client)) = (self.host.get(), self.client.get()) {
            host.note(client, self.is_by_client.load(Ordering::Relaxed));
        }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        if !*self.is_by_client.get_mut() {
            self.tell();
        }
    }
}
