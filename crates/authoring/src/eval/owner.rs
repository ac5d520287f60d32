//! Owners: the skill to which a file of prompts belongs by its place or its name.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use repertoire::catalog::Catalog;
use repertoire::skill::SkillId;

use super::spellings::{is_container, joined, skills_in};

/// Skills by their directories and names. Published prompts are kept in the directory of their skill, as
/// in `skills/deploy/evals/evals.json`, or in files named after it, as in `evals/deploy.json`, and seldom
/// name the skill.
#[derive(Debug, Clone, Default)]
pub struct Owners {
    by_dir: HashMap<PathBuf, SkillId>,
    /// `None` for a name that several skills have.
    by_name: HashMap<String, Option<SkillId>>,
}

impl Owners {
    /// Collects the skills of `catalog`.
    pub fn new(catalog: &Catalog) -> Owners {
        let mut owners = Owners::default();
        for entry in catalog.entries() {
            if let Some(dir) = entry.skill.dir().and_then(|dir| dir.canonicalize().ok()) {
                owners.by_dir.insert(dir, entry.id.clone());
            }
            let id = entry.id.as_str();
            let last = id.rsplit('/').next().unwrap_or(id);
            let mut names = [last, entry.skill.name()].map(joined).to_vec();
            names.dedup();
            for name in names {
                let known = owners.by_name.entry(name).or_insert_with(|| Some(entry.id.clone()));
                known.take_if(|known| *known != entry.id);
            }
        }
        owners
    }

    /// The skill in the nearest directory above `file`, or else the skill after which the file is named,
    /// or its directory among those of other prompts, as in `evals/deploy/cases.json`. `None` if there is
    /// no such skill, or if the file does not exist.
    pub fn of(&self, file: &Path) -> Option<&SkillId> {
        let file = file.canonicalize().ok()?;
        let of_dir = file.ancestors().skip(1).find_map(|dir| self.by_dir.get(dir));
        of_dir.or_else(|| self.of_name(file.file_stem()?)).or_else(|| {
            let dir = file.parent()?;
            let is_among_prompts = is_container(&dir.parent()?.file_name()?.to_string_lossy());
            if is_among_prompts { self.of_name(dir.file_name()?) } else { None }
        })
    }

    fn of_name(&self, name: &OsStr) -> Option<&SkillId> {
        let names = skills_in(&name.to_string_lossy());
        names.iter().find_map(|name| self.by_name.get(name)?.as_ref())
    }
}
