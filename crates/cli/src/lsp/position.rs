//! Positions of the protocol: lines, and UTF-16 code units in them, from 0.

use std::ops::Range;

use serde_json::{Value as Json, json};

/// Returns the offset in bytes of `position` in `text`; that of the end of the line, or of the text, if the
/// position is behind it.
pub(super) fn offset(text: &str, position: &Json) -> usize {
    let number = |key: &str| {
        position[key].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default()
    };
    let (line, character) = (number("line"), number("character"));
    let before = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let line = text[before..].split(['\n', '\r']).next().unwrap_or_default();
    let mut n_units = 0;
    let at = line.char_indices().find(|(_, c)| {
        n_units += c.len_utf16();
        n_units > character
    });
    before + at.map_or(line.len(), |(at, _)| at)
}

/// Returns the range of the protocol for a range of bytes in `text`.
pub(super) fn range(text: &str, span: &Range<usize>) -> Json {
    json!({"start": position(text, span.start), "end": position(text, span.end)})
}

fn position(text: &str, at: usize) -> Json {
    let before = text.get(..at).unwrap_or(text);
    let (line, start) = (before.matches('\n').count(), before.rfind('\n').map_or(0, |at| at + 1));
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_offsets_are_each_others_inverse() {
        let text = "a\u{e9}\u{1f600}b\r\n\u{65e5}x\n";
        for (at, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
            assert_eq!(offset(text, &position(text, at)), at, "{at}");
        }
        let behind = json!({"line": 0, "character": 99});
        assert_eq!(&text[..offset(text, &behind)], "a\u{e9}\u{1f600}b");
        assert_eq!(offset(text, &json!({"line": 9, "character": 0})), text.len());
        assert_eq!(range(text, &(3..7))["end"], json!({"line": 0, "character": 4}));
    }
}
