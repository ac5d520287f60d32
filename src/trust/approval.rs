//! Asking the host about code that is not trusted.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ContentHash, Owner, TrustStore, Verdict};
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::SkillId;

/// A host's answer to "may this file run?".
#[derive(Clone)]
pub struct Approval(Arc<dyn Fn(&TrustRequest) -> bool + Send + Sync>);

impl Approval {
    /// Asks `ask`; `true` is remembered in the trust store.
    pub fn new(ask: impl Fn(&TrustRequest) -> bool + Send + Sync + 'static) -> Approval {
        Approval(Arc::new(ask))
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Approval")
    }
}

/// What a host is asked to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRequest {
    /// The skill that wants it.
    pub skill: SkillId,
    /// The library or the script.
    pub path: PathBuf,
    /// Its content.
    pub sha256: ContentHash,
    /// The classes a library exports; none for a script.
    pub classes: Vec<String>,
    /// Whether the skill asks for the network for its scripts, which they get with the trust.
    pub network: bool,
    /// Why it is not trusted.
    pub verdict: Verdict,
}

impl TrustStore {
    /// Lets the file at `path` run if its content is trusted, or the host says that it is.
    ///
    /// Fails with `PERMISSION_DENIED`, both hashes if there are two, and the command that trusts it.
    pub(crate) fn demand(
        &self,
        owner: &Owner,
        path: &Path,
        sha256: &ContentHash,
        classes: &[String],
        approve: Option<&Approval>,
    ) -> Result<(), Error> {
        let verdict = self.verdict(owner.scope, path, sha256);
        let why = match &verdict {
            Verdict::Trusted => return Ok(()),
            Verdict::Untrusted => {
                format!(
                    "{} of the {} skill `{}` is not trusted (sha256 {sha256})",
                    path.display(),
                    owner.scope,
                    owner.id
                )
            }
            Verdict::Changed { trusted } => format!(
                "{} has changed since it was trusted: sha256 {trusted} then, {sha256} now",
                path.display()
            ),
        };
        let request = TrustRequest {
            skill: owner.id.clone(),
            path: path.to_owned(),
            sha256: sha256.clone(),
            classes: classes.to_vec(),
            network: owner.network && classes.is_empty(),
            verdict,
        };
        if approve.is_some_and(|approve| (approve.0)(&request)) {
            self.add_with(path, sha256.clone(), request.network)?;
            return Ok(());
        }
        let error =
            Error::new(ErrorCode::PermissionDenied, why, "the user has to approve it first");
        Err(error.with_remedy(Remedy::Trust(path.to_owned())))
    }
}
