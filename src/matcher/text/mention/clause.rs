//! The words of a clause before a mention, the nearest first.

use super::{SIGILS, is_quote};

/// Words before a name that say whose it is.
pub(super) const DETERMINERS: [&str; 4] = ["the", "my", "our", "your"];

/// A token that is longer, in bytes, is not one of the words that anything is known of.
const MAX_TOKEN_BYTES: usize = 64;

/// An iterator over the words before a place, backwards. It ends where the clause does: at a
/// punctuation mark, an opening bracket, or a very long token.
#[derive(Debug, Clone)]
pub(super) struct Clause<'t> {
    /// The words left, up to the blank after the last.
    rest: Option<&'t str>,
}

impl<'t> Clause<'t> {
    /// The words before `end`, where quotes, brackets and a sigil may open the next one.
    pub(super) fn before(text: &'t str, end: usize) -> Clause<'t> {
        let opens = |c: char| is_quote(c) || SIGILS.contains(&c) || "([{<".contains(c);
        Clause { rest: text[..end].trim_end_matches(opens).strip_suffix(' ') }
    }
}

impl<'t> Iterator for Clause<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.take()?;
        let last = rest.bytes().rev().take(MAX_TOKEN_BYTES);
        let start = match last.enumerate().find(|&(_, byte)| byte == b' ') {
            Some((n_bytes, _)) => rest.len() - n_bytes,
            None if rest.len() > MAX_TOKEN_BYTES => return None,
            None => 0,
        };
        let token = rest[start..].trim_end_matches(is_quote);
        if token.ends_with(|c| ",;:.!?)]}>-–—。、".contains(c)) {
            return None;
        }
        let word = token.trim_start_matches(|c| is_quote(c) || "([{<".contains(c));
        if word.is_empty() {
            return None;
        }
        if !token.starts_with(['(', '[', '{', '<']) {
            self.rest = start.checked_sub(1).map(|end| &rest[..end]);
        }
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_clause_are_read_backwards() {
        let long = format!("no {} use ", "x".repeat(MAX_TOKEN_BYTES));
        for (text, expected) in [
            ("please do not ", ["not", "do", "please"].as_slice()),
            ("why, not “the \"`/", &["the", "not"]),
            ("no (use the ", &["the", "use"]),
            ("not \"use\" 'the' (", &["the", "use", "not"]),
            ("not - use ", &["use"]),
            ("not: ", &[]),
            ("not! use ", &["use"]),
            ("v1.2 use ", &["use", "v1.2"]),
            ("don't", &[]),
            ("", &[]),
            (" ", &[]),
            (&long, &["use"]),
            ("é é ", &["é", "é"]),
        ] {
            let words: Vec<&str> = Clause::before(text, text.len()).collect();
            assert_eq!(words, expected, "{text:?}");
        }
    }
}
