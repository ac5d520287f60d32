//! The attachments of a message, by their places: covered where only the request counts.

use std::ops::Range;

use super::QueryText;
use super::ranges::without;

/// The attachments of the text that is searched, in order, without overlap.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Attached {
    ranges: Vec<Range<usize>>,
}

impl Attached {
    /// Takes over the places of attachments, instead of the previous ones.
    pub fn set(&mut self, ranges: Vec<Range<usize>>) {
        self.ranges = ranges;
    }

    /// Tells whether nothing is attached.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the places of the attachments in the folded form of `text`.
    fn folded(&self, text: &QueryText) -> impl Iterator<Item = Range<usize>> {
        self.each_once(|range| text.folded_range(range))
    }

    /// Returns the places as `place` gives them for another form of the text. A character of that form that
    /// is of two attachments, as a ligature, is of the first.
    fn each_once(
        &self,
        place: impl Fn(&Range<usize>) -> Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let mut from = 0;
        self.ranges.iter().map(move |range| {
            let Range { start, end } = place(range);
            let start = start.max(from);
            from = end.max(start);
            start..from
        })
    }

    /// Returns the byte of the folded form of `text` at which the only attachment begins, if there is one and no
    /// word is cut there.
    pub fn only_start(&self, text: &QueryText) -> Option<u32> {
        let [only] = &*self.ranges else { return None };
        let start = text.folded_range(only).start;
        let bytes = text.folded().as_bytes();
        let is_blank = |at: usize| bytes.get(at).is_none_or(|&byte| byte == b' ');
        let is_between = start == 0 || is_blank(start) || is_blank(start - 1);
        is_between.then_some(start as u32)
    }

    /// Returns the folded form of `text` without the attachments, each of which ends a line.
    pub fn uncovered(&self, text: &QueryText) -> String {
        let attached: Vec<Range<usize>> = self.folded(text).collect();
        let all = 0..text.folded().len();
        let said = without(std::slice::from_ref(&all), &attached);
        said.into_iter().map(|range| &text.folded()[range]).collect::<Vec<&str>>().join("\n")
    }

    /// Writes the folded form of `text` to `out`, with a NUL for each byte of an attachment, so that the
    /// length stays the same.
    pub fn cover(&self, text: &QueryText, out: &mut String) {
        cover_ranges(text.folded(), self.folded(text), out);
    }

    /// Writes the normalised form of `source`, of which `text` was made, to `out`, as [`Attached::cover`] does
    /// the folded form. Each attachment begins and ends with a line break, across which no `.*` reaches.
    pub fn cover_normalized(&self, text: &QueryText, source: &str, out: &mut String) {
        let ranges = self.each_once(|range| text.normalized_range(range));
        cover_with(text.normalized(source), ranges, out, '\n');
    }

    /// Tells whether a byte is in an attachment.
    pub fn has(&self, at: usize) -> bool {
        let next = self.ranges.partition_point(|range| range.end <= at);
        self.ranges.get(next).is_some_and(|range| range.start <= at)
    }
}

/// Writes `text` to `out`, with a NUL for each byte in one of the sorted `ranges`: no trigger contains a NUL,
/// and it is not part of a word.
pub fn cover_ranges(text: &str, ranges: impl IntoIterator<Item = Range<usize>>, out: &mut String) {
    cover_with(text, ranges, out, '\0');
}

/// Copied by stretches, as pushing characters one by one takes many times as long.
const NULS: &str = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Covers ranges as [`cover_ranges`] does, with the ASCII character `edge` for the first and the last byte of
/// each.
fn cover_with(
    text: &str,
    ranges: impl IntoIterator<Item = Range<usize>>,
    out: &mut String,
    edge: char,
) {
    out.clear();
    for Range { start, end } in ranges {
        out.push_str(&text[out.len()..start]);
        if start < end {
            out.push(edge);
        }
        while out.len() + 1 < end {
            out.push_str(&NULS[..NULS.len().min(end - 1 - out.len())]);
        }
        if out.len() < end {
            out.push(edge);
        }
    }
    out.push_str(&text[out.len()..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cover_is_as_long_as_the_text_below() {
        let (mut text, mut attached, mut out) =
            (QueryText::default(), Attached::default(), String::new());
        for (query, ranges) in [
            ("A  `ÄB`   c", vec![0..1, 3..8]),
            ("ﬁ `ﬁ` ＡＰＩ http://ｘ.y z", vec![4..9, 20..33]),
            ("a\r\n> ß\r\nb", vec![0..1, 3..9]),
        ] {
            text.set(query);
            attached.set(ranges);
            attached.cover(&text, &mut out);
            assert_eq!(out.len(), text.folded().len());
            assert!(out.contains('\0') && !out.ends_with('\0'), "{out:?}");
        }
    }
}
