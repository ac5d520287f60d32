//! Excerpts: the head and the tail of a very long query, which alone are searched.

use std::borrow::Cow;
use std::ops::Range;

use crate::matcher::pattern::cache::char_boundary;

/// Stands between head and tail: no phrase, and no `.*`, reaches over it.
const SEAM: &str = "\n\u{1e}\n";

/// The excerpt of a query of which at most `max_bytes` are searched.
pub(crate) fn looked_at(query: &str, max_bytes: usize) -> Cow<'_, str> {
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
    /// The bytes left out.
    gap: Range<usize>,
}

impl<'q> Excerpt<'q> {
    /// The excerpt of a query: over `max_bytes`, half of that at each end, less the words that
    /// would be cut.
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

    /// The text looked at, put into `buffer` if it is not all of the query.
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

    /// The text looked at, which [`Excerpt::text`] has put into `buffer`.
    pub(in crate::matcher) fn seen<'a>(&self, buffer: &'a str) -> &'a str
    where
        'q: 'a,
    {
        if self.gap.is_empty() { self.query } else { buffer }
    }

    /// The bytes of the query at `range` of the excerpt. A range that reaches into the seam, as
    /// `\W` may, reaches to the end of the bytes left out.
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
