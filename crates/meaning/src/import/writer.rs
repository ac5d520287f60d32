//! The bytes of a table, from its pieces and rows, or the first part of those of a transformer. `train/table.py` writes
//! the same format.

use crate::layout::{Form, HEADER, PieceHash, Tokenizer, filter_bits, fingerprint};
use crate::table::FLAG;

/// The largest value of a row in the file.
const MOST: f32 = 127.0;
/// The largest scale of a row in the file.
const MOST_SCALE: f32 = 65535.0;

/// A piece, the cost of using it, and its row.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) piece: Vec<u8>,
    /// Inside a word, for `WordPiece`.
    pub(super) flag: bool,
    /// In 1/1024 nat.
    pub(super) cost: u16,
    pub(super) row: Vec<f32>,
}

/// The rule by which texts become pieces, and the cost of a character without one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) tokenizer: Tokenizer,
    pub(super) folds_case: bool,
    pub(super) strips_accents: bool,
    pub(super) unknown: u32,
}

/// Returns the file of these entries up to its rows, with the leading dimensions that the form of the file allows and a
/// byte for each; and the unit of the scales of rows. [`seal`] completes it.
pub(super) fn write(entries: Vec<Entry>, rules: Rules, name: &str, form: Form) -> (Vec<u8>, f32) {
    let dimensions = dimensions(&entries, form);
    let n_buckets = (entries.len() / 3).max(1).next_power_of_two();
    let filter_words = (entries.len() * 10 / 64).max(1).next_power_of_two();
    let longest = entries.iter().map(|entry| entry.piece.len()).max().unwrap_or(0);
    let n_pieces = entries.len();
    let mut filter = vec![0_u64; filter_words];
    let mut buckets: Vec<Vec<Entry>> = vec![Vec::new(); n_buckets];
    for entry in entries {
        let mut hash = PieceHash::new(entry.flag);
        entry.piece.iter().for_each(|byte| hash.push(*byte));
        let (word, bits) = filter_bits(hash.value(), filter_words);
        filter[word] |= bits;
        buckets[hash.value() as usize & (n_buckets - 1)].push(entry);
    }
    let (starts, strings) = entry_sections(&buckets);
    let filter: Vec<u8> = filter.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (rows, unit) = row_section(&buckets, dimensions);

    let mut file = vec![0; form.header];
    let mut places = Vec::new();
    for section in [starts, strings, filter, rows] {
        file.resize(file.len().next_multiple_of(64), 0);
        places.extend((file.len() as u64).to_le_bytes());
        file.extend(section);
    }
    let flags = u32::from(rules.folds_case) | u32::from(rules.strips_accents) << 1;
    let tokenizer = match rules.tokenizer {
        Tokenizer::Words => 0,
        Tokenizer::WordPiece => 1,
        Tokenizer::SentencePiece => 2,
    };
    let numbers = [dimensions as u32, 8, tokenizer, flags, n_pieces as u32, n_buckets as u32]
        .into_iter()
        .chain([longest as u32, rules.unknown, 0, filter_words as u32]);
    file[..8].copy_from_slice(&form.magic.to_le_bytes());
    for (at, number) in numbers.enumerate() {
        file[24 + at * 4..28 + at * 4].copy_from_slice(&number.to_le_bytes());
    }
    file[64..96].copy_from_slice(&places);
    for (to, from) in file[96..HEADER].iter_mut().zip(name.bytes()) {
        *to = from;
    }
    (file, unit)
}

/// Completes a file by its size and its fingerprint.
pub(super) fn seal(mut file: Vec<u8>) -> Vec<u8> {
    let size = file.len() as u64;
    file[16..24].copy_from_slice(&size.to_le_bytes());
    let mark = fingerprint(&file);
    file[8..16].copy_from_slice(&mark.to_le_bytes());
    file
}

/// The number of dimensions that are kept: the leading ones tell most, as model2vec orders them by a principal
/// component analysis.
fn dimensions(entries: &[Entry], form: Form) -> usize {
    let all = entries.first().map_or(0, |entry| entry.row.len());
    all.clamp(1, form.max_dimensions).next_multiple_of(16)
}

/// The buckets, and the entries in their order.
fn entry_sections(buckets: &[Vec<Entry>]) -> (Vec<u8>, Vec<u8>) {
    let (mut starts, mut strings) = (Vec::new(), Vec::new());
    let mut n_before = 0_u32;
    for bucket in buckets {
        starts.extend((strings.len() as u32).to_le_bytes());
        starts.extend(n_before.to_le_bytes());
        n_before += bucket.len() as u32;
        for entry in bucket {
            strings.push(entry.piece.len() as u8);
            let cost = entry.cost.min(!FLAG) | if entry.flag { FLAG } else { 0 };
            strings.extend(cost.to_le_bytes());
            strings.extend(&entry.piece);
        }
    }
    starts.extend((strings.len() as u32).to_le_bytes());
    starts.extend(n_before.to_le_bytes());
    (starts, strings)
}

fn row_section(buckets: &[Vec<Entry>], dimensions: usize) -> (Vec<u8>, f32) {
    let entries = || buckets.iter().flatten();
    let most = |row: &[f32]| row.iter().take(dimensions).fold(0.0_f32, |most, v| most.max(v.abs()));
    let unit = entries().map(|entry| most(&entry.row)).fold(0.0, f32::max) / MOST / MOST_SCALE;
    let mut bytes = Vec::new();
    for entry in entries() {
        let scale = if unit > 0.0 { (most(&entry.row) / MOST / unit).ceil() } else { 0.0 };
        #[expect(clippy::cast_sign_loss, reason = "scales are not negative")]
        bytes.extend((scale as u16).to_le_bytes());
        for dimension in 0..dimensions {
            let value = entry.row.get(dimension).copied().unwrap_or(0.0);
            let step = if scale > 0.0 { (value / (scale * unit)).round() } else { 0.0 };
            bytes.push((step as i8).cast_unsigned());
        }
    }
    (bytes, unit)
}
