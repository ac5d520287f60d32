//! Parses JSON from agents, which may contain lone surrogates.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// The replacement for a lone surrogate.
const REPLACEMENT: &str = "\\ufffd";

/// Parses `text`. Agents that count in UTF-16 may cut a text in the middle of a surrogate pair, and
/// escape the remaining half. No Unicode text can contain that half, so it becomes `U+FFFD`.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match without_halves(text) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(whole) => serde_json::from_str(&whole),
    })
}

/// Returns `text` with escapes of lone surrogates replaced.
pub fn without_halves(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|found| from + found) {
        let Some(unit) = unit(&text[at..]) else {
            // Skip the escaped character, too: it may be another `\`.
            from = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        };
        let pairs = |low: u16| (0xDC00..0xE000).contains(&low);
        from = at + ESCAPE;
        match unit {
            0xD800..0xDC00 if self::unit(&text[from..]).is_some_and(pairs) => from += ESCAPE,
            0xD800..0xE000 => {
                out.push_str(&text[copied..at]);
                out.push_str(REPLACEMENT);
                copied = from;
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// Returns the UTF-16 code unit whose escape is at the start of `text`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.get(..ESCAPE)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_are_not() {
        for (json, wanted) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00 b""#, "\u{fffd} b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\n\u00e9\\ud83d""#, "\u{fffd}\né\\ud83d"),
            (r#""\uD83D\u0041""#, "\u{fffd}A"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
        ] {
            assert_eq!(parse::<String>(json).unwrap(), wanted, "{json}");
        }
        for none in [r#""\ud83d"#, r#""\u12"#, "\"\\", r#""\ud83d\u""#, "\\é"] {
            assert!(parse::<String>(none).is_err(), "{none}");
        }
    }
}
