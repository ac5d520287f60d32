//! Blocks of 64 bytes of text, tested at once into masks of 64 bits.

/// Bytes of a block.
const BYTES: usize = 64;

/// Calls `each` with the place of each byte for which `holds` is true.
#[inline]
pub fn places(bytes: &[u8], holds: impl Fn(u8) -> bool, mut each: impl FnMut(usize)) {
    let mut padded = [0; BYTES];
    for start in (0..bytes.len()).step_by(BYTES) {
        let rest = &bytes[start..];
        let n_known = rest.len().min(BYTES);
        // The last block is the last 64 bytes of the text; the bytes that it shares with the block
        // before are shifted out.
        let mut mask = if let Some(block) = rest.first_chunk::<BYTES>() {
            mask(block, &holds)
        } else if let Some(block) = bytes.last_chunk::<BYTES>() {
            mask(block, &holds) >> (BYTES - n_known)
        } else {
            padded[..n_known].copy_from_slice(rest);
            mask(&padded, &holds) & (u64::MAX >> (BYTES - n_known))
        };
        while mask != 0 {
            each(start + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
    }
}

/// Returns the mask of at most 64 numbers for which `holds` is true. Compilers vectorise the loop over
/// them. A multiplication then gathers eight bytes of 0 or 1 into eight bits.
#[inline]
pub fn mask<T: Copy, const N: usize>(numbers: &[T; N], holds: impl Fn(T) -> bool) -> u64 {
    let mut is_in = [0_u8; N];
    for (is_in, &number) in is_in.iter_mut().zip(numbers) {
        *is_in = u8::from(holds(number));
    }
    let (eights, _) = is_in.as_chunks::<8>();
    eights.iter().zip((0..u64::BITS).step_by(8)).fold(0, |mask, (&eight, shift)| {
        let bits = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask | bits << shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_that_a_look_at_each_byte_finds() {
        for n_bytes in 0..200 {
            for step in [1, 2, 7, 63, 64, 65, 190] {
                let bytes: Vec<u8> =
                    (0..n_bytes).map(|at| if at % step == 0 { 0 } else { b'x' }).collect();
                for wanted in [0, b'x', b'y'] {
                    let expected: Vec<usize> =
                        (0..n_bytes).filter(|&at| bytes[at] == wanted).collect();
                    let mut found = Vec::new();
                    places(&bytes, |byte| byte == wanted, |at| found.push(at));
                    assert_eq!(found, expected, "{wanted} in {bytes:?}");
                }
            }
        }
    }
}
