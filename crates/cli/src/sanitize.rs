//! Makes text of others safe for a terminal.
//!
//! Skill names, descriptions, queries and paths are written by strangers. A control character in them
//! could move the cursor, and a bidi control could reorder what the user reads.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use repertoire::skill::is_invisible;

/// Tells whether `c` may change how a terminal shows the text around it, or is not seen there.
pub(crate) fn is_unsafe(c: char) -> bool {
    let is_separator = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || is_separator || is_invisible(c) && !is_spelling(c)
}

/// Tells whether `c` is invisible, but harmless and needed to spell: a soft hyphen, a selector of a
/// Mongolian letter, a joiner, or the selector of a symbol's shape as text.
fn is_spelling(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180b}'..='\u{180f}' | '\u{200c}' | '\u{200d}' | '\u{fe0e}')
}

/// Makes `text` safe for one line of a terminal: escapes unsafe characters, including line breaks and
/// tabs.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Makes `text` safe for a terminal: escapes unsafe characters, except line feeds and tabs.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|c| is_unsafe(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) && !keep(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

/// Makes JSON safe for a terminal: writes unsafe characters, which occur only in its strings, as
/// `\u…`.
pub(crate) fn json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns the lines of `source` to quote, and the positions of `spans` in them. Unsafe characters
/// are replaced one for one, so that columns do not move.
pub(crate) fn quoted(source: &str, spans: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let mut safe = String::with_capacity(source.len());
    let mut moved = spans.to_vec();
    let mut chars = source.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        for (span, moved) in spans.iter().zip(&mut moved) {
            if span.start == at {
                moved.start = safe.len();
            }
            if span.end == at {
                moved.end = safe.len();
            }
        }
        match c {
            '\n' | '\t' => safe.push(c),
            '\u{feff}' if at == 0 => {}
            '\r' if chars.peek().is_none_or(|(_, next)| *next == '\n') => {}
            // The user must see a character that a finding is about, even a harmless one.
            _ if is_spelling(c) && spans.iter().any(|span| span.contains(&at)) => {
                safe.push('\u{fffd}');
            }
            _ => safe.push(visible(c)),
        }
    }
    for (span, moved) in spans.iter().zip(&mut moved) {
        if span.start >= source.len() {
            moved.start = safe.len();
        }
        if span.end >= source.len() {
            moved.end = safe.len();
        }
        moved.end = moved.end.max(moved.start);
    }
    (safe, moved)
}

/// Returns a safe, visible character in place of an unsafe `c`; any other `c` unchanged.
fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        c if is_unsafe(c) => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_escaped_and_all_else_stays() {
        assert_eq!(line("plain, ünïcode, 👩‍💻"), "plain, ünïcode, 👩‍💻");
        assert_eq!(line("a\x1b[31mb\r\n\tc"), "a\\u{1b}[31mb\\r\\n\\tc");
        assert_eq!(line("\u{202e}evil\u{9b}"), "\\u{202e}evil\\u{9b}");
        assert_eq!(line("a\u{200b}b\u{e0041}"), "a\\u{200b}b\\u{e0041}");
        assert_eq!(line("a\u{fe00}\u{3164}b\u{ad}c"), "a\\u{fe00}\\u{3164}b\u{ad}c");
        assert_eq!(text("a\n\tb\x07"), "a\n\tb\\u{7}");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a": "x\u{202e}\u{7f}\u{9b}\u{e0041}\n", "b": "ü"});
        let safe = json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!safe.contains(|c| is_unsafe(c) && c != '\n'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }

    #[test]
    fn spans_follow_their_text() {
        let source = "a\x1bb\u{9b}c\r\nd";
        let of = |text: &str| {
            let start = source.find(text).unwrap();
            start..start + text.len()
        };
        let (safe, spans) = quoted(source, &[of("b"), of("c"), of("d"), 0..source.len()]);
        let parts: Vec<&str> = spans.iter().map(|span| &safe[span.clone()]).collect();
        assert_eq!(parts, ["b", "c", "d", safe.as_str()]);
        assert_eq!(safe, "a␛b\u{fffd}c\nd");
        // U+200B is unsafe, so it is replaced even where no span covers it.
        let source = "a\u{200b}b\u{200b}c";
        assert_eq!(quoted(source, &[1..4, 8..9]).0, "a\u{fffd}b\u{fffd}c");
        assert_eq!(quoted("a\u{ad}b\u{ad}", std::slice::from_ref(&(4..6))).0, "a\u{ad}b\u{fffd}");
    }
}
