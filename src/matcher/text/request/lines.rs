//! The lines of a message, each with its kind.

use std::ops::Range;

use crate::skill::searched_form;

use super::blocks::{Fences, Tags};
use super::kind::Kind;
use super::{code, output};

/// A line of a message, with its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

impl Line {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Reads the lines of a message.
pub(super) fn read(message: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let (mut fences, mut tags) = (Fences::default(), Tags::default());
    let mut in_diff = false;
    let mut at = 0;
    while at < message.len() {
        let rest = &message[at..];
        let block = match tags.block(rest) {
            None => fences.block(rest).map(|len| (len, Kind::Quoted)),
            tagged => tagged,
        };
        if let Some((len, kind)) = block {
            push_block(message, at..at + len, kind, &mut lines);
            at += len;
            in_diff = false;
            continue;
        }
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        let before = lines.last().map_or(Kind::Blank, |line: &Line| line.kind);
        in_diff = output::is_diff_header(line) || in_diff && output::goes_on_in_diff(line);
        let kind = if in_diff { Kind::Output } else { kind_of(line, before) };
        lines.push(Line { start: at, end: at + line.len(), kind });
        at += line.len();
    }
    join_rows(message, &mut lines);
    lines
}

/// Takes two lines or more with as many tabs, or commas, for rows of a table.
fn join_rows(message: &str, lines: &mut [Line]) {
    for at in 1..lines.len() {
        let pair = [lines[at - 1], lines[at]];
        let [above, below] = pair.map(|line| &message[line.range()]);
        if pair.iter().all(|line| line.kind != Kind::Harness) && output::are_rows(above, below) {
            lines[at - 1].kind = Kind::Quoted;
            lines[at].kind = Kind::Quoted;
        }
    }
}

fn push_block(message: &str, block: Range<usize>, kind: Kind, lines: &mut Vec<Line>) {
    let mut start = block.start;
    for line in message[block].split_inclusive('\n') {
        lines.push(Line { start, end: start + line.len(), kind });
        start += line.len();
    }
}

/// Returns the kind of a line outside of blocks, below a line of kind `before`.
fn kind_of(line: &str, before: Kind) -> Kind {
    let is_seen = |c: char| !c.is_whitespace() && searched_form(c).is_some();
    let text = line.trim_matches(|c: char| !is_seen(c));
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    if text.is_empty() {
        Kind::Blank
    } else if before == Kind::Code && is_indented {
        Kind::Code
    } else if output::is_quote(text) || output::is_row(line) {
        Kind::Quoted
    } else if output::is_output(line) {
        Kind::Output
    } else if code::is_code(line, matches!(before, Kind::Code | Kind::Output)) {
        Kind::Code
    } else {
        Kind::Text
    }
}
