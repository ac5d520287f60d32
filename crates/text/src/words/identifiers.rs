//! Identifiers: words that capitals and digits divide into parts, such as `parseJSONFile2`.

use std::ops::Range;

/// The relation of a term to the identifier that it is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Part {
    /// It is a whole word.
    #[default]
    Whole,
    /// It is the beginning of the word before it, in another language than English.
    Beginning,
    /// It is a part between digits and letters: `python` of `python3`.
    OfDigits,
    /// It is a part between small letters and capitals, which the same word in lower case has not.
    OfCase,
}

impl Part {
    /// Tells whether it is a part of an identifier.
    pub fn is_of_identifier(self) -> bool {
        matches!(self, Part::OfDigits | Part::OfCase)
    }
}

/// Returns the parts of an identifier, each with its kind; none for another word.
pub fn parts(written: &str) -> impl Iterator<Item = (Range<usize>, Part)> {
    let is_plain = written.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    let is_whole = is_plain || plural_abbreviation(written).is_some() || is_encoded(written);
    let mut start = if is_whole { written.len() } else { 0 };
    let parts = std::iter::from_fn(move || {
        let end = (start < written.len()).then(|| part_end(written, start))?;
        Some(std::mem::replace(&mut start, end)..end)
    });
    // One letter of an identifier says nothing.
    let is_part = |part: &Range<usize>| part.len() > 1 && part.len() < written.len();
    parts.filter(is_part).map(|part| {
        let is_limit = |at| at == 0 || at == written.len() || is_digit_limit(written, at);
        let is_of_digits = is_limit(part.start) && is_limit(part.end);
        (part, if is_of_digits { Part::OfDigits } else { Part::OfCase })
    })
}

/// Returns the singular of an abbreviation in the plural: `API` of `APIs`.
pub fn plural_abbreviation(written: &str) -> Option<&str> {
    let singular = written.strip_suffix('s')?;
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_abbreviation = singular.len() >= 2
        && singular.starts_with(|c: char| c.is_ascii_uppercase())
        && singular.bytes().all(is_capital);
    is_abbreviation.then_some(singular)
}

/// Returns the end of the part of an identifier that begins at byte `start`: `parseJSONFile2` is
/// `parse`, `JSON`, `File` and `2`.
fn part_end(word: &str, start: usize) -> usize {
    let mut chars = word[start..].char_indices().peekable();
    let Some((_, mut before)) = chars.next() else { return word.len() };
    while let Some((at, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = before.is_numeric() != c.is_numeric()
            || c.is_uppercase()
                && (!before.is_uppercase() || next_is_lower && !is_plural(&word[start + at..]));
        if begins {
            return start + at;
        }
        before = c;
    }
    word.len()
}

/// Tells whether a capital at the start of `rest` ends an abbreviation in the plural, as in `URLs`.
fn is_plural(rest: &str) -> bool {
    let mut after = rest.chars().skip(1);
    after.next() == Some('s') && !after.next().is_some_and(char::is_lowercase)
}

/// Tells whether byte `at` of a word lies between a digit and something else.
fn is_digit_limit(word: &str, at: usize) -> bool {
    let before = word[..at].chars().next_back().is_some_and(char::is_numeric);
    before != word[at..].starts_with(char::is_numeric)
}

/// Tells whether a word is encoded data, such as a piece of base64 or a hash: its parts are too short to
/// be words. The bounds were set so that they keep `getURLOfTheS3Bucket`.
fn is_encoded(word: &str) -> bool {
    const SHORTEST: usize = 12;
    const CHARS_OF_TWO_PARTS: usize = 5;
    if word.len() < SHORTEST {
        return false;
    }
    let mut start = 0;
    let mut n_parts = 0;
    while start < word.len() {
        start = part_end(word, start);
        n_parts += 1;
    }
    n_parts * CHARS_OF_TWO_PARTS > word.len() * 2
}
