//! Text of others on a page: unsafe characters are escaped, and the text is split where highlighted
//! parts begin and end.

use std::cmp::Reverse;
use std::ops::Range;

use repertoire::SkillId;
use serde::Serialize;

use crate::sanitize;

/// The label for no skill.
pub(super) const NONE: &str = "no skill";

/// A part of a text, with a label if it is highlighted.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Piece {
    text: String,
    label: Option<String>,
}

/// Escapes characters that could reorder what is read, or that HTML forbids.
pub(super) fn safe(text: &str) -> String {
    sanitize::text(text).into_owned()
}

/// Joins ids to a list; "nothing" if there are none.
pub(super) fn ids(ids: &[SkillId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| safe(id.as_str())).collect();
    if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") }
}

/// Cuts `text` into pieces at `spans`, which are in bytes and have a label each. A span that overlaps
/// an earlier one is shortened.
pub(super) fn pieces(text: &str, spans: &[(Range<usize>, String)]) -> Vec<Piece> {
    let mut spans: Vec<&(Range<usize>, String)> = spans.iter().collect();
    spans.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    let mut pieces = Vec::new();
    let mut add = |part: &str, label: Option<String>| {
        if !part.is_empty() {
            pieces.push(Piece { text: safe(part), label });
        }
    };
    let mut done = 0;
    for (span, label) in spans {
        let start = span.start.max(done);
        let parts = (text.get(done..start), text.get(start..span.end));
        let (Some(before), Some(inside)) = parts else { continue };
        if !inside.is_empty() {
            add(before, None);
            add(inside, Some(safe(label)));
            done = span.end;
        }
    }
    add(text.get(done..).unwrap_or_default(), None);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_the_bytes_and_never_overlap() {
        let label = |text: &str| text.to_owned();
        let piece =
            |text: &str, label: Option<&str>| Piece { text: safe(text), label: label.map(safe) };
        let spans = [(4..7, label("<b>")), (1..5, label("a")), (6..99, label("c"))];
        assert_eq!(
            pieces("x<é>&yz", &spans),
            [piece("x", None), piece("<é>", Some("a")), piece("&y", Some("<b>")), piece("z", None)]
        );
        assert_eq!(pieces("é", &[(1..2, label("inside a character"))]), [piece("é", None)]);
        assert_eq!(pieces("a\u{202e}b\0", &[]), [piece("a\\u{202e}b\\u{0}", None)]);
    }
}
