//! Vectors of texts, and how near they are.

use std::ops::Range;

use crate::compact::{Compact, UNIT, dot};
use crate::layout::MAX_DIMENSIONS;
use crate::query::Query;

/// Only this much of a text counts, in bytes; more adds time and little to the mean.
pub const MAX_TEXT: usize = 4096;

/// The direction in which a text lies: of length 1, or of length 0 if the table knows no word of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector {
    values: [f32; MAX_DIMENSIONS],
    dimensions: u16,
}

/// A word of a text, and its part in a cosine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contribution {
    /// Where the text has the word, in bytes.
    pub range: Range<usize>,
    /// The amount that the word adds to the cosine; negative if it takes away. All shares of a text add up to its
    /// cosine.
    pub share: f32,
}

/// The start of a text that counts.
pub(crate) fn bounded(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Joins the pieces of each word, brings their shares to the unit of a vector with this sum, and puts the
/// largest first.
pub(crate) fn shares(
    mut pieces: Vec<Contribution>,
    sum: &[f32; MAX_DIMENSIONS],
) -> Vec<Contribution> {
    pieces.dedup_by(|piece, word| {
        let is_same = piece.range == word.range;
        word.share += if is_same { piece.share } else { 0.0 };
        is_same
    });
    let length = dot(sum, sum).sqrt();
    for word in pieces.iter_mut().filter(|_| length > 0.0) {
        word.share /= length;
    }
    pieces.sort_by(|a, b| b.share.total_cmp(&a.share));
    pieces
}

/// Brings the values to length 1, unless all are 0.
pub(crate) fn unit(mut values: [f32; MAX_DIMENSIONS]) -> [f32; MAX_DIMENSIONS] {
    let length = dot(&values, &values).sqrt();
    if length > 0.0 {
        for value in &mut values {
            *value /= length;
        }
    }
    values
}

impl Vector {
    pub(crate) fn new(values: &[f32; MAX_DIMENSIONS], dimensions: usize) -> Vector {
        Vector { values: *values, dimensions: dimensions as u16 }
    }

    /// The components, one for each dimension.
    pub fn values(&self) -> &[f32] {
        &self.values[..usize::from(self.dimensions)]
    }

    /// Returns true if no word of the text is known; such a vector is near nothing.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0.0)
    }

    /// The cosine of both vectors: 1 for the same direction, 0 if they have nothing in common or one of
    /// them is zero.
    pub fn cosine(&self, other: &Vector) -> f32 {
        dot(&self.values, &other.values)
    }

    /// The direction midway between both vectors; a zero vector does not count.
    #[must_use]
    pub fn midway(&self, other: &Vector) -> Vector {
        let mut values = self.values;
        for (value, other) in values.iter_mut().zip(other.values) {
            *value += other;
        }
        Vector { values: unit(values), dimensions: self.dimensions.max(other.dimensions) }
    }

    /// The same direction in a byte for each dimension.
    pub fn compact(&self) -> Compact {
        Compact::new(self.values())
    }

    /// The vector that [`Vector::compact`] made these bytes of, nearly.
    ///
    /// Bytes beyond the 512th are ignored.
    pub fn from_compact(bytes: &[u8]) -> Vector {
        let mut values = [0.0; MAX_DIMENSIONS];
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = f32::from(byte.cast_signed()) / UNIT;
        }
        Vector { values, dimensions: bytes.len().min(MAX_DIMENSIONS) as u16 }
    }

    /// The vector in the form in which many compact ones are compared with it.
    pub fn query(&self) -> Query {
        Query::new(self.values())
    }
}
