//! Finding skills by words, for a model that looks for one.

use serde::Serialize;

use super::Engine;
use crate::catalog::Audience;
use crate::skill::SkillId;

/// A skill that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundSkill {
    /// The skill.
    pub id: SkillId,
    /// What it does, in one line.
    pub brief: String,
    /// What spoke for it.
    pub why: String,
}

impl Engine {
    /// Up to `limit` skills for what `query` says, best first: those it matches.
    pub fn find_skills(&self, query: &str, limit: usize) -> Vec<FoundSkill> {
        let matches = self.matches(query).into_iter().take(limit);
        let found = matches.filter_map(|found| {
            let entry = self.catalog().find(found.id.as_str(), Audience::Model).ok()?;
            let triggers: Vec<&str> = found.hits.iter().map(|hit| hit.trigger.as_str()).collect();
            Some(FoundSkill {
                brief: entry.skill.brief().to_owned(),
                why: format!("matches {}", triggers.join(", ")),
                id: found.id,
            })
        });
        found.collect()
    }
}
