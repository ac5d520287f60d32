//! The server over HTTP, for programs on this machine only.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tower_service::Service as _;

use super::McpServer;
use crate::error::{Error, ErrorCode};

/// As many connections as are open at a time; others wait.
const MAX_CONNECTIONS: usize = 128;

/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The shortest token, in bytes.
const MIN_TOKEN: usize = 16;

/// The only path there is.
const PATH: &str = "/mcp";

type Service = StreamableHttpService<McpServer, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves clients at `http://HOST:PORT/mcp` (streamable HTTP), until there is an error: each of
/// them a server that `server` makes. `listener` must be on a loopback address.
///
/// A request needs the header `Authorization: Bearer TOKEN`, with a token of 16 bytes or more. It
/// is refused if its `Host` is not one of this machine or its `Origin`, if it has one, is a page
/// from elsewhere: otherwise any web page could speak to the server by a name of its own (DNS
/// rebinding).
///
/// Clients of protocol 2026-07-28 have no connection: each of their requests is a session.
///
/// Fails with `INVALID_PARAM` for another address or a shorter token, and with `EXECUTION_ERROR` if
/// nothing can be accepted.
pub async fn serve_http(
    listener: TcpListener,
    token: &str,
    server: impl Fn() -> McpServer + Send + Sync + 'static,
) -> Result<(), Error> {
    let failed = |error: io::Error| {
        let message = format!("cannot serve HTTP: {error}");
        Error::new(ErrorCode::ExecutionError, message, "check that the address is free")
            .with_source(error)
    };
    let address = listener.local_addr().map_err(failed)?;
    if !address.ip().is_loopback() {
        let message = format!("{address} can be reached from other machines");
        return Err(Error::new(ErrorCode::InvalidParam, message, "use `127.0.0.1:PORT`"));
    }
    if token.len() < MIN_TOKEN {
        let message = format!("a token of {} bytes can be guessed", token.len());
        let help = "use 16 bytes or more, such as the output of `openssl rand -hex 32`";
        return Err(Error::new(ErrorCode::InvalidParam, message, help));
    }
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let sessions = Arc::new(LocalSessionManager::default());
    let service: Service = StreamableHttpService::new(move || Ok(server()), sessions, config);
    let token: Arc<str> = token.into();
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // One connection that failed, or no descriptor left: others may be closed soon.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (service, token) = (service.clone(), Arc::clone(&token));
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(service.clone(), Arc::clone(&token), request));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), answer);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
            drop(permit);
        });
    }
}

async fn answer(
    mut service: Service,
    token: Arc<str>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    if request.uri().path() != PATH {
        return Ok(refusal(StatusCode::NOT_FOUND, "the server is at /mcp\n"));
    }
    if !is_authorized(request.headers(), &token) {
        let mut answer = refusal(StatusCode::UNAUTHORIZED, "send `Authorization: Bearer TOKEN`\n");
        answer.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
        return Ok(answer);
    }
    service.call(request).await
}

fn refusal(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

/// Whether the headers have the token, in a time that does not tell how much of it is right.
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
