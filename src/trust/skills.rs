//! Skills with trusted code: all their files are compared before the code runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ContentHash, FileChange, SkillFiles, TrustStore};

/// A skill with trusted code, with the files that it had when the code was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedSkill {
    /// Its directory, absolute and without links.
    pub dir: PathBuf,
    /// When its code was trusted, in seconds since 1970.
    pub since: u64,
    /// The hashes of its files by their paths, as in [`SkillFiles::files`].
    pub files: BTreeMap<String, ContentHash>,
}

impl TrustedSkill {
    pub(super) fn new(files: &SkillFiles, since: u64) -> TrustedSkill {
        TrustedSkill { dir: files.dir().to_owned(), since, files: files.files().clone() }
    }
}

impl TrustStore {
    /// The skills with trusted code, in the order of their directories.
    pub fn skills(&self) -> Vec<TrustedSkill> {
        self.state().trusted.skills.values().cloned().collect()
    }

    /// The changes to a skill since its code was trusted. `None` if it never was, or if it was trusted
    /// by an old version that did not compare other files.
    pub fn changes(&self, skill: &SkillFiles) -> Option<Vec<FileChange>> {
        let state = self.state();
        let known = state.trusted.skills.get(skill.dir())?;
        Some(skill.changes_since(&known.files))
    }

    /// Tells whether any file below `dir` is trusted.
    #[cfg(any(feature = "scripts", feature = "toolsets"))]
    pub(crate) fn trusts_code_in(&self, dir: &std::path::Path) -> bool {
        let dir = super::real(dir);
        self.state().trusted.files.keys().any(|file| file.starts_with(&dir))
    }

    /// Tells whether code of the skill in `dir` was trusted together with the skill's other files.
    #[cfg(any(feature = "scripts", feature = "toolsets"))]
    pub(crate) fn knows_skill(&self, dir: &std::path::Path) -> bool {
        self.state().trusted.skills.contains_key(&super::real(dir))
    }
}
