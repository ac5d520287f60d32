//! One vector against many compact ones.

use crate::compact::{Compact, UNIT};
use crate::layout::MAX_DIMENSIONS;

/// The leading dimensions of a vector, which tell most about it: tables have their dimensions in the
/// order of how much texts differ in them.
const HEAD: usize = 64;

/// A vector that is compared with many compact ones.
#[derive(Debug, Clone)]
pub struct Query {
    /// As wide as the products that processors add up in pairs.
    values: [i16; MAX_DIMENSIONS],
}

/// A component of length 1 of the vector that is compared: finer than a byte, so that only the other
/// vector's rounding counts, and small enough that no sum of products exceeds 32 bits.
const QUERY_UNIT: f32 = 8128.0;

impl Query {
    /// The vector with these components, of at most [`MAX_DIMENSIONS`].
    pub(crate) fn new(values: &[f32]) -> Query {
        let mut query = Query { values: [0; MAX_DIMENSIONS] };
        for (whole, value) in query.values.iter_mut().zip(values) {
            *whole = (value * QUERY_UNIT).round() as i16;
        }
        query
    }

    /// Returns the cosine with a compact vector of the same table.
    pub fn cosine(&self, compact: &[u8]) -> f32 {
        cosine(product(&self.values, compact))
    }

    fn head(&self) -> &[i16; HEAD] {
        self.values.first_chunk().unwrap_or(&[0; HEAD])
    }
}

#[expect(clippy::cast_precision_loss, reason = "24 bits are more than a cosine needs")]
fn cosine(product: i32) -> f32 {
    product as f32 / (QUERY_UNIT * UNIT)
}

/// The sum of products of a vector and bytes. Blocks of a fixed size become vector instructions.
fn product(values: &[i16], bytes: &[u8]) -> i32 {
    let (values, _) = values.as_chunks::<16>();
    let (bytes, _) = bytes.as_chunks::<16>();
    values.iter().zip(bytes).map(|(values, bytes)| block(values, bytes)).sum()
}

fn block<const N: usize>(values: &[i16; N], bytes: &[u8; N]) -> i32 {
    let mut sum = 0;
    for (value, byte) in values.iter().zip(bytes) {
        sum += i32::from(*value) * i32::from(byte.cast_signed());
    }
    sum
}

/// Compact vectors of many texts, by number, in bytes that a snapshot can hold.
///
/// The heads of all vectors lie together, so that an estimate of all cosines reads 64 bytes a vector;
/// exact cosines of the best then read the rest.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    heads: &'a [[u8; HEAD]],
    tails: &'a [u8],
    tail: usize,
}

impl<'a> Vectors<'a> {
    /// Returns the bytes of these vectors, which must be of one table.
    pub fn pack(vectors: &[Compact]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(vectors.iter().map(|v| v.as_bytes().len()).sum());
        for vector in vectors {
            bytes.extend(vector.head::<HEAD>());
        }
        for vector in vectors {
            bytes.extend(vector.as_bytes().get(HEAD..).unwrap_or_default());
        }
        bytes
    }

    /// The vectors in bytes of [`Vectors::pack`], for a table with so many dimensions; nothing if the
    /// bytes are not a whole number of vectors.
    pub fn new(bytes: &'a [u8], dimensions: usize) -> Option<Vectors<'a>> {
        let tail = dimensions.saturating_sub(HEAD);
        if !bytes.len().is_multiple_of(HEAD + tail) {
            return None;
        }
        let (heads, tails) = bytes.split_at(bytes.len() / (HEAD + tail) * HEAD);
        Some(Vectors { heads: heads.as_chunks().0, tails, tail })
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Returns true if there is no vector.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Returns a vector as it was packed; nothing for one that does not exist.
    pub fn get(&self, index: usize) -> Option<Compact> {
        let head = self.heads.get(index)?;
        let tail = self.tails.get(index * self.tail..(index + 1) * self.tail)?;
        Compact::from_bytes(&[head, tail].concat())
    }

    /// Replaces `out` by an estimate of the cosine of each vector, from its leading 64 dimensions.
    pub fn estimates(&self, query: &Query, out: &mut Vec<f32>) {
        out.clear();
        let values = query.head();
        out.extend(self.heads.iter().map(|head| cosine(block(values, head))));
    }

    /// Returns the cosine of a vector, 0 for one that does not exist.
    pub fn cosine(&self, query: &Query, index: usize) -> f32 {
        let Some(head) = self.heads.get(index) else { return 0.0 };
        let tail = self.tails.get(index * self.tail..(index + 1) * self.tail).unwrap_or_default();
        cosine(block(query.head(), head) + product(&query.values[HEAD..], tail))
    }
}
