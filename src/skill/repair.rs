//! Repairs front matter that is not valid YAML, where its meaning is clear.

use std::ops::Range;

use super::scalar::{Names, broken_scalars, closed};
use super::yaml;

/// Repaired YAML, with a mapping from its bytes to those of the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// The pieces that were copied: the start in the repaired text, the start in the original text
    /// without its forbidden characters, and the length in bytes.
    pieces: Vec<(usize, usize, usize)>,
    /// The places where forbidden characters were removed: the position in the text without them, and
    /// the total number of bytes removed up to there.
    removed: Vec<(usize, usize)>,
    /// The first mended line in its correct form; empty if it takes more than one line, or does not load
    /// by itself. `None` if only tabs were replaced or characters removed.
    pub(super) remedy: Option<String>,
}

impl Repaired {
    /// Returns the byte of the original text that corresponds to byte `at` of the repaired text.
    pub(super) fn original(&self, at: usize) -> usize {
        let after = self.pieces.partition_point(|(start, ..)| *start <= at);
        let at = match after.checked_sub(1).and_then(|piece| self.pieces.get(piece)) {
            Some((start, original, len)) => original + (at - start).min(*len),
            None => 0,
        };
        let after = self.removed.partition_point(|(start, _)| *start <= at);
        let last = after.checked_sub(1).and_then(|last| self.removed.get(last));
        at + last.map_or(0, |(_, n_bytes)| *n_bytes)
    }

    fn copy(&mut self, source: &str, range: Range<usize>) {
        self.pieces.push((self.text.len(), range.start, range.len()));
        self.text.push_str(&source[range]);
    }

    /// Copies `range` as a single-quoted scalar.
    fn quote(&mut self, source: &str, range: Range<usize>) {
        self.text.push('\'');
        let mut start = range.start;
        for (at, _) in source[range.clone()].match_indices('\'') {
            let after = range.start + at + 1;
            self.copy(source, start..after);
            self.text.push('\'');
            start = after;
        }
        self.copy(source, start..range.end);
        self.text.push('\'');
    }
}

/// Keys of triggers. A bracket that is left open in their value was meant as a list or a map.
const LISTS: [&str; 6] = ["triggers", "keywords", "verbs", "patterns", "exclude", "paths"];

/// Tells whether YAML forbids `c`, except as an escape.
fn is_forbidden(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    is_control || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Returns the first forbidden character from byte `at` on, with its position.
pub(super) fn forbidden(source: &str, at: usize) -> Option<(usize, char)> {
    let mut rest = source.get(at..)?.char_indices();
    rest.find(|(_, c)| is_forbidden(*c)).map(|(offset, c)| (at + offset, c))
}

/// Returns `source` without its forbidden characters, and records in `removed` where they were.
fn without_forbidden(source: &str, removed: &mut Vec<(usize, usize)>) -> String {
    let mut kept = String::with_capacity(source.len());
    for (at, c) in source.char_indices() {
        if is_forbidden(c) {
            removed.push((kept.len(), at + c.len_utf8() - kept.len()));
        } else {
            kept.push(c);
        }
    }
    kept
}

/// Quotes the scalars that need quotes, closes the brackets of triggers, replaces tabs in indentation by
/// blanks, and removes forbidden characters. Returns `None` if there is nothing to repair, or if
/// triggers are beyond repair.
pub(super) fn repair(source: &str) -> Option<Repaired> {
    let mut removed = Vec::new();
    let source = &without_forbidden(source, &mut removed);
    let mut repaired = Repaired { text: String::new(), pieces: Vec::new(), removed, remedy: None };
    let lines = lines(source);
    let names = Names::of(source);
    let mut has_new_indent = false;
    let mut n = 0;
    while n < lines.len() {
        let line = &lines[n];
        let start = repaired.text.len();
        let indent = line.start..line.content.start;
        if source[indent.clone()].contains('\t') {
            repaired.text.push_str(&source[indent].replace('\t', "  "));
            has_new_indent = true;
        } else {
            repaired.copy(source, indent);
        }
        if line.value.is_empty() {
            repaired.copy(source, line.content.start..line.next);
            n += 1;
            continue;
        }
        // The value of a key, or an entry of a list, with the lines that continue it.
        let n_lines = 1 + lines[n + 1..].iter().take_while(|next| next.continues(line)).count();
        let last = lines[n..n + n_lines].iter().rposition(|line| !line.is_blank()).unwrap_or(0);
        let value = line.value.start..lines[n + last].content.end.max(line.value.start);
        let mut from = line.content.start;
        for scalar in broken_scalars(source, value, &names) {
            repaired.copy(source, from..scalar.start);
            let text = &source[scalar.clone()];
            let is_of_triggers = line.is_of_triggers(source, &scalar);
            match is_of_triggers.then(|| closed(text)).flatten() {
                Some(closed) => {
                    repaired.copy(source, scalar.clone());
                    repaired.text.push_str(&closed[text.len()..]);
                }
                // As a quoted text, a map would turn into keywords that the author did not write.
                None if is_of_triggers && text.starts_with('{') => return None,
                None => repaired.quote(source, scalar.clone()),
            }
            from = scalar.end;
        }
        repaired.copy(source, from..lines[n + n_lines - 1].next);
        if from > line.content.start && repaired.remedy.is_none() {
            let written = repaired.text[start..].trim();
            let loads = !written.contains('\n') && yaml::parse(written, &|at| at).is_ok();
            repaired.remedy = Some(if loads { written.to_owned() } else { String::new() });
        }
        n += n_lines;
    }
    let is_changed = has_new_indent || repaired.remedy.is_some() || !repaired.removed.is_empty();
    is_changed.then_some(repaired)
}

/// A line of YAML; all positions are bytes of the text.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    /// The line without indentation, line end and trailing blanks.
    pub(super) content: Range<usize>,
    /// The value, after `key: ` and after `- `.
    pub(super) value: Range<usize>,
    /// The column of the key or of the entry's dash; lines that are indented more deeply belong to its
    /// value.
    indent: usize,
    next: usize,
}

impl Line {
    fn is_blank(&self) -> bool {
        self.content.is_empty()
    }

    /// Tells whether `value` is the whole value of a key of triggers.
    fn is_of_triggers(&self, source: &str, value: &Range<usize>) -> bool {
        let key = source[self.content.start..self.value.start].trim_end();
        let key = key.trim_start_matches("- ").trim_end_matches(':');
        LISTS.contains(&key) && value.start == self.value.start
    }

    /// Tells whether this line belongs to the value that starts on line `first`.
    pub(super) fn continues(&self, first: &Line) -> bool {
        self.is_blank() || self.content.start - self.start > first.indent
    }
}

pub(super) fn lines(source: &str) -> Vec<Line> {
    let mut start = 0;
    source
        .split_inclusive('\n')
        .map(|text| {
            let trimmed = text.trim_end();
            let content =
                start + (trimmed.len() - trimmed.trim_start().len())..start + trimmed.len();
            let mut value = content.clone();
            let mut indent = content.start - start;
            while source[value.clone()].starts_with("- ") {
                indent = value.start - start;
                value.start += 1;
                value.start += leading_blanks(&source[value.clone()]);
            }
            if let Some(key) = key_length(&source[value.clone()]) {
                indent = value.start - start;
                value.start += key + 1;
                value.start += leading_blanks(&source[value.clone()]);
            }
            // There is no value before a comment, or after a dash whose entry starts on the next line.
            if source[value.clone()].starts_with('#') || &source[value.clone()] == "-" {
                value.start = value.end;
            }
            let line = Line { start, content, value, indent, next: start + text.len() };
            start = line.next;
            line
        })
        .collect()
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// The length of the key in `key: value` or `key:`.
pub(super) fn key_length(text: &str) -> Option<usize> {
    let colon = text.match_indices(':').map(|(at, _)| at).find(|at| {
        let rest = &text[at + 1..];
        rest.is_empty() || rest.starts_with([' ', '\t'])
    })?;
    let key = text[..colon].trim_matches(['"', '\'']);
    let is_key = key.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        && key.chars().all(|c| c.is_alphanumeric() || "_-./$ ".contains(c));
    is_key.then_some(colon)
}

/// Returns the position of a tab in the indentation of the line at byte `at`, or of the next line.
pub(super) fn tab_indent(source: &str, at: usize) -> Option<usize> {
    let lines = lines(source);
    let n = lines.partition_point(|line| line.next <= at);
    let tab = |line: &Line| source[line.start..line.content.start].find('\t');
    lines.iter().skip(n).take(2).find_map(|line| Some(line.start + tab(line)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::salvage::salvage;

    fn repaired(source: &str) -> Repaired {
        repair(source).expect(source)
    }

    #[test]
    fn broken_scalars_are_put_in_quotes() {
        let cases = [
            ("d: Use when: asked", "d: 'Use when: asked'"),
            ("d: Use when: it's # why\n", "d: 'Use when: it''s' # why\n"),
            ("d: fix: see #1", "d: 'fix: see #1'"),
            ("d: [beta] helps", "d: '[beta] helps'"),
            ("d: [never closed", "d: '[never closed'"),
            ("triggers: [a b, c d\nd: e", "triggers: [a b, c d]\nd: e"),
            ("triggers:\n  keywords: [a b\n", "triggers:\n  keywords: [a b]\n"),
            (
                "triggers: {keywords: ['a, b'], exclude: [c]",
                "triggers: {keywords: ['a, b'], exclude: [c]}",
            ),
            (
                "triggers: {keywords: [a,\n  b], exclude: [c\n",
                "triggers: {keywords: [a,\n  b], exclude: [c]}\n",
            ),
            ("d: {x} y", "d: '{x} y'"),
            ("d: @all", "d: '@all'"),
            ("d: `x` y", "d: '`x` y'"),
            ("d: **bold** y", "d: '**bold** y'"),
            ("d: %x", "d: '%x'"),
            ("d: !x y", "d: '!x y'"),
            ("d: & y", "d: '& y'"),
            ("d: - y", "d: '- y'"),
            ("d: \"one\" and two", "d: '\"one\" and two'"),
            ("d: \"never closed", "d: '\"never closed'"),
            ("d: ends:", "d: 'ends:'"),
            ("d: one\n  two: three\n\n  four\ne: f", "d: 'one\n  two: three\n\n  four'\ne: f"),
            ("m:\n  d: a: b\n", "m:\n  d: 'a: b'\n"),
            ("m:\n\td: x\n", "m:\n  d: x\n"),
            ("- @a\n- b\n- `c` d", "- '@a'\n- b\n- '`c` d'"),
            ("- k: a: b\n  l: c", "- k: 'a: b'\n  l: c"),
            ("k: [a, @b, '@c', *d]", "k: [a, '@b', '@c', '*d']"),
            ("d: a: b\r\ne: f\r\n", "d: 'a: b'\r\ne: f\r\n"),
            ("d: \"a\u{1} b\"\ne: \0\u{7f}f\u{80}\u{ffff}\t", "d: \"a b\"\ne: f\t"),
            ("d: a\u{8}: b", "d: 'a: b'"),
        ];
        for (source, expected) in cases {
            assert_eq!(repaired(source).text, expected, "{source:?}");
            assert!(yaml::parse(expected, &|at| at).is_ok(), "{expected:?}");
        }
    }

    #[test]
    fn sound_values_stay_as_they_are() {
        for source in [
            "d: |\n  a: b: c\n  @x\ne: f",
            "d: >-  # c\n  - `x`\n",
            "# a: b: c\nd: e",
            "d: 'a: b'",
            "d: \"a: \\\" b\" # c",
            "d: \"one\n  two: three\"",
            "d: [a,\n  b: c]",
            "d: http://x:8080/y",
            "a: &x b\nc: *x",
            "m:\n  k: v\n",
            "-\n  a: b\n",
            "",
        ] {
            assert_eq!(repair(source), None, "{source:?}");
        }
    }

    #[test]
    fn bytes_of_repaired_text_lead_back_to_the_original() {
        let source = "\ta: it's: 'ñ'\n\u{80}b: \u{1}c";
        let repaired = repaired(source);
        assert_eq!(repaired.text, "  a: 'it''s: ''ñ'''\nb: c");
        for (at, _) in repaired.text.char_indices().chain([(repaired.text.len(), ' ')]) {
            assert!(source.is_char_boundary(repaired.original(at)), "{at}");
        }
        for piece in ["ñ", "b", "c"] {
            let at = repaired.text.find(piece).unwrap();
            assert_eq!(repaired.original(at), source.find(piece).unwrap(), "{piece}");
        }
        assert_eq!(repaired.remedy.as_deref(), Some("a: 'it''s: ''ñ'''"));
    }

    #[test]
    fn repair_and_salvage_take_no_time_on_hostile_text() {
        let staircase: Vec<_> = (0..600).map(|i| format!("{}k: [\n", " ".repeat(i))).collect();
        for source in [
            "a: [\n".repeat(50_000),
            "name:\n\n".repeat(30_000),
            "\n".repeat(250_000),
            "[".repeat(250_000),
            format!("a: {}", "'".repeat(250_000)),
            format!("a: [{}", "\"x\", ".repeat(40_000)),
            format!("a: {}", "*a &a ".repeat(40_000)),
            "a: *a\n".repeat(40_000),
            "- ".repeat(120_000),
            staircase.concat(),
        ] {
            // The limit is generous, because other tests may keep the machine busy; a hang would take
            // minutes.
            let once = || {
                let start = std::time::Instant::now();
                let _ = (repair(&source), salvage(&source, 0));
                start.elapsed()
            };
            let best = (0..3).map(|_| once()).min().unwrap();
            assert!(best.as_secs() < 2, "{source:.40} {best:?}");
        }
    }
}
