//! Questions about the skills themselves: "what can you do?", "show all skills".

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::text::fold_trigger;

/// What a message asks about the skills themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// What ends a sentence.
const ENDS: [char; 3] = ['.', '!', '?'];

/// Words that may stand around a question without making it another one.
const FILLERS: &[&str] = &[
    "a", "ah", "also", "and", "can", "could", "exactly", "for", "hello", "here", "hey", "hi", "i",
    "just", "kindly", "me", "now", "ok", "okay", "please", "pls", "so", "thank", "thanks", "then",
    "there", "today", "tell", "well", "would", "you",
];

/// The questions known. They are looked up apart: a question is a sentence of its own, so
/// nearly every sentence is done with at its first word.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Questions(Vec<Phrase>);

/// A whole question, kept in the order of first words.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Phrase {
    /// Its first word.
    word: Box<str>,
    /// What stands before its first word, such as `¿`.
    before: Box<str>,
    /// From its first word on.
    text: Box<str>,
    asks: MetaQuestion,
}

impl Questions {
    /// The questions built in, and `more`.
    pub(crate) fn new(more: &[(String, MetaQuestion)]) -> Questions {
        let built_in = phrases().map(|(phrase, asks)| Phrase::new(phrase, asks));
        let more = more.iter().map(|(phrase, asks)| Phrase::new(&fold_trigger(phrase), *asks));
        let mut phrases: Vec<Phrase> = built_in.chain(more).collect();
        phrases.retain(|phrase| !phrase.word.is_empty());
        phrases.sort_unstable();
        Questions(phrases)
    }

    /// What a folded text asks about the skills themselves.
    pub(crate) fn asked(&self, text: &str) -> Option<MetaQuestion> {
        let mut asked = None;
        let mut sentence = 0;
        while sentence < text.len() {
            let len = text[sentence..].find(ENDS).unwrap_or(text.len() - sentence);
            self.ask(text, sentence..sentence + len, &mut asked);
            sentence += len + 1;
        }
        asked
    }

    /// Looks for a question behind nothing but fillers.
    fn ask(&self, text: &str, sentence: Range<usize>, asked: &mut Option<MetaQuestion>) {
        let mut at = sentence.start;
        while at < sentence.end {
            let word = text[at..sentence.end].split(is_between_words).next().unwrap_or_default();
            if !word.is_empty() {
                for phrase in self.starting_with(word) {
                    let found = at.saturating_sub(phrase.before.len())..at + phrase.text.len();
                    if *asked < Some(phrase.asks)
                        && text[at..].starts_with(&*phrase.text)
                        && text[..at].ends_with(&*phrase.before)
                        && is_whole_question(text, &found)
                    {
                        *asked = Some(phrase.asks);
                    }
                }
                if !FILLERS.contains(&word) {
                    return;
                }
            }
            at += word.len();
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }

    fn starting_with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a Phrase> {
        let first = self.0.partition_point(|phrase| *phrase.word < *word);
        self.0[first..].iter().take_while(move |phrase| *phrase.word == *word)
    }
}

impl Phrase {
    fn new(folded: &str, asks: MetaQuestion) -> Phrase {
        let start = folded.find(|c| !is_between_words(c)).unwrap_or(0);
        let (before, text) = folded.split_at(start);
        let word = text.split(is_between_words).next().unwrap_or_default();
        Phrase { word: word.into(), before: before.into(), text: text.into(), asks }
    }
}

fn is_between_words(c: char) -> bool {
    !c.is_alphanumeric() && c != '\''
}

/// Every phrase with the question it asks.
fn phrases() -> impl Iterator<Item = (&'static str, MetaQuestion)> {
    let registry = REGISTRY.iter().map(|&phrase| (phrase, MetaQuestion::Registry));
    registry.chain(SHOW_ALL.iter().map(|&phrase| (phrase, MetaQuestion::ShowAll)))
}

/// Whether the phrase at `range` is the whole of its sentence: "what can you do" is not asked by
/// "what can you do about the noise".
fn is_whole_question(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].rsplit(ENDS).next().unwrap_or_default();
    let after = text[range.end..].split(ENDS).next().unwrap_or_default();
    [before, after]
        .into_iter()
        .flat_map(|around| around.split(is_between_words))
        .all(|word| word.is_empty() || FILLERS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        use MetaQuestion::{Registry, ShowAll};
        let more = [("¿Qué puedes hacer".to_owned(), Registry), ("!?".to_owned(), ShowAll)];
        let questions = Questions::new(&more);
        let cases = [
            ("what can you do?", Some(Registry)),
            ("hey, what can you do for me?!", Some(Registry)),
            ("please: what can you do", Some(Registry)),
            ("*what can you do*", Some(Registry)),
            ("_what can you do_", Some(Registry)),
            ("say hello. what can you do? thanks!", Some(Registry)),
            ("tell me what you can do", Some(Registry)),
            ("could you tell me your skills", Some(Registry)),
            ("list skills. now, list all skills! list skills", Some(ShowAll)),
            ("hola. ¿qué puedes hacer?", Some(Registry)),
            ("qué puedes hacer", None),
            ("what can you do about the noise", None),
            ("i wonder what can you do", None),
            ("", None),
            ("... !?", None),
        ];
        for (text, asked) in cases {
            assert_eq!(questions.asked(text), asked, "{text}");
        }
    }
}
