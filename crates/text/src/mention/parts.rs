//! Denials in many languages, made of parts: a negation, a verb of use, and words that may stand between
//! them and the name (`words.txt`).
//!
//! A denial stands before the name ("nicht den x-Skill nehmen", "sin usar x", "不要用 x") or after it ("den
//! x-Skill nicht nehmen", "x を使わないで", "x should not be used"). All words from it to the name must be
//! known in one language; any other word ends the search. So "nicht nur x" and "不仅用 x" deny nothing.

use super::clause::Lines;
use super::lexicon::{ALL, Languages, Roles, roles, roles_of_pair};
use super::words::{After, Before};

/// The maximum number of words between a denial and the name.
const MAX_BETWEEN: usize = 6;

/// The number of words before a negation among which "why" or "forget" turns it around.
const MAX_TURNED: usize = 4;

/// Tells whether the words before the mention that starts at `start` deny it.
pub(super) fn is_denied_before(lines: Lines<'_>, start: usize) -> bool {
    let mut words = Before::new(lines, start);
    let (mut languages, mut has_use) = (ALL, 0);
    for _ in 0..=MAX_BETWEEN {
        let Some(word) = words.next() else { return false };
        let Some(mut of) = roles(word) else { return false };
        let pair = pair_before(&words, word, of.ends_pair & languages);
        of.without |= pair.without;
        if pair.between & languages != 0 {
            words.next();
            of = pair;
        }
        let without = languages & of.without;
        if without != 0 {
            return !is_negated(words, without);
        }
        let not = languages & (of.not | of.no & has_use);
        if not != 0 {
            return !is_turned(words, not);
        }
        languages &= of.inside() | of.no;
        has_use |= of.usage;
        if languages == 0 {
            return false;
        }
    }
    false
}

/// Tells whether the words after the mention at `start..end` deny it.
pub(super) fn is_denied_after(lines: Lines<'_>, start: usize, end: usize) -> bool {
    let mut words = After::new(lines, end);
    let (mut languages, mut negated, mut last) = (ALL, 0, Roles::default());
    let mut before = "";
    let holds = |languages| languages != 0 && !is_turned(Before::new(lines, start), languages);
    for _ in 0..=MAX_BETWEEN {
        let Some(word) = words.next() else { return holds(languages & last.last_not) };
        let Some(mut of) = roles(word) else { return false };
        if of.and & languages & last.last_not != 0 {
            return holds(of.and & languages & last.last_not);
        }
        if of.ends_pair & languages != 0 {
            if let Some(is_denied) = is_parted(lines, start, word, languages)
                && goes_on(&words, languages) != 0
            {
                return is_denied && negated == 0;
            }
            let pair = roles_of_pair(before, word);
            of.usage |= pair.usage;
            of.after |= pair.after;
        }
        // "lass x nicht weg" asks for it.
        let ends = (negated & of.usage | of.last & !negated) & languages;
        let denied = of.after & languages & !negated | goes_on(&words, ends);
        if denied != 0 {
            return holds(denied);
        }
        negated |= languages & (of.not | of.no);
        languages &= of.inside() | of.not | of.no | of.last_not;
        if languages == 0 {
            return false;
        }
        (before, last) = (word, of);
    }
    false
}

/// Returns the `languages` in which a clause may end before `words`. In "用 x 不要用 y", the words in the
/// middle deny what follows.
fn goes_on(words: &After<'_>, languages: Languages) -> Languages {
    if languages == 0 {
        return 0;
    }
    match words.clone().next() {
        None => languages,
        Some(next) => roles(next).map_or(0, |next| (next.inside() | next.and) & languages),
    }
}

/// Returns the roles that `word` has in `languages` together with the one before it, the next of `words`.
fn pair_before(words: &Before<'_>, word: &str, languages: Languages) -> Roles {
    if languages == 0 {
        return Roles::default();
    }
    words.clone().next().map_or_else(Roles::default, |first| roles_of_pair(first, word))
}

/// Tells whether the verb that goes with `particle`, a word after the name, stands before the name at `start`
/// and is not negated itself: "turn x off", "lass x aus". `None` if there is no such verb in `languages`.
fn is_parted(
    lines: Lines<'_>,
    start: usize,
    particle: &str,
    mut languages: Languages,
) -> Option<bool> {
    let mut words = Before::new(lines, start);
    for _ in 0..=MAX_BETWEEN {
        let word = words.next()?;
        let apart = roles_of_pair(word, particle).apart & languages;
        if apart != 0 {
            return Some(!is_negated(words, apart));
        }
        languages &= roles(word)?.inside();
        if languages == 0 {
            return None;
        }
    }
    None
}

/// Tells whether a negation is turned around by one of the `words` before it: "warum nicht x", "n'oublie pas
/// d'utiliser x".
fn is_turned(words: Before<'_>, languages: Languages) -> bool {
    any_before(words, MAX_TURNED, languages, |of| of.unless)
}

/// Tells whether what is done "without x" is itself negated, so that x is asked for.
fn is_negated(words: Before<'_>, languages: Languages) -> bool {
    any_before(words, MAX_BETWEEN, languages, |of| of.not | of.no)
}

fn any_before(
    mut words: Before<'_>,
    n_words: usize,
    languages: Languages,
    role: impl Fn(&Roles) -> Languages,
) -> bool {
    for _ in 0..n_words {
        let Some(word) = words.next() else { return false };
        let Some(mut of) = roles(word) else { continue };
        of.unless |= pair_before(&words, word, of.ends_pair & languages).unless;
        if role(&of) & languages != 0 {
            return true;
        }
    }
    false
}
