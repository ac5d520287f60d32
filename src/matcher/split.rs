//! The runs of ASCII letters, digits and `_` of a folded text.

use std::ops::Range;

use super::blocks;

/// Where runs start and end. Reused from text to text.
#[derive(Debug, Default)]
pub(super) struct Split(Vec<u32>);

impl Split {
    /// Finds the runs of `text`: of 64 bytes at a time a mask tells which are in a run, and its edges
    /// are taken one by one, which a processor foresees better than a look at each byte.
    pub(super) fn set(&mut self, text: &str) {
        self.0.clear();
        let bytes = text.as_bytes();
        let mut ends_in_run = 0;
        let mut edges = [0; blocks::BYTES];
        for (block, part) in bytes.chunks(blocks::BYTES).enumerate() {
            let mask = if let Some(whole) = part.first_chunk() {
                blocks::mask(whole, in_run)
            } else {
                let mut padded = [0; blocks::BYTES];
                padded[..part.len()].copy_from_slice(part);
                blocks::mask(&padded, in_run)
            };
            let start = (block * blocks::BYTES) as u32;
            let mut rest = mask ^ (mask << 1 | ends_in_run);
            let mut n_edges = 0;
            while rest != 0 {
                edges[n_edges % blocks::BYTES] = start + rest.trailing_zeros();
                rest &= rest - 1;
                n_edges += 1;
            }
            self.0.extend_from_slice(&edges[..n_edges]);
            ends_in_run = mask >> 63;
        }
        if self.0.len() % 2 == 1 {
            self.0.push(bytes.len() as u32);
        }
    }

    /// The bytes of each run from that at `place` on.
    pub(super) fn after(&self, place: usize) -> impl Iterator<Item = Range<usize>> {
        let (runs, _) = self.0.as_chunks();
        runs[place..].iter().map(|&[start, end]| start as usize..end as usize)
    }

    /// The bytes of the run at `place`.
    pub(super) fn get(&self, place: usize) -> Range<usize> {
        self.0[place * 2] as usize..self.0[place * 2 + 1] as usize
    }
}

/// Whether a byte of a folded text, so no capital, is a letter, digit or `_` of ASCII.
pub(super) fn in_run(byte: u8) -> bool {
    byte.wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_that_a_look_at_each_byte_finds() {
        let mut runs = Split::default();
        for n_bytes in 1..200 {
            for text in [
                "a".repeat(n_bytes),
                ".".repeat(n_bytes),
                "a.".repeat(n_bytes),
                format!("{}.{}", "b".repeat(63), "a".repeat(n_bytes)),
                format!("{}a", ".".repeat(n_bytes)),
                format!("{}é _0", "a".repeat(n_bytes)),
            ] {
                runs.set(&text);
                let found: Vec<&str> = runs.after(0).map(|run| &text[run]).collect();
                let is_between = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
                let expected: Vec<&str> =
                    text.split(is_between).filter(|run| !run.is_empty()).collect();
                assert_eq!(found, expected, "{text}");
                for (place, run) in expected.iter().enumerate() {
                    assert_eq!(&text[runs.get(place)], *run);
                }
            }
        }
    }
}
