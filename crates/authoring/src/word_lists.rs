//! Word lists: everyday and technical words, and samples of ordinary messages to a coding agent, to
//! judge triggers against. A catalog alone cannot tell how often a word occurs in messages that need no
//! skill.
//!
//! The lists are our own. A word is *everyday* if it says nothing about what a message is for, and
//! *technical* if it names a subject that too many skills share for it to tell them apart.

use std::sync::LazyLock;

use repertoire_text::boundary::{closes, opens};
use repertoire_text::fold_trigger;
use repertoire_text::words::{has_word, is_everyday};

/// The technical words, sorted by their bytes.
static TECHNICAL: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("word_lists/technical.txt").split_whitespace().collect());

static PROMPTS: LazyLock<Vec<Prompt>> = LazyLock::new(|| {
    let lines = include_str!("word_lists/prompts.txt").lines();
    lines.map(|text| Prompt { text, folded: fold_trigger(text) }).collect()
});

/// An ordinary message, for which no particular skill is needed.
pub(crate) struct Prompt {
    pub(crate) text: &'static str,
    pub(crate) folded: String,
}

/// The sample of messages.
pub(crate) fn prompts() -> &'static [Prompt] {
    &PROMPTS
}

/// Tells whether a folded word, or its singular, is everyday or technical.
pub(crate) fn is_common(word: &str) -> bool {
    is_everyday(word) || has_word(&TECHNICAL, word)
}

/// Tells whether `text` holds `phrase` by the matcher's rules for whole words. Both must be folded.
pub(crate) fn holds(text: &str, phrase: &str) -> bool {
    places(text, phrase).next().is_some()
}

/// The byte offsets of `phrase` in `text` by the matcher's rules for whole words. Both must be folded.
pub(crate) fn places<'t>(text: &'t str, phrase: &'t str) -> impl Iterator<Item = usize> + 't {
    let starts = text.match_indices(phrase).map(|(start, _)| start);
    starts.filter(move |&start| {
        let end = start + phrase.len();
        opens(text, start, end) && closes(text, end)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_technical_or_tell_skills_apart() {
        for word in ["deploy", "database", "workflows"] {
            assert!(!is_everyday(word) && is_common(word), "{word}");
        }
        for word in ["terraform", "kubernetes", "invoice", "部署", ""] {
            assert!(!is_common(word), "{word}");
        }
        assert!(TECHNICAL.is_sorted());
        assert!(!TECHNICAL.iter().any(|word| is_everyday(word)));
    }

    #[test]
    fn the_sample_is_of_about_a_hundred_distinct_messages() {
        let distinct: HashSet<&str> = prompts().iter().map(|prompt| prompt.text).collect();
        assert_eq!(distinct.len(), prompts().len());
        assert!((90..150).contains(&distinct.len()), "{}", distinct.len());
        assert!(distinct.iter().all(|text| !text.is_empty() && text.len() < 80));
    }

    #[test]
    fn phrases_are_found_as_the_matcher_finds_them() {
        for (text, phrase, expected) in [
            ("use git now", "git", true),
            ("use github now", "git", false),
            ("github or git", "git", true),
            ("使用git提交", "git", true),
            ("use c++ now", "c++", true),
        ] {
            assert_eq!(holds(text, phrase), expected, "{text}: {phrase}");
        }
    }
}
