//! Triggers of each kind: where in a message, and in which paths, they match.

use std::ops::Range;

use repertoire::matcher::{Index, IndexOptions};
use repertoire::{HitKind, Query};
use serde_json::json;

use crate::{index_of, search};

/// Builds an index of one skill with one trigger of this kind.
fn index(kind: &str, trigger: &str, inflect: bool) -> Index {
    let mut options = IndexOptions::default();
    options.inflect = inflect;
    let triggers = json!({kind: [trigger]});
    index_of(&[("not-in-texts", "not-in-texts", &*format!("triggers: [{triggers}]"))], &options)
}

/// Returns the span of a pattern's first match.
fn find(pattern: &str, text: &str) -> Option<Range<usize>> {
    let answer = index("patterns", pattern, false).search(&Query::new(text), &[], usize::MAX);
    answer.matches.first().map(|found| found.hits[0].span.clone())
}

#[test]
fn a_query_is_made_of_any_text() {
    let (text, owned) = ("review it", "review it".to_owned());
    let queries = [Query::new(text), Query::new(&owned), Query::new(owned.clone())];
    assert!(queries.iter().all(|query| *query == Query::from(text)));
    let many: Vec<Query<'_>> = ["a", "b"].iter().map(Query::new).collect();
    assert_eq!(many, [Query::from("a"), Query::from("b")]);
}

#[test]
fn an_index_can_be_shared_between_threads() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Index>();
}

#[test]
fn verbs_are_inflected_as_english_does() {
    let all = "deploys deployed deploying says sayed saying tries tried trying trys tryed ties tied tying \
               tieing creates created creating createing frees freed freeing freing fixes fixed fixing \
               fixs fixxing pushes pushed pushing pushs goes goed going gos gooing stops stoped stoping \
               stopped stopping reviews reviewed reviewing reviewwing quits quitting quittes quizes \
               quizzes quizzing waits waited waiting waitting c++s as aing 部署s";
    let cases: &[(&str, &[&str])] = &[
        ("deploy", &["deploys", "deployed", "deploying"]),
        ("say", &["says", "sayed", "saying"]),
        ("try", &["tries", "tried", "trying"]),
        ("tie", &["ties", "tied", "tying"]),
        ("create", &["creates", "created", "creating"]),
        ("free", &["frees", "freed", "freeing"]),
        ("fix", &["fixes", "fixed", "fixing"]),
        ("push", &["pushes", "pushed", "pushing"]),
        ("go", &["goes", "goed", "going"]),
        ("stop", &["stops", "stoped", "stoping", "stopped", "stopping"]),
        ("set up", &["sets up", "seted up", "seting up", "setted up", "setting up"]),
        ("review", &["reviews", "reviewed", "reviewing"]),
        ("quit", &["quits", "quitting"]),
        ("quiz", &["quizes", "quizzes", "quizzing"]),
        ("wait", &["waits", "waited", "waiting"]),
        ("c++", &[]),
        ("a", &[]),
    ];
    let more = ["sets up", "seted up", "seting up", "setted up", "setting up", "set ups"];
    for (verb, expected) in cases {
        let index = index("verbs", verb, true);
        let is_found = |text: &str| index.search(&Query::new(text), &[], 0).n_matches == 1;
        assert!(is_found(verb), "{verb}");
        let forms = all.split_whitespace().chain(more).filter(|text| is_found(text));
        assert_eq!(forms.collect::<Vec<_>>(), *expected, "{verb}");
    }
    // A script without spaces has no inflections, so the verb itself matches.
    let index = index("verbs", "部署", true);
    assert_eq!(index.search(&Query::new("部署s"), &[], 1).matches[0].hits[0].span, 0..6);
}

#[test]
fn globs_are_found_however_many_there_are() {
    let skills: Vec<(String, String)> = (0..600)
        .map(|i| (format!("zq{i}"), format!("triggers: {{paths: ['d{i}/?.rs']}}")))
        .collect();
    let skills: Vec<_> = skills.iter().map(|(id, more)| (&**id, &**id, &**more)).collect();
    let index = index_of(&skills, &IndexOptions::default());
    for i in [0, 255, 256, 599] {
        let path = format!("./d{i}\\x.rs");
        let answer = index.search(&Query::new("").path(&*path), &[], usize::MAX);
        let [found] = &answer.matches[..] else { panic!("{answer:?}") };
        assert_eq!((found.id.as_str(), found.hits.len()), (&*format!("zq{i}"), 1));
        assert_eq!(
            (found.hits[0].kind, found.hits[0].path.as_deref()),
            (HitKind::Path, Some(&*path))
        );
    }
}

#[test]
fn patterns_see_head_and_tail_of_a_long_text_with_their_context() {
    const WINDOW_BYTES: usize = 64 * 1024;
    let pattern = "^x|x$|y";
    let long = |middle: &str| format!("-{}{middle}{}-", "é".repeat(40_000), "é".repeat(40_000));
    assert_eq!(find(pattern, &long("y")), None);
    let text = long("");
    assert_eq!(find(pattern, &format!("y{text}")), Some(0..1));
    assert_eq!(find(pattern, &format!("{text}x")), Some(text.len()..text.len() + 1));
    // The edge of a search window does not count as the edge of the text.
    let xs = "x".repeat(WINDOW_BYTES + 10);
    assert_eq!(find(pattern, &format!("-{xs}-")), None);
}

#[test]
fn a_pattern_finds_the_same_in_texts_of_ascii_and_in_others() {
    for (pattern, text, expected) in [
        (r"\bk\w+\b", "a KIT", Some(2..5)),
        (r"\bk\w+\b", "é kité", Some(3..8)),
        (r"\bk\w+\b", "ak", None),
        (r"[^a]é|s\d", "as1", Some(1..3)),
        (r"[^a]é|s\d", "aé ſ٣", Some(4..8)),
    ] {
        assert_eq!(find(pattern, text), expected, "{text}");
    }
    let skills = [("p", "not-in-texts", "triggers: {patterns: ['a\\d']}")];
    let answer = search(&skills, &IndexOptions::default(), "a1 a٣");
    assert_eq!(answer.matches[0].hits[0].span, 0..2);
}
