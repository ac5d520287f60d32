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
use super::session_limit::{Admitted, Running, SessionLimit};

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
    /// The running calls of the session.
    pub(super) calls: Running,
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

impl Current {
    /// A request of `client`, without running calls.
    pub(super) fn new(
        client: Arc<HttpClient>,
        session: Option<(SessionId, SessionClaims)>,
    ) -> Current {
        Current { client, session, calls: Running::default() }
    }

    /// A number of the client. Clients are never moved, so the address tells them apart.
    pub(super) fn client_number(&self) -> usize {
        Arc::as_ptr(&self.client).addr()
    }
}

/// The open sessions of this process.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) manager: Arc<Manager>,
    limit: SessionLimit,
    /// The sessions that their clients ended, the oldest first.
    ended: Mutex<VecDeque<SessionId>>,
}

impl Sessions {
    /// Creates the sessions of a process. At most `most` are open at a time; each takes about 60 kB.
    pub(super) fn new(most: usize) -> Sessions {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(MAX_IDLE);
        let manager = Arc::new(Manager(local));
        Sessions { manager, limit: SessionLimit::new(most), ended: Mutex::default() }
    }

    /// Records the use of a session, and makes room if it is not open yet. A session that is dropped for
    /// it is opened again when it is used. Returns `None` if no session can be dropped; otherwise the
    /// session stays open at least until the returned request is dropped.
    pub(super) async fn admit(&self, id: &SessionId, current: &Current) -> Option<Admitted> {
        let admitted = {
            let open = self.manager.0.sessions.read().await;
            let client = current.client_number();
            self.limit.admit(id, client, |known| open.contains_key(known))?
        };
        if let Some(dropped) = &admitted.dropped {
            self.close(dropped).await;
        }
        Some(admitted)
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
