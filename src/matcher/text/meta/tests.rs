use std::collections::HashSet;

use super::MetaQuestion::{Registry, ShowAll};
use super::*;

fn asked(text: &str) -> Option<MetaQuestion> {
    Questions::new(&[]).asked(&fold_trigger(text))
}

/// The lines of a file of cases, without headings, that are not answered as expected.
fn failures(file: &str, expected: Option<MetaQuestion>) -> Vec<&str> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter(|line| asked(line) != expected).collect()
}

#[test]
fn phrases_are_folded_and_distinct() {
    let mut known = HashSet::new();
    for (at, meaning) in table::phrases(TEXT) {
        let phrase = TEXT[at].trim();
        let one_line = phrase.replace("\n  ", " ");
        assert_eq!(fold_trigger(phrase), one_line, "{phrase} is not folded");
        if meaning != Meaning::Courtesy {
            assert!(known.insert(phrase.to_owned()), "{phrase} is there twice");
        }
        for (open, close) in [('(', ')'), ('[', ']')] {
            assert_eq!(phrase.matches(open).count(), phrase.matches(close).count(), "{phrase}");
        }
    }
    assert!(known.len() > 150, "{}", known.len());
}

#[test]
fn every_language_asks_which_skills_there_are() {
    assert_eq!(failures(include_str!("cases/registry.txt"), Some(Registry)), [""; 0]);
}

#[test]
fn every_language_asks_for_all_skills_in_full() {
    assert_eq!(failures(include_str!("cases/all.txt"), Some(ShowAll)), [""; 0]);
}

#[test]
fn near_misses_ask_nothing() {
    assert_eq!(failures(include_str!("cases/near_misses.txt"), None), [""; 0]);
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
    let questions = Questions::new(&phrases.map(|(phrase, asks)| (phrase.to_owned(), asks)));
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
        assert_eq!(questions.asked(&fold_trigger(text)), expected, "{text}");
    }
}

#[test]
fn long_and_odd_texts_are_no_trouble() {
    // A quadratic search would not return within an hour.
    for text in
        ["the ", "有没有", "スキルありますか。", "¿", "do you have any skills for ", "'", "か"]
    {
        asked(&fold_trigger(&text.repeat(20_000)));
    }
}
