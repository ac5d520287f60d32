//! A value of a file, and its place there.

use std::ops::Range;

/// A value and the bytes of the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Bytes of the `SKILL.md` file, quotes included.
    pub span: Range<usize>,
}
