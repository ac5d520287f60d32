//! Which bytes something may start with, or end with.

use serde::{Deserialize, Serialize};

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Bytes([u64; 4]);

impl Bytes {
    #[inline]
    pub(super) fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
}

impl FromIterator<u8> for Bytes {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Bytes {
        let mut set = Bytes::default();
        for byte in bytes {
            set.0[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_was_put_in_and_nothing_else() {
        let bytes: Bytes = [0, 63, 64, b'a', 255].into_iter().collect();
        let found: Vec<u8> = (0..=255).filter(|&byte| bytes.has(byte)).collect();
        assert_eq!(found, [0, 63, 64, b'a', 255]);
    }
}
