//! Denied mentions: "not x", "instead of x", "just finished /x".
//!
//! A mention is denied by a denial before it in the same clause, if only a few words are between the two
//! and each is in a closed list: "do *not* want to use the x skill". Any other word ends the search, so
//! that "do not forget to run /x" and "not only x" deny nothing.

use super::{SIGILS, is_quote};

/// The maximum number of words between a denial and the mention.
const MAX_BETWEEN: usize = 5;

/// Words that may stand between a denial and the mention, besides [`DETERMINERS`] and [`VERBS`].
#[rustfmt::skip]
const BETWEEN: [&str; 40] = [
    "a", "about", "actually", "again", "an", "any", "ask", "asking", "automatically", "be", "bother",
    "both", "by", "do", "either", "even", "ever", "for", "from", "going", "have", "help", "longer",
    "looking", "more", "need", "of", "really", "skill", "skills", "talking", "that", "this", "to",
    "try", "trying", "used", "want", "with", "yet",
];

/// Verbs for the use of a skill.
#[rustfmt::skip]
const VERBS: [&str; 20] = [
    "activate", "activating", "apply", "applying", "call", "calling", "execute", "executing",
    "fire", "invoke", "invoking", "load", "loading", "run", "running", "start", "starting",
    "trigger", "use", "using",
];

/// Words that deny wherever they stand.
const DENIALS: [&str; 6] = ["completed", "finished", "neither", "nor", "nothing", "unrelated"];

/// Contractions of "not" without their apostrophe.
#[rustfmt::skip]
const UNMARKED: [&str; 12] = [
    "arent", "cant", "couldnt", "didnt", "doesnt", "dont", "hasnt", "havent", "isnt", "shouldnt",
    "wasnt", "wont",
];

/// The ends of contractions of "not", with characters that are typed for an apostrophe.
const CONTRACTED: [&str; 4] = ["n't", "n`t", "n‘t", "n′t"];

/// Verbs that deny their object, unless they are denied themselves.
#[rustfmt::skip]
const REFUSALS: [&str; 13] = [
    "avoid", "avoiding", "disable", "exit", "ignore", "ignoring", "quit", "refrain", "skip",
    "skipping", "stop", "stopped", "stopping",
];

/// Past forms of verbs for the use of a skill, which deny after "just" or "already".
#[rustfmt::skip]
const PAST: [&str; 11] = [
    "activated", "applied", "called", "did", "done", "executed", "invoked", "loaded", "ran",
    "triggered", "used",
];

/// Tells whether the message denies the mention that starts at `start`, or says that it is done with.
pub(in crate::matcher) fn is_denied(text: Lines<'_>, start: usize) -> bool {
    let mut words = Clause::before(text, start);
    let mut after = None;
    for _ in 0..=MAX_BETWEEN {
        let Some(word) = words.next() else { return false };
        let before = words.clone().next();
        if let Some(denies) = denies(&words, word, after) {
            return denies;
        }
        if words.is_at_line_break() && is_request(before, word) {
            return false;
        }
        // "just finished /x and /y"
        let joins = after.is_none() && CONJUNCTIONS.contains(&word);
        if joins && before.is_some_and(|token| token.starts_with(SIGILS)) {
            words.next();
        } else if !is_between(word, after) {
            return false;
        }
        after = Some(word);
    }
    false
}

/// Tells whether `word`, which begins a line below the word `before`, asks for the use of a skill: "npm
/// test finished\nuse x", but not "please do not\nuse x", where a line is wrapped.
fn is_request(before: Option<&str>, word: &str) -> bool {
    let is_wrapped = before.is_some_and(|before| before == "to" || is_negation(before));
    VERBS.contains(&word) && !word.ends_with("ing") && !is_wrapped
}

/// Tells whether `word`, with `after` next to it, may stand between a denial and the mention.
fn is_between(word: &str, after: Option<&str>) -> bool {
    // "don't want you to use x", not "why don't you use x"
    let is_told = word == "you" && after == Some("to");
    is_told || [&BETWEEN[..], &DETERMINERS, &VERBS].iter().any(|list| list.contains(&word))
}

/// The maximum length in bytes of the text between two names that are joined.
const MAX_JOINT_BYTES: usize = 64;

const CONJUNCTIONS: [&str; 4] = ["and", "or", "nor", "&"];

/// The joint of a name to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// "x skill or /y"
    Conjunction,
    /// "x, /y": another name of a list, unless the comma ends a clause.
    Comma,
    /// "x, and y": the last name of a list, or another clause.
    Both,
}

/// Returns the joint that `between`, the text between two names, is.
pub(super) fn joint(between: &str) -> Option<Joint> {
    let is_mark = |c: char| c == ' ' || c == ',' || is_quote(c) || SIGILS.contains(&c);
    let words = || between.split(is_mark).filter(|word| !word.is_empty());
    let is_conjunction = |word: &str| CONJUNCTIONS.contains(&word);
    let is_joint = |word: &str| {
        is_conjunction(word) || ["skill", "skills"].contains(&word) || DETERMINERS.contains(&word)
    };
    if between.len() > MAX_JOINT_BYTES || !words().all(is_joint) {
        return None;
    }
    match (between.contains(','), words().any(is_conjunction)) {
        (true, true) => Some(Joint::Both),
        (true, false) => Some(Joint::Comma),
        (false, true) => Some(Joint::Conjunction),
        (false, false) => None,
    }
}

/// Tells whether `word` denies the text after it; `None` if it leaves that open. `words` are those before
/// it in the same clause, and `after` is the one after it.
fn denies(words: &Clause<'_>, word: &str, after: Option<&str>) -> Option<bool> {
    let before = words.clone().next();
    let is_after = |words: &[&str]| before.is_some_and(|before| words.contains(&before));
    match word {
        // "why isn't x running", "why not x", "if not, x" without its comma
        _ if is_negation(word) => {
            let asks = before.is_none() && is_question(word, after);
            Some(!(asks || is_after(&["why", "if"])))
        }
        // "no, use x" without its comma
        "no" => Some(!after.is_some_and(|after| VERBS.contains(&after))),
        "of" if is_after(&["instead"]) => Some(true),
        "than" if is_after(&["rather"]) => Some(true),
        "than" if is_after(&["other"]) => Some(!is_negated(words)),
        "without" | "except" | "excluding" => Some(!is_negated(words)),
        "done" if after == Some("with") => Some(true),
        "run" if is_after(&["already"]) => Some(true),
        _ if PAST.contains(&word) && is_after(&["just", "already"]) => Some(true),
        _ if REFUSALS.contains(&word) => {
            Some(after != Some("to") && !before.is_some_and(is_negation))
        }
        _ => DENIALS.contains(&word).then_some(true),
    }
}

/// Tells whether `words`, which an exception follows, are negated, so that they ask for what is excepted:
/// "do nothing without x", but not "why not do it without x".
fn is_negated(words: &Clause<'_>) -> bool {
    let mut words = words.clone();
    let negates = |word: &str| is_negation(word) || ["no", "none", "nothing"].contains(&word);
    let is_found = words.by_ref().take(MAX_BETWEEN).any(negates);
    is_found && !words.next().is_some_and(|before| ["why", "if"].contains(&before))
}

/// Tells whether a clause that begins with `word` asks about its subject: "can't the x skill do this?"
fn is_question(word: &str, after: Option<&str>) -> bool {
    let is_subject = after.is_none_or(|after| DETERMINERS.contains(&after));
    is_subject && is_contraction(word) && !word.starts_with("don")
}

fn is_negation(word: &str) -> bool {
    ["not", "never", "cannot"].contains(&word) || is_contraction(word)
}

fn is_contraction(word: &str) -> bool {
    // "don´t" is folded to "don" and a combining accent with a "t".
    let is_accent = word == "\u{301}t";
    is_accent || UNMARKED.contains(&word) || CONTRACTED.iter().any(|end| word.ends_with(end))
}

/// Words before a name that say whose skill it is.
pub(super) const DETERMINERS: [&str; 4] = ["the", "my", "our", "your"];

/// The maximum length of a token in bytes: no word of the lists here is longer.
const MAX_TOKEN_BYTES: usize = 64;

/// A folded text that knows the lines of the message: in the text, a run of white space is one blank.
#[derive(Clone, Copy)]
pub(in crate::matcher) struct Lines<'t> {
    pub(in crate::matcher) text: &'t str,
    /// Returns the number of line breaks that the blank at this byte stands for.
    pub(in crate::matcher) n_breaks: &'t dyn Fn(usize) -> usize,
}

impl<'t> Lines<'t> {
    /// A text that counts as one line.
    pub(in crate::matcher) fn joined(text: &'t str) -> Lines<'t> {
        Lines { text, n_breaks: &|_| 0 }
    }

    /// Tells whether a line starts at byte `start`.
    pub(super) fn starts_line(self, start: usize) -> bool {
        let before = self.text[..start].strip_suffix(' ');
        before.is_some_and(|before| (self.n_breaks)(before.len()) > 0)
    }

    fn is_paragraph_break(self, blank: usize) -> bool {
        (self.n_breaks)(blank) > 1
    }
}

/// An iterator over the words before a place, backwards. It ends where the clause does: at a
/// punctuation mark, an opening bracket, an empty line, or a very long token.
#[derive(Clone)]
pub(super) struct Clause<'t> {
    lines: Lines<'t>,
    /// The byte up to which the text is left to read, before the blank after its last word; `None` at the
    /// end of the clause.
    end: Option<usize>,
}

impl<'t> Clause<'t> {
    /// Iterates over the words before `end`. Skips quotes, brackets and a sigil directly before `end`,
    /// which belong to the next word.
    pub(super) fn before(lines: Lines<'t>, end: usize) -> Clause<'t> {
        let opens = |c: char| is_quote(c) || SIGILS.contains(&c) || "([{<".contains(c);
        let end = lines.text[..end].trim_end_matches(opens).strip_suffix(' ').map(str::len);
        Clause { lines, end: end.filter(|end| !lines.is_paragraph_break(*end)) }
    }

    /// Tells whether the word that was read last begins a line.
    fn is_at_line_break(&self) -> bool {
        self.end.is_some_and(|end| (self.lines.n_breaks)(end) > 0)
    }
}

impl<'t> Iterator for Clause<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = &self.lines.text[..self.end.take()?];
        let last = rest.bytes().rev().take(MAX_TOKEN_BYTES);
        let start = match last.enumerate().find(|&(_, byte)| byte == b' ') {
            Some((n_bytes, _)) => rest.len() - n_bytes,
            None if rest.len() > MAX_TOKEN_BYTES => return None,
            None => 0,
        };
        let is_mark = |c| is_quote(c) || c == '_';
        let token = rest[start..].trim_end_matches(is_mark);
        if token.ends_with(|c| ",;:.!?)]}>-–—。、".contains(c)) {
            return None;
        }
        let word = token.trim_start_matches(|c| is_mark(c) || "([{<".contains(c));
        if word.is_empty() {
            return None;
        }
        if !token.starts_with(['(', '[', '{', '<']) {
            let before = start.checked_sub(1);
            self.end = before.filter(|before| !self.lines.is_paragraph_break(*before));
        }
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_ends_a_clause() {
        for (n_breaks, expected) in [(0, 3), (1, 3), (2, 1), (3, 1)] {
            let n_breaks_at = |at: usize| if at == 6 { n_breaks } else { 0 };
            let lines = Lines { text: "do not use x", n_breaks: &n_breaks_at };
            assert_eq!(Clause::before(lines, 11).count(), expected, "{n_breaks}");
            assert_eq!(Clause::before(lines, 7).count(), if n_breaks > 1 { 0 } else { 2 });
        }
    }

    #[test]
    fn names_are_joined_by_commas_and_conjunctions() {
        let long = format!(" or{}", " ".repeat(MAX_JOINT_BYTES));
        for (between, expected) in [
            (" or ", Some(Joint::Conjunction)),
            (" and my `", Some(Joint::Conjunction)),
            (" skill or the /", Some(Joint::Conjunction)),
            (" & /", Some(Joint::Conjunction)),
            (", /", Some(Joint::Comma)),
            (" skill, and the ", Some(Joint::Both)),
            (" ", None),
            ("", None),
            (" but ", None),
            (" skill. or ", None),
            (&long, None),
        ] {
            assert_eq!(joint(between), expected, "{between:?}");
        }
    }

    #[test]
    fn the_words_of_a_clause_are_read_backwards() {
        let long = format!("no {} use ", "x".repeat(MAX_TOKEN_BYTES));
        for (text, expected) in [
            ("please do not ", ["not", "do", "please"].as_slice()),
            ("why, not “the \"`/", &["the", "not"]),
            ("no (use the ", &["the", "use"]),
            ("not \"use\" 'the' (", &["the", "use", "not"]),
            ("not - use ", &["use"]),
            ("do _not_ use ", &["use", "not", "do"]),
            ("not: ", &[]),
            ("not! use ", &["use"]),
            ("v1.2 use ", &["use", "v1.2"]),
            ("don't", &[]),
            ("", &[]),
            (" ", &[]),
            (&long, &["use"]),
            ("é é ", &["é", "é"]),
        ] {
            let words: Vec<&str> = Clause::before(Lines::joined(text), text.len()).collect();
            assert_eq!(words, expected, "{text:?}");
        }
    }
}
