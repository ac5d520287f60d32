//! Triggers that never count, or change nothing.
//!
//! - *Vetoed*: an `exclude` of the same skill stands in the trigger as a word of its own. What
//!   stands around the exclude is then the trigger's own text, or the same as around the trigger,
//!   so wherever the trigger counts, the veto does. (With inflections turned on, other forms of a
//!   verb may escape it.)
//! - *Redundant*: a keyword or verb with the same folded form comes before it, or a pattern of which
//!   every match holds a keyword or verb (`patterns.rs`).
//! - *Untyped*: the text is taken literally, but is a pattern, a glob or a placeholder by its form,
//!   or holds a character that no keyboard has.

use super::{Findings, Linted, Literal};
use crate::background::holds;
use crate::diagnostic::Code;
use crate::skill::excerpt;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, skill) in skills.iter().enumerate() {
        for (nth, literal) in skill.literals.iter().enumerate() {
            let Literal { kind, trigger, folded } = literal;
            let veto = skill.excludes.iter().find(|exclude| holds(folded, &exclude.folded));
            if let Some(exclude) = veto {
                findings.add(
                    place,
                    Code::VetoedTrigger,
                    Some(&trigger.span),
                    format!(
                        "{kind} `{}` never counts: the skill's own exclude `{}` stands in it",
                        excerpt(folded),
                        excerpt(&exclude.folded)
                    ),
                    "remove one of the two, or write a longer exclude",
                );
            }
            note_repetition(place, literal, &skill.literals[..nth], findings);
            note_form(place, literal, findings);
        }
        for (nth, exclude) in skill.excludes.iter().enumerate() {
            note_repetition(place, exclude, &skill.excludes[..nth], findings);
            note_form(place, exclude, findings);
        }
    }
}

fn note_repetition(
    place: usize,
    literal: &Literal<'_>,
    before: &[Literal<'_>],
    findings: &mut Findings,
) {
    let Literal { kind, trigger, folded } = literal;
    let Some(same) = before.iter().find(|earlier| earlier.folded == *folded) else { return };
    findings.add(
        place,
        Code::RedundantTrigger,
        Some(&trigger.span),
        format!(
            "{kind} `{}` finds what the {} `{}` finds: case and blanks do not matter",
            excerpt(&trigger.value),
            same.kind,
            excerpt(&same.trigger.value)
        ),
        "remove one of the two",
    );
}

fn note_form(
    place: usize,
    Literal { kind, trigger, folded }: &Literal<'_>,
    findings: &mut Findings,
) {
    let (what, help) = if let Some(c) = folded.chars().find(|&c| is_invisible(c)) {
        (format!("the invisible character U+{:04X}", u32::from(c)), "type the text anew")
    } else if let Some(mark) = PATTERN_MARKS.iter().find(|mark| folded.contains(**mark)) {
        let help = "move it to `patterns`, or write the words that it stands for";
        (format!("`{mark}`, which is taken literally here"), help)
    } else if is_placeholder(folded) {
        let help = "leave the placeholder out: the words around it are enough";
        ("a placeholder, which is taken literally".to_owned(), help)
    } else {
        return;
    };
    findings.add(
        place,
        Code::UntypedTrigger,
        Some(&trigger.span),
        format!("{kind} `{}` holds {what}", excerpt(&trigger.value)),
        help,
    );
}

/// What patterns and globs hold, and messages do not.
const PATTERN_MARKS: [&str; 14] =
    [".*", ".+", "\\b", "\\s", "\\d", "\\w", "(?", "|", "[a-z", "[0-9", "**", "*.", "...", "…"];

/// Whether `{…}`, `<…>` or `[…]` stands for something else.
fn is_placeholder(folded: &str) -> bool {
    let is_name = |inside: &str| {
        !inside.is_empty() && inside.chars().all(|c| c.is_alphanumeric() || " _-".contains(c))
    };
    [('{', '}'), ('<', '>'), ('[', ']')].into_iter().any(|(open, close)| {
        let mut parts = folded.split(open).skip(1);
        parts.any(|part| part.split_once(close).is_some_and(|(inside, _)| is_name(inside)))
    })
}

/// Controls, and characters without width that are no part of any script's spelling.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffd}')
}
