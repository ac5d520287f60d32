//! The look-up of a skill by name, and the error if there is no such skill.

use std::path::Path;

use super::{Entry, is_skill_file};
use crate::error::{Error, ErrorCode, Remedy};

/// The skill that `name` means: the one with this id, else with this path, else with this name if it is
/// unique.
pub(super) fn find_in<'a>(entries: &[&'a Entry], name: &str) -> Option<&'a Entry> {
    let by_id = entries.iter().find(|entry| entry.id == name);
    let path = Path::new(name);
    let by_path = || {
        let at_path = entries.iter().filter(|entry| answers_to_path(entry, path));
        at_path.max_by_key(|entry| entry.source)
    };
    let by_name = || {
        let mut named = entries.iter().filter(|entry| entry.skill.name() == name);
        named.next().filter(|_| named.next().is_none())
    };
    by_id.or_else(by_path).or_else(by_name).copied()
}

/// Tells whether `path` is that of the skill's directory or file: relative to the source's root, beginning
/// with the root as the source gives it, or absolute.
fn answers_to_path(entry: &Entry, path: &Path) -> bool {
    let dir = match path.file_name() {
        Some(name) if is_skill_file(name) => path.parent().unwrap_or(path),
        _ => path,
    };
    is_below_root(dir, &entry.relative_path)
        || entry.skill.dir().is_some_and(|known| leads_to(dir, known))
}

/// Tells whether `path` is `relative`, the path of a directory from the root of its source.
pub(super) fn is_below_root(path: &Path, relative: &str) -> bool {
    !relative.is_empty() && without_dot(path) == Path::new(relative)
}

/// Tells whether `path` is `known`, a path as its source gives it, or the absolute form of it: a relative
/// `known` is read from the working directory.
pub(super) fn leads_to(path: &Path, known: &Path) -> bool {
    let plain = without_dot(known);
    without_dot(path) == plain
        || path.ends_with(plain) && std::path::absolute(known).is_ok_and(|known| known == path)
}

fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
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
