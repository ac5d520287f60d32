//! The MCP server over HTTP.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use rmcp::model::{
    ClientRequest, ErrorCode, InitializeRequestParams, JsonRpcMessage, ProtocolVersion,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answers::{Answer, no_message, plain, unauthorized};
use super::blocking::blocking;
use super::clients::{HttpClient, authorize};
use super::health::{Page, Probe};
use super::message::{self, MAX_MESSAGE, Refusal};
use super::metrics::Metrics;
use super::sessions::{self, CURRENT, Current, Handshakes, Manager, Sessions};
use super::{McpServer, metrics_page};
use crate::loopback::{is_loopback, serve};
use crate::places::Whole;
use repertoire::Error;
use repertoire_sessions::MeteredStore;

/// The time a client has to send the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The media type of metrics.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The path of the MCP endpoint.
const PATH: &str = "/mcp";

/// The answer to a client whose session has no room.
const FULL: &str = "too many sessions are open, and all that could make room have running calls: try \
                    again later, or end a session\n";

type Service = StreamableHttpService<McpServer, Manager>;

/// The options of an HTTP server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The store in which the clients' engines keep sessions, directly or behind a
    /// [`FallbackStore`](repertoire_sessions::FallbackStore), if it outlives a process; none by default. With
    /// a store, a session can continue at any process with the same tokens and store. It ends only when
    /// its client ends it or the store forgets it. `/ready` and `/metrics` report on the store.
    pub store: Option<MeteredStore>,
    /// Further names by which clients reach the server, `NAME` or `NAME:PORT`, in addition to those of
    /// this machine; none by default. If there are none and the address is not a loopback address, every
    /// name is accepted.
    pub hosts: Vec<String>,
    /// The maximum number of sessions that are open in this process at a time; 128 by default. Each
    /// takes about 60 kB. Beyond it, the client with the most sessions loses its least recently used one
    /// without a running call, which is opened again when it is used. If there is none, the new session
    /// is refused.
    pub max_sessions: usize,
    /// The maximum number of connections that are open at a time; 128 by default. An eighth of them is kept
    /// for new requests. If the others are all in use, the client with the most loses its oldest stream to
    /// the next request with a token.
    pub max_connections: usize,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions { store: None, hosts: Vec::new(), max_sessions: 128, max_connections: 128 }
    }
}

/// Serves `clients` at `http://HOST:PORT/mcp` (streamable HTTP). Returns only if serving fails.
///
/// A request needs the header `Authorization: Bearer TOKEN`, with the token of one of the clients. It is
/// refused if its `Host` is neither this machine nor one of [`HttpOptions::hosts`], or if its `Origin`
/// is a page from another machine. Otherwise any web page could reach the server through a host name
/// that resolves to this machine (DNS rebinding).
///
/// The id of a session is understood by every process with the same tokens, so that several processes
/// can serve one address, and requests may reach them in any order. With [`HttpOptions::store`] they
/// also share what a conversation was shown. Clients of protocol 2026-07-28 have no connection, so each
/// of their requests is a session of its own.
///
/// `/health`, `/ready` and `/metrics` are for operators. Only `/metrics` needs a token.
///
/// Fails with `INVALID_PARAM` if there is no client or two have the same token, and with
/// `EXECUTION_ERROR` if connections cannot be accepted.
pub async fn serve_http(
    listener: TcpListener,
    clients: Vec<HttpClient>,
    options: HttpOptions,
) -> Result<(), Error> {
    // When this future is dropped, the tasks that it started are cancelled.
    let serving = CancellationToken::new();
    let _ends = serving.clone().drop_guard();
    super::clients::check(&clients)?;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_origins(origins)
        .with_cancellation_token(serving)
        .with_max_request_body_bytes(MAX_MESSAGE)
        .enforce_origin_validation();
    config.session_store = Some(Arc::new(Handshakes));
    if options.hosts.is_empty() && !is_loopback(&listener)? {
        // Any name is safe here: a page that reaches the server by DNS rebinding still lacks a token.
        config = config.disable_allowed_hosts();
    }
    config.allowed_hosts.extend(options.hosts);
    let sessions = Sessions::new(options.max_sessions);
    let manager = Arc::clone(&sessions.manager);
    let is_shared = options.store.is_some();
    let metrics = Arc::new(Metrics::default());
    let counted = Arc::clone(&metrics);
    let handler = move || {
        let current = CURRENT.try_with(Clone::clone).map_err(std::io::Error::other)?;
        let name = current.session.filter(|_| is_shared).map(|(_, session)| session.name);
        Ok(current.client.server(name.as_deref(), &counted, current.calls))
    };
    let service = StreamableHttpService::new(handler, manager, config);
    let server = Arc::new(Server {
        service,
        sessions,
        clients: clients.into_iter().map(Arc::new).collect(),
        store: options.store,
        metrics,
        probe: Arc::default(),
    });
    let respond = move |request| {
        let server = Arc::clone(&server);
        async move {
            let answer = server.answer(request).await;
            server.metrics.note_answer(answer.status());
            answer
        }
    };
    serve(listener, options.max_connections, respond).await
}

/// A running server.
struct Server {
    service: Service,
    sessions: Sessions,
    clients: Arc<[Arc<HttpClient>]>,
    store: Option<MeteredStore>,
    metrics: Arc<Metrics>,
    probe: Arc<Probe>,
}

impl Server {
    /// Answers a request from anybody, with or without a token.
    async fn answer(&self, mut request: Request<Incoming>) -> Answer {
        if !names_one_host(&request) {
            return plain(StatusCode::BAD_REQUEST, "name one host, in the header `Host` alone\n");
        }
        if let Some(page) = Page::at(request.uri().path()) {
            return self.answer_page(page, &request).await;
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the server is at /mcp\n");
        }
        let client = match authorize(request.headers(), &self.clients) {
            Ok(client) => Arc::clone(client),
            Err(refused) => return unauthorized(refused),
        };
        let Ok(current) = self.current(request.headers(), client) else {
            return plain(StatusCode::NOT_FOUND, "there is no such session: send `initialize`\n");
        };
        let whole = request.extensions_mut().remove::<Whole>();
        if let Some(whole) = &whole {
            whole.belongs_to(current.client_number(), request.method() == Method::GET);
        }
        if request.method() == Method::POST {
            return self.answer_post(current, whole, request).await;
        }
        whole.iter().for_each(Whole::arrived);
        let is_delete = request.method() == Method::DELETE;
        let mut answer = self.handle(&current, request).await;
        if is_delete && answer.status() == StatusCode::ACCEPTED {
            self.end(&current).await;
            // The SDK answers 202, but the session is gone already.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }

    /// Answers a request for a page for operators.
    async fn answer_page(&self, page: Page, request: &Request<Incoming>) -> Answer {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "send `GET`\n");
        }
        let is_open = page != Page::Metrics;
        if !is_open && let Err(refused) = authorize(request.headers(), &self.clients) {
            return unauthorized(refused);
        }
        let (probe, store) = (Arc::clone(&self.probe), self.store.clone());
        let (metrics, clients) = (Arc::clone(&self.metrics), Arc::clone(&self.clients));
        let text = match page {
            Page::Health => return plain(StatusCode::OK, "alive\n"),
            Page::Ready => {
                blocking("/ready", move || probe.report(&clients[0].engine, store.as_ref())).await
            }
            Page::Metrics => {
                let n_sessions = self.sessions.count().await;
                let write =
                    move || metrics_page::write(&metrics, &clients, store.as_ref(), n_sessions);
                blocking("/metrics", write).await.map(|text| (true, text))
            }
        };
        let (status, text) = match text {
            Ok((true, text)) => (StatusCode::OK, text),
            Ok((false, text)) => (StatusCode::SERVICE_UNAVAILABLE, text),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        };
        let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
        *answer.status_mut() = status;
        let kind = if is_open { "text/plain; charset=utf-8" } else { METRICS };
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        answer
    }

    /// Returns `client` with the session that the headers name. Fails if the session has ended, or if
    /// its id was not issued to this client.
    fn current(&self, headers: &HeaderMap, client: Arc<HttpClient>) -> Result<Current, ()> {
        let Some(id) = sessions::named(headers) else {
            return Ok(Current::new(client, None));
        };
        match client.key.read(&id).filter(|_| !self.sessions.has_ended(&id)) {
            Some(session) => Ok(Current::new(client, Some((id, session)))),
            // This protocol has no sessions, so its servers ignore the header.
            None if is_without_sessions(headers) => Ok(Current::new(client, None)),
            None => Err(()),
        }
    }

    /// Lets the SDK answer a request.
    async fn handle<B>(&self, current: &Current, request: Request<B>) -> Answer
    where
        B: hyper::body::Body<Error: std::fmt::Display, Data: Send> + Send + 'static,
    {
        let (mut current, mut running) = (current.clone(), None);
        if let Some((id, _)) = &current.session {
            let Some(admitted) = self.sessions.admit(id, &current).await else {
                return plain(StatusCode::SERVICE_UNAVAILABLE, FULL);
            };
            (current.calls, running) = (admitted.calls, Some(admitted.request));
        }
        let answer = CURRENT.scope(current, self.service.handle(request)).await;
        drop(running);
        answer
    }

    /// Ends a session permanently, also in the store.
    async fn end(&self, current: &Current) {
        let Some((id, session)) = &current.session else { return };
        self.sessions.end(id).await;
        if self.store.is_none() {
            return;
        }
        let stored = current.client.engine.session(&session.name);
        let ended = blocking("DELETE", move || stored.end()).await.and_then(|ended| ended);
        if let Err(error) = ended {
            tracing::warn!(%error, "the session of a client cannot be ended");
        }
    }

    /// Answers a request that carries a message.
    async fn answer_post(
        &self,
        current: Current,
        whole: Option<Whole>,
        request: Request<Incoming>,
    ) -> Answer {
        let (head, body) = request.into_parts();
        let Ok(body) = timeout(BODY_TIMEOUT, Limited::new(body, MAX_MESSAGE).collect()).await
        else {
            return plain(StatusCode::REQUEST_TIMEOUT, "the body came too slowly\n");
        };
        whole.iter().for_each(Whole::arrived);
        let body = match body {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return no_message(StatusCode::PAYLOAD_TOO_LARGE, &Refusal::too_long());
            }
            Err(_) => return plain(StatusCode::BAD_REQUEST, "the body cannot be read\n"),
        };
        let body = message::repaired(&body).map_or(body, Bytes::from);
        match message::read(&body) {
            Ok(Some(message)) => {
                if let Some(refusal) = without_hello(&message, &head.headers) {
                    return no_message(StatusCode::NOT_FOUND, &refusal);
                }
                let request = Request::from_parts(head, Full::new(body));
                match hello(&message) {
                    Some(hello) if current.session.is_none() => {
                        self.begin(current, hello, request).await
                    }
                    _ => self.handle(&current, request).await,
                }
            }
            // An unknown notification. The SDK would report an error, but the client only needs to know
            // that the message arrived.
            Ok(None) => plain(StatusCode::ACCEPTED, ""),
            Err(refusal) => no_message(StatusCode::BAD_REQUEST, &refusal),
        }
    }

    /// Starts a session with an `initialize` request.
    async fn begin(
        &self,
        current: Current,
        hello: &InitializeRequestParams,
        request: Request<Full<Bytes>>,
    ) -> Answer {
        let session = current.client.key.issue(hello).ok().and_then(|id| {
            let described = current.client.key.read(&id)?;
            Some((id.into(), described))
        });
        let Some((id, described)) = session else {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "a session cannot be named\n");
        };
        let current = Current { session: Some((id, described)), ..current };
        let answer = self.handle(&current, request).await;
        if let Some(id) = sessions::named(answer.headers()) {
            self.sessions.initialized(&id).await;
        }
        answer
    }
}

/// Returns the parameters of `message` if it is an `initialize` request.
fn hello(message: &RxJsonRpcMessage<RoleServer>) -> Option<&InitializeRequestParams> {
    let JsonRpcMessage::Request(request) = message else { return None };
    match &request.request {
        ClientRequest::InitializeRequest(hello) => Some(&hello.params),
        _ => None,
    }
}

/// Refuses `initialize` of a client that names a protocol which has no such method.
fn without_hello(message: &RxJsonRpcMessage<RoleServer>, headers: &HeaderMap) -> Option<Refusal> {
    let JsonRpcMessage::Request(request) = message else { return None };
    hello(message).filter(|_| is_without_sessions(headers))?;
    let why = "this protocol version has no method `initialize`";
    Some(Refusal::new(ErrorCode::METHOD_NOT_FOUND, why, Some(request.id.clone())))
}

/// Tells whether the headers are those of a protocol without sessions.
fn is_without_sessions(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str())
}

/// Tells whether a request names its host only in the `Host` header, and at most once. With two names, a
/// proxy may have checked the other one.
fn names_one_host(request: &Request<Incoming>) -> bool {
    let n_hosts = request.headers().get_all(HOST).iter().count();
    request.uri().authority().is_none() && n_hosts <= 1
}
