//! The parsed front matter: what each field means.

use std::ops::Range;

/// A value and the bytes of the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Bytes of the `SKILL.md` file, quotes included.
    pub span: Range<usize>,
}

/// Where the instructions of an activated skill go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Context {
    /// Into the current conversation.
    #[default]
    Inline,
    /// To a task of its own, which the host spawns.
    Fork,
}
