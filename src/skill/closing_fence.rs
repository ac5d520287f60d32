//! Imprecise closing fences: `----` or an indented `---`. They are accepted, because the front matter
//! would otherwise extend to the next `---` and swallow the body up to there.

use std::cell::OnceCell;
use std::ops::Range;

use super::MAX_FRONT_MATTER_BYTES;
use super::finding::Finding;
use super::front_matter::FrontMatter;
use super::lines::{Line, lines};
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The most lines of dashes that are examined; for each, the text above it is parsed.
const MAX_LINES: usize = 8;

/// An imprecise fence that closes front matter.
pub(super) struct ImpreciseFence<'a> {
    pub(super) line: Line<'a>,
    pub(super) finding: Finding,
    /// The front matter above the fence.
    pub(super) above: FrontMatter,
}

/// Finds the first imprecise fence that closes the front matter. `range` of `text` extends from the
/// start of the front matter to its proper closing fence, or to the end of the text if there is none.
pub(super) fn find(text: &str, range: Range<usize>) -> Option<ImpreciseFence<'_>> {
    let start = range.start;
    let whole = OnceCell::new();
    let is_whole_readable =
        || *whole.get_or_init(|| read(text, range.clone()).is_some_and(|all| all.is_whole()));
    let candidates = lines(&text[..range.end], start)
        .filter(|line| is_dashes(line.text) && line.next - start <= MAX_FRONT_MATTER_BYTES);
    candidates.take(MAX_LINES).find_map(|line| {
        let above = above(line, text, &range, &is_whole_readable)?;
        Some(ImpreciseFence { line, finding: finding(line), above })
    })
}

fn finding(fence: Line<'_>) -> Finding {
    let dashes = fence.start + fence.indent()..fence.start + fence.text.len();
    let message = match fence.indent() {
        0 => format!("the front matter is closed by `{}`, not by `---`", fence.text),
        _ => "the line that closes the front matter is indented".to_owned(),
    };
    let help = "write `---` here, from the first column on and with nothing else on the line";
    Finding::new(Code::UnclosedFrontMatter, dashes, message, help)
}

/// Tells whether a line consists of dashes: hyphens, or the en and em dashes that editors replace
/// hyphens with. A single hyphen does not count.
fn is_dashes(line: &str) -> bool {
    let dashes = line.trim();
    dashes.starts_with(['-', '–', '—'])
        && dashes != "-"
        && dashes.chars().all(|c| matches!(c, '-' | '–' | '—'))
}

/// Returns the front matter above `fence` if the line closes it, or `None` if the line is part of a
/// value.
fn above(
    fence: Line<'_>,
    text: &str,
    range: &Range<usize>,
    is_whole_readable: &dyn Fn() -> bool,
) -> Option<FrontMatter> {
    if goes_on(fence, text, range) {
        return None;
    }
    let above = read(text, range.start..fence.start).filter(FrontMatter::is_whole)?;
    if above.entries.as_ref().is_none_or(Vec::is_empty) {
        return None;
    }
    let closes = match fence.indent() {
        0 => !is_whole_readable(),
        _ => indented_closes(fence, text, range, &above, is_whole_readable),
    };
    closes.then_some(above)
}

fn indented_closes(
    fence: Line<'_>,
    text: &str,
    range: &Range<usize>,
    above: &FrontMatter,
    is_whole_readable: &dyn Fn() -> bool,
) -> bool {
    let next = lines(text, fence.next).find(|line| !line.text.is_empty());
    if next.is_some_and(|line| line.indent() > 0) {
        return false;
    }
    // If the dashes would become part of a text without quotes, or would make the YAML invalid, the
    // author meant them as a fence.
    let at = fence.start + fence.indent();
    let with = read(text, range.start..fence.next).filter(FrontMatter::is_whole);
    let ends_value = with.is_none_or(|with| {
        (above.is_valid() && !with.is_valid())
            || with.entries.iter().flatten().any(|(_, value)| holds_unmarked(value, text, at))
    });
    let is_key = |line: Line<'_>| line.is_key() || line.text.starts_with(['#', '-']);
    ends_value || (next.is_some_and(|line| !is_key(line)) && !is_whole_readable())
}

/// Tells whether the front matter continues below `fence`, up to a proper fence. If its keys were read
/// as body text, the restrictions that they declare would be lost.
fn goes_on(fence: Line<'_>, text: &str, range: &Range<usize>) -> bool {
    let is_likely =
        |line: Line<'_>| line.is_key() && line.text.starts_with(|c: char| c.is_ascii_lowercase());
    let has_proper_one = range.end < text.len();
    let below = || lines(&text[..range.end], fence.next);
    let next = below().find(|line| !line.text.is_empty());
    has_proper_one && (next.is_some_and(is_likely) || below().any(Line::is_known_key))
}

/// Parses the front matter at `range`, unless it is too large.
fn read(text: &str, range: Range<usize>) -> Option<FrontMatter> {
    (range.len() <= MAX_FRONT_MATTER_BYTES).then(|| FrontMatter::read(text, range))
}

/// Tells whether byte `at` of `text` is inside of a scalar below `node` that has no quotes, `|` or `>`.
fn holds_unmarked(node: &Node, text: &str, at: usize) -> bool {
    match &node.value {
        Value::Scalar { .. } => {
            (node.span.start..node.span.end).contains(&at) && node.is_plain_in_source(text)
        }
        Value::Sequence(entries) => entries.iter().any(|entry| holds_unmarked(entry, text, at)),
        Value::Mapping(entries) => entries.iter().any(|(_, node)| holds_unmarked(node, text, at)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::split;
    use super::*;

    #[test]
    fn what_stands_below_an_odd_fence_is_body() {
        let cases = [
            ("name: a\n", "----"),
            ("name: a\n", "--"),
            ("name: a\r\n", "----\r"),
            ("name: a\n\n# why\nd: b\n", "-----"),
            ("name: a\n", "—"),
            ("name: a\n", " ---"),
            ("name: a\n", "\t---"),
            ("d: Use when: asked\n", " ---"),
            ("d: Use when: asked\n", "----"),
            ("d:\n", "  ---"),
            ("d: 'b'\n", "  ---"),
            ("d: [b]\n", " ----"),
            ("d: |\n  b\n", " ---"),
            ("m:\n  k: |\n    ---\n    b\n  l: c\n", "---- "),
            ("t:\n- a\n- b\n", "  ---"),
        ];
        for (yaml, fence) in cases {
            for body in ["Text\n\n---\nMore\n", "# Title\n\n---\n", "\nNote: this\n---\nB", "B", ""]
            {
                let text = format!("---\n{yaml}{fence}\n{body}");
                let document = split(&text).unwrap();
                assert_eq!(&text[document.front_matter], yaml, "{text:?}");
                assert_eq!(&text[document.body..], body, "{text:?}");
                let finding = document.tolerated_fault.unwrap();
                assert_eq!(finding.code, Code::UnclosedFrontMatter);
                assert_eq!(&text[finding.span.unwrap()], fence.trim());
                assert!(finding.help.starts_with("write `---` here"), "{}", finding.help);
            }
        }
    }

    #[test]
    fn a_fence_like_the_text_above_it_is_one_where_no_key_follows() {
        let document = split("---\nd: |\n  a\n  ---\nText\n\n---\nMore\n").unwrap();
        assert_eq!(document.front_matter, 4..4 + "d: |\n  a\n".len());
        assert_eq!(document.tolerated_fault.unwrap().code, Code::UnclosedFrontMatter);
    }

    #[test]
    fn dashes_in_values_and_below_text_are_no_fence() {
        for yaml in [
            "d: |\n  a\n  ---\ne: f\n",
            "d: |\n  a\n  ---\ne: f: g\n",
            "d: |\n  a\n  ----\n",
            "d: >-\n\n  ---\n",
            "d: a\n  ---\n  b\n",
            "d: a\n  --\nlicense: b\n",
            "d:\n  a\n  ---\n\ntriggers: [b]\n",
            "d: a\n  —\n# why\nfoo: b\nrequires_bins: [c]\n",
            "d: a\n----\nrequires-bins: [b]\n",
            "d: a\n----\nfoo: b\n",
            "d: \"a\n  ---\n  b\"\n",
            "d: 'a\n  ---'\n",
            "d: 'a\n  ---\n\n'\n",
            "t: [a,\n----\n]\n",
            "# ----\nd: a\n",
            "d: ---\n",
            "d: a\nText without a fence\n----\n",
        ] {
            let text = format!("---\n{yaml}---\nBody\n");
            let document = split(&text).unwrap();
            assert_eq!(&text[document.front_matter], yaml);
            assert_eq!((&text[document.body..], document.tolerated_fault), ("Body\n", None));
        }
    }

    #[test]
    fn so_many_lines_of_dashes_are_looked_at_and_no_more() {
        for n_before in [MAX_LINES - 1, MAX_LINES] {
            let keys =
                (0..n_before).map(|n| format!("k{n}: |\n  ---\n")).collect::<Vec<_>>().concat();
            let text = format!("---\n{keys}----\nText\n---\nMore\n");
            let is_seen =
                split(&text).is_ok_and(|document| text[document.body..].starts_with("Text"));
            assert_eq!(is_seen, n_before < MAX_LINES, "{n_before}");
        }
    }
}
