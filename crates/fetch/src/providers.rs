//! The provider of each kind of location.

#[cfg(feature = "archive-https")]
use super::archive_address::ArchiveAddress;
use super::archive_file::Archive;
#[cfg(feature = "archive-https")]
use super::archive_https::RemoteArchive;
#[cfg(feature = "oci")]
use super::artifact_address::ArtifactAddress;
use super::directory::Directory;
use super::fetcher::Fetcher;
use super::git::Git;
use super::location::{Location, check_revision};
#[cfg(feature = "object-store")]
use super::object_address::ObjectAddress;
#[cfg(feature = "object-store")]
use super::object_store::Bucket;
use super::provider::SourceProvider;
#[cfg(feature = "oci")]
use super::registry::Artifact;
#[cfg(feature = "archive-https")]
use super::well_known::Site;
use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;

impl Fetcher {
    /// Creates the provider of a location. `rev` is the revision of [`FetchSettings`].
    ///
    /// Fails with `INVALID_PARAM` if the location cannot have such a revision, or this build cannot
    /// fetch its kind of source, and with `EXECUTION_ERROR` if the cache cannot be written.
    pub fn provider(
        &self,
        location: &Location,
        rev: Option<&str>,
    ) -> Result<Box<dyn SourceProvider>, Error> {
        let settings = FetchSettings { rev: rev.map(str::to_owned), ..FetchSettings::default() };
        self.provider_of(location, &settings)
    }

    /// Creates the provider of a location for all settings of a source. An MCP server is asked only for
    /// the chosen skills.
    pub(super) fn provider_of(
        &self,
        location: &Location,
        settings: &FetchSettings,
    ) -> Result<Box<dyn SourceProvider>, Error> {
        let FetchSettings { rev, path, .. } = settings;
        let (rev, limits, deadline) = (rev.as_deref(), self.limits, self.deadline());
        Ok(match location {
            Location::Git(url) => {
                rev.map(check_revision).transpose()?;
                let scratch = self.scratch()?;
                let (url, rev) = (url.clone(), rev.map(str::to_owned));
                let settings = settings.clone();
                Box::new(Git { url, rev, limits, deadline, scratch, settings })
            }
            Location::Directory(_) if rev.is_some() => {
                let message = format!("{location} is a directory, which has no revisions");
                let help = "leave the revision out, or name its repository as `file://…`";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
            Location::Directory(path) => {
                Box::new(Directory { path: path.clone(), limits, deadline })
            }
            Location::Archive(path) => {
                let (source, sha256) = (location.to_string(), rev.map(str::to_owned));
                Box::new(Archive { path: path.clone(), source, sha256, limits, deadline })
            }
            #[cfg(feature = "archive-https")]
            Location::RemoteArchive(url) => {
                let (address, scratch) = (ArchiveAddress::parse(url)?, self.scratch()?);
                let notes = self.answers();
                Box::new(RemoteArchive::new(address, rev, (limits, deadline), scratch, &notes))
            }
            #[cfg(feature = "archive-https")]
            Location::WellKnown(_) if rev.is_some() || path.is_some() => {
                let message = format!("{location} is a list of skills, which has no revisions");
                let help = "leave the revision and the directory out; name skills to choose some";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
            #[cfg(feature = "archive-https")]
            Location::WellKnown(url) => {
                let (url, skills, scratch) =
                    (url.clone(), settings.skills.clone(), self.scratch()?);
                Box::new(Site { url, skills, limits, deadline, scratch })
            }
            #[cfg(feature = "object-store")]
            Location::ObjectStore(url) => Box::new(self.bucket(ObjectAddress::parse(url)?, rev)?),
            #[cfg(feature = "oci")]
            Location::Oci(url) => {
                let mut address = ArtifactAddress::parse(url)?;
                address.set_revision(rev)?;
                Box::new(self.artifact(address)?)
            }
            #[cfg(not(feature = "archive-https"))]
            Location::RemoteArchive(_) | Location::WellKnown(_) => {
                return Err(super::provider::not_built(location, "archive-https"));
            }
            #[cfg(not(feature = "oci"))]
            Location::Oci(_) => return Err(super::provider::not_built(location, "oci")),
            #[cfg(not(feature = "object-store"))]
            Location::ObjectStore(_) => {
                return Err(super::provider::not_built(location, "object-store"));
            }
            Location::Mcp(_) if rev.is_some() || path.is_some() => {
                let what = if rev.is_some() { "revisions" } else { "directories" };
                let message = format!("{location} is an MCP server, which has no {what}");
                let help = "leave that out; name skills to choose some";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
            #[cfg(feature = "mcp-source")]
            Location::Mcp(address) => {
                Box::new(super::mcp::Mcp::new(address, &settings.skills, limits, deadline))
            }
            #[cfg(not(feature = "mcp-source"))]
            Location::Mcp(_) => return Err(super::provider::not_built(location, "mcp-source")),
        })
    }

    /// Creates the provider of an object store. Fails with `INVALID_PARAM` for a prefix with a revision.
    #[cfg(feature = "object-store")]
    pub(super) fn bucket(
        &self,
        address: ObjectAddress,
        sha256: Option<&str>,
    ) -> Result<Bucket, Error> {
        if sha256.is_some() && !address.is_archive() {
            let message = format!("{address} is a prefix, which has no revisions");
            let help = "leave the revision out: the contents are pinned by their hashes";
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        let (limits, deadline) = (self.limits, self.deadline());
        let scratch = self.scratch()?;
        Ok(Bucket { address, sha256: sha256.map(str::to_owned), limits, deadline, scratch })
    }

    /// Creates the provider of an artifact in a registry.
    #[cfg(feature = "oci")]
    pub(super) fn artifact(&self, address: ArtifactAddress) -> Result<Artifact, Error> {
        let (limits, deadline) = (self.limits, self.deadline());
        let scratch = self.scratch()?;
        Ok(Artifact { address, limits, deadline, scratch })
    }
}
