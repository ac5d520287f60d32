//! Text about a skill, which does not ask for its use: "the x skill is broken", "is the x skill
//! installed?", "delete the x skill", `cd skills/x`.

use std::ops::Range;

use super::clause::Lines;
use super::lexicon::{ALL, roles};
use super::words::{After, Before};

/// The maximum number of words between the name and the word that tells about it.
const MAX_BETWEEN: usize = 5;

/// Tells whether the message talks about the skill that is named at `range`, instead of asking for it.
pub(super) fn is_about(lines: Lines<'_>, range: &Range<usize>) -> bool {
    is_asked_about(lines, range.start) || has_state(lines, range.end)
}

/// Tells whether a question about a state begins before the name ("is the x skill", "why was x"), or
/// a verb for work on skills stands there ("delete the x skill").
fn is_asked_about(lines: Lines<'_>, start: usize) -> bool {
    let mut words = Before::new(lines, start);
    let mut languages = ALL;
    for _ in 0..MAX_BETWEEN {
        let Some(of) = words.next().and_then(roles) else { return false };
        if languages & of.care != 0 {
            return true;
        }
        if languages & of.is != 0 {
            return match words.next() {
                None => true,
                Some(word) => roles(word).is_some_and(|word| word.unless & of.is != 0),
            };
        }
        // "¿está instalada la skill x?"
        languages &= of.between | of.skill | of.broken;
        if languages == 0 {
            return false;
        }
    }
    false
}

/// Tells whether a state of the skill stands after the name: "is not installed", "坏了".
fn has_state(lines: Lines<'_>, end: usize) -> bool {
    let (mut languages, mut is_told) = (ALL, 0);
    for word in After::new(lines, end).take(MAX_BETWEEN) {
        let Some(of) = roles(word) else { return false };
        if languages & (of.fails | of.broken & is_told) != 0 {
            return true;
        }
        is_told |= of.is;
        languages &= of.between | of.skill | of.is | of.not | of.no;
        if languages == 0 {
            return false;
        }
    }
    false
}

/// Tells whether `range` is a part of a path to the files of a skill: `skills/x`, `x/SKILL.md`.
pub(super) fn is_in_skill_path(text: &str, range: &Range<usize>) -> bool {
    const FOLDER: &str = "skills";
    const FILE: &str = "skill.md";
    let before = text[..range.start].strip_suffix(['/', '\\']);
    let after = text[range.end..].strip_prefix(['/', '\\']);
    before.is_some_and(|before| before.ends_with(FOLDER))
        || after.is_some_and(|after| after.starts_with(FILE))
}
