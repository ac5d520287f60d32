//! Skills with trusted code: all their files are compared before the code runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ContentHash, FileChange, SkillFiles, TrustStore, Trusted, TrustedFile};

/// A skill with trusted code, with the files that it had when the code was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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

impl Trusted {
    /// Returns the skill that was trusted with the file at `path`: the nearest one above it.
    pub(super) fn skill_of(&self, path: &Path) -> Option<&TrustedSkill> {
        path.ancestors().skip(1).find_map(|dir| self.skills.get(dir))
    }

    /// Stores the files of a skill. Code that is gone or became a link is forgotten, as its removal has
    /// been accepted with the other changes.
    pub(super) fn accept(&mut self, skill: TrustedSkill) {
        let dir = skill.dir.clone();
        self.skills.insert(dir.clone(), skill);
        let is_gone = |file: &&TrustedFile| !file.is_in_place();
        let gone = self.files_of(&dir).filter(is_gone).map(|file| file.path.clone());
        for path in gone.collect::<Vec<_>>() {
            self.files.remove(&path);
        }
    }

    /// Returns the files in and below `dir`, without those of skills below it.
    fn files_of(&self, dir: &Path) -> impl Iterator<Item = &TrustedFile> {
        let is_own = |file: &TrustedFile| {
            self.skill_of(&file.path).is_none_or(|skill| dir.starts_with(&skill.dir))
        };
        self.files.values().filter(move |file| file.path.starts_with(dir) && is_own(file))
    }
}

impl TrustStore {
    /// The skills with trusted code, in the order of their directories.
    pub fn skills(&self) -> Vec<TrustedSkill> {
        self.state().trusted.skills.values().cloned().collect()
    }

    /// The trusted files of the skill in `dir`, which must be without links. Files of its sub-skills are
    /// left out.
    pub fn files_of(&self, dir: &Path) -> Vec<TrustedFile> {
        self.state().trusted.files_of(dir).cloned().collect()
    }

    /// The changes to a skill since its code was trusted. `None` if it never was, or if it was trusted
    /// by an old version that did not compare other files.
    pub fn changes(&self, skill: &SkillFiles) -> Option<Vec<FileChange>> {
        let state = self.state();
        let known = state.trusted.skills.get(skill.dir())?;
        Some(skill.changes_since(&known.files))
    }

    /// Tells whether any file of the skill in `dir` is trusted.
    pub fn trusts_code_in(&self, dir: &Path) -> bool {
        self.state().trusted.files_of(&super::real(dir)).next().is_some()
    }

    /// Tells whether code of the skill in `dir` was trusted together with the skill's other files.
    pub fn knows_skill(&self, dir: &Path) -> bool {
        self.state().trusted.skills.contains_key(&super::real(dir))
    }
}
