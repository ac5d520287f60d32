//! The line transport: reads messages, one in each line, and answers lines that are not messages with an
//! error.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::closing::{Closing, Patience, comes_within};
use super::message::{self, MAX_MESSAGE, Refusal};

/// The lines from and to a client.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    /// The line being read; empty while an overlong one is skipped.
    line: Vec<u8>,
    is_skipping: bool,
    /// True once the client has sent a request other than `ping`. Before that, only requests count.
    is_begun: bool,
    /// True once the client has closed its side.
    is_ended: bool,
    /// The queue of lines to write, each with a sender to notify once the line is written; `None` once
    /// the transport is closed.
    outgoing: Option<mpsc::UnboundedSender<Outgoing>>,
    writing: Option<JoinHandle<()>>,
    closing: Arc<Closing>,
    patience: Patience,
}

struct Outgoing {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// Creates the transport over a pair of streams. `closing` is told of requests and their answers, and of
    /// the end of `reader`.
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        closing: Arc<Closing>,
        patience: Patience,
    ) -> Lines<R> {
        let (outgoing, queue) = mpsc::unbounded_channel();
        Lines {
            reader: BufReader::new(reader),
            line: Vec::new(),
            is_skipping: false,
            is_begun: false,
            is_ended: false,
            outgoing: Some(outgoing),
            // A separate task writes each line completely, as the future that sends or receives may be
            // dropped half-way.
            writing: Some(tokio::spawn(write(writer, queue, Arc::clone(&closing)))),
            closing,
            patience,
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

    /// Waits until all queued lines are written, or writing fails. If the client does not read them, gives
    /// them up. The SDK calls this again after each line, so a client that reads slowly has the time for
    /// each.
    async fn written(&mut self) {
        let Some(outgoing) = &self.outgoing else { return };
        let (written, is_written) = oneshot::channel();
        if outgoing.send(Outgoing { line: Vec::new(), written }).is_ok()
            && !comes_within(self.patience.reader, is_written).await
        {
            self.give_up();
        }
    }

    /// Ends the writing task, which waits for a client that does not read.
    fn give_up(&mut self) {
        tracing::warn!("the client does not read its last answers");
        self.outgoing = None;
        if let Some(writing) = self.writing.take() {
            writing.abort();
        }
    }

    /// Tells [`Closing`] of a message from the client.
    fn note(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => self.closing.begin(request.id.clone()),
            JsonRpcMessage::Notification(told) => {
                // The SDK does not send the answer to a cancelled request.
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.closing.end(id);
                }
            }
            _ => {}
        }
    }

    /// Queues a message. Returns the receiver of the result of writing it.
    fn queue(&self, message: &impl Serialize) -> io::Result<oneshot::Receiver<io::Result<()>>> {
        let outgoing = self.outgoing.as_ref().ok_or_else(is_closed)?;
        let (written, result) = oneshot::channel();
        let line = to_line(message)?;
        outgoing.send(Outgoing { line, written }).map_err(|_| is_closed())?;
        Ok(result)
    }

    /// Queues the error for a line that is not a message.
    fn refuse(&self, refusal: &Refusal) {
        tracing::warn!(why = refusal.why(), "a line is not a message");
        // The writing task has reported its error.
        let _ = self.queue(refusal);
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

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    closing: Arc<Closing>,
) {
    while let Some(Outgoing { line, written }) = queue.recv().await {
        let result = match writer.write_all(&line).await {
            Ok(()) => writer.flush().await,
            failed => failed,
        };
        let is_broken = result.is_err();
        closing.note_written();
        // The message may be one that nobody waits for.
        let _ = written.send(result);
        if is_broken {
            return;
        }
    }
}

fn is_closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the client is gone")
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // The line is queued before the request counts as answered.
        let queued = self.queue(&message);
        match &message {
            JsonRpcMessage::Response(answer) => self.closing.end(&answer.id),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.closing.end(id);
                }
            }
            _ => {}
        }
        async move { queued?.await.map_err(|_| is_closed())? }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // The SDK calls this again whenever it had something else to do meanwhile.
        if !self.is_ended {
            if let Some(message) = self.next_message().await {
                self.note(&message);
                return Some(message);
            }
            self.is_ended = true;
            self.closing.leave();
        }
        // After this, the SDK gives the requests that still run, and the answers that are still queued, a few
        // seconds in all. So wait for them here.
        self.closing.all_answered().await;
        self.written().await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        if let Some(writing) = &mut self.writing
            && !comes_within(self.patience.reader, writing).await
        {
            self.give_up();
        }
        Ok(())
    }
}
