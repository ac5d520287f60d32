//! The excerpt of a query that is searched: the request, and of the attachments of a very long query the
//! beginning and the end; never what a harness wrote.

use std::borrow::Cow;
use std::ops::Range;

use super::ranges::{gap, merged, without};
use super::request::Parts;

/// The separator of parts that do not adjoin: no phrase, and no `.*`, reaches across it.
const SEAM: &str = "\n\u{1e}\n";

/// Returns the text that is searched for `query`: the query, or its excerpt if it is longer than
/// `max_bytes`.
pub fn searched_part(query: &str, max_bytes: usize) -> Cow<'_, str> {
    let excerpt = Excerpt::new(&Parts::of(query), max_bytes);
    if excerpt.is_whole {
        return Cow::Borrowed(query);
    }
    let mut text = String::new();
    excerpt.text(&mut text);
    Cow::Owned(text)
}

/// The parts of a query that are searched.
#[derive(Debug, Clone)]
pub struct Excerpt<'q> {
    query: &'q str,
    /// The parts, in order. Unused if `is_whole`.
    parts: Vec<Part>,
    is_whole: bool,
}

/// A part of an excerpt.
#[derive(Debug, Clone)]
struct Part {
    /// Its bytes in the query.
    source: Range<usize>,
    /// Its start in the excerpt.
    at: usize,
}

impl<'q> Excerpt<'q> {
    /// Makes the excerpt of a query. If the query is longer than `max_bytes`, keeps half of that at each end,
    /// without the words that would be cut, and the request wherever it stands.
    pub fn new(parts: &Parts<'q>, max_bytes: usize) -> Excerpt<'q> {
        let query = parts.message();
        let harness = parts.harness();
        if query.len() <= max_bytes && harness.is_empty() {
            return Excerpt { query, parts: Vec::new(), is_whole: true };
        }
        let gap = gap(query, max_bytes);
        let mut kept = Vec::new();
        kept.push(0..gap.start);
        let request = parts.request_ranges();
        if request.iter().map(Range::len).sum::<usize>() <= max_bytes {
            let inside =
                request.iter().map(|part| part.start.max(gap.start)..part.end.min(gap.end));
            kept.extend(inside.filter(|part| part.start < part.end));
        }
        kept.push(gap.end..query.len());
        let mut excerpt = Excerpt { query, parts: Vec::new(), is_whole: false };
        let mut at = 0;
        for source in merged(without(&kept, harness)) {
            let len = source.len();
            excerpt.parts.push(Part { source, at });
            at += len + SEAM.len();
        }
        excerpt
    }

    /// Returns the text to search, which is put into `buffer` if it is not the whole query.
    pub fn text<'a>(&self, buffer: &'a mut String) -> &'a str
    where
        'q: 'a,
    {
        if !self.is_whole {
            buffer.clear();
            for part in &self.parts {
                let seam = if buffer.is_empty() { "" } else { SEAM };
                buffer.push_str(seam);
                buffer.push_str(&self.query[part.source.clone()]);
            }
        }
        self.seen(buffer)
    }

    /// Returns the text to search, which [`Excerpt::text`] has put into `buffer`.
    pub fn seen<'a>(&self, buffer: &'a str) -> &'a str
    where
        'q: 'a,
    {
        if self.is_whole { self.query } else { buffer }
    }

    /// Returns the bytes of the query at `range` of the excerpt. A range that ends inside a separator, as a
    /// match of `\W` may, is extended to the end of the bytes left out.
    pub fn span(&self, range: Range<usize>) -> Range<usize> {
        self.in_query(range.start)..self.in_query(range.end)
    }

    fn in_query(&self, at: usize) -> usize {
        let nth = self.parts.partition_point(|part| part.at < at).saturating_sub(1);
        let Some(part) = self.parts.get(nth) else { return at };
        let inside = at - part.at;
        let next = self.parts.get(nth + 1).map_or(part.source.end, |next| next.source.start);
        if inside <= part.source.len() { part.source.start + inside } else { next }
    }

    /// Returns where the parts of the query at `ranges`, which are in order, stand in the excerpt.
    pub fn places(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        if self.is_whole {
            return ranges.to_vec();
        }
        let mut places = Vec::new();
        let mut ranges = ranges.iter().peekable();
        for Part { source, at } in &self.parts {
            while let Some(range) = ranges.peek().filter(|range| range.start < source.end) {
                let (start, end) = (range.start.max(source.start), range.end.min(source.end));
                if start < end {
                    places.push(at + start - source.start..at + end - source.start);
                }
                if range.end > source.end {
                    break;
                }
                ranges.next();
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(query: &str, max_bytes: usize) -> Excerpt<'_> {
        Excerpt::new(&Parts::of(query), max_bytes)
    }

    #[test]
    fn long_queries_are_cut_between_words_and_keep_their_places() {
        let query = "head of it é and a long middle and é the tail";
        let mut buffer = String::new();
        for max_bytes in 16..query.len() + 2 {
            let excerpt = excerpt(query, max_bytes);
            let text = excerpt.text(&mut buffer).to_owned();
            assert!(text.len() <= max_bytes + SEAM.len(), "{text:?}");
            for word in text.split_whitespace().filter(|word| *word != "\u{1e}") {
                assert!(query.split_whitespace().any(|w| w == word), "{word} was cut");
                let start = text.find(word).unwrap();
                assert_eq!(&query[excerpt.span(start..start + word.len())], word);
            }
        }
        for max_bytes in 0..query.len() {
            let excerpt = excerpt(query, max_bytes);
            let text = excerpt.text(&mut buffer).to_owned();
            for start in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
                let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
                let span = excerpt.span(start..end);
                assert!(query.get(span.clone()).is_some(), "{span:?} of {max_bytes}");
            }
        }
        let uncut = "使".repeat(20);
        assert_eq!(excerpt(&uncut, 13).text(&mut buffer), format!("使使{SEAM}使使"));
    }

    #[test]
    fn the_request_is_kept_wherever_it_stands_and_a_harness_nowhere() {
        let log = "2026-03-12 12:30:07 INFO served it\n".repeat(20);
        let query = format!(
            "{log}\n<system-reminder>\nnote\n</system-reminder>\ntune the query é\n\n{log}"
        );
        let mut buffer = String::new();
        let excerpt = excerpt(&query, 200);
        let text = excerpt.text(&mut buffer).to_owned();
        assert!(text.contains("tune the query é") && !text.contains("note"), "{text}");
        assert!(text.len() < 300 && text.starts_with("2026") && text.ends_with("it\n"), "{text}");
        let start = text.find("tune").unwrap();
        assert_eq!(&query[excerpt.span(start..start + 17)], "tune the query é");
        let at = query.find("tune").unwrap();
        let [place, gap] =
            [at..at + 17, 400..401].map(|range| excerpt.places(std::slice::from_ref(&range)));
        assert_eq!((place.first(), gap.len()), (Some(&(start..start + 17)), 0));
        let harness = "<task-notification>\ntune the query\n</task-notification>";
        assert_eq!(searched_part(harness, 200), "");
    }
}
