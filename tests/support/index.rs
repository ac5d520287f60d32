//! Builds an index of skills that have their names as ids.

use repertoire::matcher::{Index, IndexOptions, IndexedSkill};
use repertoire::{Skill, SkillId};

/// Returns the index, and the ids of the skills in the order of `skills`.
pub(crate) fn index_of(skills: &[Skill]) -> (Index, Vec<SkillId>) {
    let ids: Vec<SkillId> = skills.iter().map(|skill| SkillId::new(skill.name())).collect();
    let indexed: Vec<_> = skills
        .iter()
        .zip(&ids)
        .map(|(skill, id)| IndexedSkill { id, name: skill.name(), triggers: skill.triggers() })
        .collect();
    (Index::new(&indexed, &IndexOptions::default()).unwrap(), ids)
}
