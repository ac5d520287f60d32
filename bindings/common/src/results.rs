//! Facts about skills, in the form in which both bindings show them.

use repertoire::catalog::Entry;
use repertoire::skill::Triggers;

/// The status of a skill in its catalog, as a host reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFacts {
    /// `available`, `unavailable`, `shadowed` or `disabled`.
    pub status: String,
    /// The reason why the model cannot use it.
    pub reason: Option<String>,
    /// `bundled`, `user`, `project` or `memory`.
    pub scope: String,
}

/// The status of a catalog's entry.
pub fn status_of(entry: &Entry) -> EntryFacts {
    EntryFacts {
        status: entry.status.as_str().to_owned(),
        reason: entry.reason(),
        scope: entry.scope.as_str().to_owned(),
    }
}

/// The triggers of a skill by their kind, in the order of the front matter's documentation.
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
