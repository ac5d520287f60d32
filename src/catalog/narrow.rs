//! The allowlist of an agent, applied to the skills of all sources.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::naming::{Named, may_name};
use super::place_set::PlaceSet;
use super::rejected::Rejected;
use super::visibility::Allowlist;
use super::{Catalog, Entry};
use crate::diagnostic::{Code, Diagnostic};
use crate::skill::SkillId;

impl Catalog {
    /// Returns the catalog of an agent for which only the skills that `allowlist` names exist, of those that
    /// exist here. It is the catalog that a load with both allowlists would give.
    pub(crate) fn narrowed(&self, allowlist: &Allowlist) -> Catalog {
        let named = Named::new(self.entries.iter());
        let (allowed, unknown) = allowed(allowlist, &named);
        let allowed = PlaceSet::of(self.entries.len(), |place| {
            self.allowed.has(place) && is_allowed(&self.entries[place], &allowed)
        });
        let may_exist = |skill: &&Rejected| allowlist.may_allow(&skill.names());
        let rejected: Vec<Rejected> = self.rejected.iter().filter(may_exist).cloned().collect();
        let unknown: Vec<Diagnostic> = unknown_names(unknown, &rejected).collect();
        let diagnostics = if unknown.is_empty() {
            Arc::clone(&self.diagnostics)
        } else {
            unknown.into_iter().chain(self.diagnostics.iter().cloned()).collect()
        };
        Catalog { entries: Arc::clone(&self.entries), allowed, diagnostics, rejected }
    }
}

/// Returns the ids of the skills that each list of `allowlist` names, and the entries that name no skill.
pub(super) fn allowed<'o>(
    allowlist: &'o Allowlist,
    named: &Named<'_>,
) -> (Vec<BTreeSet<SkillId>>, Vec<&'o str>) {
    let (mut allowed, mut unknown) = (Vec::new(), Vec::new());
    for list in allowlist.lists() {
        let mut ids_of_list = BTreeSet::new();
        for written in list {
            let ids = named.ids(written);
            if ids.is_empty() {
                unknown.push(written.as_str());
            }
            ids_of_list.extend(ids);
        }
        allowed.push(ids_of_list);
    }
    (allowed, unknown)
}

/// Tells whether each list, given as the ids that it names, has a skill.
pub(super) fn is_allowed(entry: &Entry, allowed: &[BTreeSet<SkillId>]) -> bool {
    allowed.iter().all(|ids| ids.contains(&entry.id))
}

/// The findings about those of `names`, entries of an allowlist for which no skill was loaded, that name none
/// of the skills whose files were rejected either.
pub(super) fn unknown_names(
    names: Vec<&str>,
    rejected: &[Rejected],
) -> impl Iterator<Item = Diagnostic> {
    names.into_iter().filter(|name| !names_rejected(name, rejected)).map(not_allowed)
}

/// Tells whether a name for which no skill was loaded is that of a skill whose file was rejected.
pub(super) fn names_rejected(name: &str, rejected: &[Rejected]) -> bool {
    rejected.iter().any(|rejected| may_name(name, &rejected.names()))
}

/// The finding about a name in the allowlist for which there is no skill.
fn not_allowed(name: &str) -> Diagnostic {
    let message = format!("the allowlist names `{name}`, but there is no such skill");
    let help = "correct the id, or remove it from the allowlist";
    Diagnostic::new(Code::UnknownSkill, Path::new(""), message, help)
}
