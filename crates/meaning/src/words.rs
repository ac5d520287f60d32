//! A text as words in their normal form, by the rules of each tokenizer.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::layout::{Header, Tokenizer};

/// Longer runs of letters and digits without a space are data, such as base64; in characters.
const MAX_LETTERS: usize = 64;
/// BERT knows no word that is longer; in characters.
const MAX_BERT_WORD: usize = 100;
/// The sign by which `SentencePiece` marks a space.
pub(crate) const SPACE_MARK: char = '\u{2581}';

/// Calls `each` with the place of each word in the text and its normal form, for which `buffer` is used.
pub(crate) fn words(
    text: &str,
    header: &Header,
    buffer: &mut String,
    mut each: impl FnMut(Range<usize>, &str),
) {
    let kind = header.tokenizer;
    let mut rest = 0;
    while let Some(range) = next_word(text, rest, kind) {
        rest = range.end;
        let Some(word) = text.get(range.clone()) else { return };
        normalize(word, header, buffer);
        if !buffer.is_empty() {
            each(range, buffer);
        }
    }
}

/// A space for `SentencePiece`, which Unicode no longer counts as one.
const ZERO_WIDTH_SPACE: char = '\u{200B}';

/// The rule by which characters group into words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Between,
    /// A word of its own.
    Single,
    Letter,
    /// Chinese characters and kana, which are written without spaces.
    Unspaced,
}

fn class(c: char, kind: Tokenizer) -> Class {
    match kind {
        Tokenizer::Words if is_unspaced(c) => Class::Unspaced,
        Tokenizer::Words if c.is_alphanumeric() || is_combining_mark(c) => Class::Letter,
        Tokenizer::Words => Class::Between,
        Tokenizer::WordPiece if c.is_whitespace() => Class::Between,
        Tokenizer::WordPiece if is_ideograph(c) || is_bert_punctuation(c) => Class::Single,
        Tokenizer::SentencePiece
            if c.is_whitespace() || c.is_control() || c == ZERO_WIDTH_SPACE =>
        {
            Class::Between
        }
        Tokenizer::WordPiece | Tokenizer::SentencePiece => Class::Letter,
    }
}

/// Returns the place of the first word at or after `from`.
fn next_word(text: &str, from: usize, kind: Tokenizer) -> Option<Range<usize>> {
    let mut chars = text.get(from..)?.char_indices();
    let (start, first, of) = chars.find_map(|(at, c)| match class(c, kind) {
        Class::Between => None,
        of => Some((from + at, c, of)),
    })?;
    let alone = start + first.len_utf8();
    if of == Class::Single {
        return Some(start..alone);
    }
    let end = chars.find(|(_, c)| class(*c, kind) != of && !is_combining_mark(*c));
    Some(start..end.map_or(text.len(), |(at, _)| from + at))
}

/// Writes the normal form of a word: empty for one that does not count.
fn normalize(word: &str, header: &Header, out: &mut String) {
    out.clear();
    match header.tokenizer {
        Tokenizer::Words => {
            if word.len() > MAX_LETTERS
                && word.chars().nth(MAX_LETTERS).is_some()
                && !word.starts_with(is_unspaced)
            {
                return;
            }
        }
        Tokenizer::WordPiece if word.chars().nth(MAX_BERT_WORD).is_some() => {
            // No piece has this character, so the word is unknown.
            return out.push(char::REPLACEMENT_CHARACTER);
        }
        Tokenizer::WordPiece => {}
        Tokenizer::SentencePiece => out.push(SPACE_MARK),
    }
    if word.is_ascii() {
        out.push_str(word);
        if header.folds_case {
            out.make_ascii_lowercase();
        }
        if header.tokenizer == Tokenizer::WordPiece {
            out.retain(|c| !c.is_ascii_control());
        }
    } else {
        normalize_unicode(word, header, out);
    }
}

fn normalize_unicode(word: &str, header: &Header, out: &mut String) {
    let fold = |c: char, out: &mut String| {
        if header.folds_case { out.extend(c.to_lowercase()) } else { out.push(c) }
    };
    match (header.tokenizer, header.strips_accents) {
        (Tokenizer::WordPiece, true) => {
            for c in word.nfd().filter(|c| !is_combining_mark(*c) && is_kept_by_bert(*c)) {
                fold(c, out);
            }
        }
        (Tokenizer::WordPiece, false) => {
            for c in word.chars().filter(|c| is_kept_by_bert(*c)) {
                fold(c, out);
            }
        }
        _ => {
            for c in word.nfkc() {
                fold(c, out);
            }
        }
    }
}

fn is_kept_by_bert(c: char) -> bool {
    c != '\u{FFFD}' && !c.is_control() && !is_format(c)
}

/// Tells whether the character is invisible, and meant for programs: the category Cf of Unicode.
fn is_format(c: char) -> bool {
    matches!(u32::from(c), 0xAD | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x180E | 0x200B..=0x200F
        | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0x1D173..=0x1D17A
        | 0xE0001..=0xE007F)
}

/// Tells whether BERT puts spaces around the character.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2CEAF
        | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

/// Tells whether the character belongs to a script without spaces: Han, Hiragana, Katakana.
fn is_unspaced(c: char) -> bool {
    let c = u32::from(c);
    c >= 0x3005
        && matches!(c, 0x3005..=0x3007 | 0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F
            | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF
            | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x323AF)
}

/// Punctuation as BERT sees it: that of ASCII, and what Unicode calls so, which is approximated by
/// the blocks of punctuation.
fn is_bert_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(u32::from(c), 0xA1 | 0xA7 | 0xAB | 0xB6 | 0xB7 | 0xBB | 0xBF | 0x37E | 0x387
            | 0x55A..=0x55F | 0x589 | 0x58A | 0x5BE | 0x5C0 | 0x5C3 | 0x60C | 0x60D | 0x61B
            | 0x61E | 0x61F | 0x66A..=0x66D | 0x6D4 | 0x964 | 0x965 | 0xE5A | 0xE5B
            | 0x2010..=0x2027 | 0x2030..=0x2043 | 0x2045..=0x2051 | 0x2053..=0x205E
            | 0x2308..=0x230B | 0x2329 | 0x232A | 0x2768..=0x2775 | 0x27E6..=0x27EF
            | 0x2983..=0x2998 | 0x2E00..=0x2E4F | 0x3001..=0x3003 | 0x3008..=0x3011
            | 0x3014..=0x301F | 0x3030 | 0x303D | 0x30A0 | 0x30FB | 0xFE10..=0xFE19
            | 0xFE30..=0xFE52 | 0xFE54..=0xFE61 | 0xFE63 | 0xFE68 | 0xFE6A | 0xFE6B
            | 0xFF01..=0xFF03 | 0xFF05..=0xFF0A | 0xFF0C..=0xFF0F | 0xFF1A | 0xFF1B
            | 0xFF1F | 0xFF20 | 0xFF3B..=0xFF3D | 0xFF3F | 0xFF5B | 0xFF5D | 0xFF5F..=0xFF65)
}
