//! The alphabet of the automaton: bytes, except that a byte of an ASCII word is one symbol at the
//! start of a word and another inside it.

/// The number of symbols, a power of two.
pub(super) const N_SYMBOLS: usize = 256;

/// Three rows of a symbol for each byte: at a start, inside a word, and after a character that is not
/// ASCII.
pub(super) const N_ENTRIES: usize = 3 * N_SYMBOLS;

/// The beginnings of the rows: of bytes after none, or after one that is in no word; of bytes inside a word;
/// and of bytes after a character that is not ASCII.
pub(super) const START: usize = 0;
pub(super) const INSIDE: usize = N_SYMBOLS;
const AFTER_OTHER: usize = 2 * N_SYMBOLS;

/// The symbol of a byte of a word after a character that is not ASCII: which of the two it is depends on
/// that character.
pub(super) const ASK: u8 = u8::MAX;

const fn rows() -> [u16; 256] {
    let mut rows = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b >= 0x80 {
            rows[byte] = AFTER_OTHER as u16;
        } else if b.is_ascii_alphanumeric() || b == b'_' {
            rows[byte] = INSIDE as u16;
        }
        byte += 1;
    }
    rows
}

/// For each byte, the row of the byte after it.
pub(super) static ROWS: [u16; 256] = rows();

/// Tells whether a byte is a letter, a digit or `_` of ASCII.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    ROWS[byte as usize] as usize == INSIDE
}

/// The symbols of the bytes that folded `literals` hold, the most common first: so states near each other
/// in the tree are near each other in memory. Symbol 0 is for all other bytes.
pub(super) fn symbols_of(literals: &[&str]) -> Vec<u8> {
    let mut counts = vec![0_usize; 2 * N_SYMBOLS];
    for literal in literals {
        let mut row = START;
        for &byte in literal.as_bytes() {
            counts[byte as usize] += usize::from(!is_word(byte) || row != INSIDE);
            counts[INSIDE | byte as usize] += usize::from(is_word(byte) && row == INSIDE);
            row = ROWS[byte as usize] as usize;
        }
    }
    // A byte of a word has both symbols if it has one.
    for byte in (0..=u8::MAX).filter(|&byte| is_word(byte)).map(usize::from) {
        if counts[byte] + counts[INSIDE | byte] > 0 {
            counts[byte] += 1;
            counts[INSIDE | byte] += 1;
        }
    }
    let mut by_count: Vec<usize> = (0..counts.len()).filter(|&of| counts[of] > 0).collect();
    by_count.sort_by_key(|&of| std::cmp::Reverse(counts[of]));
    let mut symbols = vec![0; N_ENTRIES];
    // Folded text has fewer distinct bytes than there are symbols, see the test.
    for (of, symbol) in by_count.into_iter().zip(1..ASK) {
        symbols[of] = symbol;
    }
    for byte in 0..=u8::MAX {
        let place = usize::from(byte);
        if !is_word(byte) {
            symbols[INSIDE | place] = symbols[place];
            symbols[AFTER_OTHER | place] = symbols[place];
        } else if symbols[place] != 0 {
            symbols[AFTER_OTHER | place] = ASK;
        }
    }
    symbols
}

/// Tells whether only bytes of words of ASCII, where they follow another character, have the symbol
/// [`ASK`].
pub(super) fn asks_at_words_only(symbols: &[u8]) -> bool {
    let asks = |place: usize| place >= AFTER_OTHER && is_word((place - AFTER_OTHER) as u8);
    (0..).zip(symbols).all(|(place, &symbol)| symbol != ASK || asks(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::text::push_folded;

    #[test]
    fn each_byte_of_folded_text_has_a_symbol_of_its_own() {
        let mut all = String::new();
        ('\0'..=char::MAX).for_each(|c| push_folded(c, &mut all));
        let symbols = symbols_of(&[&all]);
        let mut given: Vec<u8> = (0..=u8::MAX)
            .flat_map(|byte| {
                let n_symbols = if is_word(byte) { 2 } else { 1 };
                [START, INSIDE][..n_symbols].iter().map(move |row| (row | usize::from(byte), byte))
            })
            .filter(|(_, byte)| all.as_bytes().contains(byte))
            .map(|(place, _)| symbols[place])
            .collect();
        let n_given = given.len();
        given.sort_unstable();
        given.dedup();
        assert_eq!(
            (given.len(), given.contains(&0), given.contains(&ASK)),
            (n_given, false, false)
        );
    }
}
