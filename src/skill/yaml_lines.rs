//! The lines of YAML that may be invalid: where the key and the value of each are.

use std::ops::Range;

use super::scalar::closing_quote;

/// Keys of triggers. A bracket that is left open in their value was meant as a list or a map.
const LISTS: [&str; 6] = ["triggers", "keywords", "verbs", "patterns", "exclude", "paths"];

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
    pub(super) next: usize,
}

impl Line {
    pub(super) fn is_blank(&self) -> bool {
        self.content.is_empty()
    }

    /// Tells whether `value` is the whole value of a key of triggers.
    pub(super) fn is_of_triggers(&self, source: &str, value: &Range<usize>) -> bool {
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

/// The number of blanks and tabs that `text` starts with.
pub(super) fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// The length of the key in `key: value` or `key:`.
pub(super) fn key_length(text: &str) -> Option<usize> {
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

/// Returns the position of a tab in the indentation of the line at byte `at`, or of the next line.
pub(super) fn tab_indent(source: &str, at: usize) -> Option<usize> {
    let lines = lines(source);
    let n = lines.partition_point(|line| line.next <= at);
    let tab = |line: &Line| source[line.start..line.content.start].find('\t');
    lines.iter().skip(n).take(2).find_map(|line| Some(line.start + tab(line)?))
}
