//! Long outputs of tools, kept so that a model can read them in pages.
//!
//! Each output has a name that cannot be guessed: a caller that knows the name was given the first page.
//! Outputs belong to the engine, not to a session, as some clients start a session for each call.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum size of all outputs together, in bytes. The oldest are dropped first.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of outputs that are kept.
const MAX_OUTPUTS: usize = 64;

/// The prefix of the names of outputs.
const MARK: &str = "output:";

/// The outputs that were too long for one answer.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    kept: Mutex<Kept>,
    names: RandomState,
}

#[derive(Debug, Default)]
struct Kept {
    n_before: u64,
    n_bytes: usize,
    outputs: VecDeque<(String, Arc<str>)>,
}

/// A part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page<'t> {
    pub(super) text: &'t str,
    /// The number of the first line of the page, from 1.
    pub(super) first_line: usize,
    pub(super) lines: usize,
    pub(super) total_lines: usize,
}

impl Outputs {
    /// Keeps `text`, and returns the name by which it can be read on.
    pub(super) fn keep(&self, text: &str) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.n_before += 1;
        let name = format!("{MARK}{:016x}", self.names.hash_one(kept.n_before));
        kept.n_bytes += text.len();
        kept.outputs.push_back((name.clone(), text.into()));
        while kept.outputs.len() > MAX_OUTPUTS || kept.n_bytes > MAX_BYTES {
            let Some((_, oldest)) = kept.outputs.pop_front() else { break };
            kept.n_bytes -= oldest.len();
        }
        name
    }

    /// The output with this name; `None` if there is none, or if it was dropped to make room.
    pub(super) fn get(&self, name: &str) -> Option<Arc<str>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.outputs.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| Arc::clone(text))
    }

    /// Tells whether a path has the form of an output's name.
    pub(super) fn is_name(path: &str) -> bool {
        path.strip_prefix(MARK)
            .is_some_and(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()))
    }
}

/// The page of `text` that begins with line `first`, counted from 1: as many lines as fit in
/// `max_bytes`, but at most `limit`. `None` if there is no such line. A line longer than `max_bytes`
/// counts as several.
pub(super) fn page(
    text: &str,
    first: usize,
    limit: Option<usize>,
    max_bytes: usize,
) -> Option<Page<'_>> {
    let first = first.max(1);
    let (mut start, mut end, mut lines, mut total_lines) = (None, 0, 0, 0);
    let mut at = 0;
    while at < text.len() {
        let line = line_at(&text[at..], max_bytes);
        total_lines += 1;
        if total_lines >= first {
            let start = *start.get_or_insert(at);
            let is_next = lines + first == total_lines && lines < limit.unwrap_or(usize::MAX);
            if is_next && (lines == 0 || at + line - start <= max_bytes) {
                lines += 1;
                end = at + line;
            }
        }
        at += line;
    }
    Some(Page { text: &text[start?..end], first_line: first, lines, total_lines })
}

/// The length of the first line of `text` with its line break, in bytes. At most `max_bytes`, unless the
/// first character alone is longer.
fn line_at(text: &str, max_bytes: usize) -> usize {
    let end = text.find('\n').map_or(text.len(), |end| end + 1);
    if end <= max_bytes {
        return end;
    }
    match (1..=max_bytes).rev().find(|&end| text.is_char_boundary(end)) {
        Some(end) => end,
        None => text.chars().next().map_or(0, char::len_utf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_text_are_the_text() {
        let numbers: Vec<String> = (1..=500).map(|n| format!("line {n}")).collect();
        let numbered = numbers.join("\n") + "\n";
        let texts = [
            "a\nb\nc",
            "",
            "\n\n\n",
            &"ä".repeat(500),
            &format!("x\n{}\ny", "z".repeat(99)),
            &numbered,
        ];
        for text in texts {
            for max_bytes in [1, 2, 7, 40, 100_000] {
                let (mut next, mut read) = (1, String::new());
                while let Some(page) = page(text, next, None, max_bytes) {
                    assert!(page.text.len() <= max_bytes.max(2) && page.lines > 0, "{page:?}");
                    assert_eq!(page.first_line, next);
                    next += page.lines;
                    read.push_str(page.text);
                    assert_eq!(next > page.total_lines, read == text);
                }
                assert_eq!(read, text, "{max_bytes}");
            }
        }
        let part = page(&numbered, 10, Some(2), 1000).unwrap();
        assert_eq!((part.text, part.lines, part.total_lines), ("line 10\nline 11\n", 2, 500));
    }

    #[test]
    fn old_outputs_make_room() {
        let outputs = Outputs::default();
        let first = outputs.keep("first");
        assert!(Outputs::is_name(&first) && !Outputs::is_name("output:x"));
        assert_eq!(outputs.get(&first).as_deref(), Some("first"));
        let names: Vec<String> = (0..MAX_OUTPUTS).map(|n| outputs.keep(&n.to_string())).collect();
        assert_eq!(outputs.get(&first), None);
        assert_eq!(outputs.get(&names[0]).as_deref(), Some("0"));
        let large = outputs.keep(&"x".repeat(MAX_BYTES));
        assert_eq!(outputs.get(&names[MAX_OUTPUTS - 1]), None);
        assert!(outputs.get(&large).is_some());
        outputs.keep("y");
        assert_eq!(outputs.get(&large), None);
    }
}
