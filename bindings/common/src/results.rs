//! Facts about skills, in the form that both bindings return.

use repertoire::catalog::Entry;
use repertoire::skill::Triggers;

/// The status of a skill in its catalog, in the form that a host reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFacts {
    /// `available`, `unavailable`, `shadowed` or `disabled`.
    pub status: String,
    /// The reason why the model cannot use the skill.
    pub reason: Option<String>,
    /// `bundled`, `user`, `project` or `memory`.
    pub scope: String,
}

/// Returns the status of an entry of the catalog.
pub fn status_of(entry: &Entry) -> EntryFacts {
    EntryFacts {
        status: entry.status.as_str().to_owned(),
        reason: entry.reason(),
        scope: entry.scope.as_str().to_owned(),
    }
}

/// Returns the triggers of a skill by kind, in the order in which the documentation lists the kinds.
pub fn triggers_of(triggers: &Triggers) -> [(&'static str, Vec<String>); 5] {
    [
        ("keywords", &triggers.keywords),
        ("verbs", &triggers.verbs),
        ("patterns", &triggers.patterns),
        ("exclude", &triggers.exclude),
        ("paths", &triggers.paths),
    ]
    .map(|(kind, list)| (kind, list.iter().map(|trigger| trigger.value.clone()).collect()))
}
