//! Rules for triggers that never count, or that make no difference.
//!
//! - *Vetoed*: the trigger holds an `exclude` of the same skill as a whole word. The text next to the
//!   exclude is then part of the trigger, or is the text next to the trigger, so wherever the trigger
//!   counts, the exclude counts too. (With inflections turned on, other forms of a verb may escape the
//!   veto.) A trigger that asks for its own skill by name, such as "use release-notes", is not reported:
//!   a strong mention overrides an exclude.
//! - *Redundant*: an earlier keyword or verb has the same folded form, or every match of a pattern holds
//!   a keyword or verb (`patterns.rs`).
//! - *Untyped*: the text is taken literally, but has the form of a pattern, a glob or a placeholder.

use super::{Findings, Linted, Literal};
use crate::word_lists::holds;
use repertoire::diagnostic::Code;
use repertoire::skill::excerpt;
use repertoire_text::boundary::is_word;
use repertoire_text::{fold_trigger, mention};

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, skill) in skills.iter().enumerate() {
        for (nth, literal) in skill.literals.iter().enumerate() {
            let Literal { kind, trigger, folded } = literal;
            let (id, name) = (skill.entry.id.as_str(), skill.entry.skill.name());
            let is_vetoed = !mention::asks_for(id, name, folded);
            let veto = skill.excludes.iter().find(|exclude| holds(folded, &exclude.folded));
            if let Some(exclude) = veto.filter(|_| is_vetoed) {
                findings.add(
                    place,
                    Code::VetoedTrigger,
                    Some(&trigger.span),
                    format!(
                        "{kind} `{}` never counts: the skill's own exclude `{}` stands in it",
                        excerpt(&trigger.value),
                        excerpt(&exclude.trigger.value)
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
    let (what, help) = if let Some(mark) = pattern_mark(folded) {
        let help = "move it to `patterns`, or write the words that it stands for";
        (format!("`{}`, which is taken literally here", written(&trigger.value, mark)), help)
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

/// Texts that mark a pattern or a glob wherever they occur in it, and that messages do not hold.
const PATTERN_MARKS: [&str; 7] = [".*", ".+", "(?", "[a-z", "[0-9", "**", "*."];

/// Texts that mark a pattern, unless a letter follows: then they are part of a path or a command.
const ESCAPES: [&str; 4] = ["\\b", "\\s", "\\d", "\\w"];

/// The first mark of a pattern in `folded`, or `...` if the text is left open at its end.
fn pattern_mark(folded: &str) -> Option<&'static str> {
    let ends_word = |end: usize| !folded[end..].starts_with(char::is_alphabetic);
    let is_escape =
        |mark: &&&str| folded.match_indices(**mark).any(|(at, mark)| ends_word(at + mark.len()));
    let is_choice = || {
        folded
            .match_indices('|')
            .any(|(at, _)| folded[..at].ends_with(char::is_alphabetic) && !ends_word(at + 1))
    };
    let is_left_open =
        || folded.strip_suffix("...").is_some_and(|rest| rest.trim_end().ends_with(is_word));
    let mark = PATTERN_MARKS.iter().find(|mark| folded.contains(**mark));
    mark.or_else(|| ESCAPES.iter().find(is_escape))
        .copied()
        .or_else(|| is_choice().then_some("|"))
        .or_else(|| is_left_open().then_some("..."))
}

/// The part of a trigger whose folded form is `mark`, such as `…` for `...`.
fn written<'t>(trigger: &'t str, mark: &'t str) -> &'t str {
    let parts = trigger.char_indices().flat_map(|(start, _)| {
        let rest = &trigger[start..];
        rest.char_indices().take(mark.len()).map(|(at, c)| &rest[..at + c.len_utf8()])
    });
    parts.into_iter().find(|part| fold_trigger(part) == mark).unwrap_or(mark)
}

/// Tells whether `folded` has a placeholder: `{…}`, `<…>` or `[…]` as a word of its own, next to other
/// words.
fn is_placeholder(folded: &str) -> bool {
    let is_name = |inside: &str| {
        !inside.is_empty() && inside.chars().all(|c| c.is_alphanumeric() || " _-".contains(c))
    };
    [('{', '}'), ('<', '>'), ('[', ']')].into_iter().any(|(open, close)| {
        folded.match_indices(open).any(|(at, _)| {
            let (before, rest) = (&folded[..at], &folded[at + 1..]);
            rest.split_once(close).is_some_and(|(inside, after)| {
                let stands_alone = before.is_empty() || before.ends_with(' ');
                stands_alone
                    && is_name(inside)
                    && (before.contains(is_word) || after.contains(is_word))
            })
        })
    })
}
