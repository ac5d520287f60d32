//! Approval: asks the host about code that is not trusted.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Abilities, ContentHash, FileChange, Owner, Refusal, SkillFiles, TrustStore, Verdict};
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::{SkillId, ToolsetRights};

/// A host's callback that decides whether an untrusted file may run.
#[derive(Clone)]
pub struct Approval(Arc<Ask>);

type Ask = dyn Fn(&TrustRequest) -> Option<bool> + Send + Sync;

impl Approval {
    /// Calls `ask` with each request. Its answer is a `bool`, or an `Option<bool>`.
    ///
    /// The trust store remembers a yes and a no, and the same request is not made again. `None` says that
    /// there is no answer: the code does not run now, and the next call asks again.
    pub fn new<A: Into<Option<bool>>>(
        ask: impl Fn(&TrustRequest) -> A + Send + Sync + 'static,
    ) -> Approval {
        Approval(Arc::new(move |request| ask(request).into()))
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Approval")
    }
}

/// The files and rights that a host is asked to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustRequest {
    /// The skill whose code is to run.
    pub skill: SkillId,
    /// The library or script to run.
    pub path: PathBuf,
    /// The hash of its content.
    pub sha256: ContentHash,
    /// The classes that a library exports; empty for a script.
    pub classes: Vec<String>,
    /// The rights that the skill asks for, for its scripts; none for a library. Trusting a script grants them
    /// as well.
    pub rights: ToolsetRights,
    /// The things that it may do once it is trusted, for the user to see.
    pub abilities: Abilities,
    /// The reason why the file is not trusted.
    pub verdict: Verdict,
    /// The files of the skill that were added, changed or removed since its code was trusted; empty if
    /// it never was. Approval accepts all of these changes.
    pub changes: Vec<FileChange>,
}

/// A request of a skill to run its code.
pub(crate) struct Demand<'a> {
    pub(crate) owner: &'a Owner,
    /// The current files of the skill, if they must be compared with the trusted ones.
    pub(crate) skill: Option<&'a SkillFiles>,
    /// The classes that the library exports; empty for a script.
    pub(crate) classes: &'a [String],
    pub(crate) approve: Option<&'a Approval>,
    /// The rights that a script gets when it is approved, as [`ToolsetRights::resolved`] returns them; none for a
    /// library.
    pub(crate) rights: &'a ToolsetRights,
    /// Returns what the code may do once it is trusted.
    pub(crate) abilities: &'a dyn Fn() -> Abilities,
}

impl TrustStore {
    /// Reads the files of a skill with `read` if they must be compared before its code runs. They need
    /// not be if the source is trusted and the store does not know the skill's files. If the source is
    /// not trusted, they need not be compared if no file of the skill is trusted and there is no host to
    /// ask: the code is refused anyway, and reading all files would only cost time.
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

    /// Allows the file at `path` to run if its content is trusted, or the host approves it.
    ///
    /// Otherwise fails with `PERMISSION_DENIED`. The error has the hashes now and when the file was
    /// trusted, the changes to other files that approval would accept as well, and the remedy that
    /// trusts the file or the skill.
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
        // Approving the file accepts these changes too.
        let others: Vec<FileChange> = changes.iter().filter(is_other).cloned().collect();
        let is_changed = matches!(verdict, Verdict::Changed { .. }) || !others.is_empty();
        let answer = self.answer(demand, path, sha256, verdict, changes)?;
        if answer == Some(true) {
            return Ok(());
        }
        let why = if others.is_empty() {
            why
        } else {
            let others = FileChange::listed(&others);
            format!("{why}; other files of the skill have changed: {others}")
        };
        let why = with_answer(why, answer);
        let remedy = match demand.skill.filter(|_| is_changed) {
            Some(skill) => Remedy::TrustSkill(skill.dir().to_owned()),
            None => Remedy::Trust(path.to_owned()),
        };
        let error =
            Error::new(ErrorCode::PermissionDenied, why, "the user has to approve it first");
        Err(error.with_remedy(remedy))
    }

    /// Allows the trusted file at `path` to run as a script, if it was trusted as more than a library or a server, or
    /// the host approves it. Fails with `PERMISSION_DENIED` otherwise.
    #[cfg_attr(not(feature = "scripts"), expect(dead_code, reason = "for scripts"))]
    pub(crate) fn demand_script(
        &self,
        demand: &Demand<'_>,
        path: &Path,
        sha256: &ContentHash,
    ) -> Result<(), Error> {
        let known = self.state().trusted.files.get(&super::real(path)).cloned();
        if demand.owner.scope.is_trusted() || !known.is_some_and(|known| known.tools_only) {
            return Ok(());
        }
        let changes = demand.skill.and_then(|skill| self.changes(skill)).unwrap_or_default();
        let answer = self.answer(demand, path, sha256, Verdict::Untrusted, changes)?;
        if answer == Some(true) {
            return Ok(());
        }
        let shown = path.display();
        let why = format!("{shown} is trusted as a library or a server, and not as a script");
        let why = with_answer(why, answer);
        let error =
            Error::new(ErrorCode::PermissionDenied, why, "the user has to approve it first");
        Err(error.with_remedy(Remedy::Trust(path.to_owned())))
    }

    /// Allows the trusted file at `path` to run if no file of its skill was added, changed or removed
    /// since, or the host approves the changes.
    ///
    /// Otherwise fails with `PERMISSION_DENIED`, the names of the changed files, and the remedy that
    /// shows and accepts the changes.
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
        let answer = self.answer(demand, path, sha256, verdict, changes)?;
        if answer == Some(true) {
            return Ok(());
        }
        let error = Error::new(
            ErrorCode::PermissionDenied,
            with_answer(why, answer),
            "the user has to approve the changes first",
        );
        Err(error.with_remedy(Remedy::TrustSkill(skill.dir().to_owned())))
    }

    /// Returns the answer of the host, which is asked if it did not refuse the same before. Records the
    /// answer in the store. `None` if there is no answer.
    fn answer(
        &self,
        demand: &Demand<'_>,
        path: &Path,
        sha256: &ContentHash,
        verdict: Verdict,
        changes: Vec<FileChange>,
    ) -> Result<Option<bool>, Error> {
        let Demand { owner, skill, classes, approve, rights, abilities } = demand;
        let rights = (*rights).clone();
        let question = Refusal::of_code(path, sha256.clone(), *skill, rights.clone());
        if self.is_refused(&question) {
            return Ok(Some(false));
        }
        let Some(approve) = approve else { return Ok(None) };
        let request = TrustRequest {
            skill: owner.id.clone(),
            path: path.to_owned(),
            sha256: sha256.clone(),
            classes: classes.to_vec(),
            rights: rights.clone(),
            abilities: abilities(),
            verdict,
            changes,
        };
        let answer = (approve.0)(&request);
        match answer {
            Some(true) if classes.is_empty() => {
                self.add_with_skill(*skill, path, sha256.clone(), rights)?;
            }
            Some(true) => {
                self.add_tools_with_skill(*skill, path, sha256.clone())?;
            }
            Some(false) => self.refuse(question)?,
            None => {}
        }
        Ok(answer)
    }
}

/// Adds to the reason why code does not run that somebody said no to it.
fn with_answer(why: String, answer: Option<bool>) -> String {
    if answer == Some(false) {
        format!("{why}; the answer was no, and it is not asked again")
    } else {
        why
    }
}
