//! Lines of a message, and their kinds.

use std::ops::Range;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// Perhaps somebody's own words.
    Text,
    /// Quoted by marks that say so: in a fence, a tagged block, a mail, a table.
    Quoted,
    /// Code or data, without marks around it.
    Code,
    /// Written by a program, without marks around it: diffs, logs, stack frames, reports.
    Output,
    /// Written by the harness of an agent, neither request nor attachment.
    Harness,
}

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
