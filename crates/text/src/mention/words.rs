//! The words around a mention in any script, up to the ends of its clause.
//!
//! Where words are separated by blanks, a word is a run of letters. In scripts without blanks it is the
//! longest known word, or one character. A clause ends at a punctuation mark and at the end of a line.

use super::clause::Lines;
use super::lexicon::{is_known, roles};
use super::{SIGILS, is_quote};
use crate::boundary::{is_hangul, is_unspaced, is_word};

/// The number of characters of the longest known word of a script without blanks.
const MAX_UNSPACED_CHARS: usize = 10;

/// The longest prefix that an apostrophe joins to a word: "n'utilise", "qu'un".
const MAX_ELISION_BYTES: usize = 2;

/// Words before a place, backwards.
#[derive(Clone)]
pub(super) struct Before<'t> {
    lines: Lines<'t>,
    end: usize,
}

impl<'t> Before<'t> {
    /// Iterates over the words before `end`. Skips quotes, brackets and a sigil directly before it.
    pub(super) fn new(lines: Lines<'t>, end: usize) -> Before<'t> {
        let opens = |c: char| is_quote(c) || SIGILS.contains(&c) || "([{<".contains(c);
        Before { lines, end: lines.text[..end].trim_end_matches(opens).len() }
    }
}

impl<'t> Iterator for Before<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let mut rest = self.lines.text[..self.end].trim_end_matches(is_mark);
        self.end = 0;
        let is_joined = !rest.ends_with(' ');
        if let Some(before) = rest.strip_suffix(' ') {
            if self.lines.breaks_at(before.len()) {
                return None;
            }
            rest = before.trim_end_matches(is_mark);
        }
        let last = rest.chars().next_back()?;
        let start = if is_unspaced(last) {
            let starts = rest.char_indices().rev().take(MAX_UNSPACED_CHARS);
            let known = starts.filter(|&(at, _)| is_known(&rest[at..]));
            known.last().map_or(rest.len() - last.len_utf8(), |(at, _)| at)
        } else if is_letter(last) {
            let start = rest.trim_end_matches(is_letter).len();
            elision(&rest[start..]).map_or(start, |len| start + len + 1)
        } else if last == '-' && is_joined {
            rest.len() - 1
        } else {
            return None;
        };
        self.end = start;
        let word = &rest[start..];
        // "nicht, dass du x benutzt": the comma is one of grammar.
        if let Some(before) = self.lines.text[..start].strip_suffix(", ")
            && roles(word).is_some_and(|of| of.that != 0)
            && !self.lines.breaks_at(start - 1)
        {
            self.end = before.len();
        }
        Some(word)
    }
}

/// Words after a place.
#[derive(Clone)]
pub(super) struct After<'t> {
    lines: Lines<'t>,
    start: usize,
}

impl<'t> After<'t> {
    /// Iterates over the words after `start`. Skips a hyphen directly after it: "x-skill".
    pub(super) fn new(lines: Lines<'t>, start: usize) -> After<'t> {
        let rest = lines.text[start..].trim_start_matches(is_mark);
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        After { lines, start: lines.text.len() - rest.len() }
    }
}

impl<'t> Iterator for After<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.lines.text;
        let mut rest = text[self.start..].trim_start_matches(is_mark);
        self.start = text.len();
        let is_joined = !rest.starts_with(' ');
        if let Some(after) = rest.strip_prefix(' ') {
            if self.lines.breaks_at(text.len() - rest.len()) {
                return None;
            }
            rest = after.trim_start_matches(is_mark);
        }
        let first = rest.chars().next()?;
        let end = if is_unspaced(first) {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let known = ends.take(MAX_UNSPACED_CHARS).filter(|&end| is_known(&rest[..end]));
            known.last().unwrap_or(first.len_utf8())
        } else if is_letter(first) {
            // A particle of Korean follows a word of another script without a blank.
            let ends = |c| !is_letter(c) || is_hangul(c) && !is_hangul(first);
            let len = rest.find(ends).unwrap_or(rest.len());
            elision(&rest[..len]).unwrap_or(len)
        } else if first == '-' && is_joined {
            1
        } else {
            return None;
        };
        self.start = text.len() - rest.len() + end;
        Some(&rest[..end])
    }
}

/// Tells whether `c` belongs to a word of a script with blanks.
fn is_letter(c: char) -> bool {
    c == '\'' || c != '_' && is_word(c) && !is_unspaced(c)
}

fn is_mark(c: char) -> bool {
    is_quote(c) || c == '_'
}

/// Returns the length of the prefix that an apostrophe joins to the rest of a word.
fn elision(word: &str) -> Option<usize> {
    word.find('\'').filter(|len| (1..=MAX_ELISION_BYTES).contains(len) && len + 1 < word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_around_a_name_are_read_outwards() {
        for (text, before, after) in [
            (
                "bitte nicht den x skill nehmen",
                &["den", "nicht", "bitte"][..],
                &["skill", "nehmen"][..],
            ),
            ("n'utilise pas \"/x\" ici", &["pas", "utilise", "n"], &["ici"]),
            ("看看,请不要用x技能了", &["用", "不要", "请"], &["技能", "了"]),
            ("so: x-skill, not", &[], &["skill"]),
            ("x'i kullanma.", &[], &["i", "kullanma"]),
            ("x を使わないでください", &[], &["を", "使わないで", "く", "だ", "さ", "い"]),
            ("x를 쓰지 마", &[], &["를", "쓰지", "마"]),
            ("x skill을", &[], &["skill", "을"]),
            ("it isn't _the_ x isn't", &["the", "isn't", "it"], &["isn't"]),
            ("nicht, dass du x", &["du", "dass", "nicht"], &[]),
            ("nicht, du x", &["du"], &[]),
            ("non-x n'est", &["-", "non"], &["n", "est"]),
            ("a (x) b", &["a"], &[]),
        ] {
            let name = text.find('x').unwrap();
            let lines = Lines::joined(text);
            assert_eq!(Before::new(lines, name).collect::<Vec<_>>(), before, "{text}");
            assert_eq!(After::new(lines, name + 1).collect::<Vec<_>>(), after, "{text}");
        }
    }

    #[test]
    fn a_line_ends_a_clause() {
        let n_breaks = |blank: usize| usize::from(blank == 3 || blank == 5);
        let lines = Lines { text: "not x use", n_breaks: &n_breaks };
        assert_eq!((Before::new(lines, 4).next(), After::new(lines, 5).next()), (None, None));
    }
}
