//! The fenced code blocks of a body, as `CommonMark` reads them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Returns the ranges of the fenced code blocks, in the order of the body, and the line that closes the
/// last one if a text after the body would be in it. A fence in a list item ends with the item.
pub(super) fn fences(body: &str) -> (Vec<Range<usize>>, Option<String>) {
    // Looking for one character first is much faster than looking for three that are the same.
    let has = |mark: char, marks: &str| body.contains(mark) && body.contains(marks);
    if !has('`', "```") && !has('~', "~~~") {
        return (Vec::new(), None);
    }
    // A fence that is open at the end of the body swallows this heading.
    let followed = format!("{body}\n\n## x");
    let mut fences: Vec<Range<usize>> = Vec::new();
    let mut last_event = None;
    for (event, range) in Parser::new_ext(&followed, Options::empty()).into_offset_iter() {
        if matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))) {
            fences.push(range);
        }
        last_event = Some(event);
    }
    let is_open = !matches!(last_event, Some(Event::End(TagEnd::Heading(_))));
    let last = fences.last().filter(|last| is_open && last.end >= body.trim_end().len());
    let closing = last.map(|last| {
        let text = &followed[last.start..];
        let mark = if text.starts_with('~') { '~' } else { '`' };
        text.chars().take_while(|c| *c == mark).collect()
    });
    (fences, closing)
}

/// Tells whether byte `at` is in one of `ranges`, which are in order.
pub(crate) fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    next > 0 && at < ranges[next - 1].end
}
