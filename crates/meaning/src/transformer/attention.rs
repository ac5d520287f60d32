//! Attention: each piece looks at all others.

use super::functions::{exp, greatest, sum};

/// Working memory of attention.
#[derive(Debug, Default)]
pub(super) struct Attended {
    /// The keys of one head, a row for each dimension.
    keys: Vec<f32>,
    /// The weights of all pieces for one.
    weights: Vec<f32>,
}

/// Replaces `out` by what each piece sees of the others, given a row of queries, keys and values for each,
/// and the number of heads.
#[inline(always)]
pub(super) fn attend(
    mixed: &[f32],
    hidden: usize,
    heads: usize,
    attended: &mut Attended,
    out: &mut Vec<f32>,
) {
    let Attended { keys, weights } = attended;
    let n_pieces = mixed.len() / (3 * hidden);
    let width = hidden / heads;
    let scale = 1.0 / (width as f32).sqrt();
    out.clear();
    out.resize(n_pieces * hidden, 0.0);
    for first in (0..hidden).step_by(width) {
        keys.clear();
        for dimension in 0..width {
            let column = mixed.iter().skip(hidden + first + dimension).step_by(3 * hidden);
            keys.extend(column.map(|key| key * scale));
        }
        for piece in 0..n_pieces {
            let query = &mixed[piece * 3 * hidden + first..][..width];
            weights.clear();
            weights.resize(n_pieces, 0.0);
            for (of_query, keys) in query.iter().zip(keys.chunks_exact(n_pieces)) {
                for (weight, key) in weights.iter_mut().zip(keys) {
                    *weight += of_query * key;
                }
            }
            let most = greatest(weights, f32::MIN, |weight| weight);
            for weight in &mut *weights {
                *weight = exp(*weight - most);
            }
            let by = 1.0 / sum(weights, |weight| weight);
            let seen = &mut out[piece * hidden + first..][..width];
            for (weight, other) in weights.iter().zip(mixed.chunks_exact(3 * hidden)) {
                let values = &other[2 * hidden + first..][..width];
                for (seen, value) in seen.iter_mut().zip(values) {
                    *seen += weight * by * value;
                }
            }
        }
    }
}
