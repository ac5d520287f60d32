//! HTTP for programs on this machine only.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use crate::error::{Error, ErrorCode};

/// As many connections as are open at a time; others wait.
const MAX_CONNECTIONS: usize = 128;

/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Answers each request to `listener`, which must be on a loopback address, with `respond`; until
/// the future is dropped. At most 128 connections are open at a time. Call it within a runtime of
/// tokio that has its timer.
///
/// It is for `respond` to see that a request comes from whom it should: any program of the machine,
/// and any web page in a browser on it, can send one.
///
/// Fails with `INVALID_PARAM` for another address, and with `EXECUTION_ERROR` if nothing can be
/// accepted.
pub async fn serve_loopback<R, B>(
    listener: TcpListener,
    respond: impl Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
) -> Result<(), Error>
where
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Error = Infallible, Data: Send> + Send + 'static,
{
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
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
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
        let respond = respond.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let response = respond(request);
                async { Ok::<_, Infallible>(response.await) }
            });
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
