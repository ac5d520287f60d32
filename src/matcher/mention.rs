//! Explicit mentions: where a message names a skill, not merely uses a word of its.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::boundary;

/// So many words of a name are looked up in every mix of blanks and hyphens; the words after
/// them are compared in place. Eight literals a name at most.
const MAX_HEAD_WORDS: usize = 4;

/// Characters that make the id after them a mention.
const SIGILS: [char; 3] = ['/', '$', '@'];

/// A name or an id as it may stand in a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Name {
    /// Folded words after those in the literals.
    tail: Box<[Box<str>]>,
    /// Words in all.
    pub(crate) n_words: usize,
    /// Whether `/`, `$` or `@` before it makes it a mention: so for ids.
    is_id: bool,
}

/// How a name was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// The skill is meant.
    Explicit,
    /// The word occurs, as it also does in messages about something else.
    Plain,
}

impl Name {
    /// A name from its folded form, with the literals by which it is found: hyphens and blanks
    /// are equal.
    pub(crate) fn new(folded: &str, is_id: bool) -> (Name, Vec<String>) {
        let words: Vec<&str> = folded.split([' ', '-']).filter(|w| !w.is_empty()).collect();
        let is_path = is_id && folded.contains('/');
        if is_path || words.is_empty() {
            let name = Name { tail: Box::default(), n_words: 1, is_id };
            return (name, vec![folded.to_owned()]);
        }
        let (head, tail) = words.split_at(words.len().min(MAX_HEAD_WORDS));
        let mut literals = vec![head[0].to_owned()];
        for word in &head[1..] {
            literals = literals
                .iter()
                .flat_map(|l| [' ', '-'].map(|by| format!("{l}{by}{word}")))
                .collect();
        }
        if tail.is_empty() && !literals.iter().any(|l| l == folded) {
            literals.push(folded.to_owned());
        }
        let tail = tail.iter().map(|&word| word.into()).collect();
        (Name { tail, n_words: words.len(), is_id }, literals)
    }

    /// How the name is used in `text`, where one of its literals stands at `found`, and where it
    /// ends; `None` if it is not the name after all.
    pub(crate) fn examine(&self, text: &str, found: Range<usize>) -> Option<(Use, Range<usize>)> {
        let end = self.tail.iter().try_fold(found.end, |end, word| {
            let rest = text[end..].strip_prefix([' ', '-'])?;
            rest.starts_with(&**word).then_some(end + 1 + word.len())
        })?;
        if !boundary::opens(text, found.start, end) || !boundary::closes(text, end) {
            return None;
        }
        let range = found.start..end;
        let explicit = self.n_words > 1
            || (self.is_id && has_sigil(text, &range))
            || beside_the_word_skill(text, &range);
        if explicit {
            return Some((Use::Explicit, range));
        }
        (!is_in_path(text, &range)).then_some((Use::Plain, range))
    }
}

/// Whether `range` is a part of a path: neither in `/tmp/deploy` nor in the id `deploy/web` does
/// `deploy` stand alone. In `"/deploy"` it does.
fn is_in_path(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].strip_suffix(['/', '\\']);
    let after = text[range.end..].strip_prefix(['/', '\\']);
    before.is_some_and(|before| !starts_token(before, &text[range.end..]))
        || after.is_some_and(|after| after.chars().next().is_some_and(boundary::is_word))
}

/// Whether what follows `before` starts a token, quotes, brackets and emphasis around it aside, of which
/// `after` has the end: `**/deploy**`, but no pattern such as `**/deploy*`.
fn starts_token(before: &str, after: &str) -> bool {
    let n_stars = before.len() - before.trim_end_matches('*').len();
    let n_after = after.len() - after.trim_start_matches('*').len();
    let is_emphasized = n_stars == 2 && n_after == 2;
    let before = if is_emphasized { &before[..before.len() - 2] } else { before };
    let before = before.trim_end_matches(|c| "'\"`“‘«「『（([{<".contains(c));
    let after = after.trim_start_matches(|c| "*'\"`”’»」』）)]}>".contains(c));
    (before.is_empty() || before.ends_with(' ')) && !after.starts_with(['/', '\\'])
}

/// Whether a sigil at the start of a token, and nothing else of it, stands around `range`:
/// `/deploy` and `do /deploy.` name `deploy`; `/tmp/deploy`, `/deploy-all` and `/deploy.sh` do not.
fn has_sigil(text: &str, range: &Range<usize>) -> bool {
    let before = &text[..range.start];
    let starts_token =
        before.strip_suffix(SIGILS).is_some_and(|b| b.is_empty() || b.ends_with(' '));
    let mut after = text[range.end..].chars();
    let ends_token = match after.next() {
        Some('/' | '\\') => false,
        Some('-' | '.' | ':' | '@') => !after.next().is_some_and(boundary::is_word),
        _ => true,
    };
    starts_token && ends_token
}

/// Whether the word "skill" stands beside `range`, quotes and a colon aside.
fn beside_the_word_skill(text: &str, range: &Range<usize>) -> bool {
    const WORD: &str = "skill";
    let is_quote = |c: char| "'\"`*“”‘«»「」".contains(c);
    let after = text[range.end..].trim_start_matches(is_quote);
    if let Some(rest) = after.strip_prefix([' ', '-']) {
        let ends = |rest: &str| !rest.chars().next().is_some_and(boundary::is_word);
        if rest.strip_prefix(WORD).is_some_and(ends) {
            return true;
        }
    }
    let before = text[..range.start].trim_end_matches(|c| is_quote(c) || SIGILS.contains(&c));
    let Some(before) = before.strip_suffix([' ', ':', '=']) else { return false };
    let before = before.strip_suffix(':').unwrap_or(before);
    before
        .strip_suffix(WORD)
        .is_some_and(|rest| !rest.chars().next_back().is_some_and(boundary::is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strongest use of the name in the text.
    fn use_of(name: &str, is_id: bool, text: &str) -> Option<Use> {
        let (name, literals) = Name::new(name, is_id);
        let uses = literals.iter().flat_map(|l| {
            text.match_indices(l.as_str())
                .filter_map(|(at, l)| name.examine(text, at..at + l.len()))
                .map(|(found, _)| found)
                .collect::<Vec<_>>()
        });
        uses.max_by_key(|&found| found == Use::Explicit)
    }

    #[test]
    fn mentions_are_told_from_words() {
        use Use::{Explicit, Plain};
        let cases = [
            ("deploy", "/deploy to staging", Some(Explicit)),
            ("deploy", "please $deploy.", Some(Explicit)),
            ("deploy", "@deploy, now", Some(Explicit)),
            ("deploy", "deploy to staging", Some(Plain)),
            ("deploy", "ls /tmp/deploy", None),
            ("deploy", "and/or deploy/", Some(Plain)),
            ("deploy", "/deploy- now", Some(Explicit)),
            ("deploy", "run /deploy.sh", Some(Plain)),
            ("deploy", "/deploy-all", Some(Plain)),
            ("deploy", "/deploy/all", None),
            ("deploy", "run `/deploy` now", Some(Plain)),
            ("deploy", "(\"/deploy\", please)", Some(Plain)),
            ("deploy", "it is “/deploy prod”", Some(Plain)),
            ("deploy", "**/deploy** it", Some(Plain)),
            ("deploy", "all of **/deploy", None),
            ("deploy", "add **/deploy* and `*/deploy*`", None),
            ("deploy", "in **/deploy**/x", None),
            ("deploy", "cp \"/deploy\"/out (/deploy)/x '/deploy'/*", None),
            ("deploy", "`/tmp/deploy`", None),
            ("deploy", "\"$HOME\"/deploy", None),
            ("deploy", "https://deploy", None),
            ("deploy", "see ./deploy", None),
            ("deploy", "mail me@deploy", Some(Plain)),
            ("deploy", "/deployment", None),
            ("deploy", "use the deploy skill", Some(Explicit)),
            ("deploy", "use the \"deploy\" skill!", Some(Explicit)),
            ("deploy", "use skill deploy", Some(Explicit)),
            ("deploy", "use skill: `deploy`", Some(Explicit)),
            ("deploy", "deploy skills", Some(Plain)),
            ("deploy", "unskill deploy", Some(Plain)),
            ("sven/plan", "/sven/plan it", Some(Explicit)),
            ("sven/plan", "see sven/plan", Some(Plain)),
            ("sven", "/sven/plan it", None),
            ("code-review", "do a code review", Some(Explicit)),
            ("code review", "do a code-review", Some(Explicit)),
            ("code-review", "code reviews", None),
            ("ci/cd pipeline", "a ci/cd-pipeline", None),
            ("a-b-c-d-e-f", "a b-c d e-f!", Some(Explicit)),
            ("a-b-c-d-e-f", "a b c d e fg", None),
            ("a-b-c-d-e-f", "a b c d e", None),
        ];
        for (name, text, expected) in cases {
            assert_eq!(use_of(name, true, text), expected, "{name} in {text:?}");
        }
        assert_eq!(use_of("ci/cd pipeline", false, "a ci/cd-pipeline"), Some(Explicit));
        assert_eq!(use_of("deploy", false, "/deploy"), Some(Plain), "only ids take a sigil");
    }

    #[test]
    fn a_name_is_at_most_eight_literals_and_its_own_form() {
        assert_eq!(Name::new("a-b-c-d-e-f-g", true).1.len(), 8);
        assert_eq!(
            Name::new("pr: a - b", false).1,
            ["pr: a b", "pr: a-b", "pr:-a b", "pr:-a-b", "pr: a - b"]
        );
        assert_eq!(Name::new("--", false).1, ["--"]);
    }
}
