//! Archives on other machines, by HTTPS: downloaded into a file, and read like a local archive.
//!
//! The validators of a response (`ETag`, `Last-Modified`) are stored in the cache with the hash of the
//! archive, so that an unchanged archive is not downloaded again. Redirects are only followed to
//! encrypted addresses, and never shown, since some contain signatures.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use futures_util::stream;
use reqwest::header::{
    ACCEPT_ENCODING, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};

use super::archive::{check_hash, end_of};
use super::archive_address::ArchiveAddress;
use super::archive_file::Archive;
use super::limits::{Deadline, FetchLimits, too_large};
use super::lock_file::replace;
use super::loopback::is_loopback;
use super::objects::mark_used;
use super::provider::{SourceProvider, SourceTree};
use super::remote::{
    CONNECT_TIMEOUT, Downloaded, READ_TIMEOUT, Receiver, cause, prepare_tls, wait,
};
use super::scratch::scratch_dir;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};
use repertoire_system::private_dir::PrivateDir;

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 5;

/// The size limit of a stored header value, in bytes.
const MAX_HEADER: usize = 1024;

/// An archive behind a URL.
pub(super) struct RemoteArchive {
    address: ArchiveAddress,
    /// The SHA-256 that the archive must have, if one is given.
    sha256: Option<String>,
    limits: FetchLimits,
    deadline: Deadline,
    /// The directory for temporary files.
    scratch: PathBuf,
    /// The file that stores the last response.
    note: PathBuf,
    /// The archive that `newest` downloaded, kept for `open`.
    received: Mutex<Option<Received>>,
}

/// A downloaded archive and its SHA-256.
struct Received {
    dir: PrivateDir,
    archive: Archive,
    hash: String,
}

/// The last response of a server: these headers came with an archive that has this hash.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct CachedResponse {
    url: String,
    sha256: String,
    etag: Option<String>,
    last_modified: Option<String>,
}

impl SourceProvider for RemoteArchive {
    fn newest(&self) -> Result<Option<String>, Error> {
        let note = self.noted();
        let Some(received) = self.receive(note.as_ref())? else {
            mark_used(&self.note);
            let hash = note.unwrap_or_default().sha256;
            check_hash(self.address.url(), self.sha256.as_deref(), &hash)?;
            return Ok(Some(hash));
        };
        let hash = received.hash.clone();
        *self.received.lock().unwrap_or_else(PoisonError::into_inner) = Some(received);
        Ok(Some(hash))
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let known = self.received.lock().unwrap_or_else(PoisonError::into_inner).take();
        let received = match known {
            Some(received) => Some(received),
            None => self.receive(None)?,
        };
        let Some(Received { dir, archive, hash }) = received else {
            return Err(self.unexpected(StatusCode::NOT_MODIFIED));
        };
        let tree = archive.open(revision)?;
        Ok(Box::new(Downloaded { tree, revision: hash, _dir: dir }))
    }
}

impl RemoteArchive {
    /// Creates the provider of an archive. `notes` is the directory that stores responses.
    pub(super) fn new(
        address: ArchiveAddress,
        sha256: Option<&str>,
        (limits, deadline): (FetchLimits, Deadline),
        scratch: PathBuf,
        notes: &Path,
    ) -> RemoteArchive {
        let key = ContentHash::of(address.url().as_bytes());
        let note = notes.join(format!("{}.json", &key.as_str()[..32]));
        let (sha256, received) = (sha256.map(str::to_owned), Mutex::new(None));
        RemoteArchive { address, sha256, limits, deadline, scratch, note, received }
    }

    /// Downloads any file into the new file `to`, by the rules of archives.
    pub(super) fn save(
        address: ArchiveAddress,
        (limits, deadline): (FetchLimits, Deadline),
        to: &Path,
    ) -> Result<(), Error> {
        let (url, wait_for) = (address.url().to_owned(), deadline.clone());
        let nowhere = PathBuf::new();
        let remote =
            RemoteArchive::new(address, None, (limits, deadline), nowhere.clone(), &nowhere);
        wait(&wait_for, &url, remote.download(None, to)).map(drop)
    }

    /// Downloads the archive. Returns `None` if it still is the one of `note`.
    fn receive(&self, note: Option<&CachedResponse>) -> Result<Option<Received>, Error> {
        let dir = scratch_dir(&self.scratch)?;
        let url = self.address.url();
        let path = dir.path().join(format!("archive{}", end_of(url).unwrap_or_default()));
        let answer = wait(&self.deadline, url, self.download(note, &path))?;
        let Some(mut new) = answer else { return Ok(None) };
        let (source, sha256) = (url.to_owned(), self.sha256.clone());
        let (limits, deadline) = (self.limits, self.deadline.clone());
        let archive = Archive { path, source, sha256, limits, deadline };
        let hash = archive.newest()?.unwrap_or_default();
        new.sha256.clone_from(&hash);
        self.keep(&new);
        Ok(Some(Received { dir, archive, hash }))
    }

    /// Downloads the archive into a new file, and returns the headers of the response. Returns `None` if
    /// it still is the one of `note`.
    async fn download(
        &self,
        note: Option<&CachedResponse>,
        to: &Path,
    ) -> Result<Option<CachedResponse>, Error> {
        let url = self.address.url();
        // Ask for the plain bytes, so that the hash is that of the file which a browser saves.
        let mut request = self.client()?.get(url).header(ACCEPT_ENCODING, "identity");
        let known = [
            (IF_NONE_MATCH, note.and_then(|note| note.etag.as_ref())),
            (IF_MODIFIED_SINCE, note.and_then(|note| note.last_modified.as_ref())),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let response = request.send().await.map_err(|error| self.failed(error))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if note.is_some() => return Ok(None),
            status => return Err(self.unexpected(status)),
        }
        let limit = self.limits.transfer_bytes;
        if response.content_length().is_some_and(|n_bytes| n_bytes > limit) {
            return Err(too_large(url, "bytes", limit));
        }
        let header = |name| text(response.headers(), name);
        let (etag, last_modified) = (header(ETAG), header(LAST_MODIFIED));
        let left = AtomicU64::new(limit);
        let receiver = Receiver { source: url, left: &left, limit };
        receiver.save(chunks(response), to, |error| self.failed(error)).await?;
        Ok(Some(CachedResponse {
            url: url.to_owned(),
            etag,
            last_modified,
            ..CachedResponse::default()
        }))
    }

    fn client(&self) -> Result<Client, Error> {
        prepare_tls();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .user_agent(concat!("repertoire/", env!("CARGO_PKG_VERSION")))
            .referer(false)
            .redirect(Policy::custom(|attempt| match refusal(attempt.previous(), attempt.url()) {
                Some(why) => attempt.error(why),
                None => attempt.follow(),
            }));
        if self.address.is_loopback() {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| self.failed(error))
    }

    /// Reads the stored response. Returns `None` if there is none, or if it has no validator.
    fn noted(&self) -> Option<CachedResponse> {
        let note: CachedResponse = serde_json::from_slice(&fs::read(&self.note).ok()?).ok()?;
        let is_useful = note.etag.is_some() || note.last_modified.is_some();
        (note.url == self.address.url() && is_useful).then_some(note)
    }

    /// Stores a response. A failure is ignored: it only means that the archive is downloaded again.
    fn keep(&self, note: &CachedResponse) {
        let written = serde_json::to_vec(note).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|text| replace(&self.note, text)) {
            tracing::debug!(%error, "the answer for an archive is not noted");
        }
    }

    /// The error for a response without an archive.
    fn unexpected(&self, status: StatusCode) -> Error {
        let message = format!("cannot fetch {}: the server answers {status}", self.address.url());
        let (code, help) = match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => (ErrorCode::NotFound, "check the address"),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (
                ErrorCode::PermissionDenied,
                "archives are fetched without credentials: download it, and name the file",
            ),
            _ => (ErrorCode::ExecutionError, "try again later"),
        };
        Error::new(code, message, help)
    }

    fn failed(&self, error: reqwest::Error) -> Error {
        let (is_timeout, is_redirect) = (error.is_timeout(), error.is_redirect());
        // The URL in the error may be one that a redirect led to.
        let why = cause(&error.without_url());
        let message = format!("cannot fetch {}: {why}", self.address.url());
        let (code, help) = if is_redirect {
            (ErrorCode::PermissionDenied, "name the address to which it leads")
        } else if is_timeout {
            (ErrorCode::Timeout, "try again later")
        } else {
            (ErrorCode::ExecutionError, "check the address and the network")
        };
        Error::new(code, message, help)
    }
}

/// Returns the reason not to follow a redirect to `next`, after the addresses in `previous`. A redirect
/// may lead to an encrypted address on another machine, or from this machine to itself.
fn refusal(previous: &[Url], next: &Url) -> Option<String> {
    let is_here = |url: &Url| url.host_str().is_some_and(is_loopback);
    let began_here = previous.first().is_some_and(is_here);
    let was_encrypted = previous.last().is_some_and(|url| url.scheme() == "https");
    let is_allowed = match next.scheme() {
        "https" => true,
        "http" => is_here(next) && !was_encrypted,
        _ => false,
    };
    if previous.len() > MAX_REDIRECTS {
        return Some(format!("it redirects more than {MAX_REDIRECTS} times"));
    }
    if !is_allowed {
        return Some("it redirects to an address that is not encrypted".to_owned());
    }
    (is_here(next) && !began_here).then(|| "it redirects to this machine".to_owned())
}

/// The body of a response, as a stream of chunks.
fn chunks(response: Response) -> impl stream::Stream<Item = reqwest::Result<impl AsRef<[u8]>>> {
    stream::try_unfold(response, |mut response| async {
        Ok(response.chunk().await?.map(|chunk| (chunk, response)))
    })
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    (value.len() <= MAX_HEADER).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_from_elsewhere_neither_here_nor_to_unencrypted_addresses() {
        let (elsewhere, here, open) =
            ("https://h.org/x.zip", "https://127.0.0.1/x.zip", "http://127.0.0.1/x.zip");
        for (from, to, why) in [
            (elsewhere, "https://cdn.org/x", None),
            (elsewhere, "http://cdn.org/x", Some("not encrypted")),
            (elsewhere, "http://127.0.0.1/x", Some("not encrypted")),
            (elsewhere, "file:///etc/passwd", Some("not encrypted")),
            (elsewhere, "https://localhost:8443/x", Some("to this machine")),
            (elsewhere, "https://LOCALHOST./x", Some("to this machine")),
            (elsewhere, "https://127.1/x", Some("to this machine")),
            (elsewhere, "https://0x7f000001/x", Some("to this machine")),
            (elsewhere, "https://0.0.0.0/x", Some("to this machine")),
            (elsewhere, "https://[::ffff:127.0.0.1]/x", Some("to this machine")),
            (here, "https://[::1]/x", None),
            (here, open, Some("not encrypted")),
            (open, "http://localhost/x", None),
            (open, elsewhere, None),
        ] {
            let refused = refusal(&[from.parse().unwrap()], &to.parse().unwrap());
            assert_eq!(refused.is_some(), why.is_some(), "{from} to {to}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(why.unwrap_or_default()), "{to}");
        }
        let chain = [elsewhere, "https://cdn.org/x"].map(|url| url.parse().unwrap());
        assert!(refusal(&chain, &here.parse().unwrap()).is_some(), "the first one counts");
    }
}
