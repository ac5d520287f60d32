//! Texts made from a query, with a map back to its bytes: the normalised and folded forms.

use std::ops::Range;

/// A stretch of text made from a stretch of its source.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// The start in the derived text.
    at: u32,
    /// The start in the source.
    source: u32,
    /// True if the bytes of both stretches correspond one to one; otherwise the segment is mapped as a
    /// whole.
    linear: bool,
}

/// A text made from a source, with the map back. Reused from query to query.
#[derive(Debug, Default)]
pub struct MappedText {
    /// The text made so far.
    pub text: String,
    segments: Vec<Segment>,
    source_len: usize,
}

impl MappedText {
    /// Begins again, for a source of this many bytes.
    pub fn restart(&mut self, source_len: usize) {
        self.text.clear();
        self.segments.clear();
        self.source_len = source_len;
    }

    /// Records that the text from `at` on was made from the source at `source`.
    pub fn mark(&mut self, at: usize, source: usize, linear: bool) {
        let (at, source) = (at as u32, source as u32);
        let goes_on = self.segments.last().is_some_and(|last| {
            linear && last.linear && at.wrapping_sub(last.at) == source.wrapping_sub(last.source)
        });
        if !goes_on {
            self.segments.push(Segment { at, source, linear });
        }
    }

    /// Appends a part of the source as it is.
    pub fn push(&mut self, source: usize, part: &str) {
        if !part.is_empty() {
            let at = self.text.len();
            self.text.push_str(part);
            self.mark(at, source, true);
        }
    }

    /// Returns the stretch of the source from which `range` of the text was made.
    pub fn source_range(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            let start = self.source_start(range.start);
            return start..start;
        }
        self.source_start(range.start)..self.source_end(range.end)
    }

    /// Returns where the text begins that was made from the source at `source` or behind it.
    pub fn place_of(&self, source: usize) -> usize {
        let after = self.segments.partition_point(|s| s.source as usize <= source);
        let next = self.segments.get(after).map_or(self.text.len(), |next| next.at as usize);
        let Some(segment) = after.checked_sub(1).map(|index| self.segments[index]) else {
            return next;
        };
        let inside = source - segment.source as usize;
        if segment.linear || inside == 0 { next.min(segment.at as usize + inside) } else { next }
    }

    fn segment_of(&self, at: usize) -> Option<usize> {
        self.segments.partition_point(|s| s.at as usize <= at).checked_sub(1)
    }

    fn source_start(&self, at: usize) -> usize {
        let Some(index) = self.segment_of(at).filter(|_| at < self.text.len()) else {
            return self.source_len;
        };
        let segment = self.segments[index];
        segment.source as usize + if segment.linear { at - segment.at as usize } else { 0 }
    }

    fn source_end(&self, end: usize) -> usize {
        let Some(index) = self.segment_of(end - 1) else { return self.source_len };
        let segment = self.segments[index];
        if segment.linear {
            return segment.source as usize + (end - segment.at as usize);
        }
        self.segments.get(index + 1).map_or(self.source_len, |next| next.source as usize)
    }
}
