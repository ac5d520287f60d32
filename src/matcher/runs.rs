//! The longest run of characters of some kinds in a text.

use super::blocks;
use super::kinds::Kinds;

/// The kinds of the characters of one text: working memory.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Of a text of ASCII the kind of each byte; then zeros.
    bytes: Vec<u8>,
    /// Of another text the kinds, stretch by stretch.
    stretches: Vec<(Kinds, u32)>,
    /// Those of ASCII that it holds.
    held: u8,
    n_bytes: usize,
    is_ascii: bool,
}

impl Runs {
    /// Takes a text in.
    pub(super) fn set(&mut self, text: &str) {
        self.is_ascii = text.is_ascii();
        self.n_bytes = text.len();
        if self.is_ascii {
            self.bytes.clear();
            self.bytes.resize(text.len().next_multiple_of(blocks::BYTES), 0);
            for (kind, &byte) in self.bytes.iter_mut().zip(text.as_bytes()) {
                *kind = Kinds::of_ascii(byte);
            }
            self.held = self.bytes.iter().fold(0, |held, kind| held | kind);
            return;
        }
        self.stretches.clear();
        for c in text.chars() {
            let kind = Kinds::of_char(c);
            match self.stretches.last_mut() {
                Some((last, len)) if *last == kind => *len += 1,
                _ => self.stretches.push((kind, 1)),
            }
        }
    }

    /// The length of the longest run of characters of `kinds`.
    pub(super) fn longest(&self, kinds: Kinds) -> u32 {
        if self.is_ascii {
            return self.longest_of_bytes(kinds.in_ascii());
        }
        let (mut longest, mut len) = (0, 0);
        for &(kind, of_kind) in &self.stretches {
            len = if kind.is_within(kinds) { len + of_kind } else { 0 };
            longest = longest.max(len);
        }
        longest
    }

    fn longest_of_bytes(&self, kinds: u8) -> u32 {
        if self.held & kinds == 0 {
            return 0;
        }
        if self.held & !kinds == 0 {
            return self.n_bytes as u32;
        }
        // The one that reaches to the end of the block before goes on in the next.
        let (mut longest, mut open) = (0, 0);
        for block in self.bytes.as_chunks().0 {
            let mask = blocks::mask(block, |kind| kind & kinds != 0);
            longest = longest.max(open + mask.trailing_ones());
            if mask == u64::MAX {
                open += u64::BITS;
            } else {
                longest = longest.max(longest_of_bits(mask));
                open = mask.leading_ones();
            }
        }
        longest.max(open)
    }
}

/// The longest run of bits that are set.
fn longest_of_bits(mut mask: u64) -> u32 {
    let mut longest = 0;
    while mask != 0 {
        mask &= mask << 1;
        longest += 1;
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_in_bytes_as_in_characters() {
        let digits = Kinds::of_char('7');
        let letters = Kinds::of_char('x').or(Kinds::of_char('X'));
        for n_before in 0..130 {
            for n_digits in [0, 1, 3, 62, 63, 64, 65, 129, 200] {
                let ascii = format!("{}-{}Xy", ".".repeat(n_before), "7".repeat(n_digits));
                for (text, n_letters) in [(ascii.clone(), 2), (format!("{ascii}é"), 2)] {
                    let mut runs = Runs::default();
                    runs.set(&text);
                    assert_eq!(runs.longest(digits), n_digits as u32, "{text}");
                    assert_eq!(runs.longest(letters), n_letters, "{text}");
                    let both = n_digits as u32 + n_letters;
                    assert_eq!(runs.longest(digits.or(letters)), both, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_text_of_one_kind_is_one_run() {
        let mut runs = Runs::default();
        for text in ["", "a", "abc"] {
            runs.set(text);
            assert_eq!(runs.longest(Kinds::of_char('x')), text.len() as u32);
            assert_eq!(runs.longest(Kinds::of_char(' ')), 0);
        }
    }
}
