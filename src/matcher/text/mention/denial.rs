//! Denied mentions: "not x", "instead of x", "just finished /x".
//!
//! A mention is denied by a denial before it in the same clause, if between the two there are only a
//! few words, each of a closed list: "do *not* want to use the x skill". Any other word ends the
//! search, so that "do not forget to run /x" and "not only x" deny nothing.

use super::SIGILS;
use super::clause::{Clause, DETERMINERS};

/// Words that may stand between a denial and the mention, at most.
const MAX_BETWEEN: usize = 5;

/// Words that may stand there, [`DETERMINERS`] and [`VERBS`] aside.
const BETWEEN: [&str; 31] = [
    "a", "about", "actually", "again", "an", "any", "asking", "be", "bother", "by", "do", "even",
    "ever", "for", "going", "longer", "looking", "more", "need", "really", "skill", "talking",
    "that", "this", "to", "try", "trying", "used", "want", "with", "yet",
];

/// Verbs for the use of a skill.
const VERBS: [&str; 20] = [
    "activate",
    "activating",
    "apply",
    "applying",
    "call",
    "calling",
    "execute",
    "executing",
    "fire",
    "invoke",
    "invoking",
    "load",
    "loading",
    "run",
    "running",
    "start",
    "starting",
    "trigger",
    "use",
    "using",
];

/// Words that deny wherever they stand.
const DENIALS: [&str; 13] = [
    "cannot",
    "completed",
    "except",
    "excluding",
    "finished",
    "neither",
    "never",
    "nor",
    "unrelated",
    "without",
    "dont",
    "doesnt",
    "isnt",
];

/// Verbs that deny their object, unless they are denied themselves.
const REFUSALS: [&str; 12] = [
    "avoid", "avoiding", "disable", "exit", "ignore", "ignoring", "quit", "skip", "skipping",
    "stop", "stopped", "stopping",
];

/// Past forms of the use of a skill, which count after "just" or "already".
const PAST: [&str; 11] = [
    "activated",
    "applied",
    "called",
    "did",
    "done",
    "executed",
    "invoked",
    "loaded",
    "ran",
    "triggered",
    "used",
];

/// Tells whether the mention that starts at `start` is denied or done with.
pub(in crate::matcher) fn is_denied(text: &str, start: usize) -> bool {
    let mut words = Clause::before(text, start);
    let mut after = None;
    for _ in 0..=MAX_BETWEEN {
        let Some(word) = words.next() else { return false };
        let before = words.clone().next();
        if let Some(denies) = denies(before, word, after) {
            return denies;
        }
        // "just finished /x and /y"
        let joins = after.is_none() && ["and", "or"].contains(&word);
        if joins && before.is_some_and(|token| token.starts_with(SIGILS)) {
            words.next();
        } else if ![&BETWEEN[..], &DETERMINERS, &VERBS].iter().any(|list| list.contains(&word)) {
            return false;
        }
        after = Some(word);
    }
    false
}

/// Tells whether `word` denies what follows; `None` if it leaves that open. The words `before` and
/// `after` it are those of the same clause.
fn denies(before: Option<&str>, word: &str, after: Option<&str>) -> Option<bool> {
    let is_after = |words: &[&str]| before.is_some_and(|before| words.contains(&before));
    match word {
        // "why not x", "if not, x" without its comma
        "not" => Some(!is_after(&["why", "if"])),
        // "no, use x" without its comma
        "no" => Some(!after.is_some_and(|after| VERBS.contains(&after))),
        "of" if is_after(&["instead"]) => Some(true),
        "than" if is_after(&["rather", "other"]) => Some(true),
        "done" if after == Some("with") => Some(true),
        "run" if is_after(&["already"]) => Some(true),
        _ if PAST.contains(&word) && is_after(&["just", "already"]) => Some(true),
        _ if REFUSALS.contains(&word) => {
            Some(after != Some("to") && !before.is_some_and(is_negation))
        }
        _ => (DENIALS.contains(&word) || is_negation(word)).then_some(true),
    }
}

fn is_negation(word: &str) -> bool {
    word.ends_with("n't") || ["not", "never", "cannot", "dont"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_reach_a_mention_over_few_words_of_one_clause() {
        for denied in [
            "not X",
            "it is not X",
            "why is it not X",
            "it isn't X",
            "use y, not the X skill",
            "don't use X",
            "do not run X",
            "dont load the X skill",
            "I can't use X",
            "you shouldn't ever try to use the X",
            "please never again use my X",
            "we no longer need X",
            "no X please",
            "no need for X",
            "without X",
            "without running the \"X\" skill",
            "use y instead of X",
            "y rather than using X",
            "any skill other than X",
            "all except for X",
            "neither y nor X",
            "just finished X",
            "I have already run X",
            "already ran the X",
            "just used X",
            "finished with X",
            "we are done with X",
            "skip X",
            "stop using X",
            "exit X",
            "do not (X)",
            "just finished /y and X",
            "don't run `$y` or X",
            "either way: not `X`",
        ] {
            let start = denied.find('X').unwrap();
            assert!(is_denied(denied, start), "{denied}");
        }
        for meant in [
            "X",
            "use X",
            "why not X",
            "why not use X",
            "if not X",
            "if not, run X",
            "do not forget to run X",
            "don't hesitate to use X",
            "not only X",
            "no, use X",
            "no use X",
            "no: X",
            "don't just talk, use X",
            "this is not done. X",
            "we do not (yet) use X",
            "why don't you use X",
            "couldn't we run X",
            "the tests do not pass run X",
            "not sure X",
            "just run X",
            "just use X",
            "I ran X on a fresh host",
            "never skip X",
            "don't stop using X",
            "skip to the X",
            "other X than that",
            "he is done X",
            "non-X",
            "don't worry and X",
            "not ever really trying to actually use X",
        ] {
            let start = meant.find('X').unwrap();
            assert!(!is_denied(meant, start), "{meant}");
        }
    }
}
