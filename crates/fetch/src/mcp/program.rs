//! An MCP server that is a program. It is started without a shell, and ends with the connection.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout};

use crate::limits::{FetchLimits, too_large};
use repertoire::{Error, ErrorCode};
use repertoire_system::process::Running;
use repertoire_worker::mcp_lines::{Lines, Strays};

/// The interval between checks whether the program has ended.
const TICK: Duration = Duration::from_millis(10);

/// The time that a program which closed its output has to end by itself, and to say why.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The bytes received on a connection, their limits, and the lines that are not messages.
#[derive(Debug)]
pub(super) struct Received {
    n_bytes: AtomicU64,
    most: u64,
    /// The maximum number of bytes in one message.
    message: u64,
    is_over: AtomicBool,
    pub(super) strays: Arc<Strays>,
}

impl Received {
    pub(super) fn new(limits: &FetchLimits) -> Received {
        // Room for a file as base64 or as an escaped text, and for the rest of the message.
        let message = limits.file_bytes.saturating_mul(2).saturating_add(1 << 20);
        let strays = Arc::new(Strays::default());
        // `Counted` limits the length of lines.
        strays.allow_lines(usize::MAX);
        Received {
            n_bytes: AtomicU64::new(0),
            most: limits.transfer_bytes,
            message,
            is_over: AtomicBool::new(false),
            strays,
        }
    }

    /// Counts bytes of a message of which `n_before` were received already. Fails if a limit is
    /// exceeded.
    pub(super) fn count(&self, n_bytes: u64, n_before: u64) -> io::Result<()> {
        let all = self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed).saturating_add(n_bytes);
        if all > self.most || n_before.saturating_add(n_bytes) > self.message {
            self.is_over.store(true, Ordering::Relaxed);
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(())
    }

    /// Returns the error for a server that sent too much, if it did.
    pub(super) fn too_large(&self, source: &str) -> Option<Error> {
        let is_over = self.is_over.load(Ordering::Relaxed);
        let is_long = self.n_bytes.load(Ordering::Relaxed) <= self.most;
        let what = if is_long { "bytes in a message" } else { "bytes" };
        is_over.then(|| too_large(source, what, if is_long { self.message } else { self.most }))
    }
}

/// The transport over the streams of a program.
pub(super) type Streams = Lines<Counted<ChildStdout>, ChildStdin>;

/// A running program.
pub(super) struct Program(Running);

impl Program {
    /// Starts a program. Must be called within a runtime.
    ///
    /// Fails with `NOT_FOUND` if the program does not exist, and with `EXECUTION_ERROR` if it does not
    /// start.
    pub(super) fn start(
        words: &[String],
        source: &str,
        received: &Arc<Received>,
    ) -> Result<(Program, Streams), Error> {
        let failed = |error: &dyn std::fmt::Display| {
            let message = format!("cannot fetch {source}: it does not start: {error}");
            Error::new(ErrorCode::ExecutionError, message, "try its command by hand")
        };
        let (name, args) = words.split_first().ok_or_else(|| failed(&"it names no program"))?;
        let path = find(name).ok_or_else(|| {
            let message = format!("cannot fetch {source}: there is no program `{name}`");
            Error::new(ErrorCode::NotFound, message, "install it, or name it by its path")
        })?;
        let mut command = Command::new(path);
        // Not in the directory of a project, where its author could put programs and settings.
        command.args(args).current_dir(neutral_dir()).stdin(Stdio::piped());
        let (running, stdin, stdout) =
            Running::start(&mut command).map_err(|error| failed(&error))?;
        let stdin = stdin.ok_or_else(|| failed(&"it has no standard input"))?;
        let stdin = ChildStdin::from_std(stdin).map_err(|error| failed(&error))?;
        let stdout = ChildStdout::from_std(stdout).map_err(|error| failed(&error))?;
        let stdout = Counted { inner: stdout, received: Arc::clone(received), n_line: 0 };
        let streams = Lines::new(stdout, stdin, Arc::clone(&received.strays));
        Ok((Program(running), streams))
    }

    /// Ends a program that is of no more use, and returns the last line of its standard error, to be appended to
    /// an error message. A program that is about to end may say why first.
    pub(super) fn last_output(&self) -> String {
        self.0.ends_within(LAST_WORDS);
        let _ = self.0.end();
        self.0.last_error().map_or_else(String::new, |line| format!("; it says: {line}"))
    }

    /// Ends the program and its children: waits until it ends by itself, at most for `grace`, and then
    /// kills what still runs.
    pub(super) async fn end(&self, grace: Duration) {
        let end = tokio::time::Instant::now() + grace;
        while !self.0.has_ended() && tokio::time::Instant::now() < end {
            tokio::time::sleep(TICK).await;
        }
        let _ = self.0.end();
    }
}

/// A stream that fails once a limit is exceeded.
pub(super) struct Counted<R> {
    inner: R,
    received: Arc<Received>,
    /// The number of bytes since the last line feed.
    n_line: u64,
}

impl<R: AsyncRead + Unpin> AsyncRead for Counted<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let new = &buffer.filled()[n_before..];
        self.received.count(new.len() as u64, self.n_line)?;
        self.n_line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => (new.len() - end - 1) as u64,
            None => self.n_line + new.len() as u64,
        };
        Poll::Ready(Ok(()))
    }
}

/// Finds the program with this name on the `PATH`, whose relative directories are ignored, or at this
/// path.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    let dirs = std::env::join_paths(dirs).ok()?;
    which::which_in(name, Some(dirs), neutral_dir()).ok()
}

fn neutral_dir() -> PathBuf {
    let home = std::env::home_dir().filter(|home| home.is_dir());
    home.unwrap_or_else(|| Path::new("/").to_owned())
}
