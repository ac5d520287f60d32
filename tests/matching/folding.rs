//! Folding: what a reader of the message does not see makes no difference to what it matches.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index as Place, select};
use repertoire::matcher::{Answer, Index, IndexOptions, find_literal};
use repertoire::{HitKind, Query, SkillId};

use crate::mentions::{DENIED, MEANT};
use crate::{index_of, search};

/// Characters that readers do not see.
const INVISIBLE: [&str; 9] = [
    "\u{200b}", "\u{ad}", "\u{2060}", "\u{feff}", "\u{fe0f}", "\u{e0041}", "\u{200d}", "\u{200c}",
    "\u{34f}",
];

const HYPHENS: [&str; 6] = ["-", "\u{2010}", "\u{2011}", "\u{2012}", "\u{2043}", "\u{ff0d}"];

const MESSAGES: [&str; 12] = [
    "open a pull request for the code-review",
    "Étude du café — PULL\n\nREQUEST, use code-review!",
    "İade istiyorum, SİPARİŞİ İPTAL ET",
    "使用git提交代码，不要 pull request",
    "a e\u{301}tude, ﬁle the 3 e-mails (e-mail)",
    "빌드를 배포해 줘",
    "use my code-review skill, not /qx",
    "don't use\nqx. /code-review it\r\n\r\n/qx",
    "database-tuning - 12 pull requests",
    "straße STRASSE ＡＰＩ api",
    "می خواهم کتاب",
    "ขอโค้ดรีวิว git",
];

static SKILLS: LazyLock<Index> = LazyLock::new(|| {
    let skills = [
        ("code-review", "code-review", "triggers: {keywords: [pull request, e-mail, iade, git]}"),
        (
            "qx",
            "qx",
            "triggers: {patterns: ['pull request', '\\\\b3 e-mail', 'code-rev'], verbs: [iptal]}",
        ),
        ("data", "database tuning", "triggers: {keywords: [database, straße, api, étude, 배포]}"),
        ("veto", "veto", "triggers: {keywords: [pull request, کتاب], exclude: [tuning, café]}"),
    ];
    index_of(&skills, &IndexOptions::default())
});

/// A hit: its skill, kind, trigger and the text of its span without invisible characters.
type Found = (SkillId, bool, HitKind, String, String);

fn clean(text: &str) -> String {
    HYPHENS.iter().fold(visible(text), |text, hyphen| text.replace(hyphen, "-"))
}

fn visible(text: &str) -> String {
    INVISIBLE.iter().fold(text.to_owned(), |text, invisible| text.replace(invisible, ""))
}

/// Returns everything that the index finds in a message.
fn found(message: &str) -> (Vec<Found>, Answer) {
    let mut answer = SKILLS.search(&Query::new(message), &[], usize::MAX);
    let mut found = Vec::new();
    for skill in &mut answer.matches {
        for hit in std::mem::take(&mut skill.hits) {
            let span = &message[hit.span];
            assert!(
                !INVISIBLE.iter().any(|c| span.starts_with(c) || span.ends_with(c)),
                "{span:?}"
            );
            found.push((skill.id.clone(), skill.explicit, hit.kind, hit.trigger, clean(span)));
        }
    }
    (found, answer)
}

/// Puts texts at places of a message, between any two characters.
fn put(message: &str, inserted: &[(&str, Place)]) -> String {
    let mut chars: Vec<String> = message.chars().map(String::from).collect();
    for (text, place) in inserted {
        chars.insert(place.index(chars.len() + 1), (*text).to_owned());
    }
    chars.concat()
}

fn messages() -> impl Strategy<Value = String> {
    let named = DENIED.iter().chain(MEANT).copied().collect::<Vec<_>>();
    prop_oneof![
        select(&MESSAGES[..]).prop_map(str::to_owned),
        select(named).prop_map(|message| message.replace('X', "qx")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_message_matches_wherever_invisible_characters_stand_in_it(
        message in messages(),
        inserted in prop::collection::vec((select(&INVISIBLE[..]), any::<Place>()), 1..12),
    ) {
        let other = put(&message, &inserted);
        prop_assert_eq!(found(&other), found(&message), "{:?}", other);
    }

    #[test]
    fn a_message_matches_whatever_hyphens_it_has(
        message in messages(),
        hyphens in prop::collection::vec(select(&HYPHENS[..]), 8),
    ) {
        let mut hyphens = hyphens.iter().cycle();
        let parts: Vec<&str> = message.split('-').collect();
        let other = parts[1..].iter().fold(parts[0].to_owned(), |all, part| {
            all + hyphens.next().unwrap() + part
        });
        prop_assert_eq!(found(&other), found(&message), "{:?}", other);
    }
}

#[test]
fn literals_are_found_in_what_people_paste() {
    for (text, trigger, expected) in [
        ("İade istiyorum", "iade", "İade"),
        ("i\u{307}ade", "İADE", "i\u{307}ade"),
        ("SİPARİŞİ İPTAL ET", "iptal", "İPTAL"),
        ("a code\u{2011}review", "code-review", "code\u{2011}review"),
        ("STRASSE sperren", "straße", "STRASSE"),
        ("λόγοσ", "ΛΌΓΟΣ", "λόγοσ"),
        ("the ﬁle", "FILE", "ﬁle"),
        ("UNE E\u{301}TUDE", "étude", "E\u{301}TUDE"),
        ("die ＡＰＩ Ｄｏｋｕ", "api doku", "ＡＰＩ Ｄｏｋｕ"),
        ("an e-mail", "e\u{2010}mail", "e-mail"),
        ("open a pull \u{200b}request", "pull request", "pull \u{200b}request"),
        ("the data\u{ad}base\u{200b}.", "database", "data\u{ad}base"),
        ("\u{feff}database", "data\u{200b}base", "database"),
    ] {
        let found = find_literal(text, trigger).map(|span| &text[span]);
        assert_eq!(found, Some(expected), "{trigger} in {text:?}");
    }
    for (text, trigger) in [("git\u{200b}hub", "git"), ("a–b", "a-b"), ("ıade", "iade")] {
        assert_eq!(find_literal(text, trigger), None, "{trigger} in {text:?}");
    }
}

#[test]
fn patterns_and_triggers_may_hold_what_messages_lose() {
    for (more, text) in [
        ("triggers: {patterns: ['pull request']}", "a pull\u{200b} request"),
        ("triggers: {patterns: ['code\u{2011}review']}", "a code-review"),
        ("triggers: {patterns: ['(⚠\u{fe0f}|x)!']}", "⚠\u{fe0f}!"),
        ("triggers: {patterns: ['İade']}", "iade"),
        ("triggers: {patterns: ['iade']}", "İade"),
        ("triggers: {keywords: ['⚠\u{fe0f}']}", "⚠"),
        ("triggers: {keywords: ['می\u{200c}خواهم']}", "می\u{200c}خواهم"),
        ("triggers: {keywords: ['e\u{2011}mail']}", "e-mail"),
    ] {
        let answer = search(&[("zz", "zz", more)], &IndexOptions::default(), text);
        assert_eq!(answer.n_matches, 1, "{more} in {text:?}");
    }
}

#[test]
fn relevance_reads_what_is_seen() {
    let text =
        "---\nname: zz\ndescription: İade ve fatura, database\u{2011}tuning, naïve plans.\n---\n";
    let engine = repertoire::Engine::builder().skill(text.parse().unwrap()).build().unwrap();
    for message in
        ["iade", "İADE", "da\u{200b}ta\u{ad}base", "\u{feff}tuning", "nai\u{200b}\u{308}ve"]
    {
        assert_eq!(engine.find_skills(message, 3).len(), 1, "{message:?}");
    }
    assert_eq!(engine.find_skills("data", 3).len(), 0);
}
