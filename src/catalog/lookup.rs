//! The look-up of a skill by name, and the error if there is no such skill.

use std::borrow::Cow;

use super::naming::{Meant, meant};
use super::{Audience, Catalog, Entry};
use crate::error::{Error, ErrorCode, Remedy};

impl Catalog {
    /// The skill that `audience` means by `name`, as [`Catalog::find`] has it, and the arguments for it. In place of
    /// a name there may be a whole command, such as `/review PR 42` or `$review PR 42`, as in a message.
    pub(crate) fn find_with_args<'a>(
        &self,
        name: &str,
        args: &'a str,
        audience: Audience,
    ) -> Result<(&Entry, Cow<'a, str>), Error> {
        let not_found = match self.find(name, audience) {
            Ok(entry) => return Ok((entry, Cow::Borrowed(args))),
            Err(error) => error,
        };
        let Some((word, own_args)) = command(name) else { return Err(not_found) };
        let entry = self.find(word, audience).map_err(|_| not_found)?;
        Ok((entry, Cow::Owned(format!("{own_args} {args}").trim_end().to_owned())))
    }
}

/// Splits a command with arguments into its first word, with the sigil, and the arguments.
fn command(text: &str) -> Option<(&str, &str)> {
    let (word, args) = text.trim().split_once(char::is_whitespace)?;
    let name = word.strip_prefix(['/', '$', '@'])?;
    name.starts_with(|c: char| !"/$@#".contains(c)).then(|| (word, args.trim_start()))
}

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
