//! The header of a transformer's file, and the numbers in it.
//!
//! The first 128 bytes are like those of a table. Then follow:
//!
//! | at | type | holds |
//! |---:|---|---|
//! | 128 | u32 | number of layers |
//! | 132 | u32 | number of heads |
//! | 136 | u32 | width of the layers' inner part |
//! | 140 | u32 | number of positions |
//! | 144 | u32 | pooling: 0 the mean of all states, 1 the first |
//! | 148 | f32 | epsilon of the norms |
//! | 152 | f32 | unit of the scales of rows |
//! | 156 | u32 | 0 |
//! | 160 | u64 | place of the network, which is the rest of the file |
//! | 168 | 24 bytes | 0 |
//! | 192 | 128 bytes | prompt of queries, padded with zeros |
//! | 320 | 128 bytes | prompt of documents |
//!
//! The network is a sequence of 32-bit floats and linear maps (`linear.rs`): the rows of the pieces at the start,
//! at the end and of what has no piece; a row for each position; scale and bias of a norm; and for each layer the
//! map to queries, keys and values, the map of what was seen, a norm, the map to the inner part, the map from it,
//! and a norm.

use super::{MAX_PIECES, Side};
use crate::error::{Error, ErrorKind};
use crate::layout::{Form, Header, MAX_DIMENSIONS, TRANSFORMER_MAGIC, u32_at, u64_at};

/// The size of the header in bytes.
pub(super) const HEADER: usize = 448;
/// The size of a prompt's field in bytes.
pub(crate) const MAX_PROMPT: usize = 128;
/// The largest numbers that are accepted. With all of them, a text would take seconds.
const MAX_LAYERS: usize = 24;
const MAX_INNER: usize = 4_096;

/// The file of a transformer.
pub(crate) const TRANSFORMER: Form = Form {
    magic: u64::from_le_bytes(TRANSFORMER_MAGIC),
    header: HEADER,
    max_dimensions: MAX_DIMENSIONS,
};

/// The rule by which the states of pieces become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    First,
}

/// The numbers of a transformer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) positions: usize,
    pub(crate) pooling: Pooling,
    pub(crate) epsilon: f32,
    pub(crate) row_unit: f32,
    pub(crate) network_at: usize,
    /// The prompts of queries and of documents.
    pub(crate) prompts: [String; 2],
}

impl Shape {
    /// Reads what follows the header of a table, and checks it.
    pub(super) fn read(bytes: &[u8], header: &Header) -> Result<Shape, Error> {
        let damaged = || Error::new(ErrorKind::Damaged, "numbers of the network do not fit");
        if bytes.len() < HEADER {
            return Err(damaged());
        }
        let number = |at| u32_at(bytes, at) as usize;
        let float = |at| f32::from_bits(u32_at(bytes, at));
        let prompt = |at: usize| {
            let text = &bytes[at..at + MAX_PROMPT];
            let end = text.iter().position(|byte| *byte == 0).unwrap_or(MAX_PROMPT);
            String::from_utf8_lossy(&text[..end]).into_owned()
        };
        let pooling = match number(144) {
            0 => Pooling::Mean,
            1 => Pooling::First,
            _ => return Err(damaged()),
        };
        let shape = Shape {
            layers: number(128),
            heads: number(132),
            inner: number(136),
            positions: number(140),
            pooling,
            epsilon: float(148),
            row_unit: float(152),
            network_at: usize::try_from(u64_at(bytes, 160)).map_err(|_| damaged())?,
            prompts: [prompt(192), prompt(320)],
        };
        let rows_end = header.rows_at + header.pieces * header.row_bytes();
        let is_in_file =
            shape.network_at >= rows_end && shape.network_at as u64 <= u64_at(bytes, 16);
        if is_in_file && header.bits == 8 {
            shape.checked(header.dimensions)
        } else {
            Err(damaged())
        }
    }

    /// Returns the shape if the network can be run.
    pub(crate) fn checked(self, hidden: usize) -> Result<Shape, Error> {
        let Shape { layers, heads, inner, positions, epsilon, row_unit, .. } = self;
        let unsupported = |what: String| Err(Error::new(ErrorKind::Unsupported, what));
        if layers == 0 || layers > MAX_LAYERS {
            return unsupported(format!("{layers} layers; 1 to {MAX_LAYERS} can be used"));
        }
        if hidden == 0 || hidden > MAX_DIMENSIONS || !hidden.is_multiple_of(16) {
            return unsupported(format!(
                "{hidden} dimensions; multiples of 16 up to 512 can be used"
            ));
        }
        if heads == 0 || !hidden.is_multiple_of(heads) {
            return unsupported(format!("{hidden} dimensions cannot be split among {heads} heads"));
        }
        if inner == 0 || inner > MAX_INNER {
            return unsupported(format!("layers {inner} wide; up to {MAX_INNER} can be used"));
        }
        if !(3..=MAX_PIECES).contains(&positions) {
            return unsupported(format!("{positions} positions; at least 3 are needed"));
        }
        if !(epsilon >= 0.0 && epsilon.is_finite() && row_unit >= 0.0 && row_unit.is_finite()) {
            return unsupported("numbers that are not finite".to_owned());
        }
        Ok(self)
    }

    pub(super) fn prompt(&self, side: Side) -> &str {
        &self.prompts[usize::from(side == Side::Document)]
    }
}

/// Writes what follows the header of a table.
pub(crate) fn write_header(file: &mut [u8], shape: &Shape) {
    let pooling = u32::from(shape.pooling == Pooling::First);
    let numbers = [shape.layers, shape.heads, shape.inner, shape.positions].map(|n| n as u32);
    let numbers =
        numbers.into_iter().chain([pooling, shape.epsilon.to_bits(), shape.row_unit.to_bits()]);
    for (at, number) in numbers.enumerate() {
        file[128 + at * 4..132 + at * 4].copy_from_slice(&number.to_le_bytes());
    }
    file[160..168].copy_from_slice(&(shape.network_at as u64).to_le_bytes());
    for (at, prompt) in [192, 320].into_iter().zip(&shape.prompts) {
        file[at..at + prompt.len().min(MAX_PROMPT)]
            .copy_from_slice(&prompt.as_bytes()[..prompt.len().min(MAX_PROMPT)]);
    }
}
