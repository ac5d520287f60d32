//! The lines of YAML that may be invalid: where the key and the value of each are.

use std::ops::Range;

/// A line of YAML; all positions are bytes of the text.
#[derive(Debug)]
pub(super) struct Line {
    /// The key before `:`, with its quotes.
    pub(super) key: Option<Range<usize>>,
    /// The part of the value that is on this line, after `key: ` and after `- `.
    pub(super) value: Range<usize>,
    /// The column of the key, or of the last dash; lines that are indented more deeply belong to the
    /// value.
    pub(super) indent: usize,
    start: usize,
    content: Range<usize>,
}

impl Line {
    /// Tells whether the line is blank or a comment.
    fn is_blank(&self, source: &str) -> bool {
        self.content.is_empty() || source[self.content.clone()].starts_with('#')
    }

    /// Tells whether this line belongs to the value that starts on line `first`.
    fn continues(&self, first: &Line, source: &str) -> bool {
        let is_deeper = self.content.start - self.start > first.indent;
        let opens = || source[first.value.clone()].starts_with(['[', '{']);
        let closes = || source[self.content.clone()].starts_with([']', '}']);
        self.is_blank(source) || is_deeper || opens() && closes()
    }
}

/// Returns the value that starts on the first of `lines`, with the lines that continue it, and the number
/// of these lines.
pub(super) fn value(source: &str, lines: &[Line]) -> (Range<usize>, usize) {
    let [first, below @ ..] = lines else { return (0..0, 0) };
    let n_below = below.iter().take_while(|line| line.continues(first, source)).count();
    let last = below[..n_below].iter().rev().find(|line| !line.is_blank(source)).unwrap_or(first);
    (first.value.start..last.content.end.max(first.value.start), n_below)
}

pub(super) fn lines(source: &str) -> Vec<Line> {
    let mut at = 0;
    let lines = source.split_inclusive('\n').map(|text| {
        let line = line(source, at..at + text.trim_end().len());
        at += text.len();
        line
    });
    lines.collect()
}

fn line(source: &str, range: Range<usize>) -> Line {
    let skip_blanks = |at: usize| {
        let rest = &source[at..range.end];
        at + rest.len() - rest.trim_start().len()
    };
    let content = skip_blanks(range.start)..range.end;
    let mut value = content.clone();
    let mut indent = content.start - range.start;
    while source[value.clone()].starts_with("- ") {
        indent = value.start - range.start;
        value.start = skip_blanks(value.start + 1);
    }
    let length = key_length(&source[value.clone()]);
    let key = length.map(|length| value.start..value.start + length);
    if let Some(key) = &key {
        indent = key.start - range.start;
        value.start = skip_blanks(key.end + 1);
    }
    // There is no value before a comment, or after a dash whose entry starts on the next line.
    if source[value.clone()].starts_with('#') || &source[value.clone()] == "-" {
        value.start = value.end;
    }
    Line { key, value, indent, start: range.start, content }
}

/// The length of the key in `key: value` or `key:`.
fn key_length(text: &str) -> Option<usize> {
    let ends_key = |at: usize| {
        let rest = text[at..].strip_prefix(':');
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    let (colon, key) = if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        let end = closing_quote(text, quote).filter(|end| ends_key(*end))?;
        (end, &text[1..end - 1])
    } else {
        let mut colons = text.match_indices(':').map(|(at, _)| at);
        let colon = colons.find(|at| ends_key(*at))?;
        (colon, &text[..colon])
    };
    let is_key = key.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        && key.chars().all(|c| c.is_alphanumeric() || "_-./$ ".contains(c));
    is_key.then_some(colon)
}

/// Returns the byte after the closing quote of the scalar that `value` starts with.
pub(super) fn closing_quote(value: &str, quote: char) -> Option<usize> {
    let bytes = value.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == '"' => at += 1,
            b'\'' if quote == '\'' && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            b if char::from(b) == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}
