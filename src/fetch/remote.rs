//! Calls of asynchronous clients from code that blocks, and files that they receive.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};

use super::limits::{Deadline, too_large};
use super::objects::io_error;
use super::provider::{SourceTree, Take, TreeEntry};
use crate::error::{Error, ErrorCode};
use crate::private_dir::PrivateDir;

/// The time in which a server must take a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest silence of a server in the middle of an answer.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest cause of an error that is told, in characters.
const MAX_CAUSE: usize = 400;

/// Runs `work` to its end, or until the deadline. It has a thread of its own, since the caller's may
/// be one of a runtime, which must not block. Fails as `work`, and with `TIMEOUT`.
pub(super) fn wait<T: Send>(
    deadline: &Deadline,
    source: &str,
    work: impl Future<Output = Result<T, Error>> + Send,
) -> Result<T, Error> {
    let failed = |error: io::Error| {
        let message = format!("cannot fetch {source}: {error}");
        Error::new(ErrorCode::ExecutionError, message, "try again")
    };
    let run = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().map_err(failed)?;
        let result = runtime.block_on(async { deadline.limit(work).await });
        // A question to a name server cannot be called off, so nobody waits for its answer.
        runtime.shutdown_background();
        result.unwrap_or_else(|| Err(deadline.error(source)))
    };
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("repertoire-fetch".to_owned());
        let thread = builder.spawn_scoped(scope, run).map_err(failed)?;
        thread.join().unwrap_or_else(|_| {
            let message = format!("cannot fetch {source}: the client ended unexpectedly");
            Err(Error::new(ErrorCode::InternalError, message, "report this"))
        })
    })
}

/// Chooses the cryptography of TLS, unless the host chose one for the process: the HTTP client asks
/// for such a choice, and panics without it.
pub(super) fn prepare_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The limits of received files.
pub(super) struct Receiver<'a> {
    /// The source, for errors.
    pub(super) source: &'a str,
    /// The bytes that may still be received of the source.
    pub(super) left: &'a AtomicU64,
    /// The limit that `left` began with.
    pub(super) limit: u64,
}

impl Receiver<'_> {
    /// Writes a stream to a new file. Fails with `failed` of what the stream fails with, and with
    /// `INVALID_PARAM` if it has more bytes than are left.
    pub(super) async fn save<B: AsRef<[u8]>, E>(
        &self,
        stream: impl Stream<Item = Result<B, E>>,
        to: &Path,
        failed: impl Fn(E) -> Error,
    ) -> Result<(), Error> {
        let unwritten = |error: io::Error| io_error("write", to, &error);
        let mut file = File::create_new(to).map_err(unwritten)?;
        let mut stream = pin!(stream);
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(&failed)?;
            let n_bytes = chunk.as_ref().len() as u64;
            let take = |left: u64| left.checked_sub(n_bytes);
            if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                return Err(too_large(self.source, "bytes", self.limit));
            }
            file.write_all(chunk.as_ref()).map_err(unwritten)?;
        }
        Ok(())
    }
}

/// A source that was downloaded as one archive, which is removed with it.
pub(super) struct Downloaded {
    /// The archive.
    pub(super) tree: Box<dyn SourceTree>,
    /// The revision that the server told.
    pub(super) revision: String,
    /// The directory of the archive, kept for as long as it is read.
    pub(super) _dir: PrivateDir,
}

impl SourceTree for Downloaded {
    fn revision(&self) -> Option<&str> {
        Some(&self.revision)
    }

    fn entries(&self) -> &[TreeEntry] {
        self.tree.entries()
    }

    fn read(&mut self, files: &[&str], take: &mut Take<'_>) -> Result<(), Error> {
        self.tree.read(files, take)
    }
}

/// Tells an error with all its causes in one line, without the parameters of addresses: some are
/// signatures.
pub(super) fn cause(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    let words = text.split_whitespace().map(|word| match word.split_once('?') {
        Some((address, _)) if address.contains("://") || address.contains('/') => address,
        _ => word,
    });
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CAUSE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
