//! The requests in a message, one by one: "fix the tests, then deploy". Each is routed on its own.

use crate::blocks::places;

/// The maximum number of requests that are told apart.
const MAX_REQUESTS: usize = 8;

/// Returns the requests of a text if it has several: sentences, items of a list, and what follows "then" or
/// "also". Parts of fewer than three words are none.
pub fn requests(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    places(text.as_bytes(), may_break, |at| {
        if let Some(end) = break_at(text, at) {
            parts.push(text[start..end].trim());
            start = end;
        }
    });
    if parts.is_empty() {
        return parts;
    }
    parts.push(text[start..].trim());
    parts.retain(|part| has_words(part));
    if (2..=MAX_REQUESTS).contains(&parts.len()) { parts } else { Vec::new() }
}

/// The minimum number of words of a request; characters of scripts without blanks count as half a word.
const MIN_WORDS: usize = 3;

fn has_words(part: &str) -> bool {
    super::code::Tally::of(part).words >= MIN_WORDS
}

/// Returns words that begin a further request at the start of a clause, of those that begin with `first`, an
/// ASCII letter in lower case.
fn further(first: u8) -> &'static [&'static str] {
    match first {
        b'a' => &[
            "also", "additionally", "and then", "and also", "after that", "afterwards", "außerdem",
            "anschließend", "aussi", "además", "além disso", "anche",
        ],
        b'd' => &["dann", "danach", "después", "depois", "daarna"],
        b'e' => &["ensuite"],
        b'i' => &["inoltre"],
        b'l' => &["luego"],
        b'n' => &["next,", "następnie"],
        b'o' => &["ook"],
        b'p' => &["plus,", "puis", "poi", "potem"],
        b's' => &["sonra"],
        b't' => &["then", "también", "também", "także"],
        b'v' => &["vervolgens"],
        b'z' => &["zusätzlich"],
        _ => &[],
    }
}

/// Such words that begin with another letter.
const FURTHER: [&str; 4] = ["également", "затем", "потом", "также"];

/// Such words of scripts without blanks.
const FURTHER_UNSPACED: [&str; 10] =
    ["然后", "另外", "還有", "还有", "接着", "並且", "そして", "その後", "それから", "また、"];

/// Tells whether a sentence, an item or a further request may begin at or behind this byte.
fn may_break(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | 0xe0..=0xef)
}

/// Returns the byte at which a sentence, an item or a further request begins, if it does at or behind byte `at`.
fn break_at(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if at == 0 {
        return None;
    }
    match bytes[at] {
        b' ' | b'\n' | b'\t' if matches!(bytes[at - 1], b'.' | b'?' | b'!') => {
            (!ends_abbreviation(&text[..at])).then_some(at)
        }
        b'\n' => bytes.get(at + 1).filter(|next| !next.is_ascii_whitespace()).map(|_| at + 1),
        b' ' => begins_further(&text[..at], &text[at + 1..]).then_some(at + 1),
        // The first byte of a character of three.
        0xe0..=0xef => {
            let rest = &text[at..];
            let is_end = rest.starts_with(['。', '？', '！', '；']);
            let is_further = || FURTHER_UNSPACED.iter().any(|word| rest.starts_with(word));
            if is_end { Some(at + 3) } else { is_further().then_some(at) }
        }
        _ => None,
    }
}

/// Tells whether a text ends with an abbreviation or a number rather than with a sentence: "e.g.", "z.B.",
/// "1.", "Dr.".
fn ends_abbreviation(text: &str) -> bool {
    let Some(text) = text.strip_suffix('.') else { return false };
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.contains('.') && word.len() <= 5
        || word.chars().all(|c| c.is_ascii_digit())
        || word.chars().count() <= 2 && word.starts_with(char::is_alphabetic)
}

/// Tells whether `rest` begins with a word for a further request that is written as the start of a clause:
/// behind punctuation or "and", or with a capital.
fn begins_further(before: &str, rest: &str) -> bool {
    const AND: [&str; 7] = ["and", "und", "et", "y", "e", "i", "и"];
    let Some(first) = rest.bytes().next() else { return false };
    let words = if first.is_ascii() { further(first.to_ascii_lowercase()) } else { &FURTHER };
    // Most words end it here, by their second letter.
    let second = rest.as_bytes().get(1).map(u8::to_ascii_lowercase);
    let mut words = words.iter().filter(|word| word.as_bytes().get(1).copied() == second);
    if !words.any(|word| starts_with_word(rest, word)) {
        return false;
    }
    let before = before.trim_end();
    let word = before.rsplit([' ', ',']).next().unwrap_or_default();
    rest.starts_with(char::is_uppercase)
        || before.ends_with([',', ';', '.', '!', '?', ')', '"'])
        || AND.contains(&word)
}

/// Tells whether `text` starts with `word`, in any case of ASCII letters, and the word ends there.
fn starts_with_word(text: &str, word: &str) -> bool {
    let Some(start) = text.get(..word.len()) else { return false };
    let ends = text[word.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
    ends && start.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_parted_at_sentences_items_and_words_that_go_on() {
        for (text, expected) in [
            ("fix the login page", &[][..]),
            ("fix the login. Thanks!", &[]),
            ("use it then as now", &[]),
            (
                "fix the login page. Write a changelog entry",
                &["fix the login page.", "Write a changelog entry"],
            ),
            (
                "fix the login page Then write an entry",
                &["fix the login page", "Then write an entry"],
            ),
            (
                "fix the login page, and then write an entry",
                &["fix the login page,", "then write an entry"],
            ),
            ("1. fix the login\n2. write an entry", &["1. fix the login", "2. write an entry"]),
            ("- fix the login\n- write an entry", &["- fix the login", "- write an entry"]),
            ("see e.g. the login page of Dr. No", &[]),
            (
                "prüfe die Seite, danach schreibe den Eintrag",
                &["prüfe die Seite,", "danach schreibe den Eintrag"],
            ),
            ("修复登录页面的问题。写一个更新日志", &["修复登录页面的问题。", "写一个更新日志"]),
            ("修复登录页面的问题然后写一个更新日志", &["修复登录页面的问题", "然后写一个更新日志"]),
            (
                "исправь эту страницу, затем напиши запись туда",
                &["исправь эту страницу,", "затем напиши запись туда"],
            ),
        ] {
            assert_eq!(requests(text), expected, "{text}");
        }
        assert!(requests(&"fix the page. ".repeat(20)).is_empty());
    }
}
