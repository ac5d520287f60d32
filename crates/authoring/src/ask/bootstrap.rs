//! Intervals of means by resampling.

#![expect(clippy::cast_precision_loss, reason = "numbers of prompts")]
#![expect(clippy::cast_possible_truncation, reason = "places in lists")]

use serde::Serialize;

/// The number of resamples.
const RESAMPLES: usize = 1000;

/// The resamples below and above the interval: 2.5 % at each end.
const OUTSIDE: usize = RESAMPLES / 40;

/// The lower and the upper end of the interval that holds 95 % of the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval(pub f64, pub f64);

/// The mean of some values; `None` of none.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The interval of the mean of `values`. The same values give the same interval.
pub(super) fn interval(values: &[f64]) -> Option<Interval> {
    let mut numbers = Numbers(0x5eed);
    let mut resample = || {
        let draws = values.iter().map(|_| values[numbers.below(values.len())]);
        draws.sum::<f64>() / values.len() as f64
    };
    (!values.is_empty()).then(|| {
        let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resample()).collect();
        means.sort_by(f64::total_cmp);
        Interval(means[OUTSIDE], means[RESAMPLES - 1 - OUTSIDE])
    })
}

/// A generator of numbers (`SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
struct Numbers(u64);

impl Numbers {
    /// A number from 0 up to `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The upper half of a product is fair to within 2⁻⁶⁴ times `end`.
        ((u128::from(z ^ (z >> 31)) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_normal_approximation() {
        // 40 of 100: 0.4 ± 1.96 · √(0.4 · 0.6 / 100) = 0.304 to 0.496.
        let values: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i < 40))).collect();
        let Interval(low, high) = interval(&values).unwrap();
        assert!((low - 0.304).abs() < 0.015 && (high - 0.496).abs() < 0.015, "{low} {high}");
        assert_eq!(interval(&values), interval(&values));
    }

    #[test]
    fn equal_values_have_no_width() {
        assert_eq!(interval(&[2.0; 7]), Some(Interval(2.0, 2.0)));
        assert_eq!((interval(&[]), mean(&[])), (None, None));
    }
}
