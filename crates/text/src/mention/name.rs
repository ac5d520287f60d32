//! Names: finds a name by its literals, locates its whole range, and tells the strength of a mention
//! from the text around that range.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::about::{is_about, is_in_skill_path};
use super::clause::{Clause, Lines};
use super::denial::{self, DETERMINERS};
use super::lexicon::roles;
use super::parts::is_denied_after;
use super::words::{After, Before};
use super::{Reading, SIGILS, Strength, is_quote};
use crate::boundary;

/// The maximum number of words of a name that are looked for as literals, with blanks or hyphens between
/// them. Further words are compared in place. A name is therefore two literals, where all mixes of four
/// words would be eight.
const MAX_HEAD_WORDS: usize = 2;

/// The maximum number of words of a name for which every mix of blanks and hyphens counts as the name,
/// when the skills that declare the same literal are counted.
const MAX_FORM_WORDS: usize = 4;

/// Returns the words of a name; none if the name has none, or is an id with a `/`.
fn words(folded: &str, is_id: bool) -> Vec<&str> {
    if is_id && folded.contains('/') {
        return Vec::new();
    }
    folded.split([' ', '-']).filter(|word| !word.is_empty()).collect()
}

/// Joins words in every mix of blanks and hyphens.
fn joined(words: &[&str]) -> Vec<String> {
    let mut joined = vec![words.first().map_or_else(String::new, ToString::to_string)];
    for word in words.iter().skip(1) {
        joined = joined
            .iter()
            .flat_map(|before| [' ', '-'].map(|by| format!("{before}{by}{word}")))
            .collect();
    }
    joined
}

/// A name or an id as it may stand in a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Name {
    /// The folded words after those in the literals.
    tail: Box<[Box<str>]>,
    /// The number of words in all.
    pub n_words: usize,
    /// True for ids: `/`, `$` or `@` before one makes it a mention.
    pub(super) is_id: bool,
}

impl Name {
    /// Makes a name from its folded form, with the literals to look for: the beginning of the name, or
    /// all of it. Hyphens and blanks count as equal.
    pub fn new(folded: &str, is_id: bool) -> (Name, Vec<String>) {
        let words = words(folded, is_id);
        if words.is_empty() {
            return (Name { tail: Box::default(), n_words: 1, is_id }, vec![folded.to_owned()]);
        }
        // A name with further blanks and hyphens, such as `-a-`, is also found as it is, so all of
        // it is looked for.
        let is_plain = folded.split([' ', '-']).count() == words.len();
        let n_head = if is_plain { MAX_HEAD_WORDS } else { MAX_FORM_WORDS };
        let (head, tail) = words.split_at(words.len().min(n_head));
        let mut literals = joined(head);
        if tail.is_empty() && !is_plain {
            literals.push(folded.to_owned());
        }
        let tail = tail.iter().map(|&word| word.into()).collect();
        (Name { tail, n_words: words.len(), is_id }, literals)
    }

    /// Returns all literals that count as the name when its rarity is counted.
    pub fn forms(folded: &str, is_id: bool) -> Vec<String> {
        let words = words(folded, is_id);
        let is_short = (1..=MAX_FORM_WORDS).contains(&words.len());
        let mut forms = if is_short { joined(&words) } else { Vec::new() };
        if !forms.iter().any(|form| form == folded) {
            forms.push(folded.to_owned());
        }
        forms
    }

    /// Returns the range of the name whose literal was found at `found`; `None` if its further words are
    /// missing, or if the name is a part of a longer word.
    pub fn locate(&self, text: &str, found: Range<usize>) -> Option<Range<usize>> {
        let end = self.tail.iter().try_fold(found.end, |end, word| {
            let rest = text[end..].strip_prefix([' ', '-'])?;
            rest.starts_with(&**word).then_some(end + 1 + word.len())
        })?;
        let stands_alone = boundary::opens(text, found.start, end) && boundary::closes(text, end);
        stands_alone.then_some(found.start..end)
    }

    /// Reads the context of the name at `range`.
    pub fn read(&self, lines: Lines<'_>, range: &Range<usize>) -> Reading {
        let (mut strength, is_token, start) = weigh(self, lines, range);
        // A command on a line of its own has nothing to do with the line above.
        let is_command = is_token && (start == 0 || lines.starts_line(start));
        let is_denied = strength.is_some()
            && !is_command
            && (denial::is_denied(lines, start) || is_denied_after(lines, start, range.end));
        let is_strong = strength == Some(Strength::Strong);
        let is_about = match strength {
            Some(_) => !is_denied && !is_command && is_about(lines, &(start..range.end)),
            None => is_in_skill_path(lines.text, range),
        };
        if is_about && (is_strong || strength.is_none()) {
            strength = Some(Strength::Weak);
        }
        Reading { strength, is_token, is_denied, is_about }
    }
}

/// The verb whose object may be a name of several words, whether written with blanks or with hyphens.
const USE: &str = "use";

/// Verbs whose object is a name only if it is written with hyphens, as ids are: "run code-review"
/// is about the skill, "we are using react native" is not.
const VERBS_OF_IDS: [&str; 4] = ["using", "run", "invoke", "call"];

/// Returns the strength of the mention of `name` at `range`, true if it is a whole token with a sigil,
/// and the start of the text that makes it a mention: the sigil, the word "skill" or the name.
fn weigh(name: &Name, lines: Lines<'_>, range: &Range<usize>) -> (Option<Strength>, bool, usize) {
    let text = lines.text;
    if name.is_id
        && let Some(start) = token_start(text, range)
    {
        return (Some(Strength::Strong), true, start);
    }
    if is_in_path(text, range) {
        return (None, false, range.start);
    }
    if before_the_word_skill(lines, range) {
        return (Some(Strength::Strong), false, range.start);
    }
    if let Some(start) = after_the_word_skill(lines, range) {
        return (Some(Strength::Strong), false, start);
    }
    let is_object = name.n_words > 1 && is_object_of_verb(lines, range);
    let strength = if is_object { Strength::Strong } else { Strength::Weak };
    (Some(strength), false, range.start)
}

/// Returns the start of the token that consists of the id at `range`, a sigil and perhaps a plugin:
/// `/deploy`, `@tools:deploy.`; not `/tmp/deploy`, `/deploy-all` or `/deploy.sh`.
fn token_start(text: &str, range: &Range<usize>) -> Option<usize> {
    // In `/deploy api` the token is `/deploy`, even if there is a skill `deploy-api`.
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

/// Tells whether a token ends at `end`, not counting its punctuation.
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

/// Tells whether a token starts after `before` and ends in `after`, ignoring quotes, brackets and
/// emphasis: `**/deploy**`, but not a pattern such as `**/deploy*`.
fn starts_token(before: &str, after: &str) -> bool {
    let n_stars = before.len() - before.trim_end_matches('*').len();
    let n_after = after.len() - after.trim_start_matches('*').len();
    let is_emphasized = n_stars == 2 && n_after == 2;
    let before = if is_emphasized { &before[..before.len() - 2] } else { before };
    let before = before.trim_end_matches(|c| "'\"`“‘«「『（([{<".contains(c));
    let after = after.trim_start_matches(|c| "*'\"`”’»」』）)]}>".contains(c));
    (before.is_empty() || before.ends_with(' ')) && !after.starts_with(['/', '\\'])
}

/// Tells whether a word for skills follows `range`, ignoring quotes: "the deploy skill", `deploy 技能`, but
/// not `web-deploy skill`.
fn before_the_word_skill(lines: Lines<'_>, range: &Range<usize>) -> bool {
    let joined = lines.text[..range.start].strip_suffix('-');
    if joined.and_then(|before| before.chars().next_back()).is_some_and(boundary::is_word) {
        return false;
    }
    // A line may be wrapped between the two.
    After::new(Lines::joined(lines.text), range.end).next().is_some_and(means_skill)
}

/// Returns the start of a word for skills before `range`, ignoring quotes, a sigil and a colon: "skill
/// deploy", "skill: `deploy`", but not `skill deploy-web`, nor on the line above.
fn after_the_word_skill(lines: Lines<'_>, range: &Range<usize>) -> Option<usize> {
    let text = lines.text;
    let before = text[..range.start].trim_end_matches(|c| is_quote(c) || SIGILS.contains(&c));
    if lines.starts_line(before.len()) {
        return None;
    }
    let bare = before.trim_end_matches([' ', ':', '=']);
    let word = Before::new(lines, bare.len()).next()?;
    if !means_skill(word) || !bare.ends_with(word) {
        return None;
    }
    let is_apart = before.len() > bare.len() || boundary::opens(text, before.len(), range.end);
    (is_apart && ends_token(text, range.end)).then_some(bare.len() - word.len())
}

fn means_skill(word: &str) -> bool {
    roles(word).is_some_and(|word| word.skill != 0)
}

/// Tells whether a verb stands before `range`, directly or with a determiner in between.
fn is_object_of_verb(lines: Lines<'_>, range: &Range<usize>) -> bool {
    let text = lines.text;
    let mut words = Clause::before(lines, range.start);
    let mut verb = words.next();
    if verb.is_some_and(|word| DETERMINERS.contains(&word)) {
        verb = words.next();
    }
    let is_written_as_id = || !text[range.clone()].contains(' ');
    let is_verb = |verb| verb == USE || (VERBS_OF_IDS.contains(&verb) && is_written_as_id());
    verb.is_some_and(is_verb) && ends_token(text, range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_by_its_beginning_or_its_own_form() {
        for (name, literals, forms) in [
            ("a", &["a"][..], 1),
            ("-a-", &["a", "-a-"], 2),
            ("--", &["--"], 1),
            ("a-b", &["a b", "a-b"], 2),
            ("a-b-c", &["a b", "a-b"], 4),
            ("a-b-c-d-e-f-g", &["a b", "a-b"], 1),
            ("pr: a - b", &["pr: a b", "pr: a-b", "pr:-a b", "pr:-a-b", "pr: a - b"], 5),
        ] {
            assert_eq!(Name::new(name, false).1, literals, "{name}");
            assert_eq!(Name::forms(name, false).len(), forms, "{name}");
        }
        assert_eq!(Name::new("a/b c", true).1, ["a/b c"]);
    }
}
