//! Everyday words, which stand in messages of all kinds: "build", "time", "new".
//!
//! Rarity in a catalog does not reveal them: in a catalog of ten skills, "tell" may occur once. The list
//! is our own.

use std::sync::LazyLock;

/// Folded words in the order of their bytes.
static EVERYDAY: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("everyday.txt").split_whitespace().collect());

/// Tells whether a folded word, or its singular, stands in messages of all kinds.
pub fn is_everyday(word: &str) -> bool {
    has_word(&EVERYDAY, word)
}

/// Tells whether a folded word, or its singular, is one of `words`, which are sorted.
pub fn has_word(words: &[&str], word: &str) -> bool {
    let has = |word| words.binary_search(&word).is_ok();
    has(word) || word.strip_suffix('s').is_some_and(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_messages_of_all_kinds_are_found() {
        assert!(EVERYDAY.is_sorted());
        for word in ["a", "file", "files", "change", "code", "test", "please", "thing"] {
            assert!(is_everyday(word), "{word}");
        }
        for word in ["", "s", "deploy", "terraform", "invoices", "部署"] {
            assert!(!is_everyday(word), "{word}");
        }
    }
}
