//! The tools of toolsets, of all skills or some. The tools of a session are
//! [`SessionTools`](super::SessionTools).

use std::time::Duration;

use super::Engine;
use crate::catalog::{Audience, Entry};
use crate::skill::SkillId;
use crate::toolset::{Host, ToolPolicy, Tools, Toolsets, Until};
use crate::trust::Owner;

/// The time that a list of tools for a model waits for libraries whose tools are not known yet. The
/// tools of slower libraries appear in a later list.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);

/// A host that neither cancels nor sets a deadline: calls wait as long as the limits allow.
struct Patient;

impl Host for Patient {}

impl Engine {
    /// The tools of every skill that the model may use. Opens, in parallel, the libraries whose tools
    /// are not known from before. Libraries that could not be loaded are listed as failures.
    pub fn all_tools(&self) -> Tools {
        self.load_tools(self.catalog().listed(Audience::Model), Until::All, &Patient)
    }

    /// The tools of one skill that the model may use, by id.
    pub fn tools_of(&self, skill: &SkillId) -> Tools {
        let catalog = self.catalog();
        let entries = catalog.listed(Audience::Model).filter(|entry| entry.id == *skill);
        self.load_tools(entries, Until::All, &Patient)
    }

    /// A list of tools that includes the tool `name`, if it exists; take it with [`Tools::find`]. Opens
    /// only libraries that may have the tool, and waits for them until `host` cancels or its deadline
    /// passes.
    pub fn tools_named(&self, name: &str, host: &dyn Host) -> Tools {
        let catalog = self.catalog();
        self.search_tools(catalog.listed(Audience::Model).collect(), name, host)
    }

    /// Enables the libraries of a skill that were disabled because they failed, so that they can run
    /// again at once. Ends their processes.
    pub fn restart_tools(&self, skill: &SkillId) {
        let catalog = self.catalog();
        let dir = catalog.get(skill.as_str()).and_then(|entry| entry.skill.dir());
        if let (Some(toolsets), Some(dir)) = (&self.0.toolsets, dir) {
            toolsets.restart(dir);
        }
    }

    /// The tools of `skills` to list for a model, in the order of the skills.
    pub(super) fn listed_tools<'c>(&self, skills: impl IntoIterator<Item = &'c Entry>) -> Tools {
        self.load_tools(skills, Until::Patience(LIST_TIMEOUT), &Patient)
    }

    /// A list of tools of `skills` that includes the tool `name`, if it exists. If the name begins with
    /// that of a skill, the libraries of other skills are opened only if that skill does not have the
    /// tool.
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

    /// Drops the tools of skills that were removed, or that the model may no longer use.
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

/// Replaces all characters except ASCII letters and digits by `_`: names of tools and ids of skills
/// differ in the others.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
