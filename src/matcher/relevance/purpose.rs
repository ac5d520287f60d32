//! The part of a description that says what a skill is for. What it denies ("do not use for …") names
//! the subjects of other skills, and must not make this one relevant to them.

use std::collections::BTreeSet;

use repertoire_text::normalize;
use repertoire_text::words::exclusions::{Exclusion, exclusion};
use repertoire_text::words::languages::Languages;
use repertoire_text::words::terms::{Term, Tokenizer};

use crate::skill::{Skill, first_sentence_end, one_line};

/// Words after which a description lists when its skill is wanted, in lower case.
pub(super) const CUES: [&str; 9] = [
    "use when", "use for", "use this when", "use this skill when", "trigger on", "triggers on",
    "triggers:", "when:", "keywords:",
];

/// Returns `description` without its denials, one sentence a line. A denial ends with its sentence, its
/// parentheses or its part (see [`parts`]), at an empty line, or at a cue after a mark. Any other `;`,
/// line break or item of a list below continues it.
pub(super) fn what_it_is_for(description: &str) -> String {
    let mut kept = String::with_capacity(description.len());
    let lines: Vec<&str> = description.lines().map(str::trim).collect();
    let paragraphs = lines.split(|line| line.is_empty());
    for part in paragraphs.flat_map(|paragraph| paragraph.chunk_by(|line, next| !parts(line, next)))
    {
        let text = one_line(&part.join(" "));
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (sentence, after) = rest.split_at(first_sentence_end(rest));
            keep(sentence, kept.is_empty(), &mut kept);
            kept.push('\n');
            rest = after.trim_start();
        }
    }
    kept
}

/// Tells whether a message is about what the description of a skill denies: it shares more words with the
/// denials than with the rest and the name.
pub(crate) fn denies(skill: &Skill, message: &str) -> bool {
    let description = skill.description();
    let kept = what_it_is_for(description);
    let is_same = kept.split_whitespace().eq(description.split_whitespace());
    if is_same {
        return false;
    }
    let message = telling_words(message);
    let own = telling_words(&kept).into_iter().chain(telling_words(skill.name()));
    let own: BTreeSet<u64> = own.collect();
    let all = telling_words(description);
    let denied = all.difference(&own).filter(|word| message.contains(word)).count();
    denied > own.intersection(&message).count()
}

/// Returns the hashes of the words of a text, without those that are common in all texts.
fn telling_words(text: &str) -> BTreeSet<u64> {
    let mut words = BTreeSet::new();
    let (text, own) = (normalize(text), Languages::default());
    Tokenizer::default().read_message(&text, own, &mut |term: Term| {
        if !term.is_common {
            words.insert(term.hash);
        }
    });
    words
}

/// Tells whether `next` begins a new part below `line`: a heading, a cue, or an item of a list below an
/// item that is itself a denial.
fn parts(line: &str, next: &str) -> bool {
    let is_item = |line: &str| line.starts_with(['-', '*', '•']);
    let denies_alone = || is_item(line) && !line.ends_with(':') && exclusion(line, false).is_some();
    next.starts_with('#') || begins_cue(next) || is_item(next) && denies_alone()
}

/// Tells whether a line begins with a cue as a heading does, so that it ends a denial without a full
/// stop.
fn begins_cue(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    line.starts_with(|c: char| c.is_ascii_uppercase())
        && CUES.iter().any(|cue| starts_with(line, cue))
}

/// Appends a sentence without its denials. `is_first` is true for the first sentence of a description.
fn keep(sentence: &str, is_first: bool, kept: &mut String) {
    let mut rest = sentence;
    while let Some(Exclusion { start, inside, end, .. }) = exclusion(rest, is_first) {
        kept.push_str(&rest[..start]);
        if let Some(end) = end {
            rest = &rest[end..];
            continue;
        }
        let is_in_parentheses = rest[..inside].rfind('(') > rest[..inside].rfind(')');
        let after = &rest[inside..];
        let end = if is_in_parentheses { closing(after) } else { next_cue(after) };
        let Some(end) = end else { return };
        rest = &rest[inside + end..];
    }
    kept.push_str(rest);
}

/// Returns the position of the first cue in `text` that begins a clause after a mark: "; use for".
fn next_cue(text: &str) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).find(|&at| {
        let before = text[..at].trim_end();
        let is_after_mark = !before.is_empty() && !before.ends_with(char::is_alphanumeric);
        is_after_mark && CUES.iter().any(|cue| starts_with(&text[at..], cue))
    })
}

/// Returns the position of the `)` that closes parentheses opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.match_indices(['(', ')']).find_map(|(at, mark)| {
        depth += if mark == "(" { 1 } else { -1 };
        (depth < 0).then_some(at)
    })
}

/// Tells whether `text` begins with `words`, in any case.
pub(super) fn starts_with(text: &str, words: &str) -> bool {
    let head = text.as_bytes().get(..words.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(words.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(description: &str) -> String {
        one_line(&what_it_is_for(description))
    }

    #[test]
    fn what_a_skill_is_not_for_is_left_out() {
        for (description, expected) in [
            ("Reads PDF files.", "Reads PDF files."),
            ("Writes tests. Do not use for debugging. Use in CI.", "Writes tests. Use in CI."),
            ("Reviews code, not for prose; or mail", "Reviews code,"),
            ("Skip when asked to deploy", ""),
            ("写代码。DON’T USE for 测试。部署", "写代码。 部署"),
            ("Plans. Do not use for e.g. backups. Ends", "Plans. Ends"),
            ("Plans. Do not use for lint (e.g. eslint) or backups. Ends", "Plans. Ends"),
            ("Plans. Do not use for: v1.2; backups", "Plans."),
            ("Plans\nDo not use for:\n- tests\n- backups\n\nEnds", "Plans Ends"),
            ("Plans\nDO NOT USE FOR: tests,\nbackups\nUSE FOR: a", "Plans USE FOR: a"),
            ("Plans. Do  not use for\nbackups", "Plans."),
            ("It cannot forge ropes and is not for backups.", "It cannot forge ropes and is"),
            ("Plans (NOT backups) and ends (not for x (y)).", "Plans () and ends ()."),
            ("Plans. Not to be used for backups", "Plans."),
            ("Plans. Not meant for backups", "Plans."),
            ("Plans. Never for backups", "Plans."),
            ("Plans; avoid for backups", "Plans;"),
            ("Plans. It is unsuitable for backups", "Plans. It is"),
            ("Plans. Don't invoke for backups", "Plans."),
            ("Plans. Do not load for backups", "Plans."),
            ("Plans. Skip this skill for backups", "Plans."),
            ("Plans, not when backing up", "Plans,"),
            ("Plans. Do not activate for backups", "Plans."),
            ("Plans. Must not be used for backups", "Plans."),
            ("Plans. It should not be used for backups", "Plans. It"),
            ("Plans. It doesn't handle backups", "Plans. It"),
            ("Plans. Avoid using for backups", "Plans."),
            ("Plans. When NOT to use: backups", "Plans."),
        ] {
            assert_eq!(kept(description), expected, "{description}");
        }
    }

    #[test]
    fn what_only_looks_like_a_denial_is_kept() {
        for description in [
            "A knot for ropes",
            "Fixes code that does not handle unicode.",
            "Finds files that are not meant for release.",
            "Makes sure you never use eval.",
            "Use it even if users don't use the word schema, as in rollouts.",
            "Even if you do. Don’t use the term x.",
            "Works everywhere (not only in CI)",
            "Lists things to avoid for guests",
            "Finds variables, never used.",
            "Finds keys that must not be used.",
            "It cannot use the network.",
        ] {
            assert_eq!(kept(description), description);
        }
    }

    #[test]
    fn a_message_about_what_is_denied_is_known() {
        let skill = |description: &str| -> Skill {
            format!("---\nname: tax\ndescription: {description}\n---\n").parse().unwrap()
        };
        let tax = skill("Prepares VAT returns. Excludes payroll and income tax.");
        assert!(denies(&tax, "do the payroll and income tax for March"));
        assert!(!denies(&tax, "prepare the VAT returns, then payroll"));
        assert!(!denies(&tax, "tax"));
        assert!(!denies(&skill("Prepares payroll and income tax."), "payroll and income"));
    }
}
