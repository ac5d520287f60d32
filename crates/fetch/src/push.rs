//! Uploads of skills, packed reproducibly: to a registry, to an object store, or into a file.

use std::path::Path;

use serde::Serialize;

use super::archive::end_of;
use super::artifact_address::{self, ArtifactAddress};
use super::fetcher::Fetcher;
use super::lock_file::{Locked, replace};
use super::object_address::{self, ObjectAddress};
use super::objects::io_error;
use super::pack::pack;
#[cfg(not(all(feature = "object-store", feature = "oci")))]
use super::provider::not_built;
use super::signature::{LIST, SIGNATURE, compare};
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;

/// The outcome of [`Fetcher::push`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Pushed {
    /// The address that the archive was pushed to.
    pub to: String,
    /// The digest of the manifest in a registry, as `sha256:…`; `None` elsewhere.
    pub digest: Option<String>,
    /// The SHA-256 of the archive.
    pub sha256: ContentHash,
    /// The size of the archive in bytes.
    pub bytes: u64,
    /// The directories of the skills; empty if the whole source is one skill.
    pub skills: Vec<String>,
    /// The number of files.
    pub files: usize,
}

impl Fetcher {
    /// Fetches a source, packs its skills as one `.tar.gz` archive, and uploads it to `to`:
    /// `oci://registry/name:tag` (feature `oci`), `s3://bucket/name.tar.gz`, `gs://…` or `az://…`
    /// (feature `object-store`), or the path of a file, which is replaced. The same skills always give
    /// the same archive and the same digest.
    ///
    /// Fails like [`Fetcher::fetch`]; with `INVALID_PARAM` if `to` is not an address that can be pushed
    /// to, or if the source was changed after it was signed; and with `PERMISSION_DENIED`, `TIMEOUT` or
    /// `EXECUTION_ERROR` if the archive cannot be written.
    ///
    /// ```
    /// use std::path::Path;
    /// use repertoire_config::FetchSettings;
    /// use repertoire_fetch::Fetcher;
    ///
    /// let dir = tempfile::tempdir()?;
    /// let fetcher = Fetcher::new(dir.path().join("cache"));
    /// let settings = FetchSettings { source: "../../examples/skills".to_owned(), ..Default::default() };
    /// let to = dir.path().join("skills.tar.gz");
    /// let pushed = fetcher.push(&settings, Path::new("."), &to.to_string_lossy())?;
    /// let again = fetcher.push(&settings, Path::new("."), &to.to_string_lossy())?;
    /// assert_eq!(pushed.sha256, again.sha256);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push(&self, settings: &FetchSettings, base: &Path, to: &str) -> Result<Pushed, Error> {
        let target = Target::parse(to, base)?;
        let locked = self.fetch(settings, base)?;
        self.check_signed(&locked)?;
        let archive = pack(&locked.files, &self.objects)?;
        let (sha256, bytes) = (ContentHash::of(&archive), archive.len() as u64);
        let digest = match &target {
            Target::File(path) => {
                let written = replace(path, &archive);
                written.map_err(|error| io_error("write", path, &error))?;
                None
            }
            #[cfg(feature = "object-store")]
            Target::Object(address) => {
                self.bucket(address.clone(), None)?.put(archive)?;
                None
            }
            #[cfg(feature = "oci")]
            Target::Artifact(address) => Some(self.artifact(address.clone())?.push(archive)?),
            #[cfg(not(feature = "object-store"))]
            Target::Object(address) => return Err(not_built(address, "object-store")),
            #[cfg(not(feature = "oci"))]
            Target::Artifact(address) => return Err(not_built(address, "oci")),
        };
        let is_file = |name: &str| name.eq_ignore_ascii_case("SKILL.md");
        let dirs = locked.files.keys().filter_map(|path| path.rsplit_once('/'));
        let skills = dirs.filter(|(_, name)| is_file(name)).map(|(dir, _)| dir.to_owned());
        let (skills, files) = (skills.collect(), locked.files.len());
        Ok(Pushed { to: target.to_string(), digest, sha256, bytes, skills, files })
    }

    /// Checks that the files match the signed list, if there is one. Otherwise everyone who verifies the
    /// signature would refuse the archive.
    fn check_signed(&self, locked: &Locked) -> Result<(), Error> {
        let Locked { source, skills, files, .. } = locked;
        let Some(list) = files.get(LIST).filter(|_| files.contains_key(SIGNATURE)) else {
            return Ok(());
        };
        let list = self.objects.read(&list.sha256)?;
        compare(&list, files, skills.is_empty()).map_err(|why| {
            let message = format!("{source} is not pushed, as its signature does not hold: {why}");
            let help = format!("sign it again, or remove `{LIST}` and `{SIGNATURE}`");
            Error::new(ErrorCode::InvalidParam, message, help)
        })
    }
}

/// A place that can be pushed to.
enum Target {
    File(std::path::PathBuf),
    Object(ObjectAddress),
    Artifact(ArtifactAddress),
}

impl Target {
    fn parse(text: &str, base: &Path) -> Result<Target, Error> {
        let invalid = |why: &str| {
            let message = format!("`{}` {why}", text.escape_debug());
            let help = "name `oci://registry/name:tag`, `s3://bucket/name.tar.gz`, or a file \
                        `name.tar.gz`";
            Err(Error::new(ErrorCode::InvalidParam, message, help))
        };
        match text.split_once("://").map(|(scheme, _)| scheme) {
            Some(artifact_address::SCHEME) => {
                let address = ArtifactAddress::parse(text)?;
                match address.digest {
                    Some(_) => invalid("names a digest, which is known only once it is pushed"),
                    None => Ok(Target::Artifact(address)),
                }
            }
            Some(scheme) if object_address::SCHEMES.contains(&scheme) => {
                let address = ObjectAddress::parse(text)?;
                if is_packed(&address.key) {
                    return Ok(Target::Object(address));
                }
                invalid("is not the address of a `.tar.gz` archive")
            }
            Some(_) => invalid("has a scheme that nothing is pushed to"),
            None if is_packed(text) => Ok(Target::File(base.join(text))),
            None => invalid("is not the name of a `.tar.gz` archive"),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::File(path) => path.display().fmt(f),
            Target::Object(address) => address.fmt(f),
            Target::Artifact(address) => address.fmt(f),
        }
    }
}

/// Tells whether `name` is the name of a compressed archive.
fn is_packed(name: &str) -> bool {
    matches!(end_of(name), Some(".tar.gz" | ".tgz"))
}
