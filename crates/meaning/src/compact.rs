//! Vectors in a byte for each dimension.

use crate::layout::MAX_DIMENSIONS;

/// A component of length 1 as a byte.
pub(crate) const UNIT: f32 = 127.0;

/// A vector with a byte for each dimension: at most 512 bytes. Cosines differ from those of the exact
/// vectors by less than 0.01 for texts of several words, and 0.02 for those of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    bytes: [u8; MAX_DIMENSIONS],
    dimensions: u16,
}

impl Compact {
    /// The vector with these components, of at most [`MAX_DIMENSIONS`].
    pub(crate) fn new(values: &[f32]) -> Compact {
        // Rounding changes the length; a row of few pieces has few different values, and all are rounded
        // the same way. The unit is corrected until the bytes have length 127.
        let mut unit = UNIT;
        let mut rounded = [0.0; MAX_DIMENSIONS];
        for _ in 0..2 {
            for (rounded, value) in rounded.iter_mut().zip(values) {
                *rounded = (value * unit).round();
            }
            let length = dot(&rounded, &rounded).sqrt();
            unit *= if length > 0.0 { UNIT / length } else { 1.0 };
        }
        let mut bytes = [0; MAX_DIMENSIONS];
        for (byte, value) in bytes.iter_mut().zip(values) {
            *byte = ((value * unit).round() as i8).cast_unsigned();
        }
        Compact { bytes, dimensions: values.len() as u16 }
    }

    /// The bytes: one for each dimension, as two's complement.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.dimensions)]
    }

    /// The vector with these bytes, one for each dimension; `None` if there are more than 512.
    pub fn from_bytes(bytes: &[u8]) -> Option<Compact> {
        let mut values = [0; MAX_DIMENSIONS];
        values.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Compact { bytes: values, dimensions: bytes.len() as u16 })
    }

    /// The leading bytes, with zeros for dimensions that do not exist.
    pub(crate) fn head<const N: usize>(&self) -> [u8; N] {
        std::array::from_fn(|at| self.bytes.get(at).copied().unwrap_or_default())
    }
}

/// The sum of products, in eight running sums that a processor adds at once.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}
