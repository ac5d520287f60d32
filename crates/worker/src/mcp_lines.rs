//! The lines that an MCP server prints, and those of them that are not messages.
//!
//! The SDK's transport ignores a line that it cannot read. The request that the line was meant to answer
//! would then wait until its time is over, and nobody would see the line.

use std::collections::VecDeque;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{JsonRpcMessage, NumberOrString, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::BufReader;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, sleep_until};

use repertoire_text::surrogates;

/// The longest line, in bytes, before the tools are listed. A list of tools is much shorter.
const MAX_FIRST_LINE: usize = 4 << 20;
/// The longest part of a line that an error shows, in characters.
const SHOWN: usize = 200;
/// The number of lines that are kept for the calls that they end.
const KEPT: usize = 16;

/// The lines of a server that are not messages, shared by its transport and its calls.
#[derive(Debug)]
pub struct Strays {
    seen: Mutex<Seen>,
    news: Notify,
    max_line: AtomicUsize,
    /// The number of the last request that was sent. The SDK counts them.
    last_request: AtomicI64,
}

#[derive(Debug, Default)]
struct Seen {
    n_strays: u64,
    last: VecDeque<Stray>,
    /// The last line that answers a request, as it is shown.
    answer: String,
}

#[derive(Debug, Clone)]
struct Stray {
    /// The number of such lines up to this one.
    number: u64,
    /// The request that the line answers; `None` if it does not say which.
    id: Option<RequestId>,
    is_json: bool,
    shown: String,
}

impl Default for Strays {
    fn default() -> Strays {
        Strays {
            seen: Mutex::default(),
            news: Notify::new(),
            max_line: AtomicUsize::new(MAX_FIRST_LINE),
            last_request: AtomicI64::new(-1),
        }
    }
}

impl Strays {
    /// Allows lines of at most `max` bytes, in place of 4 MiB.
    pub fn allow_lines(&self, max: usize) {
        self.max_line.store(max, Ordering::Relaxed);
    }

    /// Returns the number of lines so far that were not messages.
    pub fn count(&self) -> u64 {
        self.seen().n_strays
    }

    /// Returns the first line after `count` of them that ends the request `id`.
    pub fn after(&self, count: u64, id: &RequestId) -> Option<String> {
        let seen = self.seen();
        let is_it = |stray: &&Stray| {
            stray.number > count && stray.id.as_ref().is_none_or(|answered| answered == id)
        };
        seen.last.iter().find(is_it).map(|stray| stray.shown.clone())
    }

    /// Returns the last line that answers a request, as it is shown in an error.
    pub fn last_answer(&self) -> String {
        self.seen().answer.clone()
    }

    /// Waits for one of the first answers of a server. Fails with the line that the server prints instead: at
    /// once if the line is JSON, otherwise if there is no answer within `grace`, since some servers greet.
    pub async fn answer_or_line<T>(
        &self,
        answer: impl Future<Output = T>,
        grace: Duration,
    ) -> Result<T, String> {
        let mut answer = pin!(answer);
        let mut greeting: Option<(Instant, String)> = None;
        let mut count = 0;
        loop {
            let patience = async {
                match &greeting {
                    Some((until, _)) => sleep_until(*until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // A line that came with the answer was printed before it.
                biased;
                stray = self.next(count) => {
                    count = stray.number;
                    if stray.is_json {
                        return Err(stray.shown);
                    }
                    greeting.get_or_insert((Instant::now() + grace, stray.shown));
                }
                answered = &mut answer => return Ok(answered),
                () = patience => return Err(greeting.map(|(_, line)| line).unwrap_or_default()),
            }
        }
    }

    /// Returns the first line after `count` of them, as an error shows it.
    pub fn first_after(&self, count: u64) -> Option<String> {
        self.stray_after(count).map(|stray| stray.shown)
    }

    /// Waits for a line after `count` of them. Returns it as an error shows it.
    pub async fn line_after(&self, count: u64) -> String {
        self.next(count).await.shown
    }

    /// Waits for a line after `count` of them.
    async fn next(&self, count: u64) -> Stray {
        loop {
            let news = self.news.notified();
            match self.stray_after(count) {
                Some(next) => return next,
                None => news.await,
            }
        }
    }

    fn stray_after(&self, count: u64) -> Option<Stray> {
        self.seen().last.iter().find(|stray| stray.number > count).cloned()
    }

    fn add(&self, id: Option<RequestId>, shown: String) {
        let mut seen = self.seen();
        seen.n_strays += 1;
        let is_json = shown.starts_with("`{") || shown.starts_with("`[");
        let stray = Stray { number: seen.n_strays, id, is_json, shown };
        seen.last.push_back(stray);
        if seen.last.len() > KEPT {
            seen.last.pop_front();
        }
        drop(seen);
        self.news.notify_waiters();
    }

    /// Notes a request that is sent: its answer is a message.
    pub fn note_request(&self, message: &TxJsonRpcMessage<RoleClient>) {
        if let JsonRpcMessage::Request(request) = message
            && let NumberOrString::Number(number) = request.id
        {
            self.last_request.fetch_max(number, Ordering::Relaxed);
        }
    }

    /// Tells whether a request of this number was sent.
    fn is_sent(&self, number: i64) -> bool {
        (0..=self.last_request.load(Ordering::Relaxed)).contains(&number)
    }

    /// Returns the message in a line; `None`, after noting the line, if it is not one.
    pub fn read(&self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        let Some(message) = parse(line) else {
            let value: Value = parse(line).unwrap_or_default();
            let is_answer = value.get("method").is_none();
            // A notification that the SDK does not know answers nothing.
            if is_answer || value.get("id").is_some() {
                // A request that cannot be read gets no reply, so the server may wait for ever.
                let id = value["id"].as_i64().filter(|id| is_answer && self.is_sent(*id));
                self.add(id.map(RequestId::Number), shown(line));
            }
            return None;
        };
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return Some(message),
        };
        if !matches!(answered, Some(NumberOrString::Number(number)) if self.is_sent(*number)) {
            self.add(None, shown(line));
            return None;
        }
        self.seen().answer = shown(line);
        Some(message)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses JSON, in which halves of surrogate pairs are replaced.
fn parse<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    surrogates::parse(std::str::from_utf8(line).ok()?).ok()
}

/// Returns the beginning of a line in backticks, with escapes in place of what a reader would not see.
fn shown(line: &[u8]) -> String {
    let head = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    let head = head.trim();
    let shown: String = head.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let is_cut = line.len() > 4 * SHOWN || head.chars().nth(SHOWN).is_some();
    format!("`{shown}{}`", if is_cut { "…" } else { "" })
}

/// The transport over the standard streams of a server.
#[derive(Debug)]
pub struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// True while the rest of a line that is too long is skipped.
    is_skipping: bool,
    writer: Arc<AsyncMutex<Option<W>>>,
    strays: Arc<Strays>,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// Creates the transport. `strays` notes the lines that are not messages.
    pub fn new(reader: R, writer: W, strays: Arc<Strays>) -> Lines<R, W> {
        let (reader, writer) = (BufReader::new(reader), Arc::new(AsyncMutex::new(Some(writer))));
        Lines { reader, line: Vec::new(), is_skipping: false, writer, strays }
    }

    /// Returns the next line; `None` at the end of the stream. Notes a line that is too long. The future
    /// may be dropped: a part of a line is kept.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let max = self.strays.max_line.load(Ordering::Relaxed);
            let room = max.saturating_sub(self.line.len()) as u64;
            let n_read = (&mut self.reader).take(room).read_until(b'\n', &mut self.line).await?;
            let is_whole = self.line.ends_with(b"\n");
            if !is_whole && n_read == 0 && room > 0 {
                return Ok(None);
            }
            if !is_whole && self.line.len() < max {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let was_skipping = std::mem::replace(&mut self.is_skipping, !is_whole);
            if is_whole && !was_skipping {
                return Ok(Some(line));
            }
            if !was_skipping {
                let shown = format!("{}, a line of more than {} MiB", shown(&line), max >> 20);
                self.strays.add(None, shown);
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.strays.note_request(&message);
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = self.next_line().await.ok()??;
            if let Some(message) = self.strays.read(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `lines` as those of a server that was sent the requests 0 to 3. Returns the number of
    /// messages.
    fn read(lines: &str, strays: &Arc<Strays>) -> usize {
        strays.last_request.store(3, Ordering::Relaxed);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut transport = Lines::new(lines.as_bytes(), tokio::io::sink(), Arc::clone(strays));
        runtime.block_on(async {
            let mut n_messages = 0;
            while transport.receive().await.is_some() {
                n_messages += 1;
            }
            n_messages
        })
    }

    #[test]
    fn a_line_that_is_no_message_ends_the_requests_that_it_may_answer() {
        let answer = |rest: &str| format!("{{\"jsonrpc\": \"2.0\", {rest}}}\n");
        for (line, ends) in [
            ("Hello!\n".to_owned(), [true, true]),
            ("{\"id\": 1, \"result\": {}}\n".to_owned(), [true, false]),
            ("[]\n".to_owned(), [true, true]),
            (answer("\"id\": 1"), [true, false]),
            (answer("\"id\": 1, \"error\": \"no\""), [true, false]),
            (answer("\"id\": \"1\", \"result\": {}"), [true, true]),
            (answer("\"id\": 4, \"result\": {}"), [true, true]),
            (
                answer("\"id\": null, \"error\": {\"code\": -32700, \"message\": \"?\"}"),
                [true, true],
            ),
            ("\u{0}\u{1b}[2J\u{202e}\n".to_owned(), [true, true]),
            ("x".repeat(MAX_FIRST_LINE + 1) + "\n", [true, true]),
        ] {
            let strays = Arc::new(Strays::default());
            assert_eq!(read(&line, &strays), 0, "{line:.80}");
            let after = |count, id| strays.after(count, &NumberOrString::Number(id));
            assert_eq!([1, 2].map(|id| after(0, id).is_some()), ends, "{line:.80}");
            assert_eq!(after(1, 1), None, "it ends no later request");
            let shown = after(0, 1).unwrap();
            assert!(shown.chars().count() <= 7 * SHOWN && !shown.contains(char::is_control));
        }
        for line in [
            answer("\"id\": 1, \"result\": {}"),
            answer(
                "\"id\": 1, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"\\ud800\"}]}",
            ),
            format!("\u{feff}{}", answer("\"id\": 1, \"result\": {}")),
        ] {
            let strays = Arc::new(Strays::default());
            assert_eq!((read(&line, &strays), strays.count()), (1, 0), "{line}");
        }
        let strays = Arc::new(Strays::default());
        assert_eq!(read(&answer("\"method\": \"notifications/odd\", \"params\": 1"), &strays), 0);
        assert_eq!((read("\n \r\n", &strays), strays.count()), (0, 0));
        let after_long =
            "x".repeat(2 * MAX_FIRST_LINE) + "\n" + &answer("\"id\": 1, \"result\": {}");
        assert_eq!((read(&after_long, &strays), strays.count()), (1, 1));
    }
}
