//! The strength of a mention: strong if the message asks for the skill by the name, else weak.

use std::ops::Range;

use super::clause::{Clause, DETERMINERS};
use super::name::Name;
use super::{SIGILS, Strength, is_quote};
use crate::matcher::text::boundary;

/// The verb whose object may be a name of several words, however that is written.
const USE: &str = "use";

/// Verbs whose object is a name only if it is written with hyphens, as ids are: "run code-review"
/// is about the skill, "we are using react native" is not.
const VERBS_OF_IDS: [&str; 4] = ["using", "run", "invoke", "call"];

/// The strength of the mention by `name` at `range`, whether it is a whole token with a sigil, and
/// the start of what makes it a mention: the sigil, the word "skill" or the name.
pub(super) fn weigh(
    name: &Name,
    text: &str,
    range: &Range<usize>,
) -> (Option<Strength>, bool, usize) {
    if name.is_id
        && let Some(start) = token_start(text, range)
    {
        return (Some(Strength::Strong), true, start);
    }
    if is_in_path(text, range) {
        return (None, false, range.start);
    }
    if before_the_word_skill(text, range) {
        return (Some(Strength::Strong), false, range.start);
    }
    if let Some(start) = after_the_word_skill(text, range) {
        return (Some(Strength::Strong), false, start);
    }
    let is_object = name.n_words > 1 && is_object_of_verb(text, range);
    let strength = if is_object { Strength::Strong } else { Strength::Weak };
    (Some(strength), false, range.start)
}

/// The start of the token that consists of the id at `range`, a sigil and perhaps a plugin:
/// `/deploy`, `@tools:deploy.`; not `/tmp/deploy`, `/deploy-all` or `/deploy.sh`.
fn token_start(text: &str, range: &Range<usize>) -> Option<usize> {
    // In `/deploy api` the token is `/deploy`, also where a skill is called `deploy-api`.
    if text[range.clone()].contains(' ') {
        return None;
    }
    let mut before = &text[..range.start];
    if let Some(plugin) = before.strip_suffix(':') {
        before = plugin.trim_end_matches(|c| boundary::is_word(c) || c == '-' || c == '.');
        if before.len() == plugin.len() {
            return None;
        }
    }
    let before = before.strip_suffix(SIGILS)?;
    let starts = before.is_empty() || before.ends_with(' ');
    (starts && ends_token(text, range.end)).then_some(before.len())
}

/// Tells whether a token, its punctuation aside, ends at `end`.
fn ends_token(text: &str, end: usize) -> bool {
    let mut after = text[end..].chars();
    match after.next() {
        Some('/' | '\\') => false,
        Some('-' | '.' | ':' | '@') => !after.next().is_some_and(boundary::is_word),
        _ => true,
    }
}

/// Tells whether `range` is a part of a path: neither in `/tmp/deploy` nor in the id `deploy/web`
/// does `deploy` stand alone. In `"/deploy"` it does.
fn is_in_path(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].strip_suffix(['/', '\\']);
    let after = text[range.end..].strip_prefix(['/', '\\']);
    before.is_some_and(|before| !starts_token(before, &text[range.end..]))
        || after.is_some_and(|after| after.chars().next().is_some_and(boundary::is_word))
}

/// Tells whether a token starts after `before` and ends in `after`, quotes, brackets and emphasis
/// aside: `**/deploy**`, but not a pattern such as `**/deploy*`.
fn starts_token(before: &str, after: &str) -> bool {
    let n_stars = before.len() - before.trim_end_matches('*').len();
    let n_after = after.len() - after.trim_start_matches('*').len();
    let is_emphasized = n_stars == 2 && n_after == 2;
    let before = if is_emphasized { &before[..before.len() - 2] } else { before };
    let before = before.trim_end_matches(|c| "'\"`“‘«「『（([{<".contains(c));
    let after = after.trim_start_matches(|c| "*'\"`”’»」』）)]}>".contains(c));
    (before.is_empty() || before.ends_with(' ')) && !after.starts_with(['/', '\\'])
}

const SKILL: &str = "skill";

/// Tells whether the word "skill" follows `range`, quotes aside: "the deploy skill", but not
/// `web-deploy skill`.
fn before_the_word_skill(text: &str, range: &Range<usize>) -> bool {
    let joined = text[..range.start].strip_suffix('-');
    if joined.and_then(|before| before.chars().next_back()).is_some_and(boundary::is_word) {
        return false;
    }
    let after = text[range.end..].trim_start_matches(is_quote);
    let after = after.strip_prefix([' ', '-']).and_then(|after| after.strip_prefix(SKILL));
    after.is_some_and(|rest| !rest.chars().next().is_some_and(boundary::is_word))
}

/// The start of the word "skill" before `range`, quotes, a sigil and a colon aside: "skill deploy",
/// "skill: `deploy`", but not `skill deploy-web`.
fn after_the_word_skill(text: &str, range: &Range<usize>) -> Option<usize> {
    let before = text[..range.start].trim_end_matches(|c| is_quote(c) || SIGILS.contains(&c));
    let before = before.strip_suffix([' ', ':', '='])?;
    let before = before.strip_suffix(':').unwrap_or(before);
    let before = before.strip_suffix(SKILL)?;
    let is_word = !before.chars().next_back().is_some_and(boundary::is_word);
    (is_word && ends_token(text, range.end)).then_some(before.len())
}

/// Tells whether a verb stands directly before `range`, a determiner aside.
fn is_object_of_verb(text: &str, range: &Range<usize>) -> bool {
    let mut words = Clause::before(text, range.start);
    let mut verb = words.next();
    if verb.is_some_and(|word| DETERMINERS.contains(&word)) {
        verb = words.next();
    }
    let is_written_as_id = || !text[range.clone()].contains(' ');
    let is_verb = |verb| verb == USE || (VERBS_OF_IDS.contains(&verb) && is_written_as_id());
    verb.is_some_and(is_verb) && ends_token(text, range.end)
}
