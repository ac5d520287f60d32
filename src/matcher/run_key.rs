//! Runs of a text as numbers of 16 bytes: most are read, compared and hashed at once.

use std::ops::Range;

use super::filter::scatter;

/// Runs of up to so many bytes are one number.
const BYTES: usize = 16;

/// The bit that the keys of longer runs have: the first of a byte, which no ASCII has.
const IS_LONG: u128 = 1 << 63;

/// What is left of sixteen bytes if a run has so many.
const MASKS: [u128; BYTES + 1] = {
    let mut masks = [0; BYTES + 1];
    let mut n_bytes = 1;
    while n_bytes <= BYTES {
        masks[n_bytes] = masks[n_bytes - 1] << 8 | 0xff;
        n_bytes += 1;
    }
    masks
};

/// A run of ASCII. Up to sixteen bytes are told apart by it, longer ones have a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RunKey(u128);

impl RunKey {
    /// Whether it is no run, not even an empty one of a text.
    pub(super) fn is_none(self) -> bool {
        self == RunKey::default()
    }

    /// Whether other runs may have the same key.
    pub(super) fn is_long(self) -> bool {
        self.0 & IS_LONG != 0
    }

    /// A number whose upper bits depend on all of the run.
    pub(super) fn spread(self) -> u64 {
        let [first, second] = self.halves();
        first
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(second.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// A hash of the run and of the one before it, which has `spread`.
    #[inline]
    pub(super) fn hash_after(self, spread: u64) -> u64 {
        scatter(spread.rotate_left(29) ^ self.spread())
    }

    /// The hash of what begins with a run of `n_bytes`, of which this is the key.
    pub(super) fn hash_of_first(self, n_bytes: usize) -> u64 {
        mix(0, self.hash(n_bytes))
    }

    /// A hash of a run of `n_bytes`, of which this is the key: the same as [`hash`] of its bytes for all
    /// that are longer than eight.
    fn hash(self, n_bytes: usize) -> u64 {
        let [first, second] = self.halves();
        match n_bytes {
            0..=8 => mix(n_bytes as u64, first),
            9..=BYTES => {
                let n_bits = 8 * (n_bytes - 8);
                mix(mix(n_bytes as u64, first), (self.0 >> n_bits) as u64)
            }
            _ => second,
        }
    }

    fn halves(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }
}

/// Whether a run is one number, so that no other run has the same key.
#[inline]
pub(super) fn is_short(run: &Range<usize>) -> bool {
    n_bytes(run) <= BYTES
}

/// The length of a run, which never ends before it starts.
#[inline]
fn n_bytes(run: &Range<usize>) -> usize {
    run.end.wrapping_sub(run.start)
}

/// Reads the runs of a text.
#[derive(Debug)]
pub(super) struct RunReader<'t> {
    text: &'t [u8],
    /// The last bytes of the text, and zeros: where a run is so near the end that what is read at
    /// once would reach over it.
    last: [u8; 2 * BYTES],
    last_start: usize,
}

impl<'t> RunReader<'t> {
    pub(super) fn new(text: &'t [u8]) -> RunReader<'t> {
        let mut last = [0; 2 * BYTES];
        let last_start = text.len().saturating_sub(BYTES);
        if let Some(whole) = text.last_chunk::<BYTES>() {
            last[..BYTES].copy_from_slice(whole);
        } else {
            last[..text.len()].copy_from_slice(text);
        }
        RunReader { text, last, last_start }
    }

    /// The key of a run.
    #[inline]
    pub(super) fn key(&self, run: &Range<usize>) -> RunKey {
        let Some(mask) = MASKS.get(n_bytes(run)) else { return self.long_key(run) };
        let bytes = self.text.get(run.start..run.start.wrapping_add(BYTES));
        let bytes = match bytes.and_then(|bytes| bytes.first_chunk::<BYTES>()) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => self.last_bytes(run.start),
        };
        RunKey(bytes & mask)
    }

    /// The bytes from one on that is near the end.
    #[inline]
    fn last_bytes(&self, start: usize) -> u128 {
        let last = self.last.get(start - self.last_start..).unwrap_or_default();
        last.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
    }

    #[cold]
    fn long_key(&self, run: &Range<usize>) -> RunKey {
        let hash = hash(&self.text[run.clone()]);
        RunKey(u128::from(hash) << 64 | u128::from(hash) | IS_LONG)
    }

    /// The hash of what begins with a run.
    pub(super) fn hash_of_first(&self, run: &Range<usize>) -> u64 {
        self.key(run).hash_of_first(run.len())
    }

    /// The hash of what was seen, which ends at `end`, then what stands between, then a run.
    pub(super) fn chain(&self, so_far: u64, end: usize, run: &Range<usize>) -> u64 {
        let gap = match self.text[end..run.start] {
            [byte] => u64::from(byte),
            ref between => hash(between),
        };
        mix(so_far ^ gap.rotate_left(17), self.key(run).hash(run.len()))
    }
}

/// A hash of bytes: eight a step, the last step over what the one before has seen too.
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, after)) =
        rest.split_first_chunk::<8>().filter(|(_, after)| !after.is_empty())
    {
        hash = mix(hash, u64::from_le_bytes(*eight));
        rest = after;
    }
    let last = if let Some(eight) = bytes.last_chunk::<8>() {
        u64::from_le_bytes(*eight)
    } else if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
    } else if let (Some(&first), Some(&last)) = (rest.first(), rest.last()) {
        u64::from(first) | u64::from(rest[rest.len() / 2]) << 8 | u64::from(last) << 16
    } else {
        0
    };
    mix(hash, last)
}

/// Multiplies to twice the width and folds the halves, as `wyhash` does
/// (<https://github.com/wangyi-fudan/wyhash>).
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xa076_1d64_78bd_642f) * u128::from(b ^ 0xe703_7ed1_a0b4_28db);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_the_same_wherever_it_stands_and_no_other_run_is() {
        let text: String = ('a'..='z').cycle().take(80).collect();
        let mut keys = Vec::new();
        for n_bytes in 1..40 {
            for start in 0..26 {
                let run = &text[start..start + n_bytes];
                let alone = RunReader::new(run.as_bytes());
                let key = alone.key(&(0..n_bytes));
                assert!(!key.is_none());
                assert_eq!(key.is_long(), n_bytes > BYTES);
                for after in ["", "x", " and some more text"] {
                    let whole = format!("some text {run}{after}");
                    let reader = RunReader::new(whole.as_bytes());
                    assert_eq!(reader.key(&(10..10 + n_bytes)), key, "{whole}");
                    let hash = reader.hash_of_first(&(10..10 + n_bytes));
                    assert_eq!(hash, alone.hash_of_first(&(0..n_bytes)));
                    keys.push((key.0, hash));
                }
            }
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 39 * 26);
        keys.dedup_by_key(|(_, hash)| *hash);
        assert_eq!(keys.len(), 39 * 26);
    }
}
