//! The longest run of characters of some kinds in a text.
//!
//! Nearly all that is asked for is not there at all: digits, in most messages. So it is first asked
//! whether a text holds a character of these kinds, and only if so all of its characters are sorted.

use super::kinds::{Kinds, has_digit};
use crate::matcher::text::blocks;

/// The kinds of the characters of one text: working memory.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Runs {
    text: String,
    is_ascii: bool,
    /// The kinds of its characters that are not ASCII.
    others: Kinds,
    /// The kinds of all of its characters, once they were asked for.
    held: Option<Kinds>,
    /// Whether the characters were sorted into what follows.
    is_sorted: bool,
    /// The kind of each byte of a text of ASCII; then zeros.
    bytes: Vec<u8>,
    /// The kinds of another text, stretch by stretch.
    stretches: Vec<(Kinds, u32)>,
}

impl Runs {
    /// Takes a text in.
    pub(in crate::matcher) fn set(&mut self, text: &str, is_ascii: bool) {
        self.text.clear();
        self.text.push_str(text);
        self.is_ascii = is_ascii;
        self.is_sorted = false;
        self.held = None;
        self.others = Kinds::default();
        if !self.is_ascii {
            blocks::others(text, |_, c| self.others = self.others.or(Kinds::of_char(c)));
        }
    }

    /// The length of the longest run of characters of `kinds`.
    pub(in crate::matcher) fn longest(&mut self, kinds: Kinds) -> u32 {
        if !self.holds(kinds) {
            return 0;
        }
        if !std::mem::replace(&mut self.is_sorted, true) {
            self.sort();
        }
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

    /// Whether there is a character of these kinds. Digits, which are asked for most, are found without
    /// a look at what else a character may be.
    fn holds(&mut self, kinds: Kinds) -> bool {
        let bytes = self.text.as_bytes();
        if kinds.are_digits_in_ascii() && self.held.is_none() {
            return kinds.meet(self.others) || has_digit(bytes);
        }
        let others = self.others;
        kinds.meet(*self.held.get_or_insert_with(|| Kinds::in_ascii_of(bytes).or(others)))
    }

    fn sort(&mut self) {
        if self.is_ascii {
            let n_bytes = self.text.len();
            self.bytes.clear();
            self.bytes.resize(n_bytes.next_multiple_of(blocks::BYTES), 0);
            for (kind, &byte) in self.bytes.iter_mut().zip(self.text.as_bytes()) {
                *kind = Kinds::of_ascii(byte);
            }
            return;
        }
        self.stretches.clear();
        let (mut kind, mut len) = (Kinds::default(), 0);
        for c in self.text.chars() {
            let next = Kinds::of_char(c);
            if next != kind {
                self.stretches.push((kind, len));
                (kind, len) = (next, 0);
            }
            len += 1;
        }
        self.stretches.push((kind, len));
    }

    fn longest_of_bytes(&self, kinds: u8) -> u32 {
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
                    runs.set(&text, text.is_ascii());
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
            runs.set(text, true);
            assert_eq!(runs.longest(Kinds::of_char('x')), text.len() as u32);
            assert_eq!(runs.longest(Kinds::of_char(' ')), 0);
        }
    }
}
