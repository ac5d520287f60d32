//! Hashes that identify terms, the same on every machine.

/// The number of bits of a term's hash: as many as leave room for a skill and an impact in 64 bits.
pub const HASH_BITS: u32 = 36;

/// Returns the hash of two terms, one after the other; in the other order they have another hash.
pub fn pair_hash(first: u64, second: u64) -> u64 {
    finish((first ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(MIX).rotate_left(29) ^ second)
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of a word, the same on every machine: multiply and fold, eight bytes at a time.
pub fn hash(word: &[u8]) -> u64 {
    let mut hash = (word.len() as u64).wrapping_mul(MIX);
    for chunk in word.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(bytes)).wrapping_mul(MIX);
        hash ^= hash >> 32;
    }
    finish(hash)
}

fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (hash ^ (hash >> 32)).wrapping_mul(MIX) >> (64 - HASH_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_fit_their_bits_and_pairs_know_their_order() {
        let [a, b] = ["deploy", "staging"].map(|word| hash(word.as_bytes()));
        assert_ne!(pair_hash(a, b), pair_hash(b, a));
        assert!([a, b, pair_hash(a, b), hash(b"")].iter().all(|hash| hash >> HASH_BITS == 0));
    }
}
