//! Owners: the skills to which code belongs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::catalog::{Entry, Scope};
use crate::skill::{Manifest, SkillId, ToolsetRights};

/// The facts about a skill that matter for running its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The skill's id.
    pub id: SkillId,
    /// The scope of its source, which decides whether its code is trusted by default.
    pub scope: Scope,
    /// Its directory.
    pub dir: PathBuf,
    /// The `scripts` of its manifest, relative to the directory; `None` stands for all files in
    /// `scripts/`.
    pub scripts: Option<Vec<String>>,
    /// The rights that its manifest asks for, for its scripts.
    pub script_rights: ToolsetRights,
    /// The entries of its `toolsets`.
    pub toolsets: Vec<String>,
    /// The rights that entries of its `toolsets` ask for, by entry.
    pub toolset_rights: BTreeMap<String, ToolsetRights>,
}

impl Owner {
    /// The owner for a catalog's entry; `None` if the skill has no directory.
    pub fn of(entry: &Entry) -> Option<Owner> {
        let dir = entry.skill.dir()?.to_owned();
        Some(Owner::new(entry.id.clone(), entry.scope, dir, Some(entry.skill.manifest())))
    }

    /// The owner for the skill in `dir`, with the declarations of its manifest.
    pub fn new(id: SkillId, scope: Scope, dir: PathBuf, manifest: Option<&Manifest>) -> Owner {
        let declared = manifest.and_then(|manifest| manifest.scripts.as_ref());
        let scripts = declared.map(|all| all.iter().map(|one| one.value.clone()).collect());
        let script_rights = manifest.and_then(|manifest| manifest.script_rights.clone());
        let script_rights = script_rights.unwrap_or_default();
        let toolsets = manifest.into_iter().flat_map(|manifest| &manifest.toolsets);
        let toolsets = toolsets.map(|entry| entry.value.clone()).collect();
        let toolset_rights = manifest.map(|it| it.toolset_rights.clone()).unwrap_or_default();
        Owner { id, scope, dir, scripts, script_rights, toolsets, toolset_rights }
    }
}
