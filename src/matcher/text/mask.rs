//! The mask of quoted text in a message: code, quotes, logs, addresses.
//!
//! A user who pastes a stack trace does not ask for the skills whose keywords are in it. With
//! [`IndexOptions::mask_quoted`](crate::matcher::IndexOptions), literals are looked for only outside of
//! quoted text. Patterns still see everything, as their authors can say what they mean. A skill that is
//! named in inline code still counts as named: "use the `deploy` skill".

use std::ops::Range;

use super::QueryText;
use super::ranges::without;
use super::request::{closes, opened};

/// The quoted parts of a message, in its order, without overlap.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::matcher) struct Quoted {
    ranges: Vec<Range<usize>>,
    /// The quoted parts that are inline code; they are also in `ranges`.
    inline: Vec<Range<usize>>,
}

impl Quoted {
    /// Takes over the ranges of attachments, in place of the previous ones.
    pub(in crate::matcher) fn set_attached(&mut self, ranges: Vec<Range<usize>>) {
        self.inline.clear();
        self.ranges = ranges;
    }

    /// Tells whether nothing is quoted.
    pub(in crate::matcher) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Tells whether a byte stands in inline code.
    pub(in crate::matcher) fn is_inline(&self, at: usize) -> bool {
        covers(&self.inline, at)
    }

    /// Finds the quoted ranges of `text`, in place of the previous ones.
    pub(in crate::matcher) fn set(&mut self, text: &str) {
        self.ranges.clear();
        self.inline.clear();
        let mut fence: Option<(&str, usize)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            match fence {
                Some((marks, start)) if closes(line, marks) => {
                    self.ranges.push(start..end);
                    fence = None;
                }
                Some(_) => {}
                None => match opened(line) {
                    Some(marks) => fence = Some((marks, at)),
                    None if is_quote(line) || is_log(line) => self.ranges.push(at..end),
                    None => self.within(line, at),
                },
            }
            at = end;
        }
        if let Some((_, start)) = fence {
            self.ranges.push(start..text.len());
        }
    }

    /// Finds inline code and addresses in a line that begins at byte `offset`.
    fn within(&mut self, line: &str, offset: usize) {
        let mut at = 0;
        while let Some(next) = line.get(at..).and_then(|rest| rest.find(['`', ':'])) {
            let found = at + next;
            if line[found..].starts_with('`') {
                let marks = &line[found..found + run_of(&line[found..], '`')];
                let inside = found + marks.len();
                match end_of_code(line, inside, marks.len()) {
                    Some(end) => {
                        let range = offset + found..offset + end;
                        self.ranges.push(range.clone());
                        self.inline.push(range);
                        at = end;
                    }
                    None => at = inside,
                }
            } else {
                let address = address(line, found).filter(|address| address.start >= at);
                at = address.as_ref().map_or(found + 1, |address| address.end);
                self.ranges.extend(address.map(|a| offset + a.start..offset + a.end));
            }
        }
    }

    /// Returns the quoted ranges of the folded form of `text`.
    fn folded(&self, text: &QueryText) -> impl Iterator<Item = Range<usize>> {
        self.each_once(|range| text.folded_range(range))
    }

    /// Returns the quoted ranges as `place` gives them for another form of the text. Where both ends of a
    /// quote are in one character of that form, as of a ligature, it is quoted once.
    fn each_once(
        &self,
        place: impl Fn(&Range<usize>) -> Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let mut from = 0;
        self.ranges.iter().map(move |range| {
            let Range { start, end } = place(range);
            let start = start.max(from);
            from = end.max(start);
            start..from
        })
    }

    /// Returns the folded form of `text` without the quoted parts, each of which ends a line.
    pub(in crate::matcher) fn uncovered(&self, text: &QueryText) -> String {
        let quoted: Vec<Range<usize>> = self.folded(text).collect();
        let all = 0..text.folded().len();
        let said = without(std::slice::from_ref(&all), &quoted);
        said.into_iter().map(|range| &text.folded()[range]).collect::<Vec<&str>>().join("\n")
    }

    /// Writes the folded form of `text` to `out`, with a NUL for each byte that is quoted, so that the
    /// length stays the same.
    pub(in crate::matcher) fn cover(&self, text: &QueryText, out: &mut String) {
        cover_ranges(text.folded(), self.folded(text), out);
    }

    /// Writes the normalised form of `source`, of which `text` was made, to `out`, as [`Quoted::cover`] does
    /// the folded form. Each quote begins and ends with a line break, across which no `.*` reaches.
    pub(in crate::matcher) fn cover_normalized(
        &self,
        text: &QueryText,
        source: &str,
        out: &mut String,
    ) {
        let ranges = self.each_once(|range| text.normalized_range(range));
        cover_with(text.normalized(source), ranges, out, '\n');
    }

    /// Tells whether a byte is quoted.
    pub(in crate::matcher) fn has(&self, at: usize) -> bool {
        covers(&self.ranges, at)
    }
}

/// Writes `text` to `out`, with a NUL for each byte in one of the sorted `ranges`: no trigger contains a NUL,
/// and it is not part of a word.
pub(in crate::matcher) fn cover_ranges(
    text: &str,
    ranges: impl IntoIterator<Item = Range<usize>>,
    out: &mut String,
) {
    cover_with(text, ranges, out, '\0');
}

/// Covers ranges as [`cover_ranges`] does, with the ASCII character `edge` for the first and the last byte of
/// each.
fn cover_with(
    text: &str,
    ranges: impl IntoIterator<Item = Range<usize>>,
    out: &mut String,
    edge: char,
) {
    out.clear();
    for Range { start, end } in ranges {
        out.push_str(&text[out.len()..start]);
        out.extend((start..end).map(|at| if at == start || at + 1 == end { edge } else { '\0' }));
    }
    out.push_str(&text[out.len()..]);
}

fn covers(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.start <= at)
}

fn is_quote(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('>')
}

/// Tells whether a line looks like output of a program: it begins with a date, or is a stack frame.
fn is_log(line: &str) -> bool {
    let text = line.trim_start();
    let date = text.trim_start_matches('[').as_bytes();
    let is_date = date.len() > 10
        && date[..10].iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => matches!(byte, b'-' | b'/'),
            _ => byte.is_ascii_digit(),
        });
    let is_indented = text.len() < line.len();
    is_date
        || is_indented && text.starts_with("at ") && text.contains(['(', ':'])
        || is_indented && text.starts_with("File \"") && text.contains("line ")
}

fn run_of(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

/// Returns the end of the inline code that `n_marks` back-ticks opened.
fn end_of_code(line: &str, inside: usize, n_marks: usize) -> Option<usize> {
    let mut at = inside;
    while let Some(next) = line[at..].find('`') {
        let start = at + next;
        let n = run_of(&line[start..], '`');
        at = start + n;
        if n == n_marks {
            return Some(at);
        }
    }
    None
}

/// Returns the address around the colon at byte `colon`: a scheme, `://`, and everything up to a blank
/// or closing mark.
fn address(line: &str, colon: usize) -> Option<Range<usize>> {
    if !line[colon..].starts_with("://") {
        return None;
    }
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let start = line[..colon].trim_end_matches(is_scheme).len();
    if start == colon {
        return None;
    }
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`' | ')' | '|');
    let end = line[colon..].find(is_end).map_or(line.len(), |length| colon + length);
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `text` with `_` for each byte that is quoted.
    fn covered(text: &str) -> String {
        let mut quoted = Quoted::default();
        quoted.set(text);
        let is_apart = |pair: &[Range<usize>]| pair[0].end <= pair[1].start;
        assert!(quoted.ranges.windows(2).all(is_apart), "{text}: {quoted:?}");
        let cover = |(at, c): (usize, char)| if covers(&quoted.ranges, at) { '_' } else { c };
        text.char_indices().map(cover).collect()
    }

    #[test]
    fn what_is_quoted_is_covered_and_nothing_else() {
        for (text, expected) in [
            ("plain: text, a `lone tick", "plain: text, a `lone tick"),
            ("run `git x` now", "run _______ now"),
            ("``a ` b`` c", "_________ c"),
            ("`é` ü", "___ ü"),
            ("see https://a.b/c?d=e, ok", "see __________________ ok"),
            ("(http://a.b)c ://d", "(__________)c ://d"),
            ("a\n> b\n  > c\nd > e", "a\n__________d > e"),
            ("a\n```sh\nb\n```\nc", "a\n____________c"),
            ("a\n~~~\n```\nb", "a\n_________"),
            ("- ```\nb\n  ```\n- c", "______________- c"),
            ("2) ~~~\nb", "________"),
            ("-```b\n2 ```c", "-```b\n2 ```c"),
            ("```inline``` a", "____________ a"),
            (
                "2026-11-22 10:00 deploy\n[2026/11/22] x\n2026-11 y",
                "_______________________________________2026-11 y",
            ),
            (
                "  at a.b(c:1)\n  File \"x\", line 3\nat last (we) go",
                "_________________________________at last (we) go",
            ),
            ("`a` http://`b` c", "___ __________ c"),
        ] {
            assert_eq!(covered(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_cover_is_as_long_as_the_text_below() {
        let (mut text, mut quoted, mut out) =
            (QueryText::default(), Quoted::default(), String::new());
        for query in ["A  `ÄB`   c", "ﬁ `ﬁ` ＡＰＩ http://ｘ.y z", "a\r\n> ß\r\nb"] {
            text.set(query);
            quoted.set(query);
            quoted.cover(&text, &mut out);
            assert_eq!(out.len(), text.folded().len());
            assert!(out.contains('\0') && !out.ends_with('\0'), "{out:?}");
        }
    }
}
