//! HTML from text of others: escaped, with parts of it highlighted.

use std::fmt::Write as _;
use std::ops::Range;

/// `text` as character data, fit for attributes in double quotes too. Characters that could reorder
/// what is read, or that HTML forbids, are escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\n' | '\t' => html.push(c),
            c if crate::sanitize::is_unsafe(c) => html.extend(c.escape_default()),
            c => html.push(c),
        }
    }
    html
}

/// `text` with its `spans` (bytes) in `<mark>`, each with its label as a title; those that
/// overlap an earlier one are cut.
pub(crate) fn marked(text: &str, spans: &[(Range<usize>, String)]) -> String {
    let mut spans: Vec<&(Range<usize>, String)> = spans.iter().collect();
    spans.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut html = String::new();
    let mut done = 0;
    for (span, label) in spans {
        let start = span.start.max(done);
        let (Some(before), Some(inside)) = (text.get(done..start), text.get(start..span.end))
        else {
            continue;
        };
        if inside.is_empty() {
            continue;
        }
        // Writing to a `String` cannot fail.
        let _ = write!(
            html,
            "{}<mark title=\"{}\">{}</mark>",
            escaped(before),
            escaped(label),
            escaped(inside)
        );
        done = span.end;
    }
    html + &escaped(text.get(done..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        assert_eq!(
            escaped("<script>alert(\"1\" && '2')</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp;&amp; &#39;2&#39;)&lt;/script&gt;"
        );
        assert_eq!(escaped("a\u{202e}b\0"), "a\\u{202e}b\\u{0}");
    }

    #[test]
    fn marks_follow_the_bytes_and_never_overlap() {
        let label = |text: &str| text.to_owned();
        let spans = [(4..7, label("<b>")), (1..5, label("a")), (6..99, label("c"))];
        assert_eq!(
            marked("x<é>&yz", &spans),
            "x<mark title=\"a\">&lt;é&gt;</mark><mark title=\"&lt;b&gt;\">&amp;y</mark>z"
        );
        assert_eq!(marked("é", &[(1..2, label("inside a character"))]), "é");
    }
}
