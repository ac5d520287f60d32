//! The notation of phrases: `(a|b)` is one of several, `[a|b]` one of them or none, and `*` stands
//! for one or more words. Other punctuation says nothing.

use crate::token::{is_same, last_token, next_token};

/// The maximum number of words that a `*` stands for, unless it ends the phrase. In scripts without
/// spaces, a character counts as a word.
pub(super) const MAX_OPEN_WORDS: usize = 48;

/// A part of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'p> {
    Words(&'p str),
    /// Choices separated by `|`, one of which must follow.
    OneOf(&'p str),
    /// Choices separated by `|`, one of which may follow.
    Maybe(&'p str),
    Open,
}

/// Splits off the first part of a phrase.
fn next_part(phrase: &str) -> Option<(Part<'_>, &str)> {
    let phrase = phrase.trim_start();
    let first = phrase.chars().next()?;
    let group = |close: char| {
        let inner = &phrase[1..];
        inner.split_once(close).unwrap_or((inner, ""))
    };
    Some(match first {
        '(' => {
            let (inner, rest) = group(')');
            (Part::OneOf(inner), rest)
        }
        '[' => {
            let (inner, rest) = group(']');
            (Part::Maybe(inner), rest)
        }
        '*' => (Part::Open, &phrase[1..]),
        _ => {
            let (words, rest) =
                phrase.split_at(phrase.find(['(', '[', '*']).unwrap_or(phrase.len()));
            (Part::Words(words), rest)
        }
    })
}

fn parts(mut phrase: &str) -> impl Iterator<Item = Part<'_>> {
    std::iter::from_fn(move || {
        let (part, rest) = next_part(phrase)?;
        phrase = rest;
        Some(part)
    })
}

/// Returns the rest of `text` after `words`, if `text` begins with them.
pub(super) fn strip_words<'t>(mut words: &str, mut text: &'t str) -> Option<&'t str> {
    while let Some((word, rest)) = next_token(words) {
        let (found, after) = next_token(text)?;
        if !is_same(word, found) {
            return None;
        }
        (words, text) = (rest, after);
    }
    Some(text)
}

/// Returns the rest of `text` after each of the choices that it begins with. Nearly all choices differ
/// from it in their first letters, and cost no more than comparing these.
fn strip_choices<'t>(choices: &str, text: &'t str) -> impl Iterator<Item = &'t str> {
    let first = next_token(text).map(|(word, _)| word.as_bytes());
    let first = first.filter(|word| word.iter().all(u8::is_ascii_lowercase));
    let may_be_same = move |words: &&str| match (first, words.trim_ascii_start().as_bytes()) {
        (Some([a, rest @ ..]), [b, others @ ..]) if b.is_ascii_lowercase() => {
            // One of the two may have an apostrophe next.
            let next = [rest.first(), others.first()];
            a == b && (next[0] == next[1] || !matches!(next, [Some(_), Some(b'a'..=b'z')]))
        }
        _ => true,
    };
    choices.split('|').filter(may_be_same).filter_map(move |words| strip_words(words, text))
}

/// If `text` begins with the phrase, and `ends` is true for the rest of it, returns the words that the
/// first `*` of the phrase stands for; an empty text if it has none.
pub(super) fn follows<'t>(
    phrase: &str,
    text: &'t str,
    ends: &impl Fn(&str) -> bool,
) -> Option<&'t str> {
    let Some((part, rest)) = next_part(phrase) else { return ends(text).then_some("") };
    let one_of =
        |choices: &str| strip_choices(choices, text).find_map(|after| follows(rest, after, ends));
    match part {
        Part::Words(words) => one_of(words),
        Part::OneOf(choices) => one_of(choices),
        Part::Maybe(choices) => one_of(choices).or_else(|| follows(rest, text, ends)),
        Part::Open if next_token(rest).is_none() => next_token(text).map(|_| text),
        Part::Open => {
            let mut after = text;
            (0..MAX_OPEN_WORDS).find_map(|_| {
                after = next_token(after)?.1;
                follows(rest, after, ends)?;
                Some(&text[..text.len() - after.len()])
            })
        }
    }
}

/// Tells whether `text` may contain a sentence of the phrase: it contains a choice of the part with the
/// fewest choices, as each of these sentences does.
pub(super) fn may_hold(phrase: &str, text: &str) -> bool {
    let choices = parts(phrase).filter_map(|part| match part {
        Part::Words(words) | Part::OneOf(words) => Some(words),
        Part::Maybe(_) | Part::Open => None,
    });
    let Some(fewest) = choices.min_by_key(|choices| choices.split('|').count()) else {
        return true;
    };
    fewest.split('|').any(|words| {
        let mut rest = text;
        loop {
            if strip_words(words, rest).is_some() {
                return true;
            }
            match next_token(rest) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
    })
}

/// A word that a phrase begins or ends with; `None` is any word.
pub(super) type Edge<'p> = Option<&'p str>;

/// Calls `each` with the words a phrase may begin with. Returns whether it may be empty.
pub(super) fn first_words<'p>(phrase: &'p str, each: &mut impl FnMut(Edge<'p>)) -> bool {
    let first = |words: &'p str| next_token(words).map(|(word, _)| word);
    edge_words(parts(phrase), first, each)
}

/// Calls `each` with the words a phrase may end with.
pub(super) fn last_words<'p>(phrase: &'p str, each: &mut impl FnMut(Edge<'p>)) {
    let parts: Vec<Part<'p>> = parts(phrase).collect();
    edge_words(parts.into_iter().rev(), last_token, each);
}

fn edge_words<'p>(
    parts: impl Iterator<Item = Part<'p>>,
    edge: impl Fn(&'p str) -> Option<&'p str>,
    each: &mut impl FnMut(Edge<'p>),
) -> bool {
    for part in parts {
        let (choices, mut may_be_empty) = match part {
            Part::Open => {
                each(None);
                return false;
            }
            Part::Words(words) | Part::OneOf(words) => (words, false),
            Part::Maybe(words) => (words, true),
        };
        for words in choices.split('|') {
            match edge(words) {
                Some(word) => each(Some(word)),
                None => may_be_empty = true,
            }
        }
        if !may_be_empty {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_stand_for_what_they_say() {
        for (phrase, text, expected) in [
            ("show skills", "show, skills", true),
            ("show skills", "show skills now", false),
            ("show (my|all your) [own|(] skills", "show all your skills", true),
            ("show (my|all your) [own] skills", "show my own skills", true),
            ("show (my|all your) [own] skills", "show skills", false),
            ("skills for *", "skills for the new server", true),
            ("skills for *", "skills for", false),
            ("skills for *", "skills for ...", false),
            ("* skills", "some other skills", true),
            ("* skills", "skills", false),
            ("what * skills * here", "what on skills or so here", true),
            ("what * skills * here", "what skills are here", false),
            ("你(能|会)做[些]什么", "你会做什么", true),
            ("你(能|会)做[些]什么", "你 能做 些什么", true),
            ("你(能|会)做[些]什么", "你做什么", false),
            ("unclosed (a|b", "unclosed b", true),
            ("unclosed [", "unclosed", true),
            (") ] |", "", true),
        ] {
            let is_end = |rest: &str| next_token(rest).is_none();
            let found = follows(phrase, text, &is_end);
            assert_eq!(found.is_some(), expected, "{phrase:?} {text:?}");
        }
    }

    #[test]
    fn what_the_first_open_part_stands_for_is_the_topic() {
        for (phrase, text, topic) in [
            ("skills for *", "skills for the new server", " the new server"),
            ("* skills", "some other skills", "some other"),
            ("what * skills * here", "what on skills or so here", " on"),
            ("有*的技能", "有处理表格的技能", "处理表格"),
            ("show skills", "show skills", ""),
        ] {
            let is_end = |rest: &str| next_token(rest).is_none();
            assert_eq!(follows(phrase, text, &is_end), Some(topic), "{phrase:?}");
        }
    }

    #[test]
    fn a_phrase_needs_a_choice_of_each_part_that_is_not_optional() {
        for (phrase, text, expected) in [
            ("* (for|to|with) (skill|ability) [here]", "a skill", true),
            ("* (for|to|with) (skill|ability) [here]", "for a while here", false),
            ("* (for|) [x]", "anything", true),
            ("* [x]", "anything", true),
            ("*のスキル", "そのスキル", true),
            ("*のスキル", "テストの能力", false),
            ("*(の|用の|系の)(スキル|能力)", "それの話", false),
        ] {
            assert_eq!(may_hold(phrase, text), expected, "{phrase} {text}");
        }
    }

    #[test]
    fn the_words_at_the_edges_of_a_phrase_are_known() {
        for (phrase, first, last, may_be_empty) in [
            ("show my skills", &[Some("show")][..], &[Some("skills")][..], false),
            ("[a|b c] (d|e f)", &["a", "b", "d", "e"].map(Some), &["d", "f"].map(Some), false),
            ("(a|) b", &["a", "b"].map(Some), &["b"].map(Some), false),
            ("* a", &[None], &[Some("a")], false),
            ("a *", &[Some("a")], &[None], false),
            ("[a]", &[Some("a")], &[Some("a")], true),
            ("!?", &[], &[], true),
        ] {
            let mut found = Vec::new();
            assert_eq!(first_words(phrase, &mut |word| found.push(word)), may_be_empty);
            assert_eq!(found, first, "{phrase}");
            found.clear();
            last_words(phrase, &mut |word| found.push(word));
            assert_eq!(found.iter().rev().count(), last.len(), "{phrase}");
            assert!(last.iter().all(|word| found.contains(word)), "{phrase}");
        }
    }
}
