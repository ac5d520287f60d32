//! Object stores: S3 and compatible servers, Google Cloud Storage, and Azure.
//!
//! A source is either a prefix, whose objects are files, or one archive. Credentials come from the
//! standard environment variables, and are never written to disk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path as Key;
use object_store::{ClientConfigKey, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig};

use super::archive_file::Archive;
use super::limits::{Deadline, FetchLimits, refused, too_large};
use super::object_address::ObjectAddress;
use super::object_credentials;
use super::objects::io_error;
use super::provider::{FileCallback, SourceProvider, SourceTree, TreeEntry, TreeKind};
use super::remote::{
    CONNECT_TIMEOUT, Downloaded, READ_TIMEOUT, Receiver, cause, prepare_tls, wait,
};
use super::scratch::scratch_dir;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The number of objects that are downloaded in parallel.
const CONCURRENT: usize = 8;

/// The number of retries of a failed request.
const RETRIES: usize = 2;

/// A prefix or an archive in an object store.
#[derive(Clone)]
pub(super) struct Bucket {
    pub(super) address: ObjectAddress,
    /// The SHA-256 that an archive must have, if one is given.
    pub(super) sha256: Option<String>,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
    /// The directory for temporary files.
    pub(super) scratch: PathBuf,
}

/// An object below the prefix.
#[derive(Clone)]
struct Object {
    key: Key,
    bytes: u64,
    /// The entity tag or the version, which changes with the content; the time of the last write if the
    /// store lists neither.
    tag: String,
    is_tagged: bool,
}

/// The objects of a source, by their paths below the prefix.
type Objects = BTreeMap<String, Object>;

impl SourceProvider for Bucket {
    fn newest(&self) -> Result<Option<String>, Error> {
        Ok(Some(revision(&self.list()?)))
    }

    /// Opens the newest state and ignores the revision, since a store keeps no older state under the
    /// same name. The caller compares the contents with the pinned ones.
    fn open(&self, _: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let objects = self.list()?;
        let revision = revision(&objects);
        let left = AtomicU64::new(self.limits.transfer_bytes);
        if self.address.is_archive() {
            let dir = scratch_dir(&self.scratch)?;
            let name = self.address.key.rsplit('/').next().unwrap_or_default();
            let path = dir.path().join(name);
            let wanted: Vec<_> = objects.values().map(|object| (path.clone(), object)).collect();
            self.download(&wanted, &left)?;
            let (limits, deadline) = (self.limits, self.deadline.clone());
            let (source, sha256) = (self.address.to_string(), self.sha256.clone());
            let archive = Archive { path, source, sha256, limits, deadline };
            return Ok(Box::new(Downloaded { tree: archive.open(None)?, revision, _dir: dir }));
        }
        let entry = |(path, object): (&String, &Object)| TreeEntry {
            path: path.clone(),
            // Objects have no mode.
            kind: TreeKind::File { bytes: object.bytes, executable: false },
        };
        let entries = objects.iter().map(entry).collect();
        Ok(Box::new(BucketTree { bucket: self.clone(), revision, objects, entries, left }))
    }
}

impl Bucket {
    /// Lists the objects below the prefix, or the one archive.
    fn list(&self) -> Result<Objects, Error> {
        let source = self.address.to_string();
        let key = Key::parse(&self.address.key).map_err(|error| self.failed(&error.into()))?;
        let found = wait(&self.deadline, &source, async {
            let store = self.connect()?;
            if self.address.is_archive() {
                let head = store.head(&key).await.map_err(|error| self.failed(&error))?;
                return Ok(vec![head]);
            }
            let mut found = Vec::new();
            let mut listing = store.list(Some(&key));
            while let Some(next) = listing.next().await {
                found.push(next.map_err(|error| self.failed(&error))?);
                if found.len() > self.limits.entries {
                    return Err(too_large(&source, "entries", self.limits.entries as u64));
                }
            }
            Ok(found)
        })?;
        if self.address.is_archive() {
            return Ok(found.into_iter().map(|meta| (String::new(), Object::new(meta))).collect());
        }
        let mut objects = Objects::new();
        for meta in found {
            let all = meta.location.as_ref();
            let below = all.strip_prefix(key.as_ref()).filter(|below| {
                key.as_ref().is_empty() || below.is_empty() || below.starts_with('/')
            });
            let Some(below) = below else {
                return Err(refused(&source, all, "is not a key below it"));
            };
            let path = below.trim_start_matches('/').to_owned();
            if let Some(other) = objects.insert(path, Object::new(meta)) {
                return Err(refused(&source, other.key.as_ref(), "stands in it twice"));
            }
        }
        Ok(without_directories(objects))
    }

    /// Downloads objects into files.
    fn download(&self, wanted: &[(PathBuf, &Object)], left: &AtomicU64) -> Result<(), Error> {
        let source = self.address.to_string();
        let receiver = Receiver { source: &source, left, limit: self.limits.transfer_bytes };
        wait(&self.deadline, &source, async {
            let store = self.connect()?;
            let downloads = wanted.iter().map(|(to, object)| {
                let (store, receiver) = (&store, &receiver);
                async move {
                    let failed = |error: object_store::Error| self.failed(&error);
                    let answer = store.get(&object.key).await.map_err(failed)?;
                    if !object.is_same(&answer.meta) {
                        let message = format!("{} changed while it was read", self.address);
                        return Err(Error::new(ErrorCode::ExecutionError, message, "try again"));
                    }
                    receiver.save(answer.into_stream(), to, failed).await
                }
            });
            let downloads: Vec<_> = downloads.collect();
            stream::iter(downloads).buffer_unordered(CONCURRENT).try_collect::<()>().await
        })
    }

    /// Uploads an archive to the address, and replaces the one that is there.
    pub(super) fn put(&self, archive: Vec<u8>) -> Result<(), Error> {
        let key = Key::parse(&self.address.key).map_err(|error| self.failed(&error.into()))?;
        wait(&self.deadline, &self.address.to_string(), async {
            let written = self.connect()?.put(&key, archive.into()).await;
            written.map(drop).map_err(|error| self.failed(&error))
        })
    }

    /// Creates a client that is configured by the environment, except for the bucket, the timeouts and
    /// the retries.
    fn connect(&self) -> Result<Box<dyn ObjectStore>, Error> {
        object_credentials::check(&self.address)?;
        prepare_tls();
        let bucket = self.address.bucket.as_str();
        let options = [
            (ClientConfigKey::ConnectTimeout, CONNECT_TIMEOUT),
            (ClientConfigKey::ReadTimeout, READ_TIMEOUT),
            (ClientConfigKey::Timeout, self.deadline.left().max(Duration::from_secs(1))),
        ];
        let options = options.map(|(key, time)| (key, format!("{} seconds", time.as_secs())));
        let left = self.deadline.left();
        let retry =
            RetryConfig { max_retries: RETRIES, retry_timeout: left, ..RetryConfig::default() };
        let store: Result<Box<dyn ObjectStore>, object_store::Error> =
            match self.address.scheme.as_str() {
                "gs" => {
                    let mut builder = GoogleCloudStorageBuilder::from_env().with_retry(retry);
                    for (key, value) in options {
                        builder = builder.with_config(GoogleConfigKey::Client(key), value);
                    }
                    builder.with_bucket_name(bucket).build().map(|store| Box::new(store) as _)
                }
                "az" => {
                    let mut builder = MicrosoftAzureBuilder::from_env().with_retry(retry);
                    for (key, value) in options {
                        builder = builder.with_config(AzureConfigKey::Client(key), value);
                    }
                    builder.with_container_name(bucket).build().map(|store| Box::new(store) as _)
                }
                _ => {
                    let mut builder = AmazonS3Builder::from_env().with_retry(retry);
                    for (key, value) in options {
                        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
                    }
                    // A user who sets an `http://` endpoint in the environment wants it to be used.
                    let is_http = |key| {
                        let endpoint = builder.get_config_value(&key);
                        endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"))
                    };
                    let keys = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
                    if keys.into_iter().any(is_http) {
                        builder = builder.with_allow_http(true);
                    }
                    builder.with_bucket_name(bucket).build().map(|store| Box::new(store) as _)
                }
            };
        store.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &object_store::Error) -> Error {
        use object_store::Error as E;
        let source = self.address.to_string();
        let why = cause(error);
        let message = format!("cannot fetch {source}: {why}");
        // When listing fails, the status is only found in the text of the error.
        let is_status = |status: &str| why.contains(&format!("status code: {status} "));
        let missing = (ErrorCode::NotFound, "check the bucket and the key");
        let denied = "set the credentials for this bucket in the environment";
        let denied = (ErrorCode::PermissionDenied, denied);
        let (code, help) = match error {
            E::InvalidPath { .. } => {
                return refused(&source, "…", &format!("has a hostile key: {why}"));
            }
            E::NotFound { .. } => missing,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => denied,
            _ if is_status("404") => missing,
            _ if is_status("401") || is_status("403") => denied,
            error if is_late(error) => (ErrorCode::Timeout, "try again later"),
            _ => {
                let help = "check the address, the network, and the credentials and the endpoint in \
                            the environment";
                (ErrorCode::ExecutionError, help)
            }
        };
        Error::new(code, message, help)
    }
}

/// Tells whether a request failed because the server did not answer in time.
fn is_late(error: &object_store::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error.downcast_ref().is_some_and(|it: &HttpError| it.kind() == HttpErrorKind::Timeout) {
            return true;
        }
        next = error.source();
    }
    false
}

impl Object {
    fn new(meta: ObjectMeta) -> Object {
        let tag = tag(&meta);
        let is_tagged = tag.is_some();
        let tag = tag.unwrap_or_else(|| meta.last_modified.timestamp().to_string());
        Object { tag, is_tagged, bytes: meta.size, key: meta.location }
    }

    /// Tells whether a downloaded object is the one that was listed. Some stores send tags only with
    /// downloads.
    fn is_same(&self, answer: &ObjectMeta) -> bool {
        let tag = tag(answer).filter(|_| self.is_tagged);
        answer.size == self.bytes && tag.is_none_or(|tag| tag == self.tag)
    }
}

/// Returns the entity tag of an object, or its version.
fn tag(meta: &ObjectMeta) -> Option<String> {
    let tag = meta.e_tag.as_ref().or(meta.version.as_ref())?;
    // A list and a download may quote the tag differently.
    Some(tag.trim_start_matches("W/").trim_matches('"').to_owned())
}

/// Removes the empty objects that the web consoles of stores create in place of directories.
fn without_directories(mut objects: Objects) -> Objects {
    let is_directory = |(path, object): &(&String, &Object)| {
        let below = format!("{path}/");
        let next = objects.range(below.clone()..).next();
        object.bytes == 0 && (path.is_empty() || next.is_some_and(|(it, _)| it.starts_with(&below)))
    };
    let directories: Vec<String> =
        objects.iter().filter(is_directory).map(|(path, _)| path.clone()).collect();
    for path in directories {
        objects.remove(&path);
    }
    objects
}

/// The SHA-256 of the list of paths, sizes and tags. It changes whenever an object changes, and costs
/// only one listing.
fn revision(objects: &Objects) -> String {
    let mut list = String::new();
    for (path, Object { bytes, tag, .. }) in objects {
        // Writing to a `String` cannot fail.
        let _ = writeln!(list, "{tag} {bytes} {}", path.escape_debug());
    }
    ContentHash::of(list.as_bytes()).to_string()
}

/// A prefix whose objects were listed.
struct BucketTree {
    bucket: Bucket,
    revision: String,
    objects: Objects,
    entries: Vec<TreeEntry>,
    /// The number of bytes that may still be downloaded.
    left: AtomicU64,
}

impl SourceTree for BucketTree {
    fn revision(&self) -> Option<&str> {
        Some(&self.revision)
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        let dir = scratch_dir(&self.bucket.scratch)?;
        let file_of = |nth: usize| dir.path().join(nth.to_string());
        let wanted = files.iter().enumerate();
        let wanted =
            wanted.filter_map(|(nth, path)| Some((file_of(nth), self.objects.get(*path)?)));
        self.bucket.download(&wanted.collect::<Vec<_>>(), &self.left)?;
        for (nth, path) in files.iter().enumerate() {
            take(path, &mut open(&file_of(nth))?)?;
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|error| io_error("read", path, &error))
}
