//! MCP over HTTP: the requests of one connection to a server, over hyper.
//!
//! Redirects are not followed, since they could send a token to another server. Only responses to
//! requests are read: a source does not need the server's own messages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use rmcp::transport::{StreamableHttpClientTransport, WorkerTransport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::program::Received;
use repertoire::{Error, ErrorCode};

/// The size limit of the body in an error message, in bytes.
const MAX_ERROR_BYTES: usize = 300;

type Failure = StreamableHttpError<io::Error>;

/// Creates the transport to the server at `url`. Must be called within a runtime.
///
/// Fails with `NOT_FOUND` if the environment variable `token` is not set, with `INVALID_PARAM` if `url`
/// is not valid, and with `EXECUTION_ERROR` if the URL is encrypted and this build has no TLS.
pub(super) fn transport(
    url: &str,
    token: Option<&str>,
    received: &Arc<Received>,
) -> Result<StreamableHttpClientTransport<Client>, Error> {
    let invalid = |why: &dyn std::fmt::Display| {
        let message = format!("`{url}` is not the address of an MCP server: {why}");
        Error::new(ErrorCode::InvalidParam, message, "check the address")
    };
    let uri: http::Uri = url.parse().map_err(|error| invalid(&error))?;
    let authority = uri.authority().ok_or_else(|| invalid(&"it names no host"))?;
    let is_encrypted = uri.scheme_str() == Some("https");
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| invalid(&error))?;
    let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = authority.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
    let security = if is_encrypted { Security::tls(url)? } else { Security::None };
    let (received, idle) = (Arc::clone(received), Mutex::new(None));
    let server = Server { host, name, port, security, received, idle };
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = token.map(secret).transpose()?;
    Ok(WorkerTransport::with_client(Client(Arc::new(server)), config))
}

/// Reads the token from an environment variable.
fn secret(name: &str) -> Result<String, Error> {
    let value = std::env::var(name).unwrap_or_default();
    if value.is_empty() || value.contains(char::is_control) {
        let message = format!("the environment variable `{name}` holds no token");
        let help = "set it to the token of the MCP server";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    }
    Ok(value)
}

/// A client of one server.
#[derive(Clone)]
pub(super) struct Client(Arc<Server>);

struct Server {
    /// The value of the `Host` header.
    host: HeaderValue,
    name: String,
    port: u16,
    security: Security,
    received: Arc<Received>,
    /// A connection that no request uses.
    idle: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl StreamableHttpClient for Client {
    type Error = io::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.0.received.strays.note_request(&message);
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let has_session = session.is_some();
        let request = request(Method::POST, &uri, session, token, headers, body, &self.0.host)?;
        let (response, connection) = self.0.send(request).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            // Nobody needs the body, but it must be read before the connection is idle.
            let _ = self.0.body(response, connection).await;
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if status.is_redirection() {
            return refused(&message, has_session, status, b"it leads elsewhere");
        }
        if !status.is_success() {
            let body = self.0.body(response, connection).await?;
            return refused(&message, has_session, status, &body);
        }
        let session = text(response.headers(), HEADER_SESSION_ID);
        let kind = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let answer = self.0.answer_among_events(response, connection).await?;
            return Ok(StreamableHttpPostResponse::Json(answer, session));
        }
        let body = self.0.body(response, connection).await?;
        if !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !kind.starts_with(JSON_MIME_TYPE) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        match self.0.received.strays.read(&body) {
            Some(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            None => Err(StreamableHttpError::UnexpectedEndOfStream),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let (session, body) = (Some(session), Bytes::new());
        let request = request(Method::DELETE, &uri, session, token, headers, body, &self.0.host)?;
        self.0.send(request).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

/// The answer to a request that the server refused. If a server with an older protocol refuses the
/// discovery request of the newest one, returns a protocol error, so that the client falls back to the
/// older protocol.
fn refused(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    status: StatusCode,
    body: &[u8],
) -> Result<StreamableHttpPostResponse, Failure> {
    let end = body.len().min(MAX_ERROR_BYTES);
    let told = format!("HTTP {status}: {}", String::from_utf8_lossy(&body[..end]).trim());
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && !has_session
        && status.is_client_error()
        && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    {
        let error = match serde_json::from_slice(body) {
            Ok(ServerJsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(told, None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(told)))
}

fn request(
    method: Method,
    uri: &str,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
    body: Bytes,
    host: &HeaderValue,
) -> Result<Request<Full<Bytes>>, Failure> {
    let failed = |error: http::Error| StreamableHttpError::Client(io::Error::other(error));
    let uri: http::Uri =
        uri.parse().map_err(|error: http::uri::InvalidUri| failed(error.into()))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let accepted = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, host.clone())
        .header(CONTENT_TYPE, JSON_MIME_TYPE)
        .header(ACCEPT, accepted);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(session) = session {
        request = request.header(HEADER_SESSION_ID, &*session);
    }
    request.body(Full::new(body)).map_err(failed)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

type Connection = SendRequest<Full<Bytes>>;

impl Server {
    /// Sends a request over the idle connection, or over a new one. Returns the response with its
    /// connection.
    async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Connection), Failure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.connect().await.map_err(StreamableHttpError::Client)?,
        };
        // The server may have closed an idle one.
        if connection.ready().await.is_err() {
            connection = self.connect().await.map_err(StreamableHttpError::Client)?;
        }
        let sent = connection.send_request(request).await.map_err(broken)?;
        Ok((sent, connection))
    }

    async fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect((self.name.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        match &self.security {
            Security::None => begin(stream).await,
            #[cfg(feature = "mcp-source-tls")]
            Security::Tls(config) => {
                let name = rustls::pki_types::ServerName::try_from(self.name.clone());
                let name = name.map_err(io::Error::other)?;
                let connector = tokio_rustls::TlsConnector::from(Arc::clone(config));
                begin(connector.connect(name, stream).await?).await
            }
        }
    }

    /// Reads a body to its end, and then makes its connection the idle one.
    async fn body(
        &self,
        mut response: Response<Incoming>,
        connection: Connection,
    ) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(data) = self.data(&mut response, body.len()).await? {
            body.extend_from_slice(&data);
        }
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        Ok(body)
    }

    /// Reads events until one is a response. Other events are notifications, or requests that stay
    /// unanswered.
    async fn answer_among_events(
        &self,
        mut response: Response<Incoming>,
        connection: Connection,
    ) -> Result<ServerJsonRpcMessage, Failure> {
        let (mut received, mut event) = (Vec::new(), Vec::new());
        while let Some(data) = self.data(&mut response, received.len() + event.len()).await? {
            received.extend_from_slice(&data);
            let Some(end) = received.iter().rposition(|byte| *byte == b'\n') else { continue };
            let lines: Vec<u8> = received.drain(..=end).collect();
            for line in lines.split(|byte| *byte == b'\n') {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                if let Some(data) = line.strip_prefix(b"data:") {
                    event.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
                    event.push(b'\n');
                } else if line.is_empty() && !event.is_empty() {
                    // A line that is not a message ends the request that waits for the answer.
                    let message = self.received.strays.read(&event);
                    event.clear();
                    if let Some(
                        answer @ (ServerJsonRpcMessage::Response(_)
                        | ServerJsonRpcMessage::Error(_)),
                    ) = message
                    {
                        let _ = self.body(response, connection).await;
                        return Ok(answer);
                    }
                }
            }
        }
        Err(StreamableHttpError::UnexpectedEndOfStream)
    }

    /// The next bytes of a body, whose current message has `n_before` bytes already.
    async fn data(
        &self,
        response: &mut Response<Incoming>,
        n_before: usize,
    ) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = response.body_mut().frame().await {
            if let Ok(data) = frame.map_err(broken)?.into_data() {
                self.received.count(data.len() as u64, n_before as u64)?;
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

async fn begin<S>(stream: S) -> io::Result<Connection>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to an MCP server ended");
        }
    });
    Ok(sender)
}

fn broken(error: hyper::Error) -> Failure {
    StreamableHttpError::Client(io::Error::other(error))
}

/// The encryption of a connection.
enum Security {
    /// No encryption, for a server on this machine.
    None,
    #[cfg(feature = "mcp-source-tls")]
    Tls(Arc<rustls::ClientConfig>),
}

impl Security {
    #[cfg(feature = "mcp-source-tls")]
    fn tls(url: &str) -> Result<Security, Error> {
        let failed = |why: &dyn std::fmt::Display| {
            let message = format!("cannot check the certificate of {url}: {why}");
            Error::new(ErrorCode::ExecutionError, message, "install the certificates of the system")
        };
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(failed(&"the system trusts none"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?;
        Ok(Security::Tls(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
    }

    #[cfg(not(feature = "mcp-source-tls"))]
    fn tls(url: &str) -> Result<Security, Error> {
        let message = format!("cannot fetch {url}: this build has no TLS");
        let help = "build Repertoire with the feature `mcp-source-tls`";
        Err(Error::new(ErrorCode::ExecutionError, message, help))
    }
}
