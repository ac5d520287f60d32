//! Refusals: a no of the user or of the host, which is not asked again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ContentHash, SkillFiles, TrustStore, Trusted, not_trusted, now, real};
use crate::error::Error;
use crate::skill::ToolsetRights;

/// A no to code, or to rights of a class. It holds for exactly the question that was asked: code or rights
/// that changed are asked for again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refusal {
    /// The library or script, absolute and without links.
    pub path: PathBuf,
    /// The hash of its content.
    pub sha256: ContentHash,
    /// The hash of all files of its skill, if they were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<ContentHash>,
    /// The class to which rights were refused; `None` if the code itself was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The rights that were asked for.
    #[serde(default, skip_serializing_if = "ToolsetRights::is_empty")]
    pub rights: ToolsetRights,
    /// The time of the no, in seconds since 1970.
    #[serde(default)]
    pub since: u64,
}

impl Refusal {
    /// The refusal of the code at `path`, together with the files of its skill. `rights` are those that a
    /// script would get.
    pub fn of_code(
        path: &Path,
        sha256: ContentHash,
        skill: Option<&SkillFiles>,
        rights: ToolsetRights,
    ) -> Refusal {
        let skill = skill.map(SkillFiles::sha256);
        Refusal { path: real(path), sha256, skill, class: None, rights, since: now() }
    }

    fn is_same_question(&self, other: &Refusal) -> bool {
        Refusal { since: other.since, ..self.clone() } == *other
    }
}

impl Trusted {
    /// Forgets the refusals about the file at `path`; with a class, only those about its rights.
    pub(super) fn forget_refusals(&mut self, path: &Path, class: Option<&str>) {
        let is_meant = |refusal: &Refusal| {
            refusal.path == path
                && class.is_none_or(|class| refusal.class.as_deref() == Some(class))
        };
        self.refused.retain(|refusal| !is_meant(refusal));
    }
}

impl TrustStore {
    /// The refusals, in the order of their paths.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.state().trusted.refused.clone()
    }

    /// Tells whether the answer to exactly this question was no; the time does not matter.
    pub fn is_refused(&self, question: &Refusal) -> bool {
        self.state().trusted.refused.iter().any(|known| known.is_same_question(question))
    }

    /// Remembers a no. It replaces an earlier one about the same file and class, and is forgotten once the
    /// file is trusted, or the rights are granted.
    ///
    /// Fails with `EXECUTION_ERROR` if the store cannot be written.
    pub fn refuse(&self, refusal: Refusal) -> Result<(), Error> {
        self.change(|trusted| {
            let key = |refusal: &Refusal| (refusal.path.clone(), refusal.class.clone());
            trusted.refused.retain(|known| key(known) != key(&refusal));
            trusted.refused.push(refusal);
            trusted.refused.sort_by_cached_key(key);
        })
    }

    /// Refuses rights to one class of the trusted library at `path`. Fails with `NOT_FOUND` if the library
    /// is not trusted, and with `EXECUTION_ERROR` if the store cannot be written.
    pub fn refuse_class(
        &self,
        path: &Path,
        class: &str,
        rights: ToolsetRights,
    ) -> Result<(), Error> {
        let question = self.rights_question(path, class, rights);
        self.refuse(question.ok_or_else(|| not_trusted(path))?)
    }

    /// Tells whether exactly these rights were refused to a class of the trusted library at `path`.
    pub fn is_class_refused(&self, path: &Path, class: &str, rights: &ToolsetRights) -> bool {
        let question = self.rights_question(path, class, rights.clone());
        question.is_some_and(|question| self.is_refused(&question))
    }

    /// The question about the rights of a class; `None` if the library is not trusted.
    fn rights_question(&self, path: &Path, class: &str, rights: ToolsetRights) -> Option<Refusal> {
        let sha256 = self.state().trusted.files.get(&real(path))?.sha256.clone();
        let class = Some(class.to_owned());
        Some(Refusal { class, ..Refusal::of_code(path, sha256, None, rights) })
    }

    /// Forgets the refusals about the files at `paths`, and returns them. Code that was refused may be asked
    /// for again.
    ///
    /// Fails with `EXECUTION_ERROR` if the store cannot be written.
    pub fn forget_refusals<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Vec<Refusal>, Error> {
        let paths: Vec<PathBuf> = paths.into_iter().map(|path| real(path.as_ref())).collect();
        self.change(|trusted| {
            let is_meant = |refusal: &mut Refusal| paths.contains(&refusal.path);
            trusted.refused.extract_if(.., is_meant).collect()
        })
    }
}
