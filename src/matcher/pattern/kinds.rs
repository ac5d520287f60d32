//! Kinds of characters, few enough that a set of them is one word of bits.

use serde::{Deserialize, Serialize};

use crate::matcher::text::blocks;

/// A set of kinds of characters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub(crate) struct Kinds(u32);

/// The characters of each kind among a thousand of a message, about.
const PER_MILLE: [u32; 17] = [30, 700, 30, 5, 150, 10, 5, 40, 10, 5, 5, 5, 5, 5, 1, 5, 5];

// Those of ASCII come first: a set of them fits a byte.
const DIGIT: u32 = 0;
const LOWER: u32 = 1;
const UPPER: u32 = 2;
const UNDERSCORE: u32 = 3;
const SPACE: u32 = 4;
const NEWLINE: u32 = 5;
/// Tabs and control characters.
const BLANK: u32 = 6;
const PUNCTUATION: u32 = 7;
const DIGIT_ELSEWHERE: u32 = 14;

/// The kinds of the characters of ASCII, as [`Kinds::in_ascii`].
const OF_ASCII: [u8; 128] = {
    let mut kinds = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = Kinds::of_ascii(byte);
        byte += 1;
    }
    kinds
};

/// The kinds of characters that are not ASCII: the first of each stretch of them, and its kind.
const STRETCHES: [(u32, u32); 13] = [
    (0x80, 8),    // Latin with accents, marks of it
    (0x370, 9),   // Greek
    (0x400, 10),  // Cyrillic
    (0x530, 11),  // Armenian, Hebrew, Arabic, and those of India and its neighbours
    (0x1100, 12), // Hangul
    (0x1200, 16), // others
    (0x1e00, 8),  // more Latin
    (0x1f00, 9),  // more Greek
    (0x2000, 15), // punctuation and symbols
    (0x2e80, 13), // Han, Hiragana, Katakana
    (0xa4d0, 16), // others
    (0xac00, 12), // Hangul
    (0xd7b0, 16), // others
];

/// The zeros of scripts above that have digits of their own; nine more follow each.
const ZEROS: [u32; 19] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0,
];

impl Kinds {
    /// The kind of a character.
    pub(crate) fn of_char(c: char) -> Kinds {
        if let Some(&kinds) = OF_ASCII.get(c as usize) {
            return Kinds(u32::from(kinds));
        }
        let kind = if is_digit_elsewhere(c as u32, c as u32) {
            DIGIT_ELSEWHERE
        } else {
            STRETCHES[STRETCHES.partition_point(|&(first, _)| first <= c as u32) - 1].1
        };
        Kinds(1 << kind)
    }

    /// The kind of a byte of ASCII, as [`Kinds::in_ascii`]; without branches, for wide instructions.
    pub(crate) const fn of_ascii(byte: u8) -> u8 {
        const fn is(condition: bool, kind: u32) -> u8 {
            if condition { 1 << kind } else { 0 }
        }
        let is_newline = byte == b'\n';
        let known = is(byte.wrapping_sub(b'0') < 10, DIGIT)
            | is(byte.wrapping_sub(b'a') < 26, LOWER)
            | is(byte.wrapping_sub(b'A') < 26, UPPER)
            | is(byte == b'_', UNDERSCORE)
            | is(byte == b' ', SPACE)
            | is(is_newline, NEWLINE)
            | is((byte < b' ' && !is_newline) || byte == 0x7f, BLANK);
        known | is(known == 0, PUNCTUATION)
    }

    /// The kinds of the characters of ASCII among `bytes`.
    pub(crate) fn in_ascii_of(bytes: &[u8]) -> Kinds {
        let of = |byte: u8| if byte < 0x80 { Kinds::of_ascii(byte) } else { 0 };
        Kinds(u32::from(blocks::merged(bytes, 0, of, |all, one| all | one)))
    }

    /// Whether of the characters of ASCII they are the digits.
    pub(crate) fn are_digits_in_ascii(self) -> bool {
        self.in_ascii() == 1 << DIGIT
    }

    /// Whether any of these kinds is among the `others`.
    pub(crate) fn meet(self, others: Kinds) -> bool {
        self.0 & others.0 != 0
    }

    /// The kinds of characters of ASCII among these.
    pub(crate) fn in_ascii(self) -> u8 {
        self.0 as u8
    }

    /// The kinds of all characters from `start` to `end`, and perhaps more.
    pub(crate) fn of_range(start: char, end: char) -> Kinds {
        let ascii = (start..=end).take_while(char::is_ascii);
        let mut kinds = ascii.map(Kinds::of_char).fold(Kinds::default(), Kinds::or);
        let (start, end) = ((start as u32).max(0x80), end as u32);
        if is_digit_elsewhere(start, end) {
            return kinds.or(Kinds(1 << DIGIT_ELSEWHERE));
        }
        for (place, &(first, kind)) in STRETCHES.iter().enumerate() {
            let next = STRETCHES.get(place + 1).map_or(u32::MAX, |&(next, _)| next);
            if first <= end && start < next {
                kinds = kinds.or(Kinds(1 << kind));
            }
        }
        if ZEROS.iter().any(|&zero| zero <= end && start <= zero + 9) {
            kinds = kinds.or(Kinds(1 << DIGIT_ELSEWHERE));
        }
        kinds
    }

    pub(crate) fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether all of these kinds are among the `others`.
    pub(crate) fn is_within(self, others: Kinds) -> bool {
        self.0 & !others.0 == 0
    }

    /// The rarity of a character of these kinds, in bits; never 0.
    pub(crate) fn rarity(self) -> f64 {
        let kinds = PER_MILLE.iter().enumerate().filter(|(kind, _)| self.0 & 1 << kind != 0);
        let per_mille: u32 = kinds.map(|(_, per_mille)| per_mille).sum();
        (1_100.0 / f64::from(per_mille.max(1))).log2().max(0.01)
    }
}

/// Whether a digit of ASCII is among `bytes`.
pub(crate) fn has_digit(bytes: &[u8]) -> bool {
    // The least costs fewer instructions than to compare each.
    blocks::merged(bytes, u8::MAX, |byte| byte.wrapping_sub(b'0'), u8::min) < 10
}

/// Whether the characters from `start` to `end` are digits of one script that is not ASCII.
fn is_digit_elsewhere(start: u32, end: u32) -> bool {
    let zero = ZEROS.partition_point(|&zero| zero <= start).checked_sub(1);
    zero.is_some_and(|zero| end <= ZEROS[zero] + 9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_kind_of_each_of_its_characters() {
        let edges: Vec<u32> = STRETCHES
            .iter()
            .map(|stretch| stretch.0)
            .chain(ZEROS)
            .flat_map(|edge| [edge - 1, edge, edge + 5, edge + 9, edge + 10])
            .chain([0, 9, 10, 32, 47, 58, 64, 91, 95, 97, 127, 0x10_ffff])
            .collect();
        let edges: Vec<char> = edges.into_iter().filter_map(char::from_u32).collect();
        for &start in &edges {
            for &end in edges.iter().filter(|&&end| end >= start) {
                let kinds = Kinds::of_range(start, end);
                for c in edges.iter().filter(|c| (start..=end).contains(*c)) {
                    assert!(Kinds::of_char(*c).is_within(kinds), "{c:?} in {start:?}..={end:?}");
                }
            }
        }
    }

    #[test]
    fn letters_and_digits_of_other_scripts_are_told_apart() {
        let kind = Kinds::of_char;
        assert_eq!(kind('٣'), kind('७'));
        assert!(["ña", "سل", "हअ", "한국", "漢か", "жя", "λσ"].iter().all(|letters| {
            let kinds: Vec<Kinds> = letters.chars().filter(|c| !c.is_ascii()).map(kind).collect();
            kinds.iter().all(|of| *of == kinds[0] && *of != kind('٣'))
        }));
        assert!(kind('z').rarity() < kind('Z').rarity());
    }
}
