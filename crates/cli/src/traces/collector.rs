//! The connection to a collector, on the thread that sends batches.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Response};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use tokio::runtime::Runtime;

use super::first;
use crate::http::{exchange, host_of};
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
        let exchange =
            async { tokio::time::timeout(self.timeout, exchange(request, MAX_ANSWER)).await? };
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
