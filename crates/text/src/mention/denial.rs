//! Denied mentions: "not x", "instead of x", "just finished /x".
//!
//! These are the rules of English; `parts.rs` has those of other languages. A mention is denied by a denial
//! before it in the same clause, if only a few words are between the two and each is in a closed list: "do
//! *not* want to use the x skill". Any other word ends the search, so that "do not forget to run /x" and
//! "not only x" deny nothing.

use super::clause::Clause;
pub use super::clause::Lines;
use super::lexicon::roles;
use super::parts::is_denied_before;
use super::{SIGILS, is_quote};

/// The maximum number of words between a denial and the mention.
const MAX_BETWEEN: usize = 5;

/// Words that may stand between a denial and the mention, besides [`DETERMINERS`] and [`VERBS`].
#[rustfmt::skip]
const BETWEEN: [&str; 48] = [
    "a", "about", "actually", "again", "an", "any", "ask", "asked", "asking", "automatically", "be",
    "bother", "both", "by", "concerned", "do", "either", "even", "ever", "for", "from", "going",
    "have", "help", "longer", "looking", "more", "need", "needing", "of", "really", "related",
    "relating", "relevant", "requiring", "skill", "skills", "talking", "that", "this", "to", "try",
    "trying", "used", "want", "wish", "with", "yet",
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

/// Tells whether the words before the mention that starts at `start` deny it, or say that it is done with.
pub fn is_denied(text: Lines<'_>, start: usize) -> bool {
    is_denied_in_english(text, start) || is_denied_before(text, start)
}

fn is_denied_in_english(text: Lines<'_>, start: usize) -> bool {
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

/// The maximum number of words after "unrelated to" that it covers, with itself.
const MAX_TOPIC: usize = 6;

/// Tells whether [`is_off_topic`] may be true anywhere in a folded text: it has one of the words that say so.
pub fn may_be_off_topic(text: &str) -> bool {
    ["related", "relevant", "with"].iter().any(|word| text.contains(word))
}

/// Tells whether the words before `start` say that the message is about something else: "unrelated to Node.js
/// backend development". They cover a whole noun phrase, where [`is_denied`] covers its first word.
pub fn is_off_topic(text: Lines<'_>, start: usize) -> bool {
    const OTHERS: [&str; 6] = ["but", "i", "so", "then", "we", "you"];
    let mut words = Clause::before(text, start);
    let mut after = "";
    for _ in 0..MAX_TOPIC {
        let Some(word) = words.next() else { return false };
        match (word, after) {
            ("unrelated", "to") => return true,
            ("related" | "relevant", "to") => return words.next().is_some_and(is_negation),
            ("do", "with") => {
                return words.next() == Some("to") && words.next() == Some("nothing");
            }
            _ if OTHERS.contains(&word) || VERBS.contains(&word) => return false,
            _ => after = word,
        }
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
    let is_mark = |c: char| " ,、".contains(c) || is_quote(c) || SIGILS.contains(&c);
    let words = || between.split(is_mark).filter(|word| !word.is_empty());
    let is_conjunction =
        |word: &str| CONJUNCTIONS.contains(&word) || roles(word).is_some_and(|word| word.and != 0);
    let is_skill = |word: &str| roles(word).is_some_and(|word| word.skill | word.plural != 0);
    let is_joint =
        |word: &str| is_conjunction(word) || is_skill(word) || DETERMINERS.contains(&word);
    if between.len() > MAX_JOINT_BYTES || !words().all(is_joint) {
        return None;
    }
    match (between.contains([',', '、']), words().any(is_conjunction)) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
