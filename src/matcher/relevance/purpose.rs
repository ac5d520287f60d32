//! The part of a description that says what a skill is for. What it denies ("do not use for …") names
//! the subjects of other skills, and must not make this one relevant to them.

use crate::skill::{first_sentence_end, one_line};

/// Words after which a description lists when its skill is wanted, in lower case.
pub(super) const CUES: [&str; 9] = [
    "use when",
    "use for",
    "use this when",
    "use this skill when",
    "trigger on",
    "triggers on",
    "triggers:",
    "when:",
    "keywords:",
];

/// The first words of a denial. `NEGATIONS` are followed by one of `USES`.
const NEGATIONS: [&str; 4] = ["do not ", "don't ", "don’t ", "never "];
const USES: [&str; 5] = ["use", "invoke", "trigger", "load", "activate"];

/// Other first words of a denial.
const DENIALS: [&str; 24] = [
    "not for",
    "not when",
    "not intended for",
    "not meant for",
    "not suitable for",
    "not needed for",
    "not to be used",
    "should not be used",
    "must not be used",
    "cannot be used",
    "never for",
    "unsuitable for",
    "not applicable to",
    "when not to use",
    "avoid for",
    "avoid using",
    "does not handle",
    "does not cover",
    "doesn't handle",
    "doesn't cover",
    "out of scope",
    "skip when",
    "skip for",
    "skip this skill",
];

/// Words after which a denial does not deny a use: "even if they don't use the word", "(not only X)".
const NO_DENIAL_BEFORE: [&str; 7] =
    [" the word", " the term", " the phrase", " only", " just", " necessarily", " even"];

/// Words that may precede a denial at the start of a clause: "and do not use", "is not for". In "code
/// that does not handle", the clause says something about code.
const LINKS: [&str; 9] = ["and", "or", "but", "is", "are", "it", "this", "skill", "please"];

/// Words whose clause says something about the word before them.
const RELATIVES: [&str; 3] = ["that", "which", "who"];

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
            keep(sentence, &mut kept);
            kept.push('\n');
            rest = after.trim_start();
        }
    }
    kept
}

/// Tells whether `next` begins a new part below `line`: a heading, a cue, or an item of a list below an
/// item that is itself a denial.
fn parts(line: &str, next: &str) -> bool {
    let is_item = |line: &str| line.starts_with(['-', '*', '•']);
    let denies_alone = || is_item(line) && !line.ends_with(':') && denial(line).is_some();
    next.starts_with('#') || begins_cue(next) || is_item(next) && denies_alone()
}

/// Tells whether a line begins with a cue as a heading does, so that it ends a denial without a full
/// stop.
fn begins_cue(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    line.starts_with(|c: char| c.is_ascii_uppercase())
        && CUES.iter().any(|cue| starts_with(line, cue))
}

/// Appends a sentence without its denials.
fn keep(sentence: &str, kept: &mut String) {
    let mut rest = sentence;
    while let Some((at, inside)) = denial(rest) {
        kept.push_str(&rest[..at]);
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

/// Returns the start of the first denial in a sentence, and the end of its first words.
fn denial(sentence: &str) -> Option<(usize, usize)> {
    sentence.char_indices().find_map(|(at, c)| {
        let (before, rest) = sentence.split_at(at);
        let len = match c {
            'n' | 'N' if before.ends_with('(') && starts_with_word(rest, "not") => "not".len(),
            'a'..='z' | 'A'..='Z' if begins_clause(before, c) => first_words(rest)?,
            _ => return None,
        };
        let after = &rest[len..];
        let denies = !NO_DENIAL_BEFORE.iter().any(|words| starts_with_word(after, words));
        denies.then_some((at, at + len))
    })
}

/// Returns the length of the words at the start of `text` that begin a denial.
fn first_words(text: &str) -> Option<usize> {
    let negated = NEGATIONS.iter().find_map(|negation| {
        let rest = starts_with(text, negation).then(|| &text[negation.len()..])?;
        let uses = USES.iter().find(|uses| starts_with_word(rest, uses))?;
        Some(negation.len() + uses.len())
    });
    let denial = || DENIALS.iter().find(|denial| starts_with_word(text, denial));
    negated.or_else(|| denial().map(|denial| denial.len()))
}

/// Tells whether a word with the initial `first` begins a clause after the text `before`.
fn begins_clause(before: &str, first: char) -> bool {
    if before.ends_with(char::is_alphanumeric) {
        return false;
    }
    let mut words = before.trim_end().rsplit(|c: char| !c.is_alphanumeric());
    let word = words.next().unwrap_or_default();
    if word.is_empty() || first.is_uppercase() {
        return true;
    }
    let is_of =
        |word: &str, list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut is_about_before =
        || is_of(word, &["is", "are"]) && words.next().is_some_and(|word| is_of(word, &RELATIVES));
    is_of(word, &LINKS) && !is_about_before()
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

/// Tells whether `text` begins with `words`, in any case, and the last of them ends there.
fn starts_with_word(text: &str, words: &str) -> bool {
    starts_with(text, words)
        && !text[words.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
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
}
