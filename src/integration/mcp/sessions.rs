//! The ids of connections, and the sessions of HTTP clients, limited in number.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};

/// The most sessions at a time: one more ends the least recently used one. Each takes some 60 kB.
const MAX_SESSIONS: usize = 128;

/// The time after which an idle session ends. Users leave agents alone for longer than the SDK's
/// five minutes, and few clients start a new session when theirs is gone.
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);

/// The header that names a session.
const SESSION_ID: &str = "mcp-session-id";

/// The open sessions, in the order of their last use.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    by_use: Arc<Mutex<Vec<SessionId>>>,
    /// The sessions whose protocol has batches.
    batched: Arc<Mutex<HashSet<SessionId>>>,
}

/// A session id that no other connection has, in this process or another.
pub(super) fn session_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mcp-{}-{since:x}-{number}", std::process::id())
}

/// Returns the session that the headers name.
fn named(headers: &HeaderMap) -> Option<SessionId> {
    let id = headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).map(SessionId::from);
    id.filter(|id| !id.is_empty())
}

impl Sessions {
    pub(super) fn new() -> Sessions {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(MAX_IDLE);
        Sessions { manager: Arc::new(manager), by_use: Arc::default(), batched: Arc::default() }
    }

    /// Records the use of the session in these headers, if there is one; ends those beyond the
    /// limit.
    pub(super) async fn used(&self, headers: &HeaderMap) {
        let Some(id) = named(headers) else { return };
        let ended = {
            let open = self.manager.sessions.read().await;
            if !open.contains_key(&id) {
                return;
            }
            self.note(id, |known| open.contains_key(known))
        };
        for ended in ended {
            if let Err(error) = self.manager.close_session(&ended).await {
                tracing::warn!(%error, "a session could not be ended");
            }
        }
    }

    /// Allows batches for the new session in these headers, which are those of an answer.
    pub(super) fn allow_batches(&self, headers: &HeaderMap) {
        self.batched().extend(named(headers));
    }

    /// Tells whether the session in these headers may send batches.
    pub(super) fn allows_batches(&self, headers: &HeaderMap) -> bool {
        named(headers).is_some_and(|id| self.batched().contains(&id))
    }

    fn batched(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.batched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves a session to the end; returns the first of the open ones that are beyond the limit.
    fn note(&self, id: SessionId, is_open: impl Fn(&SessionId) -> bool) -> Vec<SessionId> {
        let mut by_use = self.by_use.lock().unwrap_or_else(PoisonError::into_inner);
        by_use.retain(|known| *known != id);
        by_use.push(id);
        if by_use.len() <= MAX_SESSIONS {
            return Vec::new();
        }
        // Those that their clients ended, or that expired, are still in the list.
        by_use.retain(is_open);
        let n_beyond = by_use.len().saturating_sub(MAX_SESSIONS);
        let ended = by_use.drain(..n_beyond).collect();
        self.batched().retain(|known| by_use.contains(known));
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_was_used_least_lately_goes_first() {
        let sessions = Sessions::new();
        let id = |n: usize| SessionId::from(n.to_string());
        let note = |n: usize| sessions.note(id(n), |_| true);
        for n in 0..MAX_SESSIONS {
            assert!(note(n).is_empty(), "{n}");
        }
        assert!(note(0).is_empty());
        assert_eq!(note(MAX_SESSIONS), [id(1)]);
        assert_eq!(note(MAX_SESSIONS + 1), [id(2)]);
    }

    #[test]
    fn sessions_that_ended_make_room() {
        let sessions = Sessions::new();
        let id = |n: usize| SessionId::from(n.to_string());
        sessions.batched().extend([id(0), id(1)]);
        for n in 0..10 * MAX_SESSIONS {
            let is_open = |known: &SessionId| [id(0), id(n)].contains(known);
            assert!(sessions.note(id(n), is_open).is_empty(), "{n}");
        }
        assert_eq!(*sessions.batched(), HashSet::from([id(0)]));
    }
}
