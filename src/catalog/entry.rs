//! One skill of a catalog: whether it can be used, and why not.

use std::path::Path;
use std::sync::Arc;

use super::exposure::Exposure;
use super::{Entry, Status};

impl Entry {
    /// Tells whether the skill can be used.
    pub fn is_available(&self) -> bool {
        self.status == Status::Available
    }

    /// The reason why the model cannot use the skill, in a phrase, from its status or its front matter.
    pub fn reason(&self) -> Option<String> {
        let manifest = self.skill.manifest();
        let by_exposure = || {
            let is_manual = self.exposure == Exposure::Manual;
            is_manual.then(|| "only the user can invoke it (`manual` in `skills.show`)".to_owned())
        };
        let by_fields = || {
            let reason = if manifest.is_unreachable() {
                "nobody can use it: `user-invocable` keeps it from the user and \
                 `disable-model-invocation` (or `user_invocable_only`, or `agents/openai.yaml`) from \
                 the model"
            } else if manifest.closed_by_policy {
                "only the user can invoke it (`allow_implicit_invocation` in `agents/openai.yaml`)"
            } else {
                "only the user can invoke it (`disable-model-invocation`)"
            };
            manifest.is_model_invocation_disabled().then(|| reason.to_owned()).or_else(by_exposure)
        };
        self.status.reason().or_else(by_fields)
    }

    /// The remedy for a skill that nobody can use; `None` if another skill wins over it.
    pub fn remedy(&self) -> Option<String> {
        match self.status {
            Status::Available if self.skill.manifest().is_unreachable() => {
                Some("remove one of the two fields from its front matter".to_owned())
            }
            Status::Available | Status::Shadowed { .. } => None,
            Status::Unavailable { .. } => Some("provide what it requires".to_owned()),
            Status::Disabled { .. } => {
                Some("enable it, or remove it from the disabled skills".to_owned())
            }
        }
    }

    /// Tells whether the skill is listed in every catalog prompt.
    pub fn is_always(&self) -> bool {
        self.exposure == Exposure::Pinned || self.skill.manifest().is_always()
    }

    /// Tells whether a project, and not the user, chose the skill.
    pub(crate) fn is_of_project(&self) -> bool {
        self.of_project
    }

    /// Tells whether another skill with the same id wins over this one.
    pub fn is_shadowed(&self) -> bool {
        matches!(self.status, Status::Shadowed { .. })
    }

    /// The directory below which the skill's sub-skills are. `None` for a skill at the root of a source:
    /// its directory holds all skills of the source.
    pub(super) fn dir_of_sub_skills(&self) -> Option<&Path> {
        self.skill.dir_location().filter(|_| !self.relative_path.is_empty())
    }

    /// Tells whether `other`, an entry with the same id, has the same skill, origin and status.
    pub(super) fn is_the_same_as(&self, other: &Entry) -> bool {
        Arc::ptr_eq(&self.skill, &other.skill)
            && (self.scope, &self.relative_path) == (other.scope, &other.relative_path)
            && (&self.status, self.exposure) == (&other.status, other.exposure)
    }
}
