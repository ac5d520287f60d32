//! The words around a mention, up to the ends of its clause.

use super::{SIGILS, is_quote};

/// The maximum length of a token in bytes: no word of the lists here is longer.
const MAX_TOKEN_BYTES: usize = 64;

/// A folded text that knows the lines of the message: in the text, a run of white space is one blank.
#[derive(Clone, Copy)]
pub struct Lines<'t> {
    /// The text.
    pub text: &'t str,
    /// Returns the number of line breaks that the blank at this byte stands for.
    pub n_breaks: &'t dyn Fn(usize) -> usize,
}

impl<'t> Lines<'t> {
    /// A text that counts as one line.
    pub fn joined(text: &'t str) -> Lines<'t> {
        Lines { text, n_breaks: &|_| 0 }
    }

    /// Tells whether a line starts at byte `start`.
    pub(super) fn starts_line(self, start: usize) -> bool {
        let before = self.text[..start].strip_suffix(' ');
        before.is_some_and(|before| self.breaks_at(before.len()))
    }

    /// Tells whether the blank at byte `blank` stands for a line break.
    pub(super) fn breaks_at(self, blank: usize) -> bool {
        (self.n_breaks)(blank) > 0
    }

    fn is_paragraph_break(self, blank: usize) -> bool {
        (self.n_breaks)(blank) > 1
    }
}

/// An iterator over the words before a place, backwards. It ends where the clause does: at a
/// punctuation mark, an opening bracket, an empty line, or a very long token.
#[derive(Clone)]
pub(super) struct Clause<'t> {
    lines: Lines<'t>,
    /// The byte up to which the text is left to read, before the blank after its last word; `None` at the
    /// end of the clause.
    end: Option<usize>,
}

impl<'t> Clause<'t> {
    /// Iterates over the words before `end`. Skips quotes, brackets and a sigil directly before `end`,
    /// which belong to the next word.
    pub(super) fn before(lines: Lines<'t>, end: usize) -> Clause<'t> {
        let opens = |c: char| is_quote(c) || SIGILS.contains(&c) || "([{<".contains(c);
        let end = lines.text[..end].trim_end_matches(opens).strip_suffix(' ').map(str::len);
        Clause { lines, end: end.filter(|end| !lines.is_paragraph_break(*end)) }
    }

    /// Tells whether the word that was read last begins a line.
    pub(super) fn is_at_line_break(&self) -> bool {
        self.end.is_some_and(|end| self.lines.breaks_at(end))
    }
}

impl<'t> Iterator for Clause<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = &self.lines.text[..self.end.take()?];
        let last = rest.bytes().rev().take(MAX_TOKEN_BYTES);
        let start = match last.enumerate().find(|&(_, byte)| byte == b' ') {
            Some((n_bytes, _)) => rest.len() - n_bytes,
            None if rest.len() > MAX_TOKEN_BYTES => return None,
            None => 0,
        };
        let is_mark = |c| is_quote(c) || c == '_';
        let token = rest[start..].trim_end_matches(is_mark);
        if token.ends_with(|c| ",;:.!?)]}>-–—。、".contains(c)) {
            return None;
        }
        let word = token.trim_start_matches(|c| is_mark(c) || "([{<".contains(c));
        if word.is_empty() {
            return None;
        }
        if !token.starts_with(['(', '[', '{', '<']) {
            let before = start.checked_sub(1);
            self.end = before.filter(|before| !self.lines.is_paragraph_break(*before));
        }
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_ends_a_clause() {
        for (n_breaks, expected) in [(0, 3), (1, 3), (2, 1), (3, 1)] {
            let n_breaks_at = |at: usize| if at == 6 { n_breaks } else { 0 };
            let lines = Lines { text: "do not use x", n_breaks: &n_breaks_at };
            assert_eq!(Clause::before(lines, 11).count(), expected, "{n_breaks}");
            assert_eq!(Clause::before(lines, 7).count(), if n_breaks > 1 { 0 } else { 2 });
        }
    }

    #[test]
    fn the_words_of_a_clause_are_read_backwards() {
        let long = format!("no {} use ", "x".repeat(MAX_TOKEN_BYTES));
        for (text, expected) in [
            ("please do not ", ["not", "do", "please"].as_slice()),
            ("why, not “the \"`/", &["the", "not"]),
            ("no (use the ", &["the", "use"]),
            ("not \"use\" 'the' (", &["the", "use", "not"]),
            ("not - use ", &["use"]),
            ("do _not_ use ", &["use", "not", "do"]),
            ("not: ", &[]),
            ("not! use ", &["use"]),
            ("v1.2 use ", &["use", "v1.2"]),
            ("don't", &[]),
            ("", &[]),
            (" ", &[]),
            (&long, &["use"]),
            ("é é ", &["é", "é"]),
        ] {
            let words: Vec<&str> = Clause::before(Lines::joined(text), text.len()).collect();
            assert_eq!(words, expected, "{text:?}");
        }
    }
}
