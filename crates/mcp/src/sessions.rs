//! The HTTP sessions that are open in this process. Their number is limited; a session that was dropped,
//! or that another process started, is opened again when its client continues.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::Stream;
use http::HeaderMap;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, InitializedNotification, ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::store::{
    SessionState, SessionStore, SessionStoreError,
};
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, SessionId, SessionManager};

use super::clients::HttpClient;
use super::session_id::SessionClaims;

/// The time after which an idle session is dropped from this process. It is longer than the SDK's five
/// minutes, since users often leave an agent alone for longer, and opening a session again takes a
/// moment.
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);

/// The number of ended sessions that this process remembers.
const MAX_ENDED: usize = 4096;

/// The HTTP header with the id of a session.
const SESSION_ID: &str = "mcp-session-id";

/// The client of a request, and its session.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub(super) client: Arc<HttpClient>,
    /// The session that the request continues or starts; `None` for protocols without sessions.
    pub(super) session: Option<(SessionId, SessionClaims)>,
}

tokio::task_local! {
    /// The request that is being answered. The SDK does not say for which request it creates a handler
    /// or a session, but creates it in the task that answers the request.
    pub(super) static CURRENT: Current;
}

/// Returns the id of the session that the headers name.
pub(super) fn named(headers: &HeaderMap) -> Option<SessionId> {
    let id = headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).map(SessionId::from);
    id.filter(|id| !id.is_empty())
}

/// The open sessions of this process, in the order of their last use.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) manager: Arc<Manager>,
    most: usize,
    by_use: Mutex<Vec<SessionId>>,
    /// The sessions that their clients ended, the oldest first.
    ended: Mutex<VecDeque<SessionId>>,
}

impl Sessions {
    /// Creates the sessions of a process. At most `most` are open at a time; each takes about 60 kB.
    pub(super) fn new(most: usize) -> Sessions {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(MAX_IDLE);
        let manager = Arc::new(Manager(local));
        Sessions { manager, most, by_use: Mutex::default(), ended: Mutex::default() }
    }

    /// Records the use of a session. Drops the least recently used sessions above the limit; they are
    /// opened again when they are used.
    pub(super) async fn used(&self, id: &SessionId) {
        let dropped = {
            let open = self.manager.0.sessions.read().await;
            if !open.contains_key(id) {
                return;
            }
            self.note(id.clone(), |known| open.contains_key(known))
        };
        for dropped in dropped {
            self.close(&dropped).await;
        }
    }

    /// The number of open sessions.
    pub(super) async fn count(&self) -> usize {
        self.manager.0.sessions.read().await.len()
    }

    /// Drops a session from this process.
    async fn close(&self, id: &SessionId) {
        if let Err(error) = self.manager.close_session(id).await {
            tracing::warn!(%error, "a session could not be dropped");
        }
    }

    /// Ends a session permanently, as far as this process is concerned.
    pub(super) async fn end(&self, id: &SessionId) {
        {
            let mut ended = lock(&self.ended);
            if ended.len() >= MAX_ENDED {
                ended.pop_front();
            }
            ended.push_back(id.clone());
        }
        self.close(id).await;
    }

    /// Tells whether the client ended this session here.
    pub(super) fn has_ended(&self, id: &SessionId) -> bool {
        lock(&self.ended).contains(id)
    }

    /// Marks a new session as initialized. The client's own notification may go to another process.
    pub(super) async fn initialized(&self, id: &SessionId) {
        let notification = InitializedNotification::default();
        let message = ClientJsonRpcMessage::notification(
            ClientNotification::InitializedNotification(notification),
        );
        if let Err(error) = self.manager.accept_message(id, message).await {
            tracing::debug!(%error, "a new session is gone");
        }
    }

    /// Makes a session the most recently used one. Returns the least recently used open sessions above
    /// the limit.
    fn note(&self, id: SessionId, is_open: impl Fn(&SessionId) -> bool) -> Vec<SessionId> {
        let mut by_use = lock(&self.by_use);
        by_use.retain(|known| *known != id);
        by_use.push(id);
        if by_use.len() <= self.most {
            return Vec::new();
        }
        // The list still contains sessions that have ended or expired.
        by_use.retain(is_open);
        let n_beyond = by_use.len().saturating_sub(self.most);
        by_use.drain(..n_beyond).collect()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The SDK's in-memory sessions, but with the ids of this server.
#[derive(Debug)]
pub(super) struct Manager(LocalSessionManager);

impl SessionManager for Manager {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let id = CURRENT.try_with(|current| current.session.as_ref().map(|(id, _)| id.clone()));
        let Some(id) = id.ok().flatten() else { return self.0.create_session().await };
        match self.0.restore_session(id.clone()).await? {
            RestoreOutcome::Restored(transport) => Ok((id, transport)),
            _ => Err(LocalSessionManagerError::SessionNotFound(id)),
        }
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.0.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.0.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.0.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.0.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.resume(id, last_event_id).await
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.0.restore_session(id).await
    }
}

/// Restores sessions that another process started. Nothing is stored, since the id contains everything.
#[derive(Debug)]
pub(super) struct Handshakes;

type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

/// Written without the SDK's macro for traits with `async`, which would be one more dependency.
impl SessionStore for Handshakes {
    fn load<'s, 'i, 'a>(&'s self, id: &'i str) -> Stored<'a, Option<SessionState>>
    where
        's: 'a,
        'i: 'a,
        Self: 'a,
    {
        Box::pin(async move {
            let known = CURRENT.try_with(|current| current.session.clone()).ok().flatten();
            let known = known.filter(|(known, _)| **known == *id);
            let hello = known.map(|(_, session)| session.hello()).transpose()?;
            Ok(hello.map(SessionState::new))
        })
    }

    fn store<'s, 'i, 'd, 'a>(&'s self, _: &'i str, _: &'d SessionState) -> Stored<'a, ()>
    where
        's: 'a,
        'i: 'a,
        'd: 'a,
        Self: 'a,
    {
        Box::pin(async { Ok(()) })
    }

    fn delete<'s, 'i, 'a>(&'s self, _: &'i str) -> Stored<'a, ()>
    where
        's: 'a,
        'i: 'a,
        Self: 'a,
    {
        Box::pin(async { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 128;

    #[test]
    fn the_session_that_was_used_least_lately_goes_first() {
        let sessions = Sessions::new(MOST);
        let id = |n: usize| SessionId::from(n.to_string());
        let note = |n: usize| sessions.note(id(n), |_| true);
        for n in 0..MOST {
            assert!(note(n).is_empty(), "{n}");
        }
        assert!(note(0).is_empty());
        assert_eq!(note(MOST), [id(1)]);
        assert_eq!(note(MOST + 1), [id(2)]);
    }

    #[test]
    fn sessions_that_ended_make_room() {
        let sessions = Sessions::new(MOST);
        let id = |n: usize| SessionId::from(n.to_string());
        for n in 0..10 * MOST {
            let is_open = |known: &SessionId| [id(0), id(n)].contains(known);
            assert!(sessions.note(id(n), is_open).is_empty(), "{n}");
        }
        assert!(lock(&sessions.by_use).len() <= MOST);
    }
}
