//! Repairs front matter that is not valid YAML, where its meaning is clear.

use std::ops::Range;

use super::scalar::{Names, broken_scalars, closed, encloses_its_quote, is_valid};
use super::yaml;
use super::yaml_lines::{Line, key_length, leading_blanks, lines};

/// Repaired YAML, with a mapping from its bytes to those of the original text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// The pieces that were copied: the start in the repaired text, the start in the original text
    /// without its forbidden characters, and the length in bytes.
    pieces: Vec<(usize, usize, usize)>,
    /// The places where forbidden characters were removed: the position in the text without them, and
    /// the total number of bytes removed up to there.
    removed: Vec<(usize, usize)>,
    /// The values that were quoted or closed, in the order of the text.
    mended: Vec<Mended>,
    /// True if tabs in indentation were replaced.
    has_new_indent: bool,
    /// True if tabs must be replaced in the indentation of the value that is being copied, from its second
    /// line on.
    mends_indent: bool,
}

/// A value that was quoted or closed, with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mended {
    /// The bytes of the repaired text from the start of the key's line to the end of the value.
    range: Range<usize>,
    /// The byte of the repaired text at which the mended part starts.
    at: usize,
    /// The brackets that were missing at the end of the value.
    brackets: Option<String>,
}

/// The correct form of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The line, in its correct form.
    Line(String),
    /// The brackets that were missing at the end of the value.
    Brackets(String),
    /// The correct form takes more than one line, or does not load by itself.
    Long,
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

    /// Returns the remedy for an error at byte `at` of the original text, and the byte of that text at
    /// which the fault is: `at` itself if a value around it was mended, else the nearest mended value
    /// above, else the first one. `None` if only tabs were replaced or characters removed.
    pub(super) fn remedy(&self, at: usize) -> Option<(Remedy, usize)> {
        let holds =
            |of: &&Mended| self.original(of.range.start) < at && at <= self.original(of.range.end);
        let around = self.mended.iter().find(holds);
        let above = || self.mended.iter().rev().find(|of| self.original(of.at) < at);
        let mended = around.or_else(above).or(self.mended.first())?;
        let line = self.text[mended.range.clone()].trim_start();
        let loads = !line.contains('\n') && yaml::parse(line, &|at| at).is_ok();
        let remedy = match &mended.brackets {
            _ if loads => Remedy::Line(line.to_owned()),
            Some(brackets) => Remedy::Brackets(brackets.clone()),
            None => Remedy::Long,
        };
        Some((remedy, if around.is_some() { at } else { self.original(mended.at) }))
    }

    /// Copies `range`, with its indentation mended if `mends_indent` is set.
    fn copy(&mut self, source: &str, mut range: Range<usize>) {
        while self.mends_indent
            && let Some(end) = source[range.clone()].find('\n')
        {
            let start = range.start + end + 1;
            self.copy_exactly(source, range.start..start);
            range.start = start + leading_blanks(&source[start..range.end]);
            self.copy_indent(source, start..range.start);
        }
        self.copy_exactly(source, range);
    }

    /// Copies indentation, with blanks for its tabs.
    fn copy_indent(&mut self, source: &str, range: Range<usize>) {
        if source[range.clone()].contains('\t') {
            self.text.push_str(&source[range].replace('\t', "  "));
            self.has_new_indent = true;
        } else {
            self.copy_exactly(source, range);
        }
    }

    fn copy_exactly(&mut self, source: &str, range: Range<usize>) {
        self.pieces.push((self.text.len(), range.start, range.len()));
        self.text.push_str(&source[range]);
    }

    /// Copies `range` as a single-quoted scalar, without the quotes that it may have.
    fn quote(&mut self, source: &str, mut range: Range<usize>) {
        if encloses_its_quote(&source[range.clone()]) {
            range = range.start + 1..range.end - 1;
        }
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
    let mut repaired = Repaired { removed, ..Repaired::default() };
    let lines = lines(source);
    let names = Names::of(source);
    let mut n = 0;
    while n < lines.len() {
        let line = &lines[n];
        let start = repaired.text.len();
        let indent = line.start..line.content.start;
        repaired.copy_indent(source, indent);
        if line.value.is_empty() {
            repaired.copy(source, line.content.start..line.next);
            n += 1;
            continue;
        }
        // The value of a key, or an entry of a list, with the lines that continue it.
        let n_lines = 1 + lines[n + 1..].iter().take_while(|next| next.continues(line)).count();
        let last = lines[n..n + n_lines].iter().rposition(|line| !line.is_blank()).unwrap_or(0);
        let value = line.value.start..lines[n + last].content.end.max(line.value.start);
        // In a sound text, such as one below `|`, a tab is part of the text. A key below a text without a
        // mark does not belong to that text, so its place is unknown.
        let is_marked = source[value.clone()].starts_with(['|', '>', '[', '{']);
        let below = || lines[n + 1..n + n_lines].iter();
        let has_tab = |line: &Line| source[line.start..line.content.start].contains('\t');
        let is_key = |line: &Line| key_length(&source[line.content.clone()]).is_some();
        repaired.mends_indent = below().any(has_tab)
            && (is_marked || !below().any(is_key))
            && !is_valid(&source[value.clone()]);
        let mut from = line.content.start;
        let (mut first, mut brackets) = (None, None);
        for scalar in broken_scalars(source, value, &names) {
            repaired.copy(source, from..scalar.start);
            first.get_or_insert(repaired.text.len());
            let text = &source[scalar.clone()];
            let is_of_triggers = line.is_of_triggers(source, &scalar);
            match is_of_triggers.then(|| closed(text)).flatten() {
                Some(closed) => {
                    repaired.copy(source, scalar.clone());
                    repaired.text.push_str(&closed[text.len()..]);
                    brackets = Some(closed[text.len()..].to_owned());
                }
                // As a quoted text, a map would turn into keywords that the author did not write.
                None if is_of_triggers && text.starts_with('{') => return None,
                None => repaired.quote(source, scalar.clone()),
            }
            from = scalar.end;
        }
        repaired.copy(source, from..lines[n + n_lines - 1].next);
        if let Some(at) = first {
            let range = start..start + repaired.text[start..].trim_end().len();
            repaired.mended.push(Mended { range, at, brackets });
        }
        n += n_lines;
    }
    let is_changed =
        repaired.has_new_indent || !repaired.mended.is_empty() || !repaired.removed.is_empty();
    is_changed.then_some(repaired)
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
            ("d: \"one\" and \"two\"", "d: '\"one\" and \"two\"'"),
            ("d: \"one\", \"two\" # c", "d: '\"one\", \"two\"' # c"),
            ("d: 'it's a: x' # c", "d: 'it''s a: x' # c"),
            ("d: 'the users' data'", "d: 'the users'' data'"),
            ("- \"say \"hi\" now\"", "- 'say \"hi\" now'"),
            ("k: ['don't panic', 'x y']", "k: ['don''t panic', 'x y']"),
            ("k: {a: 'can't \"x\" do'}", "k: {a: 'can''t \"x\" do'}"),
            ("d: ends:", "d: 'ends:'"),
            ("d: one\n  two: three\n\n  four\ne: f", "d: 'one\n  two: three\n\n  four'\ne: f"),
            ("m:\n  d: a: b\n", "m:\n  d: 'a: b'\n"),
            ("m:\n\td: x\n", "m:\n  d: x\n"),
            ("d: |\n\ta\n\n\t\tb\ne: f", "d: |\n  a\n\n    b\ne: f"),
            ("d: a: 'b'\n\t'c\n", "d: 'a: ''b''\n  ''c'\n"),
            ("d: a\n\t- b\n", "d: a\n  - b\n"),
            ("m:\n\td: |\n\t\ta", "m:\n  d: |\n    a"),
            ("d: |\n  a\n  \tb\ne: f: g", "d: |\n  a\n  \tb\ne: 'f: g'"),
            ("- @a\n- b\n- `c` d", "- '@a'\n- b\n- '`c` d'"),
            ("- k: a: b\n  l: c", "- k: 'a: b'\n  l: c"),
            ("k: [a, @b, '@c', *d]", "k: [a, '@b', '@c', '*d']"),
            ("d: a: b\nk: ['[a-z]* @x', \"{a,*}\"]", "d: 'a: b'\nk: ['[a-z]* @x', \"{a,*}\"]"),
            ("k: [Bash(git: *), Read]", "k: ['Bash(git: *)', Read]"),
            ("k: [a: b: c, d: e, '@', \"x\" y]", "k: ['a: b: c', d: e, '@', '\"x\" y']"),
            ("k: {a: @x, b: [%y, z], c: '%'}", "k: {a: '@x', b: ['%y', z], c: '%'}"),
            ("k: {a: b: c, d: e}", "k: {a: 'b: c', d: e}"),
            ("k: [#a, b c]", "k: ['#a', b c]"),
            ("k: [c#, f #x, #]", "k: [c#, 'f #x', '#']"),
            ("k: {a: #b, c: d}", "k: {a: '#b', c: d}"),
            ("k: [|, > a, >= 1, b]", "k: ['|', '> a', '>= 1', b]"),
            ("k: [- a, -, -b, @c]", "k: ['- a', '-', -b, '@c']"),
            ("k: [a, # b: c, @d\n  @e, f # g\n  ]", "k: [a, # b: c, @d\n  '@e', f # g\n  ]"),
            ("k: [*.{ts,js}, a]", "k: ['*.{ts,js}', a]"),
            ("k: [a\\d{2}[x-z] b, c {d, e]", "k: ['a\\d{2}[x-z] b', 'c {d', e]"),
            ("d: a: b\nk: [&x {y: {z: 1}}]", "d: 'a: b'\nk: [&x {y: {z: 1}}]"),
            ("- \"a: b\" c\n- \"d: e: f\"", "- '\"a: b\" c'\n- \"d: e: f\""),
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
            "- \"error: cannot find: x\"\n- 'what: \"x\"'\n'k': \"a: b\"",
            "k: ['a [b-c]* d', \"@e\", {f: '%g, h'}]",
            "k: [\"\\d+\"]",
            "m:\n  k: v\n",
            "-\n  a: b\n",
            "",
        ] {
            assert_eq!(repair(source), None, "{source:?}");
        }
    }

    #[test]
    fn bytes_of_repaired_text_lead_back_to_the_original() {
        let source = "\ta: it's: 'ñ'\n\u{80}b: \u{1}c\nd: |\n\té";
        let repaired = repaired(source);
        assert_eq!(repaired.text, "  a: 'it''s: ''ñ'''\nb: c\nd: |\n  é");
        for (at, _) in repaired.text.char_indices().chain([(repaired.text.len(), ' ')]) {
            assert!(source.is_char_boundary(repaired.original(at)), "{at}");
        }
        for piece in ["ñ", "b", "c", "é"] {
            let at = repaired.text.find(piece).unwrap();
            assert_eq!(repaired.original(at), source.find(piece).unwrap(), "{piece}");
        }
        let line = Remedy::Line("a: 'it''s: ''ñ'''".to_owned());
        assert_eq!(repaired.remedy(3), Some((line, 3)));
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
            format!("a: [{}]", "# ".repeat(120_000)),
            format!("a: [{}]", "x{".repeat(120_000)),
            format!("a: [{}]", "-,".repeat(4_000)),
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
            assert!(best.as_secs() < 20, "{source:.40} {best:?}");
        }
    }
}
