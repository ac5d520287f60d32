//! Questions about the skills themselves: "what can you do?", "show all skills".

use std::ops::Range;

/// What a message asks about the skills themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetaQuestion {
    /// Which skills there are.
    Registry,
    /// Every skill in full.
    ShowAll,
}

/// Whole questions that ask which skills there are, folded.
const REGISTRY: &[&str] = &[
    "available skills",
    "give me a list of your skills",
    "list available skills",
    "list installed skills",
    "list me your skills",
    "list my skills",
    "list of skills",
    "list skills",
    "list the available skills",
    "list the skills",
    "list your skills",
    "show a list of skills",
    "show available skills",
    "show me a list of skills",
    "show me a list of your skills",
    "show me the available skills",
    "show me the skills",
    "show me what you can do",
    "show me your available skills",
    "show me your skills",
    "show my skills",
    "show skills",
    "show the skills",
    "show your skills",
    "skills list",
    "tell me about your skills",
    "tell me what you can do",
    "tell me your skills",
    "what abilities do you have",
    "what are my skills",
    "what are the available skills",
    "what are you able to do",
    "what are you capable of",
    "what are your abilities",
    "what are your capabilities",
    "what are your skills",
    "what can you do",
    "what can you do for me",
    "what can you help me with",
    "what can you help with",
    "what capabilities do you have",
    "what else can you do",
    "what else can you help me with",
    "what kind of skills do you have",
    "what skills are available",
    "what skills are available to me",
    "what skills are installed",
    "what skills are there",
    "what skills can i use",
    "what skills can you use",
    "what skills do i have",
    "what skills do you have",
    "what skills do you have access to",
    "which skills are available",
    "which skills are installed",
    "which skills are there",
    "which skills can i use",
    "which skills can you use",
    "which skills do i have",
    "which skills do you have",
];

/// Whole questions that ask for every skill in full, folded.
const SHOW_ALL: &[&str] = &[
    "describe all skills",
    "display all of your skills",
    "display all skills",
    "list all available skills",
    "list all installed skills",
    "list all my skills",
    "list all of my skills",
    "list all of your skills",
    "list all skills",
    "list all skills you have",
    "list all the skills",
    "list all the skills you have",
    "list all your skills",
    "list every skill",
    "show all available skills",
    "show all installed skills",
    "show all my skills",
    "show all of your skills",
    "show all skills",
    "show all the skills",
    "show all your skills",
    "show every skill",
    "show me all available skills",
    "show me all my skills",
    "show me all of my skills",
    "show me all of your skills",
    "show me all skills",
    "show me all skills you have",
    "show me all the skills",
    "show me all the skills you have",
    "show me all your skills",
    "show me every skill",
];

/// Words that may stand around a question without making it another one.
const FILLERS: &[&str] = &[
    "a", "ah", "also", "and", "can", "could", "exactly", "for", "hello", "here", "hey", "hi", "i",
    "just", "kindly", "me", "now", "ok", "okay", "please", "pls", "so", "thank", "thanks", "then",
    "there", "today", "tell", "well", "would", "you",
];

/// Every phrase with the question it asks.
pub(crate) fn phrases() -> impl Iterator<Item = (&'static str, MetaQuestion)> {
    let registry = REGISTRY.iter().map(|&phrase| (phrase, MetaQuestion::Registry));
    registry.chain(SHOW_ALL.iter().map(|&phrase| (phrase, MetaQuestion::ShowAll)))
}

/// Whether the phrase at `range` is the whole of its sentence: "what can you do" is not asked by
/// "what can you do about the noise".
pub(crate) fn is_whole_question(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].rsplit(['.', '!', '?']).next().unwrap_or_default();
    let after = text[range.end..].split(['.', '!', '?']).next().unwrap_or_default();
    [before, after]
        .into_iter()
        .flat_map(|around| around.split(|c: char| !c.is_alphanumeric() && c != '\''))
        .all(|word| word.is_empty() || FILLERS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::text::fold_trigger;

    #[test]
    fn phrases_are_folded_and_distinct() {
        let mut all: Vec<_> = phrases().map(|(phrase, _)| phrase).collect();
        assert!(all.iter().all(|phrase| fold_trigger(phrase) == *phrase));
        all.sort_unstable();
        let n_phrases = all.len();
        all.dedup();
        assert_eq!(all.len(), n_phrases);
    }

    #[test]
    fn only_whole_questions_count() {
        let cases = [
            ("what can you do?", true),
            ("hey, what can you do for me?!", true),
            ("please: what can you do", true),
            ("say hello. what can you do? thanks!", true),
            ("what can you do about the noise", false),
            ("i wonder what can you do", false),
        ];
        for (text, whole) in cases {
            let start = text.find("what can you do").unwrap();
            assert_eq!(is_whole_question(text, &(start..start + 15)), whole, "{text}");
        }
    }
}
