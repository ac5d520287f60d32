//! Owners: the skill to which a file of prompts belongs by its place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use repertoire::catalog::Catalog;
use repertoire::skill::SkillId;

/// Skills by their directories. Published prompts are kept in the directory of their skill, as in
/// `skills/deploy/evals/evals.json`, and seldom name the skill.
#[derive(Debug, Clone, Default)]
pub struct Owners(HashMap<PathBuf, SkillId>);

impl Owners {
    /// Collects the skills of `catalog` that were read from files.
    pub fn new(catalog: &Catalog) -> Owners {
        let owner = |entry: &repertoire::catalog::Entry| {
            Some((entry.skill.dir()?.canonicalize().ok()?, entry.id.clone()))
        };
        Owners(catalog.entries().filter_map(owner).collect())
    }

    /// The skill in the nearest directory above `file`; `None` if no directory above it is that of a
    /// skill, or if the file does not exist.
    pub fn of(&self, file: &Path) -> Option<&SkillId> {
        let file = file.canonicalize().ok()?;
        file.ancestors().skip(1).find_map(|dir| self.0.get(dir))
    }
}
