//! The network: pieces to states, layer by layer.

use std::slice::ChunksExact;

use fearless_simd::{Level, Simd, dispatch};

use super::attention::{Attended, attend};
use super::functions::{gelu, sum};
use super::linear::{Linear, Quantized};
use super::reader::Reader;
use super::shape::{Pooling, Shape};
use super::source::Source;
use crate::error::{Error, ErrorKind};
use crate::layout::Header;

/// The weights of a transformer.
pub(super) struct Network {
    /// The bytes of the linear maps.
    bytes: Vec<u8>,
    level: Level,
    /// The rows of the pieces at the start, at the end, and of what has no piece.
    special: [Vec<f32>; 3],
    /// A row for each position, with what all pieces share.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    mix: Linear,
    merge: Linear,
    norm: Norm,
    widen: Linear,
    narrow: Linear,
    last_norm: Norm,
}

struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
}

/// Working memory of a run.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// The states of the pieces, a row for each.
    states: Vec<f32>,
    row: Vec<u8>,
    mixed: Vec<f32>,
    seen: Vec<f32>,
    wide: Vec<f32>,
    added: Vec<f32>,
    quantized: Quantized,
    attended: Attended,
}

fn read_norm(reader: &mut Reader<'_>, hidden: usize) -> Option<Norm> {
    Some(Norm { scale: reader.floats(hidden)?, bias: reader.floats(hidden)? })
}

fn read_layer(reader: &mut Reader<'_>, hidden: usize, inner: usize) -> Option<Layer> {
    Some(Layer {
        mix: Linear::read(reader, hidden, 3 * hidden)?,
        merge: Linear::read(reader, hidden, hidden)?,
        norm: read_norm(reader, hidden)?,
        widen: Linear::read(reader, hidden, inner)?,
        narrow: Linear::read(reader, inner, hidden)?,
        last_norm: read_norm(reader, hidden)?,
    })
}

impl Network {
    pub(super) fn read(source: &Source, header: &Header, shape: &Shape) -> Result<Network, Error> {
        let bytes = source.read(shape.network_at, source.len() as usize - shape.network_at)?;
        let hidden = header.dimensions;
        let mut reader = Reader::new(&bytes);
        let mut read = || {
            let special = [reader.floats(hidden)?, reader.floats(hidden)?, reader.floats(hidden)?];
            let positions = reader.floats(shape.positions * hidden)?;
            let norm = read_norm(&mut reader, hidden)?;
            let layers = (0..shape.layers).map(|_| read_layer(&mut reader, hidden, shape.inner));
            Some((special, positions, norm, layers.collect::<Option<_>>()?))
        };
        let (special, positions, norm, layers) =
            read().ok_or_else(|| Error::new(ErrorKind::Damaged, "the network ends too early"))?;
        Ok(Network { level: Level::new(), special, positions, norm, layers, bytes })
    }

    /// Runs all layers on the states in `buffers`.
    pub(super) fn run(&self, shape: &Shape, buffers: &mut Buffers) {
        dispatch!(self.level, simd => self.embed(simd, shape, buffers));
        for layer in &self.layers {
            dispatch!(self.level, simd => self.layer(simd, layer, shape, buffers));
        }
    }

    #[inline(always)]
    fn embed<S: Simd>(&self, _: S, shape: &Shape, buffers: &mut Buffers) {
        for (state, position) in buffers.states.iter_mut().zip(&self.positions) {
            *state += position;
        }
        self.norm.apply(&mut buffers.states, shape.epsilon);
    }

    #[inline(always)]
    fn layer<S: Simd>(&self, simd: S, layer: &Layer, shape: &Shape, buffers: &mut Buffers) {
        let Buffers { states, mixed, seen, wide, added, quantized, attended, .. } = buffers;
        let hidden = layer.merge.outputs;
        layer.mix.run(simd, &self.bytes, states, quantized, mixed);
        attend(mixed, hidden, shape.heads, attended, seen);
        layer.merge.run(simd, &self.bytes, seen, quantized, added);
        add(states, added);
        layer.norm.apply(states, shape.epsilon);
        layer.widen.run(simd, &self.bytes, states, quantized, wide);
        for value in &mut *wide {
            *value = gelu(*value);
        }
        layer.narrow.run(simd, &self.bytes, wide, quantized, added);
        add(states, added);
        layer.last_norm.apply(states, shape.epsilon);
    }
}

#[inline(always)]
fn add(states: &mut [f32], added: &[f32]) {
    for (state, added) in states.iter_mut().zip(added) {
        *state += added;
    }
}

impl Norm {
    /// Brings each row to mean 0 and variance 1, then scales and shifts it.
    #[inline(always)]
    fn apply(&self, states: &mut [f32], epsilon: f32) {
        let n = self.scale.len() as f32;
        for row in states.chunks_exact_mut(self.scale.len()) {
            let mean = sum(row, |value| value) / n;
            let variance = sum(row, |value| (value - mean) * (value - mean)) / n;
            let by = 1.0 / (variance + epsilon).sqrt();
            for ((value, scale), bias) in row.iter_mut().zip(&self.scale).zip(&self.bias) {
                *value = (*value - mean) * by * scale + bias;
            }
        }
    }
}

impl Buffers {
    /// Begins a text.
    pub(super) fn begin(&mut self, network: &Network) {
        self.states.clear();
        self.states.extend_from_slice(&network.special[0]);
    }

    /// Adds a piece, given the place of its row in the file: its scale and its values. `None` if it cannot be read.
    pub(super) fn push(
        &mut self,
        network: &Network,
        shape: &Shape,
        row: Option<(usize, usize)>,
        source: &Source,
    ) -> Option<()> {
        let Some((at, len)) = row else {
            self.states.extend_from_slice(&network.special[2]);
            return Some(());
        };
        self.row.resize(len, 0);
        source.read_exact(at, &mut self.row)?;
        let (scale, values) = self.row.split_first_chunk()?;
        let scale = f32::from(u16::from_le_bytes(*scale)) * shape.row_unit;
        self.states.extend(values.iter().map(|value| scale * f32::from(value.cast_signed())));
        Some(())
    }

    /// Ends a text.
    pub(super) fn end(&mut self, network: &Network) {
        self.states.extend_from_slice(&network.special[1]);
    }

    /// The states of the pieces, the ends included.
    pub(super) fn states(&self, hidden: usize) -> ChunksExact<'_, f32> {
        self.states.chunks_exact(hidden)
    }

    /// Writes the direction of a text to `out`: the sum of all states, or the first one.
    pub(super) fn pool(&self, pooling: Pooling, out: &mut [f32]) {
        let n = match pooling {
            Pooling::Mean => usize::MAX,
            Pooling::First => 1,
        };
        for state in self.states(out.len()).take(n) {
            add(out, state);
        }
    }
}
