//! The order of matches, and the functions that find the best of them.

use repertoire::matcher::{Index, IndexOptions, find_literal};
use repertoire::{Query, SkillId};
use serde_json::json;

use crate::{assert_selected, index_of, search};

#[test]
fn a_literal_is_found_where_an_index_finds_it() {
    for (text, trigger) in [
        ("a press  release", "press release"),
        ("PRESS-RELEASE", "press release"),
        ("github and git", "git"),
        ("gitgit git", "git"),
        ("使用git提交", "git"),
        ("asp.net .net", ".net"),
        ("libc++2 c++", "c++"),
        ("STRASSE Straße", "straße"),
        ("don’t do it", "don't"),
        ("ﬁle it", "file"),
        ("aaa aa", "aa"),
        ("", "x"),
        ("x", " "),
    ] {
        let triggers = json!([trigger]).to_string();
        let skills = [("not-in-the-texts", "not-in-the-texts", &*format!("triggers: {triggers}"))];
        let answer = search(&skills, &IndexOptions::default(), text);
        let expected = answer.matches.first().map(|found| found.hits[0].span.clone());
        assert_eq!(find_literal(text, trigger), expected, "{text}: {trigger}");
    }
}

#[test]
fn triggers_that_look_for_the_same_count_once_also_if_only_one_of_them_is_found() {
    let skills = [
        ("a", "x-a", "triggers: {keywords: [git]}"),
        ("b", "x-b", "triggers: {keywords: [git, deploy], verbs: [deploy]}"),
        ("c", "x-c", "triggers: {verbs: [deploy]}"),
    ];
    let mut options = IndexOptions::default();
    options.inflect = true;
    let index = index_of(&skills, &options);
    for (query, expected) in [
        ("git deploying", ["b", "a", "c"].as_slice()),
        ("git deploy", &["b", "a", "c"]),
        ("deploy", &["b", "c"]),
        ("deploying", &["b", "c"]),
    ] {
        let query = Query::new(query);
        let found = index.search(&query, &[], 3).matches;
        let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
        assert_eq!(ids, expected, "{query:?}");
    }
}

fn index() -> Index {
    let skills: Vec<(String, String)> = (0..40)
        .map(|i| {
            let triggers = match i % 4 {
                0 => "keywords: [git]".to_owned(),
                1 => format!("keywords: [git, word{i}], exclude: [veto{i}]"),
                2 => format!("patterns: ['git.*w{i}', 'w\\d+']"),
                _ => "keywords: [unheard]".to_owned(),
            };
            (format!("red{i}"), format!("triggers: {{{triggers}}}"))
        })
        .collect();
    let skills: Vec<_> = skills.iter().map(|(id, triggers)| (&**id, &**id, &**triggers)).collect();
    index_of(&skills, &IndexOptions::default())
}

#[test]
fn a_selection_is_the_first_of_all_with_those_that_are_named_and_the_number_of_all() {
    let index = index();
    let ids: Vec<SkillId> = [3, 12, 13, 18, 39].map(|i| SkillId::new(&format!("red{i}"))).into();
    let messages = [
        "git",
        "git w6 and w12",
        "red7 and red8: git",
        "veto13 git",
        "",
        "/red39 git",
        "`git` w6 and word9",
        "`word1 git` git veto13 w6 `/red39`",
        "> veto13 git\nword9",
    ];
    for message in messages {
        let query = Query::new(message);
        for recent in [&[], &ids[1..3]] {
            for named in [&[], &ids[..]] {
                assert_selected(&index, &query, recent, named, &[0, 1, 3, 30, 200]);
            }
        }
    }
}
