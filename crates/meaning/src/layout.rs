//! The layout of a table's file: the header, and how bytes are read at a place. The file of a transformer begins like
//! it, with a magic of its own.
//!
//! All numbers are little-endian. The header has 128 bytes:
//!
//! | at | type | holds |
//! |---:|---|---|
//! | 0 | 8 bytes | the magic `RPTMEAN1` |
//! | 8 | u64 | the fingerprint of everything after it |
//! | 16 | u64 | the size of the file in bytes |
//! | 24 | u32 | dimensions: a multiple of 16, at most 256; of a transformer at most 512 |
//! | 28 | u32 | bits of a value: 4 or 8 |
//! | 32 | u32 | the tokenizer: 0 words, 1 WordPiece, 2 SentencePiece |
//! | 36 | u32 | bit 0: fold case; bit 1: strip accents |
//! | 40 | u32 | number of pieces |
//! | 44 | u32 | number of buckets, a power of two |
//! | 48 | u32 | length of the longest piece in bytes, at most 255 |
//! | 52 | u32 | cost of a character without a piece, in 1/1024 nat |
//! | 56 | u32 | 0 |
//! | 60 | u32 | words of 64 bits in the filter, a power of two |
//! | 64 | u64 | place of the buckets: offset of the first entry (u32), number of its row (u32) |
//! | 72 | u64 | place of the entries: length (u8), cost and flag (u16), bytes |
//! | 80 | u64 | place of the filter |
//! | 88 | u64 | place of the rows: scale (u16, a share of the largest), values |
//! | 96 | 32 bytes | the name, padded with zeros |

pub(crate) const HEADER: usize = 128;
const MAGIC: u64 = u64::from_le_bytes(*b"RPTMEAN1");
/// The first bytes of the file of a transformer.
pub(crate) const TRANSFORMER_MAGIC: [u8; 8] = *b"RPTBERT1";
/// The most dimensions of a vector, and so the most bytes of a compact one.
pub(crate) const MAX_DIMENSIONS: usize = 512;

/// A kind of file, by what its header must hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) magic: u64,
    /// The size of its header in bytes, which is at least that of a table's.
    #[cfg_attr(
        not(feature = "model2vec"),
        expect(dead_code, reason = "for those who write files")
    )]
    pub(crate) header: usize,
    pub(crate) max_dimensions: usize,
}

/// The file of a table.
pub(crate) const TABLE: Form = Form { magic: MAGIC, header: HEADER, max_dimensions: 256 };

/// The rule by which a text becomes pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokenizer {
    /// Words of letters and digits, each the cheapest sequence of pieces; short pieces at the start
    /// of a word are pieces of their own.
    Words,
    /// Words and punctuation as BERT splits them, each the longest pieces first.
    WordPiece,
    /// Words between spaces behind `▁`, each the cheapest sequence of pieces.
    SentencePiece,
}

/// The header of a table whose sizes fit the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) fingerprint: u64,
    pub(crate) dimensions: usize,
    pub(crate) bits: usize,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) folds_case: bool,
    pub(crate) strips_accents: bool,
    pub(crate) pieces: usize,
    pub(crate) buckets: usize,
    pub(crate) longest: usize,
    pub(crate) unknown: u32,
    pub(crate) filter_words: usize,
    pub(crate) buckets_at: usize,
    pub(crate) entries_at: usize,
    pub(crate) filter_at: usize,
    pub(crate) rows_at: usize,
}

/// The reason why a header is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    NotATable,
    Sizes,
    Dimensions,
    Tokenizer,
}

pub(crate) const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) const fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) as u64 | (u32_at(bytes, at + 4) as u64) << 32
}

/// Reads a place that must lie in a file of this size, with the section that begins there.
const fn place(bytes: &[u8], size: u64, at: usize, section: u64) -> Result<usize, Refusal> {
    let start = u64_at(bytes, at);
    match start.checked_add(section) {
        Some(end) if end <= size && start >= HEADER as u64 => Ok(start as usize),
        _ => Err(Refusal::Sizes),
    }
}

impl Header {
    /// Reads and checks the header of a file of this size that begins with these bytes, in constant time. Runs at
    /// compile time for the bundled table.
    pub(crate) const fn read(bytes: &[u8], size: u64, form: Form) -> Result<Header, Refusal> {
        if bytes.len() < HEADER || u64_at(bytes, 0) != form.magic {
            return Err(Refusal::NotATable);
        }
        if u64_at(bytes, 16) != size {
            return Err(Refusal::Sizes);
        }
        let (dimensions, bits) = (u32_at(bytes, 24) as usize, u32_at(bytes, 28) as usize);
        if dimensions == 0 || dimensions > form.max_dimensions || !dimensions.is_multiple_of(16) {
            return Err(Refusal::Dimensions);
        }
        if bits != 4 && bits != 8 {
            return Err(Refusal::Dimensions);
        }
        let tokenizer = match u32_at(bytes, 32) {
            0 => Tokenizer::Words,
            1 => Tokenizer::WordPiece,
            2 => Tokenizer::SentencePiece,
            _ => return Err(Refusal::Tokenizer),
        };
        let (pieces, buckets) = (u32_at(bytes, 40), u32_at(bytes, 44));
        let (filter_words, longest) = (u32_at(bytes, 60), u32_at(bytes, 48));
        if !buckets.is_power_of_two() || !filter_words.is_power_of_two() || longest > 255 {
            return Err(Refusal::Sizes);
        }
        let row = (2 + dimensions * bits / 8) as u64;
        let header = Header {
            fingerprint: u64_at(bytes, 8),
            dimensions,
            bits,
            tokenizer,
            folds_case: u32_at(bytes, 36) & 1 != 0,
            strips_accents: u32_at(bytes, 36) & 2 != 0,
            pieces: pieces as usize,
            buckets: buckets as usize,
            longest: longest as usize,
            unknown: u32_at(bytes, 52),
            filter_words: filter_words as usize,
            buckets_at: 0,
            entries_at: 0,
            filter_at: 0,
            rows_at: 0,
        };
        header.with_places(bytes, size, row)
    }

    const fn with_places(mut self, bytes: &[u8], size: u64, row: u64) -> Result<Header, Refusal> {
        // `?` does not exist in constant functions.
        self.buckets_at = match place(bytes, size, 64, (self.buckets as u64 + 1) * 8) {
            Ok(at) => at,
            Err(refusal) => return Err(refusal),
        };
        self.entries_at = match place(bytes, size, 72, 0) {
            Ok(at) => at,
            Err(refusal) => return Err(refusal),
        };
        self.filter_at = match place(bytes, size, 80, self.filter_words as u64 * 8) {
            Ok(at) => at,
            Err(refusal) => return Err(refusal),
        };
        self.rows_at = match place(bytes, size, 88, self.pieces as u64 * row) {
            Ok(at) => at,
            Err(refusal) => return Err(refusal),
        };
        Ok(self)
    }

    /// The size of a row in bytes: its scale and its values.
    pub(crate) const fn row_bytes(&self) -> usize {
        2 + self.dimensions * self.bits / 8
    }
}

/// A hash of a piece that grows by one byte at a time, so that all prefixes of a text are hashed in
/// one pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceHash(u64);

impl PieceHash {
    pub(crate) fn new(flag: bool) -> Self {
        PieceHash(if flag { 0x9E37_79B9_7F4A_7C15 } else { 0xCBF2_9CE4_8422_2325 })
    }

    pub(crate) fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    }

    /// The hash of what was pushed so far, with all bits mixed.
    pub(crate) fn value(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
}

/// The filter's word of 64 bits for a hash, and the two bits that a piece sets in it.
pub(crate) fn filter_bits(hash: u64, filter_words: usize) -> (usize, u64) {
    let word = (hash >> 24) as usize & (filter_words - 1);
    (word, 1 << (hash >> 52 & 63) | 1 << (hash >> 58))
}

/// The fingerprint of a file's bytes: of all after the fingerprint itself.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for chunk in bytes.get(16..).unwrap_or_default().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    hash
}
