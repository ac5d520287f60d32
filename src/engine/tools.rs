//! The tools of toolsets: all of them, or those of some skills. Those of a session are
//! [`SessionTools`](super::SessionTools).

use super::Engine;
use crate::catalog::{Audience, Entry};
use crate::skill::SkillId;
use crate::toolset::{ToolPolicy, Tools, Toolsets};
use crate::trust::Owner;

impl Engine {
    /// The tools of every skill that the model may use. Libraries are opened here, when they are
    /// first needed; those that could not be loaded are among the failures.
    pub fn all_tools(&self) -> Tools {
        self.load_tools(self.catalog().listed(Audience::Model))
    }

    /// The tools of one skill that the model may use, by id.
    pub fn tools_of(&self, skill: &SkillId) -> Tools {
        let catalog = self.catalog();
        self.load_tools(catalog.listed(Audience::Model).filter(|entry| entry.id == *skill))
    }

    /// The tools of these skills, in this order.
    pub(super) fn load_tools<'c>(&self, skills: impl IntoIterator<Item = &'c Entry>) -> Tools {
        let Some(toolsets) = &self.0.toolsets else { return Tools::default() };
        toolsets.tools(toolsets_of(skills))
    }

    /// The policy for the tools of a session; `None` if this engine loads no toolsets.
    pub(super) fn tool_policy(&self) -> Option<ToolPolicy> {
        self.0.toolsets.as_ref().map(Toolsets::policy)
    }

    /// Forgets the tools of skills that went, or that the model may no longer use.
    pub(super) fn retire_toolsets(&self) {
        if let Some(toolsets) = &self.0.toolsets {
            toolsets.retain(toolsets_of(self.catalog().listed(Audience::Model)));
        }
    }
}

/// Tells whether a skill declares toolsets.
pub(super) fn has_toolsets(entry: &Entry) -> bool {
    !entry.skill.manifest().toolsets.is_empty()
}

/// The skills with the toolsets they declare.
fn toolsets_of<'c>(
    skills: impl IntoIterator<Item = &'c Entry>,
) -> impl Iterator<Item = (Owner, Vec<&'c str>)> {
    skills.into_iter().filter_map(|entry| {
        let owner = Owner::of(entry)?;
        let written = &entry.skill.manifest().toolsets;
        Some((owner, written.iter().map(|toolset| toolset.value.as_str()).collect()))
    })
}
