//! Questions about the skills themselves, in the built-in languages and in a host's own phrases.

use repertoire::MetaQuestion::{self, Registry, ShowAll};
use repertoire::matcher::IndexOptions;

use crate::search;

fn asked(text: &str) -> Option<MetaQuestion> {
    search(&[], &IndexOptions::default(), text).meta
}

/// Returns the lines of a file of cases, without headings, that get another answer than `expected`.
fn failures(file: &str, expected: Option<MetaQuestion>) -> Vec<&str> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter(|line| asked(line) != expected).collect()
}

#[test]
fn every_language_asks_which_skills_there_are() {
    assert_eq!(
        failures(include_str!("../fixtures/matching/questions/registry.txt"), Some(Registry)),
        [""; 0]
    );
}

#[test]
fn every_language_asks_for_all_skills_in_full() {
    assert_eq!(
        failures(include_str!("../fixtures/matching/questions/all.txt"), Some(ShowAll)),
        [""; 0]
    );
}

#[test]
fn near_misses_ask_nothing() {
    assert_eq!(
        failures(include_str!("../fixtures/matching/questions/near_misses.txt"), None),
        [""; 0]
    );
}

#[test]
fn courtesies_and_punctuation_do_not_matter() {
    for (text, expected) in [
        ("hey, what can you do for me?!", Some(Registry)),
        ("*What can you do*", Some(Registry)),
        ("_what can you do_", Some(Registry)),
        ("What, exactly, can you do?", Some(Registry)),
        ("say hello. what can you do? thanks!", Some(Registry)),
        ("list skills. now, list all skills! list skills", Some(ShowAll)),
        ("Hola. ¿Qué puedes hacer?", Some(Registry)),
        ("hola ¿que puedes hacer", Some(Registry)),
        ("ＷＨＡＴ　ＣＡＮ　ＹＯＵ　ＤＯ？", Some(Registry)),
        ("你好！你能做什么？谢谢。", Some(Registry)),
        ("修好了。你 能 做 什么", Some(Registry)),
        ("شكرا. ماذا يمكنك أن تفعل؟", Some(Registry)),
        ("धन्यवाद। आप क्या कर सकते हैं?", Some(Registry)),
        ("The tests pass. Skills? Tools?", None),
        ("hi! skills? thanks", Some(Registry)),
        ("ls ../skills", None),
        ("see a.skills", None),
        ("", None),
        ("... !?", None),
        ("👋", None),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
}

#[test]
fn a_host_adds_phrases_of_any_language() {
    let phrases = [
        ("Mitä osaat tehdä?", Registry),
        ("¡NÄYTÄ (kaikki|jokainen) [sinun] taidot!", ShowAll),
        ("ทำอะไรได้บ้าง", Registry),
        ("onko taitoja * varten", Registry),
        ("* tricks, please", Registry),
        ("!?", ShowAll),
        ("[x]", ShowAll),
        ("*", ShowAll),
        ("(", ShowAll),
    ];
    let mut options = IndexOptions::default();
    options.meta_phrases = phrases.map(|(phrase, asks)| (phrase.to_owned(), asks)).into();
    for (text, expected) in [
        ("mita osaat tehda", Some(Registry)),
        ("Hello! «Mitä osaat, tehdä»?", Some(Registry)),
        ("näytä jokainen taidot", Some(ShowAll)),
        ("näytä taidot", None),
        ("ทำอะไร ได้บ้าง?", Some(Registry)),
        ("onko taitoja node.js:n varten?", Some(Registry)),
        ("onko taitoja varten?", None),
        ("some other tricks please", Some(Registry)),
        ("tricks please", None),
        ("what can you do", Some(Registry)),
        ("x", None),
        ("anything", None),
    ] {
        assert_eq!(search(&[], &options, text).meta, expected, "{text}");
    }
}

#[test]
fn long_and_odd_texts_are_no_trouble() {
    // With a quadratic search, this would take more than an hour.
    for text in
        ["the ", "有没有", "スキルありますか。", "¿", "do you have any skills for ", "'", "か"]
    {
        asked(&text.repeat(20_000));
    }
}
