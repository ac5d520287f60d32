//! Tokens of a message, compared irrespective of accents, apostrophes and punctuation, in scripts
//! with and without spaces.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::searched::searched_form;
use crate::words::is_paired;

/// The maximum length of a plain form in bytes; no word of a phrase is longer.
const MAX_PLAIN_BYTES: usize = 48;

/// Splits off the first token of `text`: a word, or one character of a script that is written
/// without reliable spaces. Returns the token and what follows it.
pub fn next_token(text: &str) -> Option<(&str, &str)> {
    let text = from_token(text)?;
    let n_ascii = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if n_ascii > 0 && text.as_bytes().get(n_ascii).is_none_or(|&next| ends_ascii(next)) {
        return Some(text.split_at(n_ascii));
    }
    let mut chars = text.char_indices();
    let stands_alone = chars.next().is_some_and(|(_, first)| is_paired(first));
    let ends = |c: char| {
        if stands_alone { !is_mark(c) } else { is_paired(c) || !is_inside(c) }
    };
    let end = chars.find(|&(_, c)| ends(c)).map_or(text.len(), |(at, _)| at);
    Some(text.split_at(end))
}

/// Returns `text` from its first token on; `None` if it has no token.
pub fn from_token(text: &str) -> Option<&str> {
    text.find(is_letter_or_digit).map(|at| &text[at..])
}

/// Tells whether a byte after ASCII letters ends their word.
fn ends_ascii(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'\''
}

/// Returns the last token of `text`.
pub fn last_token(text: &str) -> Option<&str> {
    let (mut start, last) = text.char_indices().rfind(|&(_, c)| is_letter_or_digit(c))?;
    if !is_paired(last) {
        let rest = text[..start].char_indices().rev();
        for (at, _) in rest.take_while(|&(_, c)| is_inside(c) && !is_paired(c)) {
            start = at;
        }
    }
    next_token(&text[start..]).map(|(token, _)| token)
}

fn is_inside(c: char) -> bool {
    is_letter_or_digit(c) || is_apostrophe(c) || is_mark(c) || is_dropped(c)
}

/// Tells whether `c` is a character that messages lose when they are folded.
fn is_dropped(c: char) -> bool {
    searched_form(c).is_none()
}

/// Tells whether `c` is alphanumeric as [`char::is_alphanumeric`] does, but faster for the letters of
/// most texts.
fn is_letter_or_digit(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphanumeric(),
        'à'..='ö'
        | 'а'..='я'
        | '\u{620}'..='\u{64a}'
        | 'अ'..='ह'
        | '\u{93e}'..='\u{94c}'
        | 'ぁ'..='ゖ'
        | 'ァ'..='ヺ'
        | '一'..='\u{9fff}'
        | '가'..='힣' => true,
        _ => c.is_alphanumeric(),
    }
}

fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// Tells whether two tokens are the same word.
pub fn is_same(a: &str, b: &str) -> bool {
    a == b
        || !(is_plain(a) && is_plain(b))
            && Plain::of(a).zip(Plain::of(b)).is_some_and(|(a, b)| a.as_str() == b.as_str())
}

/// Tells whether a folded token is known to be its own plain form.
pub fn is_plain(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        || token.starts_with(is_paired)
}

/// The plain form of a token: lower case, without accents and apostrophes, in the usual width. It is
/// stored on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Plain {
    bytes: [u8; MAX_PLAIN_BYTES],
    len: usize,
}

impl Plain {
    /// Returns the plain form, or `None` if the token is too long to be a word of a phrase.
    pub fn of(token: &str) -> Option<Plain> {
        let mut plain = Plain { bytes: [0; MAX_PLAIN_BYTES], len: 0 };
        let mut fits = true;
        for c in token.chars() {
            each_plain(c, &mut |c| fits &= plain.push(c));
        }
        fits.then_some(plain)
    }

    /// Returns the plain form.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }

    /// Appends a character and returns whether there was room.
    fn push(&mut self, c: char) -> bool {
        let fits = self.len + c.len_utf8() <= MAX_PLAIN_BYTES;
        if fits {
            self.len += c.encode_utf8(&mut self.bytes[self.len..]).len();
        }
        fits
    }
}

/// Calls `each` with the plain form of one character.
fn each_plain(c: char, each: &mut impl FnMut(char)) {
    match c {
        '\0'..='\x7f' => {
            if !is_apostrophe(c) {
                each(c.to_ascii_lowercase());
            }
        }
        'ß' | 'ẞ' => "ss".chars().for_each(each),
        'æ' | 'Æ' => "ae".chars().for_each(each),
        'œ' | 'Œ' => "oe".chars().for_each(each),
        // Tatweel, nukta, and candrabindu as anusvara.
        '’' | '\u{640}' | '\u{93c}' => {}
        _ if is_dropped(c) => {}
        '\u{901}' => each('\u{902}'),
        'ة' => each('ه'),
        'ى' => each('ي'),
        // Letters of Cyrillic and Arabic without a mark. Signs of vowels in Indic scripts are marks
        // too, and no accents; Hangul stays composed.
        'а'..='и'
        | 'к'..='я'
        | 'ا'..='ب'
        | 'ت'..='غ'
        | 'ف'..='و'
        | 'ي'
        | '\u{900}'..='\u{10ff}'
        | '\u{1100}'..='\u{1dff}'
        | '\u{2e80}'..='\u{faff}' => each(c),
        _ => decompose_compatible(c, |part| {
            if !is_combining_mark(part) {
                part.to_lowercase().filter(|&c| !is_combining_mark(c)).for_each(&mut *each);
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(mut text: &str) -> Vec<&str> {
        let mut tokens = Vec::new();
        while let Some((token, rest)) = next_token(text) {
            tokens.push(token);
            text = rest;
        }
        tokens
    }

    #[test]
    fn text_is_split_at_all_but_letters_and_between_ideographs() {
        for (text, expected) in [
            ("", &[][..]),
            ("?! '…👋\u{fe0f}", &[]),
            ("what's up_there, x-ray", &["what's", "up", "there", "x", "ray"]),
            ("你能", &["你", "能"]),
            ("用git吗", &["用", "git", "吗"]),
            ("뭘 할수", &["뭘", "할", "수"]),
            ("कर सकते हैं", &["कर", "सकते", "हैं"]),
            ("été e\u{301}t", &["été", "e\u{301}t"]),
            ("a\u{200b}b\u{200b} c", &["a\u{200b}b\u{200b}", "c"]),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
            assert_eq!(last_token(text), expected.last().copied(), "{text}");
        }
    }

    #[test]
    fn letters_that_are_told_at_once_are_letters() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_letter_or_digit(c), c.is_alphanumeric(), "{c:?}");
            assert!(is_mark(c) == is_combining_mark(c), "{c:?}");
        }
    }

    #[test]
    fn spellings_of_a_word_are_the_same() {
        for (a, b) in [
            ("qué", "que"),
            ("what's", "whats"),
            ("what’s", "WHATS"),
            ("fähigkeiten", "fahigkeiten"),
            ("groß", "gross"),
            ("ＡＰＩ", "api"),
            ("ещё", "еще"),
            ("أظهر", "اظهر"),
            ("مهارة", "مهاره"),
            ("शुक्रिया", "शुक्रिया"),
            ("हाँ", "हां"),
            ("cœur", "COEUR"),
            ("th\u{200b}ank\u{ad}s", "thanks"),
        ] {
            assert!(is_same(a, b), "{a} {b}");
        }
        for (a, b) in [("se", "sea"), ("के", "कि"), ("バス", "ハス"), ("할", "하"), ("a", "b")]
        {
            assert!(!is_same(a, b), "{a} {b}");
        }
        assert!(Plain::of(&"x".repeat(100)).is_none());
    }
}
