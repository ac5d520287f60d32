//! Notifies the client when a list that it has seen has changed.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{Prompt, SubscriptionFilter, Tool};
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use serde::Serialize;
use tokio::sync::Notify;

use super::Connection;
use super::blocking::blocking;
use repertoire::catalog::{Audience, Catalog};

/// The number of lists that can change.
pub(super) const N_LISTS: usize = 3;
const TOOLS: usize = 0;
const PROMPTS: usize = 1;
const RESOURCES: usize = 2;

/// The longest interval between checks whether the client is still connected, since the task that
/// notifies it keeps its session alive.
const LIVENESS_INTERVAL: Duration = Duration::from_secs(30);

/// Fingerprints of the lists. Equal lists have equal fingerprints.
type Fingerprints = [Option<u64>; N_LISTS];

/// The fingerprints of the lists that the client last saw; `None` for a list that it never asked
/// for.
#[derive(Debug, Default)]
pub(super) struct Listed(Mutex<Fingerprints>);

impl Listed {
    pub(super) fn record_tools(&self, tools: &[Tool]) {
        self.note(TOOLS, print(tools));
    }

    pub(super) fn note_prompts(&self, prompts: &[Prompt]) {
        self.note(PROMPTS, print(prompts));
    }

    pub(super) fn note_skills(&self, catalog: &Catalog) {
        self.note(RESOURCES, print_skills(catalog));
    }

    fn note(&self, list: usize, print: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[list] = Some(print);
    }

    fn prints(&self) -> Fingerprints {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Returns the current fingerprints of those lists that are `wanted`.
    fn prints(&self, wanted: [bool; N_LISTS]) -> Fingerprints {
        let [tools, prompts, resources] = wanted;
        [
            tools.then(|| print(&self.current_tools())),
            prompts.then(|| print(&self.current_prompts())),
            resources.then(|| print_skills(&self.engine.catalog())),
        ]
    }
}

fn print(list: &[impl Serialize]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for item in list {
        serde_json::to_string(item).unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}

/// The directories in which skills usually have files, relative to the directory of the skill.
const USUAL: [&str; 4] = ["", "assets", "references", "scripts"];

/// Computes a fingerprint of the skills from their names and descriptions, the times and sizes of their
/// `SKILL.md` files, and the times of their directories. Adding or removing a file changes the time of
/// its directory; checking every file every few seconds would cost too much.
fn print_skills(catalog: &Catalog) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in catalog.listed(Audience::Model) {
        let dir = entry.skill.dir();
        (entry.id.as_str(), dir).hash(&mut hasher);
        (entry.skill.name(), entry.skill.description()).hash(&mut hasher);
        let file = entry.skill.path().and_then(|path| fs::metadata(path).ok());
        file.map(|of| (of.len(), of.modified().ok())).hash(&mut hasher);
        let Some(dir) = dir else { continue };
        let changed = |name| fs::metadata(dir.join(name)).and_then(|of| of.modified()).ok();
        USUAL.map(changed).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns, for each list, whether a subscription is for it.
pub(super) fn followed(filter: &SubscriptionFilter) -> [bool; N_LISTS] {
    [filter.tools_list_changed, filter.prompts_list_changed, filter.resources_list_changed]
        .map(|wanted| wanted == Some(true))
}

/// Checks the lists of a connection after each refresh of the engine and at intervals, and notifies
/// `client` once of each change since it last read a list or was notified. Lists that are `followed`
/// count as read at the start, because the client may read them over other connections. Returns when
/// the client is gone.
pub(super) async fn tell(
    connection: &Arc<Connection>,
    client: &impl Client,
    followed: [bool; N_LISTS],
) {
    let refreshed = Arc::new(Notify::new());
    let heard = Arc::clone(&refreshed);
    let _subscription = connection.engine.subscribe(move |_| heard.notify_one());
    let poll = connection.options.poll;
    let look = |wanted| {
        let looked = Arc::clone(connection);
        blocking("lists", move || looked.prints(wanted))
    };
    let mut read = connection.listed.prints();
    let at_start = look(followed).await.unwrap_or_default();
    // The state of each list that the client knows, or knows to have changed.
    let mut known: Fingerprints = std::array::from_fn(|list| read[list].or(at_start[list]));
    loop {
        let pause = poll.unwrap_or(LIVENESS_INTERVAL);
        let is_refreshed = tokio::time::timeout(pause, refreshed.notified()).await.is_ok();
        if client.is_gone() {
            return;
        }
        if !is_refreshed && poll.is_none() {
            continue;
        }
        let before = std::mem::replace(&mut read, connection.listed.prints());
        for list in 0..N_LISTS {
            if read[list] != before[list] {
                known[list] = read[list];
            }
        }
        // The panic was already reported; keep the lists as they were.
        let Ok(now) = look(known.map(|print| print.is_some())).await else { continue };
        for list in 0..N_LISTS {
            if now[list] != known[list] {
                known[list] = now[list];
                client.tell_changed(list).await;
            }
        }
    }
}

/// A receiver of notifications.
pub(super) trait Client {
    /// Tells whether the receiver is gone.
    fn is_gone(&self) -> bool;

    /// Notifies that a list changed. A failure is ignored: the client is gone, or did not subscribe
    /// to this list.
    async fn tell_changed(&self, list: usize);
}

impl Client for Peer<RoleServer> {
    fn is_gone(&self) -> bool {
        self.is_transport_closed()
    }

    async fn tell_changed(&self, list: usize) {
        let _ = match list {
            TOOLS => self.notify_tool_list_changed().await,
            PROMPTS => self.notify_prompt_list_changed().await,
            _ => self.notify_resource_list_changed().await,
        };
    }
}

impl Client for SubscriptionSink {
    fn is_gone(&self) -> bool {
        // Cancelling the subscription ends the listener instead.
        false
    }

    async fn tell_changed(&self, list: usize) {
        let _ = match list {
            TOOLS => self.notify_tool_list_changed().await,
            PROMPTS => self.notify_prompt_list_changed().await,
            _ => self.notify_resource_list_changed().await,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repertoire::catalog::Source;
    use repertoire::engine::Engine;

    #[test]
    fn an_edit_of_a_skill_changes_the_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/SKILL.md");
        fs::create_dir(dir.path().join("a")).unwrap();
        let write = |text: &str| fs::write(&file, format!("---\ndescription: {text}")).unwrap();
        write("d\n---\nDo it.\n");
        let engine = Engine::builder().source(Source::user(dir.path())).build().unwrap();
        let before = print_skills(&engine.catalog());
        assert_eq!(print_skills(&engine.catalog()), before);
        write("d\n---\nDo it twice.\n");
        let edited = print_skills(&engine.catalog());
        assert_ne!(edited, before, "the body");
        // The file may be seen before the engine has read it.
        write("e\n---\nDo it twice.\n");
        let seen = print_skills(&engine.catalog());
        engine.refresh().unwrap();
        assert_ne!(print_skills(&engine.catalog()), seen, "the description");
    }
}
