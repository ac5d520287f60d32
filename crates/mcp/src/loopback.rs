//! An HTTP server. It only listens on a loopback address, unless its caller authenticates clients.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::places::{Answering, Places, Whole};
use repertoire::{Error, ErrorCode};

/// The maximum number of open connections. A further connection closes the one that has waited longest
/// for a request.
const MAX_CONNECTIONS: usize = 128;

/// The time a client has to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Serves HTTP: answers each request to `listener`, which must be on a loopback address, with `respond`,
/// until the future is dropped. At most 128 connections are open at a time: a further one closes the
/// connection whose client has taken longest to send its next request. Must be called within a tokio
/// runtime with its timer enabled.
///
/// `respond` must check where a request comes from: any program on the machine, and any web page in
/// a browser on it, can send one.
///
/// Fails with `INVALID_PARAM` if the address is not a loopback address, and with `EXECUTION_ERROR` if
/// connections cannot be accepted.
pub async fn serve_loopback<R, B>(
    listener: TcpListener,
    respond: impl Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
) -> Result<(), Error>
where
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Error = Infallible, Data: Send> + Send + 'static,
{
    if !is_loopback(&listener)? {
        let address = listener.local_addr().map_err(failed)?;
        let message = format!("{address} can be reached from other machines");
        return Err(Error::new(ErrorCode::InvalidParam, message, "use `127.0.0.1:PORT`"));
    }
    serve(listener, MAX_CONNECTIONS, respond).await
}

/// Tells whether only this machine can reach a listener.
pub(super) fn is_loopback(listener: &TcpListener) -> Result<bool, Error> {
    Ok(listener.local_addr().map_err(failed)?.ip().is_loopback())
}

fn failed(error: io::Error) -> Error {
    let message = format!("cannot serve HTTP: {error}");
    Error::new(ErrorCode::ExecutionError, message, "check that the address is free")
        .with_source(error)
}

/// Serves like [`serve_loopback`], on any address and with at most `max_connections`.
pub(super) async fn serve<R, B>(
    listener: TcpListener,
    max_connections: usize,
    respond: impl Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
) -> Result<(), Error>
where
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Error = Infallible, Data: Send> + Send + 'static,
{
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
    let room = Arc::new(Semaphore::new(max_connections));
    let places = Places::new(max_connections);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // One connection failed, or the process is out of descriptors; others may close
                // soon.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Answers are small, and a client waits for each, so they must not be delayed.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection delays small packets");
        }
        if room.available_permits() == 0 {
            places.close_longest_waiting();
        }
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        tokio::spawn(serve_one(stream, respond.clone(), places.clone(), permit));
    }
}

/// Serves one connection.
async fn serve_one<R, B>(
    stream: TcpStream,
    respond: impl Fn(Request<Incoming>) -> R + Send + Sync + 'static,
    places: Places,
    permit: OwnedSemaphorePermit,
) where
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Error = Infallible, Data: Send> + Send + 'static,
{
    let (place, closed) = places.enter();
    let answer = service_fn(|mut request: Request<Incoming>| {
        let answering = Arc::new(Answering::new(places.clone(), place));
        let whole = Whole::new(&answering);
        // Without this extension, the request counts as incomplete until its answer begins.
        request.extensions_mut().insert(whole);
        let response = respond(request);
        async move {
            let response = response.await;
            answering.begin();
            // The connection is in use until the whole answer is sent.
            Ok::<_, Infallible>(response.map(|body| Sending { body: Box::pin(body), answering }))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            }
        }
        () = closed.cancelled() => tracing::debug!("a connection was closed to make room"),
    }
    places.leave(place);
    drop(permit);
}

/// The body of an answer; the connection is in use until this is dropped.
struct Sending<B> {
    body: Pin<Box<B>>,
    #[expect(dead_code, reason = "its end is what matters")]
    answering: Arc<Answering>,
}

impl<B: Body> Body for Sending<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.get_mut().body.as_mut().poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
