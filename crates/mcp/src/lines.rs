//! The line transport: reads messages, one in each line, and answers lines that are not messages with an
//! error.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::message::{self, MAX_MESSAGE, Refusal};

/// The time that a client which has closed its side has to read the last answers.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The number of parts into which [`Closing::quiet`] divides its pause.
const PARTS: u32 = 10;

/// The lines from and to a client.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    /// The line being read; empty while an overlong one is skipped.
    line: Vec<u8>,
    is_skipping: bool,
    /// True once the client has sent a request other than `ping`. Before that, only requests count.
    is_begun: bool,
    /// The queue of lines to write, each with a sender to notify once the line is written; `None` once
    /// the transport is closed.
    outgoing: Option<mpsc::UnboundedSender<Outgoing>>,
    writing: Option<JoinHandle<()>>,
    closing: Arc<Closing>,
}

/// The events that the server waits for at the end of a connection.
#[derive(Default)]
pub(super) struct Closing {
    /// Cancelled when the client closes its side.
    gone: CancellationToken,
    /// Notified of each answer.
    answered: Notify,
}

impl Closing {
    /// Waits until the client has closed its side, and after that until there was no answer for as
    /// long as `pause`.
    pub(super) async fn quiet(&self, pause: Duration) {
        self.gone.cancelled().await;
        // Wait in parts, each of which starts when the end of the one before was noticed. If the system
        // did not let this process run for a while, that time must not count as quiet.
        let mut parts = 0;
        while parts < PARTS {
            let answered = timeout(pause / PARTS, self.answered.notified()).await;
            parts = if answered.is_ok() { 0 } else { parts + 1 };
        }
    }
}

struct Outgoing {
    line: Vec<u8>,
    written: Option<oneshot::Sender<io::Result<()>>>,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// Creates the transport over a pair of streams. `closing` is notified of the end of `reader`.
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        closing: Arc<Closing>,
    ) -> Lines<R> {
        let (outgoing, queue) = mpsc::unbounded_channel();
        Lines {
            reader: BufReader::new(reader),
            line: Vec::new(),
            is_skipping: false,
            is_begun: false,
            outgoing: Some(outgoing),
            // A separate task writes each line completely, as the future that sends or receives may be
            // dropped half-way.
            writing: Some(tokio::spawn(write(writer, queue))),
            closing,
        }
    }

    /// Returns the next line without its line feed: `Err` for a line that is too long, `None` at the end
    /// of input.
    async fn next_line(&mut self) -> io::Result<Option<Result<Vec<u8>, ()>>> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            if self.is_skipping || self.line.len() + part.len() > MAX_MESSAGE {
                self.is_skipping = true;
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            let n_bytes = part.len() + usize::from(end.is_some());
            self.reader.consume(n_bytes);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                let is_too_long = std::mem::take(&mut self.is_skipping);
                return Ok(Some(if is_too_long { Err(()) } else { Ok(line) }));
            }
        }
    }

    /// Waits until all queued lines are written, or writing fails. Waits for a limited time, since a
    /// client that closed its side may have stopped reading.
    async fn written(&mut self) {
        let Some(outgoing) = &self.outgoing else { return };
        let (written, is_written) = oneshot::channel();
        let nothing = Outgoing { line: Vec::new(), written: Some(written) };
        if outgoing.send(nothing).is_ok() {
            // The writing task has reported its error.
            let _ = timeout(LAST_WORDS, is_written).await;
        }
    }

    /// Queues the error for a line that is not a message.
    fn refuse(&self, refusal: &Refusal) {
        tracing::warn!(why = refusal.why(), "a line is not a message");
        if let (Some(outgoing), Ok(line)) = (&self.outgoing, to_line(refusal)) {
            // The writing task has reported its error.
            let _ = outgoing.send(Outgoing { line, written: None });
        }
    }

    /// Returns the next valid message.
    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.next_line().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::error!(%error, "cannot read from the client");
                    return None;
                }
            };
            let Ok(line) = line else {
                self.refuse(&Refusal::too_long());
                continue;
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            // Skip a byte order mark.
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
            let repaired = message::repaired(line);
            let line = repaired.as_deref().unwrap_or(line);
            match message::read(line) {
                // A notification needs no answer, and there is nothing yet that it could be about.
                Ok(Some(message)) if !self.is_begun && !is_request(&message) => {
                    tracing::debug!("a message before `initialize` is ignored");
                }
                Ok(Some(message)) => {
                    self.is_begun |= !is_ping(&message);
                    return Some(message);
                }
                Ok(None) => {}
                Err(refusal) => self.refuse(&refusal),
            }
        }
    }
}

fn is_request(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    matches!(message, JsonRpcMessage::Request(_))
}

fn is_ping(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::PingRequest(_))
}

fn to_line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(Outgoing { line, written }) = queue.recv().await {
        let result = match writer.write_all(&line).await {
            Ok(()) => writer.flush().await,
            failed => failed,
        };
        let is_broken = result.is_err();
        if let Some(written) = written {
            let _ = written.send(result);
        }
        if is_broken {
            return;
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        if matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
            self.closing.answered.notify_one();
        }
        async move {
            let line = to_line(&message)?;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the client is gone");
            let (written, result) = oneshot::channel();
            let sent = Outgoing { line, written: Some(written) };
            outgoing.ok_or_else(closed)?.send(sent).map_err(|_| closed())?;
            result.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if let Some(message) = self.next_message().await {
            return Some(message);
        }
        self.closing.gone.cancel();
        // The caller may drop everything after this, with the answers that are still queued, so wait for
        // them.
        self.written().await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        match self.writing.take() {
            Some(writing) => writing.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }
}
