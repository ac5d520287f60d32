//! A value read from a file, with its position there.

use std::ops::Range;

/// A value and the bytes of the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The bytes of the `SKILL.md` file where the value is written, including quotes.
    pub span: Range<usize>,
}
