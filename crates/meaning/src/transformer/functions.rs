//! Functions of numbers without calls and branches, so that loops over them become vector instructions.

/// Adding it to a number of less than 2^22 puts its nearest whole number into the low bits.
pub(super) const ROUNDING: f32 = 12_582_912.0;

/// The number of running sums or maxima that a processor keeps at once.
const LANES: usize = 16;

/// The exponential of a number, to 5 decimal places relative to it.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 87.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUNDING;
    let rest = x - (rounded - ROUNDING) * std::f32::consts::LN_2;
    let series = 1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest / 720.0));
    let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23));
    power * (1.0 + rest * (1.0 + rest * (0.5 + rest * series)))
}

/// The activation GELU, with the error function of Abramowitz and Stegun 7.1.26.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let at = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * at);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    let erf = (1.0 - series * exp(-at * at)).copysign(x);
    0.5 * x * (1.0 + erf)
}

/// The sum of `map` over the numbers.
#[inline(always)]
pub(super) fn sum(values: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for (sum, value) in sums.iter_mut().zip(block) {
            *sum += map(*value);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|value| map(*value)).sum::<f32>()
}

/// The greatest of `map` over the numbers; at least `least`.
#[inline(always)]
pub(super) fn greatest(values: &[f32], least: f32, map: impl Fn(f32) -> f32) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut most = [least; LANES];
    for block in blocks {
        for (most, value) in most.iter_mut().zip(block) {
            *most = larger(*most, map(*value));
        }
    }
    let most = most.into_iter().fold(least, larger);
    rest.iter().map(|value| map(*value)).fold(most, larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_library() {
        for at in -2_000..2_000 {
            let x = at as f32 / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-5, "exp({x})");
        }
        assert!(exp(-1e9) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
        // By the standard library of Python: 0.5 * x * (1 + math.erf(x / math.sqrt(2))).
        for (x, expected) in [
            (-3.0, -0.004_049_69),
            (-0.5, -0.154_268_77),
            (0.0, 0.0),
            (0.1, 0.053_982_783),
            (1.0, 0.841_344_7),
            (6.0, 6.0),
        ] {
            assert!((gelu(x) - expected).abs() < 1e-6, "gelu({x}) = {}", gelu(x));
        }
    }

    #[test]
    fn sums_and_maxima_take_all_numbers() {
        let values: Vec<f32> = (0..37).map(|at| (at * 17 % 37) as f32).collect();
        assert!((sum(&values, |x| x) - 666.0).abs() < 1e-3);
        assert!((greatest(&values, 0.0, |x| x) - 36.0).abs() < 1e-6);
        assert!((greatest(&values[..3], 0.0, |x| -x) - 0.0).abs() < 1e-6);
    }
}
