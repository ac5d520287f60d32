//! The engine's tools: those of its skills' toolsets.

use super::Engine;
use crate::catalog::{Audience, Catalog, Entry};
use crate::disclosure::Disclosure;
use crate::skill::SkillId;
use crate::toolset::{ToolPolicy, Tools, Toolsets};
use crate::trust::Owner;

impl Engine {
    /// The tools for a disclosure: of the skills it shows in full, or of all (see
    /// [`ToolPolicy`]). Libraries are opened here, when they are first needed; what could not be
    /// loaded is among the failures.
    pub fn tools(&self, disclosure: &Disclosure) -> Tools {
        match self.0.toolsets.as_ref().map(Toolsets::policy) {
            Some(ToolPolicy::All) => self.all_tools(),
            _ => self.tools_where(|entry| disclosure.full.contains(&entry.id)),
        }
    }

    /// The tools of every skill that the model may use.
    pub fn all_tools(&self) -> Tools {
        self.tools_where(|_| true)
    }

    /// The tools of one skill that the model may use, by id.
    pub fn tools_of(&self, skill: &SkillId) -> Tools {
        self.tools_where(|entry| entry.id == *skill)
    }

    /// Forgets the tools of skills that went.
    pub(super) fn retire_toolsets(&self) {
        if let Some(toolsets) = &self.0.toolsets {
            toolsets.retain(toolsets_of(&self.catalog(), |_| true));
        }
    }

    fn tools_where(&self, wanted: impl Fn(&Entry) -> bool) -> Tools {
        let Some(toolsets) = &self.0.toolsets else { return Tools::default() };
        toolsets.tools(toolsets_of(&self.catalog(), wanted))
    }
}

/// The skills that the model may use, with what they declare.
fn toolsets_of(
    catalog: &Catalog,
    wanted: impl Fn(&Entry) -> bool,
) -> impl Iterator<Item = (Owner, Vec<&str>)> {
    let entries = catalog.listed(Audience::Model).filter(move |entry| wanted(entry));
    entries.filter_map(|entry| {
        let owner = Owner::of(entry)?;
        let written = &entry.skill.manifest().toolsets;
        Some((owner, written.iter().map(|toolset| toolset.value.as_str()).collect()))
    })
}
