//! Linear maps: weights in bytes, and products of whole numbers.
//!
//! Weights lie in panels of 32 outputs: for each pair of inputs the two weights of each output. So a pair of
//! activations is multiplied with many outputs by one instruction that adds up products in pairs.

use std::ops::Range;

use fearless_simd::Simd;
use fearless_simd::prelude::*;

use super::functions::{ROUNDING, greatest};
use super::reader::Reader;

/// The number of outputs in a panel.
const PANEL: usize = 32;
/// The largest weight in bytes.
const MOST_WEIGHT: f32 = 127.0;
/// The largest activation: as large as sums of 1,536 products allow, and as 16 bits do.
const MOST_ACTIVATION: f32 = 16_383.0;
/// The vectors of outputs, and the pieces, whose sums are kept in registers at once.
const VECTORS: usize = 2;
const ROWS: usize = 6;

/// A linear map: `outputs` sums over `inputs` products each, and a bias.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// The place of the weights in the bytes of the network.
    weights: Range<usize>,
    scales: Vec<f32>,
    bias: Vec<f32>,
}

/// Activations in whole numbers.
#[derive(Debug, Default)]
pub(super) struct Quantized {
    /// Two activations in each.
    pairs: Vec<i32>,
    scales: Vec<f32>,
    panel: Vec<i16>,
}

/// The number of bytes of the weights.
fn weight_bytes(inputs: usize, outputs: usize) -> usize {
    outputs.next_multiple_of(PANEL) * inputs.next_multiple_of(2)
}

/// Writes a linear map, given the weights of each output and the biases.
pub(crate) fn write_linear(weights: &[f32], bias: &[f32], file: &mut Vec<u8>) {
    let (outputs, inputs) = (bias.len(), weights.len() / bias.len().max(1));
    let rows = || weights.chunks(inputs.max(1));
    let most = |row: &[f32]| row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
    let scales: Vec<f32> = rows().map(|row| most(row) / MOST_WEIGHT).collect();
    let start = file.len();
    file.resize(start + weight_bytes(inputs, outputs), 0);
    for (output, (row, scale)) in rows().zip(&scales).enumerate() {
        let panel = start + output / PANEL * PANEL * inputs.next_multiple_of(2);
        for (input, weight) in row.iter().enumerate() {
            let at = panel + (input / 2 * PANEL + output % PANEL) * 2 + input % 2;
            let step = if *scale > 0.0 { (weight / scale).round() } else { 0.0 };
            file[at] = (step as i8).cast_unsigned();
        }
    }
    file.extend(scales.iter().chain(bias).flat_map(|value| value.to_le_bytes()));
}

impl Linear {
    /// Reads a linear map at the place of `reader`.
    pub(super) fn read(reader: &mut Reader<'_>, inputs: usize, outputs: usize) -> Option<Linear> {
        let weights = reader.skip(weight_bytes(inputs, outputs))?;
        let (scales, bias) = (reader.floats(outputs)?, reader.floats(outputs)?);
        Some(Linear { inputs, outputs, weights, scales, bias })
    }

    /// Replaces `out` by the outputs for each row of `inputs` in `x`; `bytes` are those of the network.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &self,
        simd: S,
        bytes: &[u8],
        x: &[f32],
        quantized: &mut Quantized,
        out: &mut Vec<f32>,
    ) {
        let n_pairs = self.inputs.div_ceil(2);
        quantized.read(x, self.inputs);
        let Quantized { pairs, scales, panel } = quantized;
        let n_rows = scales.len();
        out.clear();
        out.resize(n_rows * self.outputs, 0.0);
        panel.resize(PANEL * n_pairs * 2, 0);
        for (number, weights) in bytes[self.weights.clone()].chunks_exact(panel.len()).enumerate() {
            for (wide, weight) in panel.iter_mut().zip(weights) {
                *wide = i16::from(weight.cast_signed());
            }
            let mut row = 0;
            while row < n_rows {
                let pairs = &pairs[row * n_pairs..];
                let mut sums = [[0; PANEL]; ROWS];
                let n = match n_rows - row {
                    1 => products::<S, 1>(simd, pairs, panel, &mut sums),
                    2 | 3 => products::<S, 2>(simd, pairs, panel, &mut sums),
                    4 | 5 => products::<S, 4>(simd, pairs, panel, &mut sums),
                    _ => products::<S, ROWS>(simd, pairs, panel, &mut sums),
                };
                for (sums, row) in sums[..n].iter().zip(row..) {
                    let out = &mut out[row * self.outputs..][..self.outputs];
                    self.finish(sums, scales[row], number * PANEL, out);
                }
                row += n;
            }
        }
    }

    /// Writes the outputs from `first` on, given the sums of their products and the scale of the activations.
    #[inline(always)]
    fn finish(&self, sums: &[i32; PANEL], scale: f32, first: usize, out: &mut [f32]) {
        let of_output = self.scales[first..].iter().zip(&self.bias[first..]);
        for ((out, sum), (of, bias)) in out[first..].iter_mut().zip(sums).zip(of_output) {
            *out = *sum as f32 * (scale * of) + bias;
        }
    }
}

/// Writes the sums of products of a panel with each of `N` rows of pairs; returns `N`. Indices, as iterators
/// over arrays are not always inlined, and what is not inlined has no vector instructions.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "see above")]
fn products<S: Simd, const N: usize>(
    simd: S,
    pairs: &[i32],
    panel: &[i16],
    out: &mut [[i32; PANEL]; ROWS],
) -> usize {
    let lanes = S::i32s::LEN;
    let n_pairs = panel.len() / (PANEL * 2);
    for first in (0..PANEL).step_by(lanes * VECTORS) {
        let mut sums = [[S::i32s::splat(simd, 0); VECTORS]; N];
        let mut weights = [S::i16s::splat(simd, 0); VECTORS];
        for (at, of_pair) in panel.chunks_exact(PANEL * 2).enumerate() {
            for vector in 0..VECTORS {
                let start = (first + vector * lanes) * 2;
                weights[vector] = S::i16s::from_slice(simd, &of_pair[start..start + lanes * 2]);
            }
            for row in 0..N {
                let pair: S::i16s = S::i32s::splat(simd, pairs[row * n_pairs + at]).bitcast();
                for vector in 0..VECTORS {
                    sums[row][vector] += weights[vector].pairwise_dot_product(pair);
                }
            }
        }
        for row in 0..N {
            for vector in 0..VECTORS {
                let start = first + vector * lanes;
                sums[row][vector].store_slice(&mut out[row][start..start + lanes]);
            }
        }
    }
    N
}

impl Quantized {
    /// Reads rows of so many activations.
    #[inline(always)]
    fn read(&mut self, x: &[f32], inputs: usize) {
        let Quantized { pairs, scales, .. } = self;
        pairs.clear();
        scales.clear();
        // No sum of products exceeds 31 bits.
        let limit =
            MOST_ACTIVATION.min(i32::MAX as f32 / (MOST_WEIGHT * (inputs + 1) as f32)).floor();
        for row in x.chunks_exact(inputs) {
            let scale = greatest(row, f32::MIN_POSITIVE, f32::abs) / limit;
            let by = 1.0 / scale;
            // The low 16 bits are the whole number.
            let bits = |value: f32| (value * by + ROUNDING).to_bits();
            let (both, rest) = row.as_chunks::<2>();
            let start = pairs.len();
            pairs.resize(start + inputs.div_ceil(2), 0);
            for (pair, [a, b]) in pairs[start..].iter_mut().zip(both) {
                *pair = (bits(*a) & 0xFFFF | bits(*b) << 16).cast_signed();
            }
            if let (Some(pair), [a]) = (pairs.last_mut(), rest) {
                *pair = (bits(*a) & 0xFFFF).cast_signed();
            }
            scales.push(scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    /// The levels of this machine, the best one first.
    fn levels() -> Vec<Level> {
        let best = Level::new();
        let mut levels = vec![best, Level::baseline()];
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(best.as_avx2().map(Simd::level));
            levels.extend(best.as_sse4_2().map(Simd::level));
        }
        levels
    }

    #[test]
    fn products_are_those_of_floats_on_every_processor() {
        for (inputs, outputs, n_rows) in
            [(1, 1, 1), (2, 33, 3), (7, 32, 6), (64, 40, 13), (33, 70, 5)]
        {
            let number = |at: usize| ((at * 7919 % 2_003) as f32 - 1_001.0) / 500.0;
            let weights: Vec<f32> = (0..inputs * outputs).map(number).collect();
            let bias: Vec<f32> = (0..outputs).map(number).collect();
            let x: Vec<f32> = (0..inputs * n_rows).map(|at| number(at + 77)).collect();
            let mut bytes = Vec::new();
            write_linear(&weights, &bias, &mut bytes);
            let linear = Linear::read(&mut Reader::new(&bytes), inputs, outputs).unwrap();
            let mut all = Vec::new();
            for level in levels() {
                let mut out = Vec::new();
                let mut quantized = Quantized::default();
                dispatch!(level, simd => linear.run(simd, &bytes, &x, &mut quantized, &mut out));
                all.push(out);
            }
            assert!(all.iter().all(|out| *out == all[0]), "whole numbers add up alike");
            for (at, found) in all[0].iter().enumerate() {
                let (row, output) = (at / outputs, at % outputs);
                let row = &x[row * inputs..][..inputs];
                let of = &weights[output * inputs..][..inputs];
                let expected = row.iter().zip(of).map(|(a, b)| a * b).sum::<f32>() + bias[output];
                let range = 0.02 * (inputs as f32).sqrt() + 0.01;
                assert!((found - expected).abs() < range, "{inputs} {outputs}: {found} {expected}");
            }
        }
    }
}
