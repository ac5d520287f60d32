//! Texts made from a query, with a map back to its bytes: the normalised and folded forms, and the
//! excerpt of a very long query, of which only head and tail are searched.

use std::borrow::Cow;
use std::ops::Range;

use super::boundary::char_boundary;

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
pub(in crate::matcher) struct MappedText {
    pub(in crate::matcher) text: String,
    segments: Vec<Segment>,
    source_len: usize,
}

impl MappedText {
    pub(in crate::matcher) fn restart(&mut self, source_len: usize) {
        self.text.clear();
        self.segments.clear();
        self.source_len = source_len;
    }

    /// Records that the text from `at` on was made from the source at `source`.
    pub(in crate::matcher) fn mark(&mut self, at: usize, source: usize, linear: bool) {
        let (at, source) = (at as u32, source as u32);
        let goes_on = self.segments.last().is_some_and(|last| {
            linear && last.linear && at.wrapping_sub(last.at) == source.wrapping_sub(last.source)
        });
        if !goes_on {
            self.segments.push(Segment { at, source, linear });
        }
    }

    /// Appends a part of the source as it is.
    pub(in crate::matcher) fn push(&mut self, source: usize, part: &str) {
        if !part.is_empty() {
            let at = self.text.len();
            self.text.push_str(part);
            self.mark(at, source, true);
        }
    }

    /// Returns the stretch of the source from which `range` of the text was made.
    pub(in crate::matcher) fn source_range(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            let start = self.source_start(range.start);
            return start..start;
        }
        self.source_start(range.start)..self.source_end(range.end)
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

/// The separator of head and tail: no phrase, and no `.*`, reaches across it.
const SEAM: &str = "\n\u{1e}\n";

/// Returns the text that is searched for `query`: the query, or its excerpt if it is longer than
/// `max_bytes`.
pub(crate) fn searched_part(query: &str, max_bytes: usize) -> Cow<'_, str> {
    let excerpt = Excerpt::new(query, max_bytes);
    if excerpt.gap.is_empty() {
        return Cow::Borrowed(query);
    }
    let mut text = String::new();
    excerpt.text(&mut text);
    Cow::Owned(text)
}

/// The head and the tail of a query, or all of it.
#[derive(Debug, Clone)]
pub(in crate::matcher) struct Excerpt<'q> {
    query: &'q str,
    /// The bytes of the query that are left out.
    gap: Range<usize>,
}

impl<'q> Excerpt<'q> {
    /// Makes the excerpt of a query. If the query is longer than `max_bytes`, keeps half of that at each
    /// end, without the words that would be cut.
    pub(in crate::matcher) fn new(query: &'q str, max_bytes: usize) -> Excerpt<'q> {
        if query.len() <= max_bytes {
            return Excerpt { query, gap: query.len()..query.len() };
        }
        let head = &query[..char_boundary(query, max_bytes / 2)];
        let tail = &query[char_boundary(query, query.len() - max_bytes / 2)..];
        // Text without blanks is cut between characters.
        let head = head.rfind(char::is_whitespace).unwrap_or(head.len());
        let tail = query.len() - tail.len() + tail.find(char::is_whitespace).unwrap_or(0);
        Excerpt { query, gap: head..tail }
    }

    /// Returns the text to search, which is put into `buffer` if it is not the whole query.
    pub(in crate::matcher) fn text<'a>(&self, buffer: &'a mut String) -> &'a str
    where
        'q: 'a,
    {
        if !self.gap.is_empty() {
            buffer.clear();
            buffer.push_str(&self.query[..self.gap.start]);
            buffer.push_str(SEAM);
            buffer.push_str(&self.query[self.gap.end..]);
        }
        self.seen(buffer)
    }

    /// Returns the text to search, which [`Excerpt::text`] has put into `buffer`.
    pub(in crate::matcher) fn seen<'a>(&self, buffer: &'a str) -> &'a str
    where
        'q: 'a,
    {
        if self.gap.is_empty() { self.query } else { buffer }
    }

    /// Returns the bytes of the query at `range` of the excerpt. A range that ends inside the separator,
    /// as a match of `\W` may, is extended to the end of the bytes left out.
    pub(in crate::matcher) fn span(&self, range: Range<usize>) -> Range<usize> {
        let in_query = |at: usize| match at.checked_sub(self.gap.start) {
            None | Some(0) => at,
            Some(after) => self.gap.end + after.saturating_sub(SEAM.len()),
        };
        in_query(range.start)..in_query(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_queries_are_cut_between_words_and_keep_their_places() {
        let query = "head of it é and a long middle and é the tail";
        let mut buffer = String::new();
        for max_bytes in 16..query.len() + 2 {
            let excerpt = Excerpt::new(query, max_bytes);
            let text = excerpt.text(&mut buffer).to_owned();
            assert!(text.len() <= max_bytes + SEAM.len(), "{text:?}");
            for word in text.split_whitespace().filter(|word| *word != "\u{1e}") {
                assert!(query.split_whitespace().any(|w| w == word), "{word} was cut");
                let start = text.find(word).unwrap();
                assert_eq!(&query[excerpt.span(start..start + word.len())], word);
            }
        }
        for max_bytes in 0..query.len() {
            let excerpt = Excerpt::new(query, max_bytes);
            let text = excerpt.text(&mut buffer).to_owned();
            for start in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
                let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
                let span = excerpt.span(start..end);
                assert!(query.get(span.clone()).is_some(), "{span:?} of {max_bytes}");
            }
        }
        let uncut = "使".repeat(20);
        let excerpt = Excerpt::new(&uncut, 13);
        assert_eq!(excerpt.text(&mut buffer), format!("使使{SEAM}使使"));
    }
}
