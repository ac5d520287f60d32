//! The parts of a body that Markdown or HTML marks as code.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// The ranges of code in Markdown and HTML: blocks and spans, in order.
pub(super) fn code_ranges(body: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut html: Option<(usize, &str)> = None;
    for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => ranges.push(range),
            Event::Html(_) | Event::InlineHtml(_) => {
                tags_of_code(body, range, &mut html, &mut ranges);
            }
            _ => {}
        }
    }
    ranges.extend(html.map(|(start, _)| start..body.len()));
    ranges.sort_by_key(|range| (range.start, range.end));
    // Code in code does not end where the inner one does.
    ranges.dedup_by(|next, range| {
        let is_joined = next.start <= range.end;
        if is_joined {
            range.end = range.end.max(next.end);
        }
        is_joined
    });
    ranges
}

/// Follows the tags for code in the HTML at `range`: `open` is the start and the name of the element that
/// is open, and `ranges` gets each element that ends.
fn tags_of_code(
    body: &str,
    range: Range<usize>,
    open: &mut Option<(usize, &'static str)>,
    ranges: &mut Vec<Range<usize>>,
) {
    const TAGS: [&str; 5] = ["code", "pre", "script", "style", "kbd"];
    for at in body[range.clone()].match_indices('<').map(|(at, _)| range.start + at) {
        let text = &body[at + 1..range.end];
        let (name, is_end) = text.strip_prefix('/').map_or((text, false), |name| (name, true));
        let is_tag = |tag: &&&str| {
            let head = name.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag));
            head && !name[tag.len()..].starts_with(char::is_alphanumeric)
        };
        let Some(tag) = TAGS.iter().find(is_tag) else { continue };
        match *open {
            None if !is_end => *open = Some((at, tag)),
            Some((start, of)) if is_end && of == *tag => {
                ranges.push(start..at);
                *open = None;
            }
            _ => {}
        }
    }
}
