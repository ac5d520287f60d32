//! The tools of toolsets: all of them, or those of some skills. Those of a session are
//! [`SessionTools`](super::SessionTools).

use std::time::Duration;

use super::Engine;
use crate::catalog::{Audience, Entry};
use crate::skill::SkillId;
use crate::toolset::{Host, ToolPolicy, Tools, Toolsets, Until};
use crate::trust::Owner;

/// The time that a list for a model waits for libraries whose tools are not known yet; those that
/// take longer are in a later list.
const PATIENCE: Duration = Duration::from_secs(2);

/// A host that waits as long as the limits say.
struct Patient;

impl Host for Patient {}

impl Engine {
    /// The tools of every skill that the model may use. Libraries whose tools are not known from an
    /// earlier time are opened, side by side; those that could not be loaded are among the failures.
    pub fn all_tools(&self) -> Tools {
        self.load_tools(self.catalog().listed(Audience::Model), Until::All, &Patient)
    }

    /// The tools of one skill that the model may use, by id.
    pub fn tools_of(&self, skill: &SkillId) -> Tools {
        let catalog = self.catalog();
        let entries = catalog.listed(Audience::Model).filter(|entry| entry.id == *skill);
        self.load_tools(entries, Until::All, &Patient)
    }

    /// The tools among which `name` is found, if it is there: only libraries that may have it are
    /// opened, and waited for as long as `host` does. See [`Tools::find`].
    pub fn tools_named(&self, name: &str, host: &dyn Host) -> Tools {
        let catalog = self.catalog();
        self.search_tools(catalog.listed(Audience::Model).collect(), name, host)
    }

    /// Lets the libraries of a skill run again at once that are disabled because they failed. Their
    /// processes are ended.
    pub fn restart_tools(&self, skill: &SkillId) {
        let catalog = self.catalog();
        let dir = catalog.get(skill.as_str()).and_then(|entry| entry.skill.dir());
        if let (Some(toolsets), Some(dir)) = (&self.0.toolsets, dir) {
            toolsets.restart(dir);
        }
    }

    /// The tools of these skills for a model, in this order.
    pub(super) fn listed_tools<'c>(&self, skills: impl IntoIterator<Item = &'c Entry>) -> Tools {
        self.load_tools(skills, Until::Patience(PATIENCE), &Patient)
    }

    /// The tools of `skills` among which `name` is. If the name begins with that of a skill, the
    /// libraries of others are opened only if it does not have the tool.
    pub(super) fn search_tools(&self, skills: Vec<&Entry>, name: &str, host: &dyn Host) -> Tools {
        let named = skills.iter().copied().filter(|entry| begins_with(name, &entry.id)).collect();
        let of_named: Tools = self.load_tools::<Vec<&Entry>>(named, Until::Named(name), host);
        // The tool may be missing only because its library failed.
        if of_named.find(name).is_ok() || !of_named.failures.is_empty() {
            return of_named;
        }
        self.load_tools(skills, Until::Named(name), host)
    }

    fn load_tools<'c, S: IntoIterator<Item = &'c Entry>>(
        &self,
        skills: S,
        until: Until<'_>,
        host: &dyn Host,
    ) -> Tools {
        let Some(toolsets) = &self.0.toolsets else { return Tools::default() };
        toolsets.tools(toolsets_of(skills), until, host)
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

/// Tells whether the name of a tool begins with that of a skill.
pub(super) fn begins_with(name: &str, skill: &SkillId) -> bool {
    plain(name).strip_prefix(&plain(skill.as_str())).is_some_and(|rest| rest.starts_with('_'))
}

/// A name without what names of tools and ids of skills differ in.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
