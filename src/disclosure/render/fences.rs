//! The fenced code blocks of a body, as `CommonMark` reads them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Returns the ranges of the fenced code blocks, in the order of the body.
pub(super) fn fenced(body: &str) -> Vec<Range<usize>> {
    if !body.contains("```") && !body.contains("~~~") {
        return Vec::new();
    }
    let events = Parser::new_ext(body, Options::empty()).into_offset_iter();
    let is_fence =
        |event: &Event<'_>| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))));
    events.filter(|(event, _)| is_fence(event)).map(|(_, range)| range).collect()
}

/// Returns the line that closes the last of `fences`, if a text after the body would be in it. A fence in a
/// list item ends with the item.
pub(super) fn closing(body: &str, fences: &[Range<usize>]) -> Option<String> {
    let last = fences.last().filter(|last| last.end >= body.trim_end().len())?;
    let followed = format!("{body}\n\n## x");
    let after = Parser::new_ext(&followed, Options::empty()).last();
    if matches!(after, Some(Event::End(TagEnd::Heading(_)))) {
        return None;
    }
    let text = &body[last.start..];
    let mark = if text.starts_with('~') { '~' } else { '`' };
    Some(text.chars().take_while(|c| *c == mark).collect())
}
