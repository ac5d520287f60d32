//! An Aho-Corasick automaton over every literal of an index, as a packed double array.
//!
//! A state is one word of 64 bits: the base of its children, its failure link, the symbol that leads to
//! it, and whether a literal ends there. A child is at `base ^ symbol`. No two states share a base, so
//! the symbol in a slot tells whether the slot holds that child. A slot without a state behaves as the
//! root, and a byte that is in no literal leads to the root.
//!
//! The alphabet encodes where words start: an ASCII letter, digit or `_` is one symbol at the start of a
//! word and another inside it. A literal that must be a word of its own is entered with its first symbol
//! at a start only, so it is never followed inside words. A literal that may stand anywhere is entered
//! twice.
//!
//! Each literal links to the longest other literal that it ends with (its output link), so a state needs
//! its longest literal only.
//!
//! The tables are flat, so a snapshot holds them as they are. [`Automaton::is_sound`] checks tables read
//! from a snapshot, and a scan takes time linear in the text whatever the tables hold.

mod build;
mod occurrences;

pub(super) use occurrences::{Occurrence, Occurrences};
use repertoire_text::boundary;
use repertoire_text::row;
use serde::{Deserialize, Serialize};

/// No literal, node or state.
pub(super) const NONE: u32 = u32::MAX;

/// The flag of a state at which a literal ends.
const OUT: u64 = 1 << 63;

/// The number of bits of a base and of a failure link.
const BASE_BITS: u32 = 28;
const FAIL_BITS: u32 = 27;

/// The exclusive limit of the number of slots.
const MAX_SLOTS: usize = 1 << FAIL_BITS;

/// The facts about a literal that a hit needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Literal {
    /// The longest other literal that this one ends with, or [`NONE`].
    pub(super) next: u32,
    /// The longest literal that this one ends with and that is reported at every occurrence, or
    /// [`NONE`].
    pub(super) next_each: u32,
    /// The length in bytes.
    pub(super) len: u32,
}

row!(Literal { next: u32, next_each: u32, len: u32 });

/// The occurrences of a literal that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Needs {
    /// True if only occurrences at the start of a word matter.
    pub(super) start: bool,
    /// True if every occurrence matters, for its context.
    pub(super) each: bool,
}

/// The number of symbols, a power of two.
const N_SYMBOLS: usize = 256;

/// The length of the symbol table: three rows with a symbol for each byte. They are for bytes at the
/// start of a word, inside a word, and after a character that is not ASCII.
const N_ENTRIES: usize = 3 * N_SYMBOLS;

/// The offsets of the rows. `START` is for bytes after none, or after a byte that is not part of a word;
/// `INSIDE` for bytes inside a word; `AFTER_OTHER` for bytes after a character that is not ASCII.
const START: usize = 0;
const INSIDE: usize = N_SYMBOLS;
const AFTER_OTHER: usize = 2 * N_SYMBOLS;

/// The placeholder for the symbol of a word byte after a character that is not ASCII: that character
/// decides between the symbol at a start and the symbol inside a word.
const ASK: u8 = u8::MAX;

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
static ROWS: [u16; 256] = rows();

/// Tells whether a byte is a letter, a digit or `_` of ASCII.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    ROWS[byte as usize] as usize == INSIDE
}

/// Assigns a symbol to each byte that folded `literals` contain, to the most frequent first, so that
/// states near each other in the trie are near each other in memory. All other bytes have symbol 0.
fn symbols_of(literals: &[&str]) -> Vec<u8> {
    let mut counts = vec![0_usize; 2 * N_SYMBOLS];
    for literal in literals {
        let mut row = START;
        for &byte in literal.as_bytes() {
            counts[byte as usize] += usize::from(!is_word(byte) || row != INSIDE);
            counts[INSIDE | byte as usize] += usize::from(is_word(byte) && row == INSIDE);
            row = ROWS[byte as usize] as usize;
        }
    }
    // A word byte that has one of its two symbols gets both.
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

/// The automaton.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Automaton {
    /// The symbol of each byte, in the row that the byte before it selects; see [`N_ENTRIES`].
    #[serde(with = "repertoire_text::rows")]
    symbols: Vec<u8>,
    #[serde(with = "repertoire_text::rows")]
    states: Vec<u64>,
    /// The longest literal that ends at each state, or [`NONE`].
    #[serde(with = "repertoire_text::rows")]
    outputs: Vec<u32>,
    #[serde(with = "repertoire_text::rows")]
    literals: Vec<Literal>,
}

fn pack(base: u32, fail: u32, symbol: u8) -> u64 {
    u64::from(base) | u64::from(fail) << BASE_BITS | u64::from(symbol) << (BASE_BITS + FAIL_BITS)
}

#[inline]
fn base(state: u64) -> u32 {
    state as u32 & ((1 << BASE_BITS) - 1)
}

#[inline]
fn fail(state: u64) -> u32 {
    (state >> BASE_BITS) as u32 & ((1 << FAIL_BITS) - 1)
}

#[inline]
fn symbol(state: u64) -> u8 {
    (state >> (BASE_BITS + FAIL_BITS)) as u8
}

impl Automaton {
    /// Calls `hit` for each position of a folded `text` at which a literal ends, with the longest such
    /// literal and the position. The shorter literals that end there follow by [`Literal::next`].
    #[inline]
    pub(super) fn scan(&self, text: &str, mut hit: impl FnMut(u32, usize)) {
        let states = &self.states[..];
        let symbols: &[u8; N_ENTRIES] = self.symbols.first_chunk().unwrap_or(&[0; N_ENTRIES]);
        let mut now = states[0];
        let mut row = START;
        // Each byte makes the path longer by one, each failure makes it shorter. The bound ends the
        // scan of tables whose failure links form a cycle, as only a damaged snapshot has them.
        let mut n_failures = text.len();
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let mut read = symbols[row | byte as usize];
            if read == ASK {
                row = if boundary::opens(text, at, at + 1) { START } else { INSIDE };
                read = symbols[row | byte as usize];
            }
            row = ROWS[byte as usize] as usize;
            let mut slot = (base(now) ^ u32::from(read)) as usize;
            let mut next = states[slot];
            while symbol(next) != read {
                if n_failures == 0 {
                    return;
                }
                n_failures -= 1;
                now = states[fail(now) as usize];
                slot = (base(now) ^ u32::from(read)) as usize;
                next = states[slot];
            }
            now = next;
            if now & OUT != 0 {
                hit(self.outputs[slot], at + 1);
            }
        }
    }

    #[inline]
    pub(super) fn literal(&self, literal: u32) -> Literal {
        self.literals[literal as usize]
    }

    /// The literals by their numbers.
    pub(super) fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Tells whether no reference in the deserialised tables is out of bounds, and each walk along
    /// output links ends.
    pub(super) fn is_sound(&self) -> bool {
        let n_literals = self.literals.len() as u32;
        let is_shorter = |of: u32, len: u32| {
            of == NONE || self.literals.get(of as usize).is_some_and(|of| of.len < len)
        };
        // Only ASCII word bytes, in the row after other characters, may have the symbol to ask for.
        let may_ask = |place: usize| place >= AFTER_OTHER && is_word((place - AFTER_OTHER) as u8);
        self.symbols.len() == N_ENTRIES
            && (0..).zip(&self.symbols).all(|(place, &symbol)| symbol != ASK || may_ask(place))
            && self.states_fit()
            && self.outputs.len() == self.states.len()
            && self.outputs.iter().all(|&output| output == NONE || output < n_literals)
            && self
                .literals
                .iter()
                .all(|of| is_shorter(of.next, of.len) && is_shorter(of.next_each, of.len))
    }

    /// Tells whether each state leads to states.
    ///
    /// Every hook process waits for this, so the states are read once, without a branch for each.
    fn states_fit(&self) -> bool {
        let (mut last_base, mut last_fail) = (0, 0);
        for &state in &self.states {
            last_base = base(state).max(last_base);
            last_fail = fail(state).max(last_fail);
        }
        let n_states = self.states.len();
        (2 * N_SYMBOLS..MAX_SLOTS).contains(&n_states)
            && (last_base as usize | (N_SYMBOLS - 1)) < n_states
            && (last_fail as usize) < n_states
    }
}

#[cfg(test)]
mod tests;
