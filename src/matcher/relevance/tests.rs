//! Tests of a whole index: the words of a message that count.

use super::{Relevance, RelevanceIndex};
use crate::skill::{Skill, SkillId};

/// An index of skills given by id, description and body.
fn index(skills: &[(&str, &str, &str)]) -> RelevanceIndex {
    let skills: Vec<(SkillId, Skill)> = skills
        .iter()
        .map(|(id, description, body)| {
            let text = format!("---\nname: {id}\ndescription: {description}\n---\n{body}\n");
            (SkillId::new(id), text.parse().unwrap())
        })
        .collect();
    RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)))
}

/// The first skill and its relevance.
fn first(index: &RelevanceIndex, message: &str) -> Option<(String, Relevance)> {
    index.rank(message, 1).into_iter().next().map(|found| (found.id.to_string(), found.relevance))
}

fn catalog() -> RelevanceIndex {
    index(&[
        ("agents", "Governs agents built with LangChain, AutoGen and other tools.", "Audit them."),
        ("chains", "Repairs bicycle chains.", "A lang chain needs oil."),
        ("parser", "Parses files in JSON and YAML.", "Call parseJSONFile2 and OpenAPIs."),
        ("types", "Checks TypeScript and GraphQL schemas.", "Strict types."),
        ("apis", "Designs APIs for partners, reviews PRs.", "Versions, errors, pages."),
    ])
}

#[test]
fn a_word_is_answered_alike_with_and_without_capitals() {
    let index = catalog();
    for name in ["LangChain", "AutoGen", "TypeScript", "GraphQL", "OpenAPIs", "parseJSONFile2"] {
        for message in [format!("what is {name}"), format!("{name} question"), name.to_owned()] {
            let (written, lower) =
                (first(&index, &message), first(&index, &message.to_lowercase()));
            assert_eq!(written, lower, "{message}");
            let (_, relevance) = written.unwrap();
            assert_eq!((relevance.words, relevance.head_words.min(1)), (1, relevance.head_words));
        }
    }
}

#[test]
fn parts_of_an_identifier_find_a_skill_and_are_one_piece_of_evidence() {
    let index = catalog();
    // The skill has the parts, and no skill has the whole.
    let (id, relevance) = first(&index, "rename jsonYamlReader, ParseFiles").unwrap();
    assert_eq!((id.as_str(), relevance.words, relevance.head_words), ("parser", 0, 0));
    assert!((0.5..=2.0).contains(&relevance.evidence), "{relevance:?}");
    // The skill has the whole: its parts find it, and are not words of its description.
    let (id, relevance) = first(&index, "script graph").unwrap();
    assert_eq!((id.as_str(), relevance.head_words), ("types", 0));
}

#[test]
fn stop_words_find_nothing_however_they_are_written() {
    let index = catalog();
    for word in repertoire_text::words::STOP_WORDS {
        let capitals = word.to_uppercase();
        for message in [(*word).to_owned(), capitals.clone(), format!("{word}/or, {capitals}-and")]
        {
            assert_eq!(first(&index, &message), None, "{message}");
        }
    }
    for message in ["andOr", "and's", "qux AND quux", "this_and_that", "AndThe"] {
        assert_eq!(first(&index, message), None, "{message}");
    }
}

#[test]
fn abbreviations_in_the_plural_are_found_by_their_singular_and_the_reverse() {
    let index = catalog();
    for message in ["an API", "apis", "APIs'", "one PR", "our prs", "PRs"] {
        assert_eq!(first(&index, message).unwrap().0, "apis", "{message}");
    }
}

#[test]
fn words_that_say_little_in_the_language_of_a_message_are_no_evidence() {
    let german =
        |noun: &str| format!("Prüft die {noun} und schreibt das Ergebnis für den Kunden auf.");
    let skills = ["Rechnungen", "Zertifikate", "Angebote"].map(german);
    let index = index(&[
        ("a", &skills[0], "Wer hat das nicht oder mit der Frist?"),
        ("b", &skills[1], "Wir müssen es nur machen."),
        ("c", &skills[2], "Das ist alles."),
    ]);
    for message in ["Wer ist das und wie machen wir es für den?", "wir müssen nur"] {
        assert_eq!(first(&index, message), None, "{message}");
    }
    // A form of a word counts as the word, an everyday word counts half.
    for (message, evidence) in [("meine Rechnung", 1.0), ("Zertifikats", 1.0), ("schreibt", 0.5)] {
        let found = first(&index, message).unwrap().1.evidence;
        assert!((found - evidence).abs() < 0.01, "{message}: {found}");
    }
    // The same letters in English are words.
    let english = super::tests::index(&[("war", "The war museum, where hats die.", "")]);
    assert_eq!(first(&english, "the war and a hat").unwrap().1.head_words, 2);
}

#[test]
fn everyday_words_in_chinese_show_nothing_in_full() {
    let index = index(&[
        ("site", "搭建并维护网站：检查页面、整理内容、解决问题、更新版本，然后上线。", ""),
        ("crash", "Narrows a crash down to one commit.", ""),
    ]);
    let relevance = first(&index, "检查一下这段代码，整理思路并解决问题").unwrap().1;
    assert_eq!(relevance.head_words, 0);
    assert_eq!(first(&index, "你有什么建议？"), None);
    let relevance = first(&index, "网站上线").unwrap().1;
    assert_eq!((relevance.words, relevance.head_words), (2, 2));
}
