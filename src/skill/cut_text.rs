//! Texts that YAML cuts at ` #`: the rest of the line is a comment, although the author wrote it as text.

use std::ops::Range;

use super::fields::excerpt;
use super::finding::Finding;
use super::keys::normalized;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The fields whose values are sentences: any ` #` in them was meant as text.
const SENTENCES: [&str; 3] = ["description", "brief_description", "when_to_use"];

/// Other fields with texts of the author. Comments are usual behind them, so that only `#` before a
/// character other than a blank, as in `#45`, was meant as text.
const TEXTS: [&str; 13] = [
    "name", "triggers", "keywords", "verbs", "patterns", "exclude", "exclude_keywords", "paths",
    "trigger_phrases", "should", "should_not", "knowledge", "argument_hint",
];

/// A value without quotes, and the comment that cuts it off.
#[derive(Debug)]
pub(super) struct CutText {
    /// The key of the value, with `_` for `-`.
    field: String,
    /// The bytes of the value and the comment, up to the end of the line.
    pub(super) written: Range<usize>,
    /// The byte of the `#`.
    comment: usize,
    /// Tells whether quotes around `written` are the whole remedy: not in brackets or over several lines.
    pub(super) is_of_one_line: bool,
}

impl CutText {
    /// Returns the text as it was meant, in single quotes.
    pub(super) fn quoted(&self, source: &str) -> String {
        format!("'{}'", source[self.written.clone()].replace('\'', "''"))
    }

    pub(super) fn finding(&self, file: &str, max_remedy_chars: usize) -> Finding {
        let CutText { field, written, comment, .. } = self;
        let cut = excerpt(&file[*comment..written.end]);
        let message = if written.start == *comment {
            format!("a value of `{field}` is missing, because YAML reads `{cut}` as a comment")
        } else {
            format!("`{field}` ends before `{cut}`, because YAML reads ` #` as a comment")
        };
        let line_start = file[..written.start].rfind('\n').map_or(0, |end| end + 1);
        let line = format!("{}{}", file[line_start..written.start].trim_start(), self.quoted(file));
        let help = if self.is_of_one_line && line.chars().count() <= max_remedy_chars {
            format!("write `{line}`, or the comment on a line of its own")
        } else {
            "put all of the value in quotes, or the comment on a line of its own".to_owned()
        };
        Finding::new(Code::CutText, *comment..written.end, message, help)
    }
}

/// Finds the texts among `entries`, the top-level entries of the front matter in `source`, that a comment
/// cuts off.
pub(super) fn cut_texts(entries: &[(Node, Node)], source: &str) -> Vec<CutText> {
    let mut search = Search { source, found: Vec::new() };
    search.mapping(entries, false);
    search.found
}

struct Search<'a> {
    source: &'a str,
    found: Vec<CutText>,
}

impl Search<'_> {
    fn mapping(&mut self, entries: &[(Node, Node)], is_in_brackets: bool) {
        for (key, value) in entries {
            let field = normalized(key.text().unwrap_or_default());
            let after_key = self.source[key.span.end..].trim_start_matches([':', ' ', '\t']);
            self.node(&field, value, self.source.len() - after_key.len(), is_in_brackets);
        }
    }

    /// Searches `node`. `empty_at` is the byte where the value would start if it is empty.
    fn node(&mut self, field: &str, node: &Node, empty_at: usize, is_in_brackets: bool) {
        let is_in_brackets =
            is_in_brackets || self.source[node.span.start..].starts_with(['[', '{']);
        match &node.value {
            Value::Mapping(entries) => self.mapping(entries, is_in_brackets),
            Value::Sequence(entries) => {
                let mut before = node.span.start;
                for entry in entries {
                    let between = before..entry.span.start.max(before);
                    let empty_at = self.empty_entry(between).unwrap_or(entry.span.end);
                    self.node(field, entry, empty_at, is_in_brackets);
                    before = entry.span.end;
                }
            }
            Value::Scalar { .. } => {
                let is_alias = self.source[node.span.start..].starts_with('*');
                if node.is_null() {
                    self.scalar(field, empty_at..empty_at, is_in_brackets);
                } else if node.is_plain_in_source(self.source) && !is_alias {
                    self.scalar(field, node.span.clone(), is_in_brackets);
                }
            }
        }
    }

    /// Returns the byte of the `#` in the last line of `range` that is `- #…`.
    fn empty_entry(&self, range: Range<usize>) -> Option<usize> {
        let line_start = self.source[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let text = &self.source[line_start..range.end];
        let begins_line = |at: &usize| text[..*at].trim_end_matches([' ', '\t']).ends_with('\n');
        let mut dashes = text.rmatch_indices("- #").map(|(at, _)| at);
        let dash = dashes.find(|at| begins_line(at) || text[..*at].trim().is_empty())?;
        Some(line_start + dash + "- ".len())
    }

    /// Records the value at `span` if a comment follows that was meant as text.
    fn scalar(&mut self, field: &str, span: Range<usize>, is_in_brackets: bool) {
        let rest = &self.source[span.end..];
        let rest = rest[..rest.find('\n').unwrap_or(rest.len())].trim_end();
        let comment = rest.trim_start_matches([' ', '\t']);
        let Some(text) = comment.strip_prefix('#') else { return };
        let is_glued = text.starts_with(|c: char| !c.is_whitespace() && c != '#');
        if !(SENTENCES.contains(&field) || is_glued && TEXTS.contains(&field)) {
            return;
        }
        self.found.push(CutText {
            field: field.to_owned(),
            comment: span.end + (rest.len() - comment.len()),
            is_of_one_line: !is_in_brackets && !self.source[span.clone()].contains('\n'),
            written: span.start..span.end + rest.len(),
        });
    }
}
