//! The parts of a message: what of it is the request, and what is attached to it.
//!
//! People paste: a diff, a log, a mail, a page of a manual. What they ask stands above it, below it, or
//! between two pastes. Structure alone tells the two apart: marks around a block (`blocks.rs`), lines as
//! programs write them (`output.rs`, `code.rs`), and length. The rules know no words but those of programs,
//! so they hold in any language.

pub mod apart;
mod blocks;
mod code;
mod conversations;
mod entries;
mod files;
mod kind;
mod lines;
mod output;
mod quotes;
mod reports;
mod tables;
mod tags;
mod terminal;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_pasted;

use std::borrow::Cow;
use std::ops::Range;

use super::boundary::char_boundary;
use super::ranges::{gap, merged, without};
use kind::{Kind, Line};

/// Returns the byte ranges of a message that are not its request: what is attached to it, and blocks that a
/// harness wrote. In order, without overlap.
///
/// ```
/// use repertoire_text::request::attachments;
///
/// let message = "why does this fail?\n\n```\nlet x = deploy();\n```\n";
/// assert_eq!(attachments(message), [21..message.len()]);
/// assert!(attachments("why does this fail?").is_empty());
/// ```
pub fn attachments(message: &str) -> Vec<Range<usize>> {
    let Parts { attached, harness, .. } = Parts::of(message);
    let mut parts: Vec<Range<usize>> = attached.into_iter().chain(harness).collect();
    parts.sort_unstable_by_key(|part| part.start);
    parts
}

/// The maximum number of bytes of typed text that is a request as a whole. Of a longer text, as of a pasted
/// page, the first and the last paragraph are.
pub const MAX_TYPED: usize = 1_500;

/// The maximum number of bytes that are read of each of these paragraphs.
pub const MAX_PARAGRAPH: usize = 2_000;

/// The parts of a message.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Parts<'m> {
    message: &'m str,
    /// The request, in order, without overlap. Unused if `is_whole`.
    request: Vec<Range<usize>>,
    /// The attachments, in order, without overlap.
    attached: Vec<Range<usize>>,
    /// The blocks that a harness wrote, in order, without overlap.
    harness: Vec<Range<usize>>,
    /// True if the whole message is the request.
    is_whole: bool,
    /// True if the request is one of two paragraphs, at the beginning and at the end of a long text.
    is_either: bool,
}

impl<'m> Parts<'m> {
    /// Reads the parts of a message, in time linear in its length.
    pub fn of(message: &'m str) -> Parts<'m> {
        let whole = Parts { message, is_whole: true, ..Parts::default() };
        if message.len() <= MAX_TYPED
            && !message.trim_end().contains('\n')
            && !message.contains('<')
            && tags::preface(message) == 0
        {
            return whole;
        }
        let mut lines = lines::read(message);
        let is_own = |line: &Line| matches!(line.kind, Kind::Text | Kind::Blank);
        if message.len() <= MAX_TYPED && lines.iter().all(is_own) {
            return whole;
        }
        join_blocks(message, &mut lines);
        let mut request = own_words(&lines);
        let mut is_either = false;
        let n_typed: usize = request.iter().map(Range::len).sum();
        if n_typed > MAX_TYPED || is_document(message, &request) {
            request = ends(message, &request);
            is_either = request.len() == 2;
        }
        let harness = lines.iter().filter(|line| line.kind == Kind::Harness);
        let harness = merged(harness.map(Line::range));
        let attached = attached(message, &request, &harness);
        Parts { message, request, attached, harness, is_whole: false, is_either }
    }

    /// Returns the text of the request. Parts that do not adjoin are paragraphs of their own.
    pub fn request(&self) -> Cow<'m, str> {
        if self.is_whole {
            Cow::Borrowed(self.message)
        } else {
            joined(self.message, &self.request)
        }
    }

    /// Returns the texts of which one is the request.
    pub fn readings(&self) -> Vec<Cow<'m, str>> {
        if self.is_either {
            self.request.iter().map(|range| Cow::Borrowed(&self.message[range.clone()])).collect()
        } else {
            vec![self.request()]
        }
    }

    /// Returns at most about `max_bytes` of the attachments: their beginning and their end.
    pub fn attachments(&self, max_bytes: usize) -> Cow<'m, str> {
        let text = joined(self.message, &self.attached);
        let gap = gap(&text, max_bytes);
        if gap.is_empty() {
            return text;
        }
        Cow::Owned(format!("{}\n\n{}", &text[..gap.start], &text[gap.end..]))
    }

    /// The whole message.
    pub fn message(&self) -> &'m str {
        self.message
    }

    /// Tells whether anything is attached.
    pub fn has_attachments(&self) -> bool {
        !self.attached.is_empty()
    }

    /// The number of bytes of the attachments.
    pub fn n_attached_bytes(&self) -> usize {
        self.attached.iter().map(Range::len).sum()
    }

    /// The ranges of the request, unless it is the whole message.
    pub fn request_ranges(&self) -> &[Range<usize>] {
        &self.request
    }

    /// The ranges of the attachments.
    pub fn attached_ranges(&self) -> &[Range<usize>] {
        &self.attached
    }

    /// The ranges of the lines that a harness wrote.
    pub fn harness(&self) -> &[Range<usize>] {
        &self.harness
    }
}

fn joined<'m>(message: &'m str, ranges: &[Range<usize>]) -> Cow<'m, str> {
    match ranges {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(message[one.clone()].trim()),
        _ => {
            let parts = ranges.iter().map(|range| message[range.clone()].trim());
            Cow::Owned(parts.collect::<Vec<&str>>().join("\n\n"))
        }
    }
}

/// Decides about the text lines in a block of lines that a program wrote, without blank lines between: lines
/// inside of it are the program's too, those above and below it are the user's if they read as sentences.
fn join_blocks(message: &str, lines: &mut [Line]) {
    for block in lines.split_mut(|line| line.kind == Kind::Blank) {
        let is_program = |line: &Line| matches!(line.kind, Kind::Code | Kind::Output);
        let Some(first) = block.iter().position(is_program) else { continue };
        let is_end = |line: &Line| ["done", "fi", "esac"].contains(&message[line.range()].trim());
        let last = block.iter().rposition(|line| is_program(line) || is_end(line));
        let last = last.unwrap_or(first);
        let n_lines = block.len();
        let kind = block[first].kind;
        // Scripts of shells read like sentences.
        let is_script = message[block[first].range()].trim_start().starts_with("#!");
        let n_program = block.iter().filter(|line| is_program(line)).count();
        let inside = &block[first..=last];
        let n_text = inside.iter().filter(|line| line.kind == Kind::Text).count();
        for (nth, line) in block.iter_mut().enumerate().filter(|(_, line)| line.kind == Kind::Text)
        {
            let is_inside = nth > first && nth < last && n_program >= n_text
                || is_script && nth > first && nth + 1 < n_lines;
            if is_inside || !is_sentence(&message[line.range()]) {
                line.kind = kind;
            }
        }
    }
    enclose(message, lines);
}

/// The minimum number of bytes of code above a paragraph, and below it, for the paragraph to count as a part
/// of it.
const MIN_AROUND: usize = 300;

/// Makes paragraphs between long stretches of code parts of it: comments and texts in code read as
/// sentences. A question is none of them where nothing else is the user's.
fn enclose(message: &str, lines: &mut [Line]) {
    let n_bytes = |lines: &[Line]| -> usize {
        lines.iter().filter(|line| line.kind == Kind::Code).map(|line| line.end - line.start).sum()
    };
    let mut below = n_bytes(lines);
    let mut above = 0;
    let mut enclosed = Vec::new();
    for (nth, line) in lines.iter_mut().enumerate() {
        match line.kind {
            Kind::Code => {
                above += line.end - line.start;
                below -= line.end - line.start;
            }
            Kind::Text if above >= MIN_AROUND && below >= MIN_AROUND => {
                line.kind = Kind::Code;
                enclosed.push(nth);
            }
            _ => {}
        }
    }
    if lines.iter().any(|line| line.kind == Kind::Text) {
        return;
    }
    let is_alone = |nth: usize| [nth - 1, nth + 1].iter().all(|&at| lines[at].kind == Kind::Blank);
    let asks = |nth: &usize| is_alone(*nth) && asks(message[lines[*nth].range()].trim());
    if let Some(nth) = enclosed.into_iter().find(asks) {
        lines[nth].kind = Kind::Text;
    }
}

/// Tells whether a line beside code reads as a sentence: it has several words.
fn is_sentence(line: &str) -> bool {
    const MIN_WORDS: usize = 2;
    code::Tally::of(line).words >= MIN_WORDS
}

/// Returns the ranges of the lines that may be the user's own words: paragraphs, each up to the blank line
/// or the attachment below it.
fn own_words(lines: &[Line]) -> Vec<Range<usize>> {
    let paragraphs = lines.split(|line| line.kind != Kind::Text).filter(|lines| !lines.is_empty());
    paragraphs.map(|lines| lines[0].start..lines[lines.len() - 1].end).collect()
}

/// Returns the parts of a long text that may be the request: its first and its last paragraph, if the text
/// begins or ends with it.
fn ends(message: &str, paragraphs: &[Range<usize>]) -> Vec<Range<usize>> {
    let [first, .., last] = paragraphs else {
        return paragraphs.iter().flat_map(|only| halves(message, only)).collect();
    };
    let mut ends: Vec<Range<usize>> = Vec::new();
    if message[..first.start].trim().is_empty() && !is_heading(&message[first.clone()]) {
        let end = first.end.min(first.start + MAX_PARAGRAPH);
        ends.push(first.start..char_boundary(message, end));
    }
    if message[last.end..].trim().is_empty() {
        let start = last.start.max(last.end.saturating_sub(MAX_PARAGRAPH));
        ends.push(char_boundary(message, start)..last.end);
    }
    // If one of the two reads more like a request, the other is a part of the text.
    let likeness = |range: &Range<usize>| likeness(&message[range.clone()]);
    let most = ends.iter().map(likeness).max();
    ends.retain(|range| Some(likeness(range)) == most);
    ends
}

/// Returns the beginning and the end of a long paragraph, or all of another one.
fn halves(message: &str, paragraph: &Range<usize>) -> Vec<Range<usize>> {
    let gap = gap(&message[paragraph.clone()], 2 * MAX_PARAGRAPH);
    let gap = paragraph.start + gap.start..paragraph.start + gap.end;
    merged(
        [paragraph.start..gap.start, gap.end..paragraph.end]
            .into_iter()
            .filter(|half| !half.is_empty()),
    )
}

/// Tells whether a paragraph is a heading in Markdown, or a link or an image alone.
fn is_heading(paragraph: &str) -> bool {
    let after = paragraph.trim_start_matches('#');
    after.len() < paragraph.len() && after.starts_with(' ')
        || paragraph.starts_with(['=', '[', '!'])
}

/// The minimum number of paragraphs of a document.
const MIN_PARAGRAPHS: usize = 4;

/// Tells whether a text is a document: paragraphs under headings.
fn is_document(message: &str, paragraphs: &[Range<usize>]) -> bool {
    paragraphs.len() >= MIN_PARAGRAPHS
        && paragraphs.iter().any(|paragraph| is_heading(&message[paragraph.clone()]))
}

/// Returns how much a paragraph reads like a request: a question, or the announcement of what is attached,
/// most; a short text more than a long one, sentences more than a list.
fn likeness(paragraph: &str) -> u8 {
    const MAX_SHORT: usize = 300;
    let text = paragraph.trim();
    let asks = asks(text) || text.ends_with([':', '：']);
    let is_item = |line: &str| line.trim_start().starts_with(['-', '*', '+', '•']);
    let is_list = text.lines().filter(|line| is_item(line)).count() > 1;
    2 * u8::from(asks) + u8::from(!is_list) + u8::from(text.len() <= MAX_SHORT)
}

/// Tells whether a text ends as a question.
fn asks(text: &str) -> bool {
    text.ends_with(['?', '？', '؟'])
}

/// Returns the ranges of all but the request and what a harness wrote, from their first lines on that are not
/// blank.
fn attached(
    message: &str,
    request: &[Range<usize>],
    harness: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut others: Vec<Range<usize>> = request.iter().chain(harness).cloned().collect();
    others.sort_unstable_by_key(|range| range.start);
    let all = std::slice::from_ref(&(0..message.len())).to_vec();
    let attached = without(&all, &others).into_iter().filter_map(|range| {
        let text = &message[range.clone()];
        let n_blank = text.len() - text.trim_start().len();
        let start = text[..n_blank].rfind('\n').map_or(0, |at| at + 1);
        (n_blank < text.len()).then_some(range.start + start..range.end)
    });
    attached.collect()
}
