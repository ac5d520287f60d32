//! Artifacts in OCI registries: a manifest with one layer, a tar archive of skills.
//!
//! Credentials come from Docker's configuration, and are never written to disk. Every content is
//! compared with its digest before it is read.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use docker_credential::DockerCredential;
use oci_client::client::{ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::errors::{DigestError, OciDistributionError, OciErrorCode};
use oci_client::manifest::{
    IMAGE_LAYER_GZIP_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE, OCI_IMAGE_MEDIA_TYPE, OciDescriptor,
    OciImageManifest,
};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference, RegistryOperation};

use super::archive_file::Archive;
use super::artifact_address::{ArtifactAddress, is_digest};
use super::limits::{Deadline, FetchLimits};
use super::objects::io_error;
use super::provider::{SourceProvider, SourceTree};
use super::remote::{
    CONNECT_TIMEOUT, Downloaded, READ_TIMEOUT, Receiver, cause, prepare_tls, wait,
};
use super::scratch::scratch_dir;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The type of the artifacts that are pushed.
const ARTIFACT_TYPE: &str = "application/vnd.repertoire.skills.v1";

/// The media type and the content of an empty configuration.
const EMPTY_CONFIG: (&str, &[u8]) = ("application/vnd.oci.empty.v1+json", b"{}");

/// The name of Docker Hub in Docker's configuration.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// An artifact of a registry.
pub(super) struct Artifact {
    pub(super) address: ArtifactAddress,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
    /// The directory for temporary files.
    pub(super) scratch: PathBuf,
}

impl SourceProvider for Artifact {
    fn newest(&self) -> Result<Option<String>, Error> {
        if self.address.digest.is_some() {
            return Ok(self.address.digest.clone());
        }
        let digest = wait(&self.deadline, &self.address.to_string(), async {
            let (client, auth) = self.connect().await?;
            let digest = client.fetch_manifest_digest(&self.reference(None), &auth).await;
            digest.map_err(|error| self.failed(&error))
        })?;
        Ok(Some(digest))
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let dir = scratch_dir(&self.scratch)?;
        let layer = dir.path().join("layer");
        let source = self.address.to_string();
        let revision = wait(&self.deadline, &source, self.pull(revision, &layer))?;
        let is_packed =
            starts_with_gzip(&layer).map_err(|error| io_error("read", &layer, &error))?;
        let path = layer.with_extension(if is_packed { "tar.gz" } else { "tar" });
        std::fs::rename(&layer, &path).map_err(|error| io_error("rename", &layer, &error))?;
        let (limits, deadline) = (self.limits, self.deadline.clone());
        let archive = Archive { path, source, sha256: None, limits, deadline };
        Ok(Box::new(Downloaded { tree: archive.open(None)?, revision, _dir: dir }))
    }
}

impl Artifact {
    /// The reference of the artifact, or of the manifest with this digest.
    fn reference(&self, digest: Option<&str>) -> Reference {
        let ArtifactAddress { registry, name, tag, digest: own } = self.address.clone();
        match digest.map(str::to_owned).or(own) {
            Some(digest) => Reference::with_digest(registry, name, digest),
            None => Reference::with_tag(registry, name, tag.unwrap_or_else(|| "latest".to_owned())),
        }
    }

    /// Downloads the layer into a file, and returns the digest of the manifest.
    async fn pull(&self, digest: Option<&str>, to: &Path) -> Result<String, Error> {
        let source = self.address.to_string();
        let (client, auth) = self.connect().await?;
        let reference = self.reference(digest);
        let accepted = [OCI_IMAGE_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE];
        let answer = client.pull_manifest_raw(&reference, &auth, &accepted).await;
        let (manifest, _) = answer.map_err(|error| self.failed(&error))?;
        let found = format!("sha256:{}", ContentHash::of(&manifest));
        if reference.digest().is_some_and(|wanted| wanted != found) {
            return Err(self.tampered("its manifest"));
        }
        let layer = self.layer(&manifest)?;
        let left = AtomicU64::new(self.limits.transfer_bytes);
        let receiver = Receiver { source: &source, left: &left, limit: self.limits.transfer_bytes };
        let stream = client.pull_blob_stream(&reference, &layer).await;
        let stream = stream.map_err(|error| self.failed(&error))?;
        let failed = |error: std::io::Error| match error.downcast::<DigestError>() {
            Ok(error) => self.failed(&OciDistributionError::DigestError(error)),
            Err(error) => self.failed(&OciDistributionError::IoError(error)),
        };
        receiver.save(stream, to, failed).await?;
        if format!("sha256:{}", ContentHash::of_file(to)?) != layer.digest {
            return Err(self.tampered("its layer"));
        }
        Ok(found)
    }

    /// Returns the only layer of a manifest that is an archive. Fails with `INVALID_PARAM` if there is
    /// not exactly one, or if its digest is not a SHA-256.
    fn layer(&self, manifest: &[u8]) -> Result<OciDescriptor, Error> {
        let source = &self.address;
        let invalid = |why: &str| {
            let help =
                "name an artifact whose one layer is a `.tar` or `.tar.gz` archive of skills";
            Error::new(ErrorCode::InvalidParam, format!("{source} {why}"), help)
        };
        let manifest: OciImageManifest = serde_json::from_slice(manifest)
            .map_err(|error| invalid(&format!("is not an artifact: {error}")))?;
        let is_tar = |layer: &OciDescriptor| layer.media_type.contains("tar");
        let mut layers: Vec<_> = manifest.layers.into_iter().filter(is_tar).collect();
        let (Some(mut layer), true) = (layers.pop(), layers.is_empty()) else {
            return Err(invalid("does not have exactly one archive"));
        };
        if !is_digest(&layer.digest) {
            return Err(invalid("names its archive by something else than a SHA-256"));
        }
        // The manifest comes from others: it must not choose further URLs to request.
        layer.urls = None;
        Ok(layer)
    }

    /// Uploads a packed archive, and returns the digest of the manifest.
    pub(super) fn push(&self, archive: Vec<u8>) -> Result<String, Error> {
        let layer = ImageLayer::new(archive, IMAGE_LAYER_GZIP_MEDIA_TYPE.to_owned(), None);
        let config = Config::new(EMPTY_CONFIG.1.to_vec(), EMPTY_CONFIG.0.to_owned(), None);
        // The manifest contains no time, so the same archive always has the same manifest.
        let mut manifest = OciImageManifest::build(std::slice::from_ref(&layer), &config, None);
        manifest.media_type = Some(OCI_IMAGE_MEDIA_TYPE.to_owned());
        manifest.artifact_type = Some(ARTIFACT_TYPE.to_owned());
        let text = serde_json::to_vec(&manifest).map_err(|error| {
            let message = format!("cannot write the manifest of {}: {error}", self.address);
            Error::new(ErrorCode::InternalError, message, "report this")
        })?;
        let media_type = http::HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE);
        let digest = format!("sha256:{}", ContentHash::of(&text));
        let reference = self.reference(None);
        wait(&self.deadline, &self.address.to_string(), async {
            let failed = |error: OciDistributionError| self.failed(&error);
            let (client, auth) = self.connect().await?;
            let token = client.auth(&reference, &auth, RegistryOperation::Push).await;
            token.map_err(failed)?;
            for (data, digest) in
                [(layer.data, &manifest.layers[0].digest), (config.data, &manifest.config.digest)]
            {
                if !client.blob_exists(&reference, digest).await.map_err(failed)? {
                    client.push_blob(&reference, data, digest).await.map_err(failed)?;
                }
            }
            let pushed = client.push_manifest_raw(&reference, text, media_type).await;
            pushed.map(drop).map_err(failed)
        })?;
        Ok(digest)
    }

    /// Makes a client, with the credentials of Docker's configuration if it has any.
    async fn connect(&self) -> Result<(Client, RegistryAuth), Error> {
        prepare_tls();
        let registry = self.address.registry.clone();
        let plain = if self.address.is_loopback() { vec![registry.clone()] } else { Vec::new() };
        let config = ClientConfig {
            protocol: ClientProtocol::HttpsExcept(plain),
            connect_timeout: Some(CONNECT_TIMEOUT),
            read_timeout: Some(READ_TIMEOUT),
            user_agent: concat!("repertoire/", env!("CARGO_PKG_VERSION")),
            platform_resolver: None,
            ..ClientConfig::default()
        };
        let client = Client::try_from(config).map_err(|error| self.failed(&error))?;
        let auth = credential(registry).await;
        client.store_auth_if_needed(self.reference(None).resolve_registry(), &auth).await;
        Ok((client, auth))
    }

    fn tampered(&self, what: &str) -> Error {
        let message = format!("{} is refused: {what} does not have its digest", self.address);
        let help = "tell its author; nothing was fetched from it";
        Error::new(ErrorCode::PermissionDenied, message, help)
    }

    fn failed(&self, error: &OciDistributionError) -> Error {
        use OciDistributionError as E;
        let message = format!("cannot reach {}: {}", self.address, cause(error));
        let missing = "check the name and the tag";
        let denied = "log in to the registry, so that Docker's configuration has the credentials";
        let has = |codes: &[OciErrorCode]| match error {
            E::RegistryError { envelope, .. } => {
                envelope.errors.iter().any(|error| codes.contains(&error.code))
            }
            _ => false,
        };
        let status = match error {
            E::ServerError { code, .. } => Some(*code),
            E::RequestError(error) => error.status().map(|status| status.as_u16()),
            _ => None,
        };
        let (code, help) = match error {
            _ if status == Some(404) => (ErrorCode::NotFound, missing),
            _ if matches!(status, Some(401 | 403)) => (ErrorCode::PermissionDenied, denied),
            E::ImageManifestNotFoundError(_) => (ErrorCode::NotFound, missing),
            E::UnauthorizedError { .. } | E::AuthenticationFailure(_) => {
                (ErrorCode::PermissionDenied, denied)
            }
            E::DigestError(_) => return self.tampered("a content"),
            E::RequestError(error) if error.is_timeout() => (ErrorCode::Timeout, "try again later"),
            _ if has(&[OciErrorCode::Unauthorized, OciErrorCode::Denied]) => {
                (ErrorCode::PermissionDenied, denied)
            }
            _ if has(&[
                OciErrorCode::ManifestUnknown,
                OciErrorCode::NameUnknown,
                OciErrorCode::NotFound,
                OciErrorCode::BlobUnknown,
            ]) =>
            {
                (ErrorCode::NotFound, missing)
            }
            _ => (ErrorCode::ExecutionError, "check the address and the network"),
        };
        Error::new(code, message, help)
    }
}

/// Looks up the credentials for a registry in Docker's configuration. Uses a separate thread, so that a
/// credential helper that never answers does not hold up the deadline.
async fn credential(registry: String) -> RegistryAuth {
    let server = if registry == "docker.io" { DOCKER_HUB.to_owned() } else { registry.clone() };
    let found = tokio::task::spawn_blocking(move || docker_credential::get_credential(&server));
    match found.await {
        Ok(Ok(DockerCredential::UsernamePassword(user, password))) => {
            RegistryAuth::Basic(user, password)
        }
        Ok(Ok(DockerCredential::IdentityToken(token))) => RegistryAuth::Bearer(token),
        // Not logged, since the error of a helper may contain what it printed.
        Ok(Err(_)) | Err(_) => {
            tracing::debug!(%registry, "no credential: the registry is asked without one");
            RegistryAuth::Anonymous
        }
    }
}

/// Tells whether a file is compressed by gzip.
fn starts_with_gzip(path: &Path) -> std::io::Result<bool> {
    use std::io::Read as _;
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(2).read_to_end(&mut start)?;
    Ok(start == [0x1f, 0x8b])
}
