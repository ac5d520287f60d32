//! N-grams: runs of words, as they could occur in a message.

use crate::matcher::text::boundary::is_word;
use crate::matcher::text::{collapse_blanks, push_folded};
use unicode_normalization::UnicodeNormalization;

/// The maximum length of a run, in words.
const MAX_WORDS: usize = 3;

/// Folds a text like a message, but keeps its lines apart.
pub(super) fn fold_lines(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.lines() {
        let start = folded.len();
        line.nfkc().for_each(|c| push_folded(c, &mut folded));
        let line = collapse_blanks(&folded[start..]).into_owned();
        folded.truncate(start);
        folded.push_str(line.trim());
        folded.push('\n');
    }
    folded
}

/// Calls `take` with each run of words in a folded text that has no punctuation between its words, and
/// with the number of words. A run is a slice of `folded`.
pub(super) fn grams<'t>(folded: &'t str, mut take: impl FnMut(&'t str, usize)) {
    let mut starts: Vec<usize> = Vec::new();
    let mut words = words(folded).peekable();
    while let Some(word) = words.next() {
        starts.push(word.start);
        for (n, &start) in starts.iter().rev().take(MAX_WORDS).enumerate() {
            take(&folded[start..word.end], n + 1);
        }
        let goes_on = words.peek().is_some_and(|next| {
            next.start == word.end + 1 && folded.as_bytes().get(word.end) == Some(&b' ')
        });
        if !goes_on {
            starts.clear();
        }
    }
}

/// The ranges of the words in a folded text, without punctuation at their ends. `c++` and `node.js` are
/// words; a piece without a letter or digit is not.
fn words(folded: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let is_break = |c: char| {
        c.is_whitespace() || "()[]{}\"“”`|<>*—–→,;、，。：；「」『』（）！？/\\=".contains(c)
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &folded[at..];
            let start = at + rest.find(|c: char| !is_break(c))?;
            let end = folded[start..].find(is_break).map_or(folded.len(), |len| start + len);
            at = end;
            let piece = &folded[start..end];
            let left = piece.trim_start_matches(|c: char| !is_word(c) && c != '.');
            let left = left.strip_prefix('.').filter(|_| left.starts_with("..")).unwrap_or(left);
            let word = left
                .trim_end_matches(['.', ':', '!', '?', '\'', '-', '~', '…', '$', '%', '&', '_']);
            if word.chars().any(char::is_alphanumeric) {
                let start = end - left.len();
                return Some(start..start + word.len());
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_at_punctuation() {
        let folded = fold_lines("Plan  Terraform modules, e.g. `c++` (Node.js).\n- next");
        let mut runs = Vec::new();
        grams(&folded, |gram, n| runs.push((gram, n)));
        for (gram, n) in [
            ("plan terraform modules", 3),
            ("terraform modules", 2),
            ("node.js", 1),
            ("c++", 1),
            ("next", 1),
        ] {
            assert!(runs.contains(&(gram, n)), "{gram}: {runs:?}");
        }
        assert!(runs.iter().all(|(gram, _)| !gram.contains([',', '`', '('])), "{runs:?}");
        assert!(!runs.iter().any(|(gram, _)| gram.starts_with("modules e")), "{runs:?}");
    }
}
