//! The bytes of a network, read from their start to their end.

use std::ops::Range;

/// Reads the parts of a network, one after the other.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    pub(super) fn new(bytes: &[u8]) -> Reader<'_> {
        Reader { bytes, at: 0 }
    }

    pub(super) fn skip(&mut self, len: usize) -> Option<Range<usize>> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len())?;
        let range = self.at..end;
        self.at = end;
        Some(range)
    }

    pub(super) fn floats(&mut self, n: usize) -> Option<Vec<f32>> {
        let range = self.skip(n.checked_mul(4)?)?;
        let (numbers, _) = self.bytes[range].as_chunks();
        Some(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
