//! An HTTP server. It only listens on a loopback address, unless its caller authenticates clients.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use repertoire::{Error, ErrorCode};

/// The maximum number of open connections. A further connection closes the one that has waited longest
/// for a request; if none is waiting, the new one waits.
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
    let waiting = Waiting::default();
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
            waiting.close_oldest();
        }
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        tokio::spawn(serve_one(stream, respond.clone(), waiting.clone(), permit));
    }
}

/// Serves one connection.
async fn serve_one<R, B>(
    stream: TcpStream,
    respond: impl Fn(Request<Incoming>) -> R + Send + Sync + 'static,
    waiting: Waiting,
    permit: OwnedSemaphorePermit,
) where
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Error = Infallible, Data: Send> + Send + 'static,
{
    let (place, closed) = waiting.enter();
    let answer = service_fn(|mut request: Request<Incoming>| {
        let answering =
            Arc::new(Answering { waiting: waiting.clone(), place, kept: Mutex::default() });
        let whole = Whole(Arc::clone(&answering));
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
    waiting.leave(place);
    drop(permit);
}

/// The connections whose client has not sent a complete request yet. A new connection without room
/// replaces the one that has waited longest, so that clients with incomplete requests cannot block
/// others.
#[derive(Debug, Clone, Default)]
struct Waiting(Arc<Mutex<Places>>);

#[derive(Debug, Default)]
struct Places {
    next: u64,
    /// The waiting connections, keyed by the order in which they began to wait.
    waiting: BTreeMap<u64, CancellationToken>,
}

impl Waiting {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiting connection. Returns its key, and the token that closes it.
    fn enter(&self) -> (u64, CancellationToken) {
        let closed = CancellationToken::new();
        let mut places = self.places();
        let place = places.next;
        places.next += 1;
        places.waiting.insert(place, closed.clone());
        (place, closed)
    }

    fn leave(&self, place: u64) {
        self.places().waiting.remove(&place);
    }

    fn close_oldest(&self) {
        if let Some((_, oldest)) = self.places().waiting.pop_first() {
            oldest.cancel();
        }
    }
}

/// An answer that is being computed or sent.
#[derive(Debug)]
struct Answering {
    waiting: Waiting,
    place: u64,
    /// The token that closes the connection, held back while the connection is in use.
    kept: Mutex<Option<CancellationToken>>,
}

impl Answering {
    fn kept(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the connection as no longer waiting.
    fn begin(&self) {
        let token = self.waiting.places().waiting.remove(&self.place);
        if token.is_some() {
            *self.kept() = token;
        }
    }
}

impl Drop for Answering {
    /// Marks the connection as waiting for its next request.
    fn drop(&mut self) {
        if let Some(token) = self.kept().take() {
            self.waiting.places().waiting.insert(self.place, token);
        }
    }
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

/// A request extension that lets the handler report that the whole request has arrived.
#[derive(Debug, Clone)]
pub(super) struct Whole(Arc<Answering>);

impl Whole {
    /// Marks the request as complete: the answer needs nothing more from the client, so the
    /// connection is not closed to make room for others.
    pub(super) fn arrived(&self) {
        self.0.begin();
    }
}
