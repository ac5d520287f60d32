//! Runs asynchronous clients from blocking code, and saves the files that they download.

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
use super::provider::{FileCallback, SourceTree, TreeEntry};
use repertoire::{Error, ErrorCode};
use repertoire_system::private_dir::PrivateDir;

/// The timeout for connecting to a server.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout for the next bytes of a response.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// The size limit of the cause in an error message, in characters.
const MAX_CAUSE: usize = 400;

/// Runs `work` until it ends or the deadline is over. Uses a separate thread, since the caller's thread
/// may belong to an asynchronous runtime and must not block. Fails like `work`, with `TIMEOUT`, or with
/// `CANCELLED`.
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
        // A pending DNS lookup cannot be cancelled, so do not wait for it.
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

/// Selects the crypto provider of TLS, unless the host selected one for the process. The HTTP client
/// panics if none is selected.
pub(super) fn prepare_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The limits of downloaded files.
pub(super) struct Receiver<'a> {
    /// The source, for errors.
    pub(super) source: &'a str,
    /// The number of bytes of the source that may still be downloaded.
    pub(super) left: &'a AtomicU64,
    /// The initial value of `left`.
    pub(super) limit: u64,
}

impl Receiver<'_> {
    /// Writes a stream to a new file. Converts an error of the stream with `failed`, and fails with
    /// `INVALID_PARAM` if the stream has more bytes than are left.
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

/// A source that was downloaded as one archive. Dropping it removes the archive.
pub(super) struct Downloaded {
    /// The archive.
    pub(super) tree: Box<dyn SourceTree>,
    /// The revision of the downloaded state.
    pub(super) revision: String,
    /// The directory of the archive, which must live as long as the archive is read.
    pub(super) _dir: PrivateDir,
}

impl SourceTree for Downloaded {
    fn revision(&self) -> Option<&str> {
        Some(&self.revision)
    }

    fn entries(&self) -> &[TreeEntry] {
        self.tree.entries()
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        self.tree.read(files, take)
    }
}

/// Formats an error with all its causes in one line. Removes the query strings of URLs, since some are
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
