//! The runs of ASCII letters, digits and `_` of a folded text.

use std::ops::Range;

use super::blocks;

/// Where runs start and end. Reused from text to text.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// At first the starts and ends of the runs, then what was left by longer texts.
    edges: Vec<u32>,
    n_edges: usize,
}

impl Split {
    /// Finds the runs of `text`: of 64 bytes at a time a mask tells which are in a run, and its edges
    /// are taken one by one, which a processor foresees better than a look at each byte.
    pub(super) fn set(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if self.edges.len() <= bytes.len() {
            self.edges.resize(bytes.len() + 1, 0);
        }
        let edges = &mut self.edges[..=bytes.len()];
        let mut n_edges = 0;
        let mut ends_in_run = 0;
        blocks::masks(bytes, in_run, |start, mask| {
            let mut rest = mask ^ (mask << 1 | ends_in_run);
            while rest != 0 {
                edges[n_edges] = start as u32 + rest.trailing_zeros();
                n_edges += 1;
                rest &= rest - 1;
            }
            ends_in_run = mask >> 63;
        });
        if n_edges % 2 == 1 {
            edges[n_edges] = bytes.len() as u32;
            n_edges += 1;
        }
        self.n_edges = n_edges;
    }

    /// The number of runs.
    pub(super) fn len(&self) -> usize {
        self.n_edges / 2
    }

    /// The bytes of each run.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.after(0)
    }

    /// The bytes of each run from that at `place` on, which costs nothing to find.
    pub(super) fn after(&self, place: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
        let (runs, _) = self.edges[..self.n_edges].as_chunks();
        runs[place..].iter().map(|&[start, end]| start as usize..end as usize)
    }

    /// The bytes of the run at `place`.
    pub(super) fn get(&self, place: usize) -> Range<usize> {
        self.edges[place * 2] as usize..self.edges[place * 2 + 1] as usize
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
                let found: Vec<&str> = runs.iter().map(|run| &text[run]).collect();
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
