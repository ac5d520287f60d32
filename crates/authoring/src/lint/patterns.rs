//! Rules for patterns that are tried too often, match too much, cost too much, or add nothing.

use regex_automata::nfa::thompson;
use regex_syntax::hir::{Hir, HirKind, Look};
use serde::Serialize;

use super::{Findings, Linted};
use crate::word_lists::{holds, places, prompts};
use repertoire::diagnostic::Code;
use repertoire::skill::pattern::{self, Alphabet, Case};
use repertoire::skill::{Spanned, excerpt};
use repertoire_text::boundary::is_word;
use repertoire_text::required::{self, Required};

/// A pattern is broad if it matches at least one in this many ordinary messages.
const BROAD_SHARE: usize = 5;

/// The maximum number of steps a byte for a pattern. The largest of 239 patterns in published trigger
/// rules has 95 states; a single `\w`, which stands for every letter of every script, has 320.
const MAX_STEPS: usize = 1_000;

/// The lower maximum for a pattern that is tried on every message.
const MAX_STEPS_ALWAYS: usize = 500;

/// The upper bound of the cost of a search for a pattern.
///
/// A search follows all paths through the compiled program at once, so each byte of a message takes at
/// most as many steps as the program has states (Thompson, *Regular Expression Search Algorithm*, 1968).
/// Ordinary searches take far fewer: the bound is for hostile messages, and does not depend on the
/// machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PatternCost {
    /// The number of states of the compiled program, which is the maximum number of steps a byte.
    pub steps: usize,
    /// The memory of the compiled program, in bytes.
    pub bytes: usize,
    /// True if the pattern is tried on every message, because it does not require any particular text.
    pub always: bool,
}

/// The cost of a pattern; `None` if no skill may declare the pattern, because it does not compile or is
/// too large.
pub fn pattern_cost(pattern: &str) -> Option<PatternCost> {
    let hir = pattern::parse(pattern, Case::Insensitive).ok()?;
    let nfa =
        thompson::Compiler::new().configure(pattern::nfa_config()).build_from_hir(&hir).ok()?;
    let always = required(pattern).is_none();
    Some(PatternCost { steps: nfa.states().len(), bytes: nfa.memory_usage(), always })
}

fn required(pattern: &str) -> Option<Required> {
    let hir = pattern::parse(pattern, Case::Verbatim).ok()?;
    required::required(pattern, &hir)
}

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, skill) in skills.iter().enumerate() {
        for pattern in &skill.entry.skill.triggers().patterns {
            let required = required(&pattern.value);
            note_cost(place, pattern, findings);
            note_breadth(place, pattern, required.as_ref(), findings);
            note_implied(place, pattern, skill, required.as_ref(), findings);
        }
    }
}

fn note_cost(place: usize, pattern: &Spanned<String>, findings: &mut Findings) {
    let Some(PatternCost { steps, bytes, always }) = pattern_cost(&pattern.value) else { return };
    let shown = excerpt(&pattern.value);
    if steps > if always { MAX_STEPS_ALWAYS } else { MAX_STEPS } {
        let when = if always { "every message" } else { "messages that hold its words" };
        findings.add(
            place,
            Code::CostlyPattern,
            Some(&pattern.span),
            format!(
                "pattern of {steps} states ({} KiB) takes up to as many steps for each byte of \
                 {when}: `{shown}`",
                bytes.div_ceil(1024)
            ),
            "use smaller counts in `{…}`, `[a-z]` for `\\w` and `[0-9]` for `\\d`, or `keywords`",
        );
    } else if always {
        findings.add(
            place,
            Code::PatternWithoutLiteral,
            Some(&pattern.span),
            format!(
                "pattern demands no particular text, so it is tried on every message: `{shown}`"
            ),
            "let it demand a word, as `version \\d+` does for `\\d+`",
        );
    }
}

fn note_breadth(
    place: usize,
    pattern: &Spanned<String>,
    required: Option<&Required>,
    findings: &mut Findings,
) {
    let groups = required.map_or(&[][..], |required| &required.groups[..]);
    let may_match = |folded: &str| {
        groups.iter().all(|group| group.iter().any(|literal| folded.contains(literal.as_str())))
    };
    let candidates: Vec<&str> =
        prompts().iter().filter(|prompt| may_match(&prompt.folded)).map(|p| p.text).collect();
    if candidates.len() * BROAD_SHARE < prompts().len() {
        return;
    }
    let Some(regex) = pattern::compile(&pattern.value, Alphabet::Unicode) else { return };
    let n_matched = candidates.iter().filter(|text| regex.is_match(**text)).count();
    if n_matched * BROAD_SHARE >= prompts().len() {
        findings.add(
            place,
            Code::BroadPattern,
            Some(&pattern.span),
            format!(
                "pattern matches {n_matched} of {} ordinary messages: `{}`",
                prompts().len(),
                excerpt(&pattern.value)
            ),
            "let it demand a word that only messages for this skill hold",
        );
    }
}

/// Reports a pattern whose every match holds a keyword or verb of the same skill as a whole word. That
/// is certain in two cases: if the pattern is a choice of a few texts between `\b` and each text holds a
/// keyword, or if its required text holds a keyword together with the characters next to it.
fn note_implied(
    place: usize,
    pattern: &Spanned<String>,
    skill: &Linted<'_>,
    required: Option<&Required>,
    findings: &mut Findings,
) {
    let phrases = || skill.literals.iter().map(|literal| literal.folded.as_str());
    let inside = |text: &str| {
        let is_inside = |phrase: &&str| {
            places(text, phrase).any(|start| start > 0 && start + phrase.len() < text.len())
        };
        phrases().find(is_inside)
    };
    let of_groups = || {
        let groups = required.map_or(&[][..], |required| &required.groups[..]);
        groups.iter().find_map(|group| first_if_all(group, inside))
    };
    let of_texts = || {
        let texts = delimited_texts(&pattern.value)?;
        first_if_all(&texts, |text| phrases().find(|phrase| holds(text, phrase)))
    };
    let Some(phrase) = of_texts().or_else(of_groups) else { return };
    findings.add(
        place,
        Code::RedundantTrigger,
        Some(&pattern.span),
        format!(
            "pattern only matches where a keyword or verb is found too, such as `{}`: `{}`",
            excerpt(phrase),
            excerpt(&pattern.value)
        ),
        "remove the pattern, which ranks below them",
    );
}

/// Returns the result of `find` for the first text, or `None` if `find` returns `None` for any text.
fn first_if_all<'p>(texts: &[String], find: impl Fn(&str) -> Option<&'p str>) -> Option<&'p str> {
    let found: Option<Vec<&str>> = texts.iter().map(|text| find(text)).collect();
    found?.first().copied()
}

/// The folded texts that a pattern of the form `\b…\b` matches, if they are few and begin and end with
/// word characters. In that case no word character is next to a match, so that a word at the edge of the
/// text is a whole word of the message.
fn delimited_texts(pattern: &str) -> Option<Vec<String>> {
    let hir = pattern::parse(pattern, Case::Verbatim).ok()?;
    let HirKind::Concat(parts) = hir.kind() else { return None };
    let [first, inner @ .., last] = &parts[..] else { return None };
    let is_boundary = |part: &Hir| matches!(part.kind(), HirKind::Look(Look::WordUnicode));
    let texts = required::all_matches(&Hir::concat(inner.to_vec()))?;
    let has_word_edges = |text: &String| text.starts_with(is_word) && text.ends_with(is_word);
    (is_boundary(first) && is_boundary(last) && texts.iter().all(has_word_edges)).then_some(texts)
}
