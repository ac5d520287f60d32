//! The lines of a message, each with its kind.

use std::ops::Range;

use super::blocks::{Fences, Tags};
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

    pub(super) fn is_attached(&self) -> bool {
        matches!(self.kind, Kind::Quoted | Kind::Program)
    }
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// Perhaps somebody's own words.
    Text,
    /// Quoted by marks that say so: in a fence, a tagged block, a mail, a table.
    Quoted,
    /// As programs write or read it, without marks around it: code, diffs, logs, stack frames.
    Program,
    /// Written by the harness of an agent, neither request nor attachment.
    Harness,
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
        let kind = if in_diff { Kind::Program } else { kind_of(line, before) };
        lines.push(Line { start: at, end: at + line.len(), kind });
        at += line.len();
    }
    lines
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
    let text = line.trim();
    if text.is_empty() {
        Kind::Blank
    } else if output::is_quote(text) || output::is_row(line) {
        Kind::Quoted
    } else if output::is_output(line) || code::is_code(line, before == Kind::Program) {
        Kind::Program
    } else {
        Kind::Text
    }
}
