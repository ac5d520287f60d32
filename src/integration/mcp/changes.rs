//! Telling the client when what it was shown is no longer so.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{Prompt, Tool};
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use serde::Serialize;
use tokio::sync::Notify;

use super::{Connection, blocking};
use crate::catalog::{Audience, Catalog};

/// The lists that change.
const N_LISTS: usize = 3;
const TOOLS: usize = 0;
const PROMPTS: usize = 1;
const RESOURCES: usize = 2;

/// How often to ask at least whether the client is still there: whoever tells it of changes keeps
/// its session.
const ROLL_CALL: Duration = Duration::from_secs(30);

/// Prints of the lists: equal for equal lists.
type Prints = [Option<u64>; N_LISTS];

/// What the client was last shown; nothing of a list that it never asked for.
#[derive(Debug, Default)]
pub(super) struct Listed(Mutex<Prints>);

impl Listed {
    pub(super) fn note_tools(&self, tools: &[Tool]) {
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

    fn prints(&self) -> Prints {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// The prints of the lists as they are now, of those that were listed before.
    fn prints(&self, listed: Prints) -> Prints {
        let [tools, prompts, resources] = listed;
        [
            tools.map(|_| print(&self.current_tools())),
            prompts.map(|_| print(&self.current_prompts())),
            resources.map(|_| print_skills(&self.engine.catalog())),
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

/// Directories in which a skill's files usually are, from its own.
const USUAL: [&str; 4] = ["", "assets", "references", "scripts"];

/// Skills and their directories stand for their files: a file that comes or goes changes the time
/// of its directory, and to look at every file every few seconds would cost too much.
fn print_skills(catalog: &Catalog) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in catalog.listed(Audience::Model) {
        let dir = entry.skill.dir();
        (entry.id.as_str(), dir).hash(&mut hasher);
        let Some(dir) = dir else { continue };
        let changed = |name| fs::metadata(dir.join(name)).and_then(|of| of.modified()).ok();
        USUAL.map(changed).hash(&mut hasher);
    }
    hasher.finish()
}

/// Looks whether the lists of a connection changed, whenever the engine took up changed skills and
/// again and again, and tells `client` of each change once, until it is gone.
pub(super) async fn tell(connection: &Arc<Connection>, client: &impl Client) {
    let refreshed = Arc::new(Notify::new());
    let heard = Arc::clone(&refreshed);
    let _subscription = connection.engine.subscribe(move |_| heard.notify_one());
    let poll = connection.options.poll;
    let mut told: Prints = [None; N_LISTS];
    loop {
        let pause = poll.unwrap_or(ROLL_CALL);
        let is_refreshed = tokio::time::timeout(pause, refreshed.notified()).await.is_ok();
        if client.is_gone() {
            return;
        }
        if !is_refreshed && poll.is_none() {
            continue;
        }
        let listed = connection.listed.prints();
        let looked = Arc::clone(connection);
        // A panic was reported where it happened; the lists stand as they were.
        let Ok(now) = blocking("lists", move || looked.prints(listed)).await else { continue };
        for list in 0..N_LISTS {
            if now[list] != listed[list] && now[list] != told[list] {
                told[list] = now[list];
                client.tell_changed(list).await;
            }
        }
    }
}

/// Whoever hears of changes.
pub(super) trait Client {
    /// Whether nobody hears any more.
    fn is_gone(&self) -> bool;

    /// Says that a list changed. What cannot be told is not: the client is gone, or did not want to
    /// hear of this list.
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
        // Whoever listens is cancelled with the subscription.
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
