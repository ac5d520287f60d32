//! The end of a connection over streams.
//!
//! After the client has closed its side, the server answers the requests that it has read. An answer that
//! needs nothing but this process is always waited for, however late the system lets it run. Calls of
//! scripts and toolsets, which may take as long as they like, are stopped once none has ended for a while.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The number of parts into which [`comes_within`] divides its time.
const PARTS: u32 = 10;

/// Waits at most `time` for `event`. Tells whether it came.
///
/// Waits in parts, each of which starts when the end of the one before was noticed: if the system does not
/// let this process run for a while, that counts as one part only.
pub(super) async fn comes_within(time: Duration, event: impl Future) -> bool {
    let mut event = pin!(event);
    for _ in 0..PARTS {
        if timeout(time / PARTS, &mut event).await.is_ok() {
            return true;
        }
    }
    false
}

/// The times after which a server stops waiting, once the client has closed its side. Each answer, and each
/// line that the client reads, starts them again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For calls of scripts and toolsets.
    pub(super) programs: Duration,
    /// For the other requests, after these calls were stopped. They end by themselves, so this is only
    /// for those that never would.
    pub(super) others: Duration,
    /// For the client to read a line.
    pub(super) reader: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        // The first is less than the two seconds after which SDKs send a signal.
        Patience {
            programs: Duration::from_secs(1),
            others: Duration::from_secs(60),
            reader: Duration::from_secs(5),
        }
    }
}

/// The requests of a connection that are not answered yet, and how far the connection has ended. Over
/// HTTP, a connection never ends in this way.
#[derive(Debug, Default)]
pub(super) struct Closing {
    unanswered: Mutex<HashSet<RequestId>>,
    /// Notified of each answer, of each line that the client took, and of each request that needs no answer
    /// any more.
    answered: Notify,
    /// Notified when the last request is answered.
    emptied: Notify,
    /// Cancelled when the client closes its side.
    gone: CancellationToken,
    /// Cancelled when calls of scripts and toolsets must end.
    stopped: CancellationToken,
}

impl Closing {
    /// Records a request of the client.
    pub(super) fn begin(&self, id: RequestId) {
        self.unanswered().insert(id);
    }

    /// Records that a request is answered, or was cancelled by the client, which then gets no answer.
    pub(super) fn end(&self, id: &RequestId) {
        let is_empty = {
            let mut unanswered = self.unanswered();
            unanswered.remove(id);
            unanswered.is_empty()
        };
        self.answered.notify_one();
        if is_empty {
            self.emptied.notify_one();
        }
    }

    /// Records that a line was written.
    pub(super) fn note_written(&self) {
        self.answered.notify_one();
    }

    /// Records that the client has closed its side.
    pub(super) fn leave(&self) {
        self.gone.cancel();
    }

    /// Waits until the client has closed its side.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Waits until every request is answered.
    pub(super) async fn all_answered(&self) {
        while !self.unanswered().is_empty() {
            self.emptied.notified().await;
        }
    }

    /// Returns the token that is cancelled when calls of scripts and toolsets must end.
    pub(super) fn stopped(&self) -> CancellationToken {
        self.stopped.clone()
    }

    /// Waits until the client has closed its side, stops calls of scripts and toolsets when their time is
    /// over, and returns when that of the other requests is over.
    pub(super) async fn overdue(&self, patience: Patience) {
        self.gone().await;
        self.quiet(patience.programs).await;
        self.stopped.cancel();
        self.quiet(patience.others).await;
    }

    /// Waits until there was no answer for as long as `pause`.
    async fn quiet(&self, pause: Duration) {
        while comes_within(pause, self.answered.notified()).await {}
    }

    fn unanswered(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use repertoire::{Engine, Source};
    use rmcp::model::{JsonRpcMessage, ServerResult};
    use rmcp::transport::Transport as _;
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
    use tokio::io::{ReadHalf, WriteHalf, split};
    use tokio::task::JoinHandle;

    use super::*;
    use crate::{McpOptions, McpServer};

    const N_CALLS: u64 = 300;

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_secs(3_600);

    /// A server whose only thread for requests is held, and its client.
    struct Held {
        closing: Arc<Closing>,
        serving: JoinHandle<Result<(), repertoire::Error>>,
        writer: WriteHalf<DuplexStream>,
        lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
        /// Ends the server as a signal does.
        signal: CancellationToken,
        _dir: tempfile::TempDir,
    }

    impl Held {
        /// Starts a server whose thread waits until the sender of `gate` is dropped. `room` is the number
        /// of bytes that a client may leave unread.
        async fn start(patience: Patience, room: usize, gate: Receiver<()>) -> Held {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("SKILL.md"), "---\nname: tea\ndescription: d\n---\n")
                .unwrap();
            std::fs::write(dir.path().join("long.txt"), "leaf\n".repeat(200)).unwrap();
            let engine = Engine::builder().source(Source::user(dir.path())).build().unwrap();
            let server = McpServer::new(&engine, McpOptions::default());
            let closing = Arc::clone(&server.0.closing);
            let (ours, theirs) = tokio::io::duplex(room);
            let (reader, writer) = split(theirs);
            let signal = CancellationToken::new();
            let end = signal.clone();
            let serving = tokio::spawn(async move {
                let serving = server.serve_with_patience(reader, writer, end.cancelled(), patience);
                Box::pin(serving).await
            });
            let (reader, writer) = split(ours);
            let lines = BufReader::new(reader).lines();
            let mut held = Held { closing, serving, writer, lines, signal, _dir: dir };
            let client = json!({"name": "test", "version": "1"});
            let hello =
                json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
            held.send(json!({"id": 0, "method": "initialize", "params": hello})).await;
            assert!(held.lines.next_line().await.unwrap().unwrap().contains("serverInfo"));
            held.send(json!({"method": "notifications/initialized"})).await;
            tokio::task::spawn_blocking(move || gate.recv());
            held
        }

        async fn send(&mut self, mut message: Value) {
            message["jsonrpc"] = "2.0".into();
            self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }

        async fn call(&mut self, id: u64) {
            let call = json!({"name": "read_skill_file", "arguments": {"skill": "tea", "path": "long.txt"}});
            self.send(json!({"id": id, "method": "tools/call", "params": call})).await;
        }
    }

    /// Runs a test with one thread for the requests of the server, which the test lets go.
    fn run<T>(test: impl AsyncFnOnce(Sender<()>, Receiver<()>) -> T) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().max_blocking_threads(1).build().unwrap();
        let (release, gate) = channel();
        runtime.block_on(test(release, gate))
    }

    #[test]
    fn answers_that_only_wait_for_the_system_are_never_given_up() {
        let patience = Patience { programs: Duration::ZERO, others: LONG, reader: LONG };
        let ids = run(async |release, gate| {
            let mut held = Held::start(patience, 1 << 20, gate).await;
            for id in 1..=N_CALLS {
                held.call(id).await;
            }
            held.writer.shutdown().await.unwrap();
            // From now on, calls of scripts and toolsets would be stopped.
            held.closing.stopped().cancelled().await;
            drop(release);
            let mut ids = Vec::new();
            while let Some(line) = held.lines.next_line().await.unwrap() {
                let answer: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(answer["result"]["isError"], false, "{line}");
                ids.push(answer["id"].as_u64().unwrap());
            }
            held.serving.await.unwrap().unwrap();
            ids
        });
        assert_eq!(HashSet::<u64>::from_iter(ids), (1..=N_CALLS).collect());
    }

    /// Tells whether `event` waits for something that this thread does not do.
    async fn waits(event: impl Future) -> bool {
        let idle = async {
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! { biased; _ = event => false, () = idle => true }
    }

    #[test]
    fn the_sdk_learns_of_the_end_only_after_the_last_answer() {
        let patience = Patience { programs: Duration::ZERO, others: LONG, reader: LONG };
        run(async |_, _| {
            let (mut ours, theirs) = tokio::io::duplex(1 << 10);
            let (reader, writer) = split(theirs);
            let closing = Arc::new(Closing::default());
            let mut lines =
                crate::lines::Lines::new(reader, writer, Arc::clone(&closing), patience);
            for id in [1, 2] {
                let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
                ours.write_all(format!("{ping}\n").as_bytes()).await.unwrap();
            }
            ours.shutdown().await.unwrap();
            for _ in 0..2 {
                assert!(lines.receive().await.is_some());
            }
            for id in [1, 2] {
                assert!(waits(lines.receive()).await, "{id} is not answered");
                tokio::select! {
                    biased;
                    () = closing.overdue(patience) => unreachable!("{id} can still be answered"),
                    () = closing.stopped.cancelled() => {}
                }
                let answer = ServerResult::empty(());
                lines.send(JsonRpcMessage::response(answer, RequestId::Number(id))).await.unwrap();
            }
            assert!(lines.receive().await.is_none());
        });
    }

    #[test]
    fn a_request_that_never_ends_does_not_keep_the_server() {
        let patience = Patience { programs: Duration::ZERO, others: Duration::ZERO, reader: LONG };
        run(async |_release, gate| {
            let mut held = Held::start(patience, 1 << 20, gate).await;
            held.call(1).await;
            held.writer.shutdown().await.unwrap();
            held.serving.await.unwrap().unwrap();
            assert_eq!(held.lines.next_line().await.unwrap(), None);
        });
    }

    #[test]
    fn a_request_that_was_cancelled_is_not_waited_for() {
        let patience = Patience { programs: LONG, others: LONG, reader: LONG };
        run(async |release, gate| {
            let mut held = Held::start(patience, 1 << 20, gate).await;
            held.call(1).await;
            held.send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}}))
                .await;
            held.writer.shutdown().await.unwrap();
            drop(release);
            held.serving.await.unwrap().unwrap();
        });
    }

    #[test]
    fn a_client_that_does_not_read_does_not_keep_the_server() {
        let patience = Patience { programs: LONG, others: LONG, reader: Duration::ZERO };
        for is_signal in [false, true] {
            run(async |release, gate| {
                let mut held = Held::start(patience, 256, gate).await;
                held.call(1).await;
                drop(release);
                if is_signal {
                    held.signal.cancel();
                } else {
                    held.writer.shutdown().await.unwrap();
                }
                held.serving.await.unwrap().unwrap();
            });
        }
    }
}
