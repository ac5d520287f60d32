//! The look-up of a skill by name, and the error if there is no such skill.

use super::Entry;
use super::naming::{Meant, meant};
use crate::error::{Error, ErrorCode, Remedy};

/// The skill that `name` means, in any of the [forms](super::naming) for one skill: a name that several
/// have means none, and a path that several have means the one of the highest source.
pub(super) fn find_in<'a>(entries: &[&'a Entry], name: &str) -> Option<&'a Entry> {
    let Meant { entries, by_path } = meant(entries, name);
    match entries[..] {
        [one] => Some(one),
        _ if by_path => entries.into_iter().max_by_key(|entry| entry.source),
        _ => None,
    }
}

/// The error for a user if there is no skill `name`.
pub(super) fn unknown_to_user(name: &str, known: &[&Entry]) -> Error {
    let error = not_found(name, known, SEE_LIST);
    if error.help() == SEE_LIST { error.with_remedy(Remedy::ListSkills) } else { error }
}

/// The error for a user if only the model may use the skill `name`.
pub(super) fn for_the_model(name: &str) -> Error {
    let message = format!("only the model may use skill `{name}` (`user-invocable: false`)");
    let help = "remove the field from its front matter to give users a command for it";
    Error::new(ErrorCode::NotFound, message, help)
}

/// The advice to users if no id is similar.
const SEE_LIST: &str = "look at the list of skills for those there are";

/// The error if there is no skill `name`. `help` is the advice if no id is similar.
pub(super) fn not_found(name: &str, known: &[&Entry], help: &str) -> Error {
    let same_name = known.iter().filter(|entry| entry.skill.name() == name);
    let mut nearest: Vec<&str> = same_name.map(|entry| entry.id.as_str()).collect();
    if nearest.is_empty() {
        nearest = nearest_ids(name, known);
    }
    let help = if nearest.is_empty() {
        help.to_owned()
    } else {
        format!(
            "did you mean {}?",
            nearest.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
        )
    };
    Error::new(ErrorCode::NotFound, format!("no skill `{name}`"), help)
}

/// Up to three ids that `name` may be a misspelling of, the nearest first. Compares whole ids, names and
/// last segments, without regard to case or to slashes around `name`.
fn nearest_ids<'a>(name: &str, known: &[&'a Entry]) -> Vec<&'a str> {
    const LEAST_SIMILARITY: f64 = 0.8;
    const WITHIN_BEST: f64 = 0.08;
    let name = name.trim_matches('/').to_lowercase();
    let similarity = |entry: &Entry| {
        let [id, label] = [entry.id.as_str(), entry.skill.name()].map(str::to_lowercase);
        let pairs = [(&*name, &*id), (&*name, &*label), (last_segment(&name), last_segment(&id))];
        pairs.into_iter().map(|(a, b)| strsim::jaro_winkler(a, b)).fold(0.0, f64::max)
    };
    let mut scored: Vec<(f64, &str)> = known
        .iter()
        .map(|entry| (similarity(entry), entry.id.as_str()))
        .filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let best = scored.first().map_or(0.0, |(similarity, _)| *similarity);
    scored.retain(|(similarity, _)| *similarity >= best - WITHIN_BEST);
    scored.into_iter().take(3).map(|(_, id)| id).collect()
}

fn last_segment(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
