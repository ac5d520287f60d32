//! Asking the host about code that is not trusted.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ContentHash, FileChange, Owner, SkillFiles, TrustStore, Verdict};
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

/// The files and rights that a host is asked to trust.
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
    /// True if the skill asks for the network for its scripts, which they get with the trust.
    pub network: bool,
    /// Why it is not trusted.
    pub verdict: Verdict,
    /// The files of the skill that were added, changed or removed since its code was trusted; none if it
    /// never was. A yes holds for all of them.
    pub changes: Vec<FileChange>,
}

/// A demand of a skill to run its code.
pub(crate) struct Demand<'a> {
    pub(crate) owner: &'a Owner,
    /// The files of the skill, if they have to be compared.
    pub(crate) skill: Option<&'a SkillFiles>,
    /// The classes of a library; none for a script.
    pub(crate) classes: &'a [String],
    pub(crate) approve: Option<&'a Approval>,
}

impl TrustStore {
    /// The files of a skill, read by `read` if they have to be compared before code of it runs: not if
    /// its source is trusted and nobody trusted this very content, and not if nothing of the skill is
    /// trusted and no host is asked, so that a stranger's files cost nothing.
    #[cfg(any(feature = "scripts", feature = "toolsets"))]
    pub(crate) fn compared(
        &self,
        owner: &Owner,
        approve: Option<&Approval>,
        read: impl FnOnce(&Path) -> Result<SkillFiles, Error>,
    ) -> Result<Option<SkillFiles>, Error> {
        let is_compared = if owner.scope.is_trusted() {
            self.knows_skill(&owner.dir)
        } else {
            approve.is_some() || self.trusts_code_in(&owner.dir)
        };
        if !is_compared {
            return Ok(None);
        }
        read(&owner.dir).map(Some)
    }

    /// Lets the file at `path` run if its content is trusted, or the host says that it is.
    ///
    /// Fails with `PERMISSION_DENIED`, both hashes if there are two, the other files of the skill that
    /// would be accepted with it, and the command that trusts it.
    pub(crate) fn demand(
        &self,
        demand: &Demand<'_>,
        path: &Path,
        sha256: &ContentHash,
    ) -> Result<(), Error> {
        let owner = demand.owner;
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
        let changes = demand.skill.and_then(|skill| self.changes(skill)).unwrap_or_default();
        let is_other = |change: &&FileChange| {
            demand.skill.is_some_and(|skill| skill.dir().join(&change.path) != super::real(path))
        };
        // Who accepts the file accepts these as well.
        let others: Vec<FileChange> = changes.iter().filter(is_other).cloned().collect();
        if self.is_approved(demand, path, sha256, verdict, changes)? {
            return Ok(());
        }
        let (why, remedy) = match demand.skill {
            Some(skill) if !others.is_empty() => {
                let others = FileChange::listed(&others);
                let why = format!("{why}; other files of the skill have changed: {others}");
                (why, Remedy::TrustSkill(skill.dir().to_owned()))
            }
            _ => (why, Remedy::Trust(path.to_owned())),
        };
        let error =
            Error::new(ErrorCode::PermissionDenied, why, "the user has to approve it first");
        Err(error.with_remedy(remedy))
    }

    /// Lets the trusted file at `path` run if no file of its skill was added, changed or removed since,
    /// or the host says that it may.
    ///
    /// Fails with `PERMISSION_DENIED`, the names of those files, and the commands that show the changes
    /// and accept them.
    pub(crate) fn demand_skill(
        &self,
        demand: &Demand<'_>,
        path: &Path,
        sha256: &ContentHash,
    ) -> Result<(), Error> {
        let owner = demand.owner;
        let Some(skill) = demand.skill else {
            if owner.scope.is_trusted() {
                return Ok(());
            }
            let why = format!("the skill `{}` was trusted just now", owner.id);
            return Err(Error::new(ErrorCode::PermissionDenied, why, "try it again"));
        };
        let (why, verdict, changes) = match self.changes(skill) {
            Some(changes) if changes.is_empty() => return Ok(()),
            None if owner.scope.is_trusted() => return Ok(()),
            None => {
                let why = format!(
                    "the code of the skill `{}` was trusted without the other files of the skill, \
                     which count now",
                    owner.id
                );
                (why, Verdict::Untrusted, Vec::new())
            }
            Some(changes) => {
                let why = format!(
                    "the skill `{}` has changed since its code was trusted: {}",
                    owner.id,
                    FileChange::listed(&changes)
                );
                (why, Verdict::Changed { trusted: sha256.clone() }, changes)
            }
        };
        if self.is_approved(demand, path, sha256, verdict, changes)? {
            return Ok(());
        }
        let error = Error::new(
            ErrorCode::PermissionDenied,
            why,
            "the user has to approve the changes first",
        );
        Err(error.with_remedy(Remedy::TrustSkill(skill.dir().to_owned())))
    }

    /// Asks the host, and remembers a yes.
    fn is_approved(
        &self,
        demand: &Demand<'_>,
        path: &Path,
        sha256: &ContentHash,
        verdict: Verdict,
        changes: Vec<FileChange>,
    ) -> Result<bool, Error> {
        let Demand { owner, skill, classes, approve } = demand;
        let request = TrustRequest {
            skill: owner.id.clone(),
            path: path.to_owned(),
            sha256: sha256.clone(),
            classes: classes.to_vec(),
            network: owner.network && classes.is_empty(),
            verdict,
            changes,
        };
        if !approve.is_some_and(|approve| (approve.0)(&request)) {
            return Ok(false);
        }
        self.add_beside(*skill, path, sha256.clone(), request.network)?;
        Ok(true)
    }
}
