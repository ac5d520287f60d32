//! Ranges of bytes of a text, in order and without overlap.

use std::ops::Range;

use super::boundary::char_boundary;

/// Joins ranges that adjoin.
pub fn merged(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns `ranges` without `holes`.
pub fn without(ranges: &[Range<usize>], holes: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut holes = holes.iter().peekable();
    for range in ranges {
        let mut from = range.start;
        while let Some(hole) = holes.peek().filter(|hole| hole.start < range.end) {
            left.push(from..hole.start.max(from));
            from = from.max(hole.end);
            if hole.end > range.end {
                break;
            }
            holes.next();
        }
        left.push(from.min(range.end)..range.end);
    }
    left.retain(|range| range.start < range.end);
    left
}

/// Returns the middle of a text that is left out if at most `max_bytes` are kept, half of them at each end,
/// without the words that would be cut; an empty range at the end if all of it is kept.
pub fn gap(text: &str, max_bytes: usize) -> Range<usize> {
    if text.len() <= max_bytes {
        return text.len()..text.len();
    }
    let head = &text[..char_boundary(text, max_bytes / 2)];
    let tail = &text[char_boundary(text, text.len() - max_bytes / 2)..];
    // Text without blanks is cut between characters.
    let head = head.rfind(char::is_whitespace).unwrap_or(head.len());
    let tail = text.len() - tail.len() + tail.find(char::is_whitespace).unwrap_or(0);
    head..tail
}
