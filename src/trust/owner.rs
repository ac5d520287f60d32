//! Whose code it is.

use std::path::PathBuf;

use crate::catalog::{Entry, Scope};
use crate::skill::SkillId;

/// A skill, as far as running its code goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The skill's id.
    pub id: SkillId,
    /// Where its source stands: code of a project is not trusted by itself.
    pub scope: Scope,
    /// Its directory.
    pub dir: PathBuf,
    /// The `scripts` of its manifest, relative to the directory; `None` stands for all files in
    /// `scripts/`.
    pub scripts: Option<Vec<String>>,
}

impl Owner {
    /// The skill of a catalog's entry; none if it is not in a directory.
    pub fn of(entry: &Entry) -> Option<Owner> {
        let declared = entry.skill.manifest().scripts.as_ref();
        Some(Owner {
            id: entry.id.clone(),
            scope: entry.scope,
            dir: entry.skill.dir()?.to_owned(),
            scripts: declared.map(|all| all.iter().map(|one| one.value.clone()).collect()),
        })
    }
}
