//! Owners: the skill that a file of prompts belongs to by its place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::catalog::Catalog;
use crate::skill::SkillId;

/// Skills by their directories. Published prompts stand beside the skill they are for, as in
/// `skills/deploy/evals/evals.json`, and seldom name it.
#[derive(Debug, Clone, Default)]
pub struct Owners(HashMap<PathBuf, SkillId>);

impl Owners {
    /// The skills of `catalog` that are files.
    pub fn new(catalog: &Catalog) -> Owners {
        let owner = |entry: &crate::catalog::Entry| {
            Some((entry.skill.dir()?.canonicalize().ok()?, entry.id.clone()))
        };
        Owners(catalog.entries().filter_map(owner).collect())
    }

    /// The skill of the nearest directory above `file`; `None` if no directory above it is one of a
    /// skill, or if the file does not exist.
    pub fn of(&self, file: &Path) -> Option<&SkillId> {
        let file = file.canonicalize().ok()?;
        file.ancestors().skip(1).find_map(|dir| self.0.get(dir))
    }
}
