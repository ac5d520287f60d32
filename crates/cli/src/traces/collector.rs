//! The connection to a collector: HTTP/1.1 over hyper, on the thread that sends batches.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::first;
use crate::output::Output;
use crate::sanitize;

/// The time limit for a request, unless the environment sets another.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of bytes that are read of an answer.
const MAX_ANSWER: usize = 64 << 10;

/// A client of the collector.
pub(super) struct Collector {
    runtime: Runtime,
    timeout: Duration,
    out: Output,
    /// True if the last request failed, so that an unreachable collector is reported only once.
    is_away: AtomicBool,
}

impl Collector {
    /// Creates the client; it connects with its first request.
    pub(super) fn new(out: Output) -> io::Result<Collector> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let timeouts = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
        let millis = first(timeouts).and_then(|(_, millis)| millis.parse().ok());
        let timeout = millis.map_or(TIMEOUT, Duration::from_millis);
        Ok(Collector { runtime, timeout, out, is_away: AtomicBool::new(false) })
    }

    /// Sends a request, and waits for the answer.
    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let address = request.uri().authority().map(host_of).unwrap_or_default();
        let exchange = async { tokio::time::timeout(self.timeout, exchange(request)).await? };
        let answer = self.runtime.block_on(exchange);
        let problem = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answers {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        let was_away = self.is_away.swap(problem.is_some(), Ordering::Relaxed);
        if let Some(problem) = problem.filter(|_| !was_away) {
            let line = format!("traces cannot be sent to {address}: {problem}");
            self.out.note(&sanitize::line(&line));
        }
        answer
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

/// The exporter waits for each request on a thread of its own.
impl HttpClient for Collector {
    fn send_bytes<'client, 'sent>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'client: 'sent,
        Self: 'sent,
    {
        Box::pin(async { self.send(request) })
    }
}

/// Returns the host and the port of an address, without a user and a password.
fn host_of(authority: &Authority) -> String {
    match authority.port() {
        Some(port) => format!("{}:{port}", authority.host()),
        None => authority.host().to_owned(),
    }
}

/// Sends a request on a connection of its own.
async fn exchange(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let authority = request.uri().authority().ok_or("the address names no host")?.clone();
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((name, authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    request.headers_mut().insert(HOST, HeaderValue::try_from(host_of(&authority))?);
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>()?;
    let answer = async {
        let (head, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, MAX_ANSWER).collect().await?.to_bytes();
        Ok::<_, HttpError>(Response::from_parts(head, body))
    };
    tokio::select! {
        answer = answer => answer,
        Err(error) = connection => Err(error.into()),
    }
}
