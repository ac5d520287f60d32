//! Text in blocks of 64 bytes, of which a word of 64 bits says something each.

/// Bytes of a block.
pub(super) const BYTES: usize = 64;

/// A bit for each byte of which something holds. The loop over bytes is one that compilers make wide
/// instructions of; then eight bytes of 0 or 1 at a time are multiplied so that they meet in one.
pub(super) fn mask(bytes: &[u8; BYTES], holds: impl Fn(u8) -> bool) -> u64 {
    let mut is_in = [0_u8; BYTES];
    for (is_in, &byte) in is_in.iter_mut().zip(bytes) {
        *is_in = u8::from(holds(byte));
    }
    let (eights, _) = is_in.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, &eight| {
        mask << 8 | u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}
