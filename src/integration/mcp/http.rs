//! The MCP server over HTTP, for programs on this machine only.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use rmcp::model::{ClientRequest, ErrorCode as ErrorCodeOfProtocol, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::McpServer;
use super::batches;
use super::merged::Merged;
use super::message::{self, MAX_MESSAGE, Refusal};
use super::sessions::Sessions;
use crate::error::{Error, ErrorCode};
use crate::integration::loopback::{Whole, serve_loopback};

/// The shortest token, in bytes.
const MIN_TOKEN: usize = 16;

/// The time a client has to send the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The path of the only endpoint.
const PATH: &str = "/mcp";

type Service = StreamableHttpService<McpServer, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves clients at `http://HOST:PORT/mcp` (streamable HTTP) until an error; `server` creates an
/// [`McpServer`] for each of them. `listener` must be on a loopback address.
///
/// A request needs the header `Authorization: Bearer TOKEN`, with a token of 16 bytes or more. It
/// is refused if its `Host` is not this machine, or if its `Origin` is a page from elsewhere:
/// otherwise any web page could reach the server through a name of its own (DNS rebinding).
///
/// Clients of protocol 2026-07-28 have no connection: each of their requests is a session.
///
/// Fails with `INVALID_PARAM` for another address or a shorter token, and with `EXECUTION_ERROR` if
/// connections cannot be accepted.
pub async fn serve_http(
    listener: TcpListener,
    token: &str,
    server: impl Fn() -> McpServer + Send + Sync + 'static,
) -> Result<(), Error> {
    // Ending the serving cancels the tasks it started.
    let serving = CancellationToken::new();
    let _ends = serving.clone().drop_guard();
    check_token(token)?;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(origins)
        .with_cancellation_token(serving)
        .with_max_request_body_bytes(MAX_MESSAGE)
        .enforce_origin_validation();
    let sessions = Sessions::new();
    let manager = Arc::clone(&sessions.manager);
    let service: Service = StreamableHttpService::new(move || Ok(server()), manager, config);
    let token: Arc<str> = token.into();
    let respond = move |request: Request<Incoming>| {
        let (service, sessions, token) = (service.clone(), sessions.clone(), Arc::clone(&token));
        async move {
            sessions.used(request.headers()).await;
            let answer = answer(&service, &sessions, &token, request).await;
            // The session of a new client.
            sessions.used(answer.headers()).await;
            answer
        }
    };
    serve_loopback(listener, respond).await
}

/// Checks that [`serve_http`] accepts this token, before anything is served.
///
/// Fails with `INVALID_PARAM` for a token of fewer than 16 bytes, or one that no header can hold.
pub fn check_token(token: &str) -> Result<(), Error> {
    let help = "use 16 bytes or more, such as the output of `openssl rand -hex 32`";
    let refuse = |message| Err(Error::new(ErrorCode::InvalidParam, message, help));
    if token.len() < MIN_TOKEN {
        return refuse(format!("a token of {} bytes can be guessed", token.len()));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse(
            "a token has ASCII letters, digits and signs only, and no blanks".to_owned(),
        );
    }
    Ok(())
}

/// Answers a request that may come from anybody.
async fn answer(
    service: &Service,
    sessions: &Sessions,
    token: &str,
    mut request: Request<Incoming>,
) -> Answer {
    if !names_one_host(&request) {
        return plain(StatusCode::BAD_REQUEST, "name one host, in the header `Host` alone\n");
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "the server is at /mcp\n");
    }
    if !is_authorized(request.headers(), token) {
        let mut answer = plain(StatusCode::UNAUTHORIZED, "send `Authorization: Bearer TOKEN`\n");
        answer.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
        return answer;
    }
    let is_delete = request.method() == Method::DELETE;
    let whole = request.extensions_mut().remove::<Whole>();
    if request.method() != Method::POST {
        whole.iter().for_each(Whole::arrived);
        let mut answer = service.handle(request).await;
        // There is nothing left to do: the session is gone.
        if is_delete && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        return answer;
    }
    answer_post(service, sessions, whole, request).await
}

/// Answers a request that carries a message or a batch of them.
async fn answer_post(
    service: &Service,
    sessions: &Sessions,
    whole: Option<Whole>,
    request: Request<Incoming>,
) -> Answer {
    let (head, body) = request.into_parts();
    let Ok(body) = timeout(BODY_TIMEOUT, Limited::new(body, MAX_MESSAGE).collect()).await else {
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
    if sessions.allows_batches(&head.headers)
        && let Some(batch) = batches::split(&body)
    {
        return match batch {
            Ok(messages) => answer_batch(service, head, messages).await,
            Err(refusal) => no_message(StatusCode::BAD_REQUEST, &refusal),
        };
    }
    match message::read(&body) {
        Ok(Some(message)) => {
            let answer = service.handle(Request::from_parts(head, Full::new(body))).await;
            if has_batches(&message) {
                sessions.allow_batches(answer.headers());
            }
            answer
        }
        // The service would report an error; the client needs only to know that the message
        // arrived.
        Ok(None) => plain(StatusCode::ACCEPTED, ""),
        Err(refusal) => no_message(StatusCode::BAD_REQUEST, &refusal),
    }
}

/// Tells whether a client that begins with `message` may send batches.
fn has_batches(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(hello) => batches::are_in(&hello.params.protocol_version),
        _ => false,
    }
}

/// Answers the messages of a batch in one stream of events.
async fn answer_batch(service: &Service, mut head: Parts, messages: Vec<Vec<u8>>) -> Answer {
    head.headers.remove(CONTENT_LENGTH);
    let mut bodies = Vec::new();
    for text in messages {
        let refusal = match batches::read(&text) {
            Ok(Some(message)) => {
                let body = Full::new(Bytes::from(text));
                let answer = service.handle(Request::from_parts(head.clone(), body)).await;
                match (answer.status(), &message) {
                    (StatusCode::ACCEPTED, _) => continue,
                    (StatusCode::OK, _) if is_events(answer.headers()) => {
                        bodies.push(answer.into_body());
                        continue;
                    }
                    (_, JsonRpcMessage::Request(request)) => {
                        let why = "the request was refused".to_owned();
                        Refusal::new(
                            ErrorCodeOfProtocol::INVALID_REQUEST,
                            why,
                            Some(request.id.clone()),
                        )
                    }
                    _ => continue,
                }
            }
            Ok(None) => continue,
            Err(refusal) => refusal,
        };
        let text = serde_json::to_string(&refusal).unwrap_or_default();
        bodies.push(Full::new(Bytes::from(format!("data: {text}\n\n"))).boxed());
    }
    if bodies.is_empty() {
        return plain(StatusCode::ACCEPTED, "");
    }
    let mut answer = Response::new(Merged(bodies).boxed());
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(EVENTS));
    answer
}

/// The media type of a stream of events.
const EVENTS: &str = "text/event-stream";

fn is_events(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.starts_with(EVENTS))
}

/// Tells whether exactly one place names the host of a request. With two, a proxy may have read the
/// other one.
fn names_one_host(request: &Request<Incoming>) -> bool {
    let n_hosts = request.headers().get_all(HOST).iter().count();
    request.uri().authority().is_none() && n_hosts <= 1
}

fn no_message(status: StatusCode, refusal: &Refusal) -> Answer {
    tracing::warn!(why = refusal.why(), "a body is not a message");
    let body = serde_json::to_vec(refusal).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

/// Tells whether the headers hold the token; compares in constant time.
fn is_authorized(headers: &HeaderMap, token: &str) -> bool {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (given.next(), given.next()) else { return false };
    let Some((scheme, credentials)) = only.to_str().ok().and_then(|value| value.split_once(' '))
    else {
        return false;
    };
    let (given, token) = (credentials.trim().as_bytes(), token.as_bytes());
    let differences = given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b));
    scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_once_is_good() {
        let token = "0123456789abcdef";
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            is_authorized(&headers, token)
        };
        assert!(with(&["Bearer 0123456789abcdef"]) && with(&["bearer  0123456789abcdef "]));
        for wrong in [
            &[][..],
            &["0123456789abcdef"],
            &["Bearer"],
            &["Bearer "],
            &["Basic 0123456789abcdef"],
            &["Bearer 0123456789abcde"],
            &["Bearer 0123456789abcdef0"],
            &["Bearer 0123456789abcdeF"],
            &["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"],
        ] {
            assert!(!with(wrong), "{wrong:?}");
        }
    }
}
