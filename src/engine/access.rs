//! Access to skills: the skills that a caller can reach by name, their directories and scripts.

use std::path::Path;

use super::caller::Caller;
use crate::catalog::{Audience, Catalog, Entry};
use crate::error::{Error, ErrorCode};
use crate::session::SessionState;
use crate::skill::SkillId;

/// The skill that `caller` means by `name`, if the caller can reach it. The model also reaches a skill
/// for users only, once it was activated in the session.
pub(super) fn reachable<'c>(
    catalog: &'c Catalog,
    name: &str,
    caller: Caller<'_>,
) -> Result<&'c Entry, Error> {
    let Caller { audience, session } = caller;
    if audience == Audience::User {
        return catalog.find(name, Audience::Model).or_else(|_| catalog.find(name, audience));
    }
    let not_found = match catalog.find(name, Audience::Model) {
        Ok(entry) => return Ok(entry),
        Err(not_found) => not_found,
    };
    match catalog.find(name, Audience::User) {
        Ok(entry) if is_activated(&session.tolerant().state()?, &entry.id) => Ok(entry),
        _ => Err(not_found),
    }
}

/// Tells whether a skill was activated in the conversation.
pub(super) fn is_activated(state: &SessionState, skill: &SkillId) -> bool {
    state.of(skill).is_some_and(|known| known.activations > 0)
}

/// The directory of a skill.
pub(super) fn directory(entry: &Entry) -> Result<&Path, Error> {
    entry.skill.dir().ok_or_else(|| no_files(entry))
}

/// The error for a skill without a directory.
pub(super) fn no_files(entry: &Entry) -> Error {
    let message = format!("skill `{}` has no files in a directory", entry.id);
    Error::new(ErrorCode::NotFound, message, "use what its instructions say")
}

/// The paths of a skill's scripts, by which they are run.
#[cfg(feature = "scripts")]
pub(super) fn script_names(entry: &Entry) -> Vec<String> {
    use crate::script::{ScriptOptions, Scripts};
    // Requests for consent list the scripts even if this engine does not run scripts.
    let Some(owner) = crate::trust::Owner::of(entry) else { return Vec::new() };
    match Scripts::new(ScriptOptions::default(), std::sync::Arc::default()).list(&owner) {
        Ok(scripts) => scripts.into_iter().map(|script| script.path).collect(),
        Err(error) => vec![format!("(cannot be listed: {error})")],
    }
}

/// The scripts that a skill's manifest declares.
#[cfg(not(feature = "scripts"))]
pub(super) fn script_names(entry: &Entry) -> Vec<String> {
    let declared = entry.skill.manifest().scripts.iter().flatten();
    declared.map(|script| script.value.clone()).collect()
}
