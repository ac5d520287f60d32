//! Hostile or huge input causes no panic and no hang, and each answer takes less than a second.

use std::time::{Duration, Instant};

use repertoire::{Engine, Skill};
use serde_json::{Value, json};

fn skill(name: &str, triggers: &Value) -> Skill {
    let text = format!("---\nname: {name}\ndescription: d\ntriggers: [{triggers}]\n---\nbody\n");
    text.parse().unwrap()
}

fn engine(skills: impl IntoIterator<Item = Skill>) -> Engine {
    skills.into_iter().fold(Engine::builder(), repertoire::EngineBuilder::skill).build().unwrap()
}

/// Builds an engine with ten thousand skills of eight triggers each, two of which are patterns.
fn ten_thousand() -> Engine {
    let nouns = ["report", "invoice", "cluster", "schema", "ticket", "release", "budget"];
    let verbs = ["draft", "audit", "migrate", "tune", "archive", "publish"];
    let word =
        |i: usize, salt: usize| format!("{}{}", nouns[(i + salt) % 7], (i * 31 + salt) % 4999);
    engine((0..10_000).map(|i| {
        let verb = verbs[i % 6];
        skill(
            &format!("skill-{i:05}"),
            &json!({
                "keywords": [word(i, 1), word(i, 2), format!("{verb} {}", word(i, 3)), format!("{} plan", word(i, 4))],
                "verbs": [verb, format!("re{verb}")],
                "patterns": [format!("({verb}|plan).*?{}", word(i, 5)), format!(r"\b{}s?\b", word(i, 6))],
            }),
        )
    }))
}

/// Returns the shortest of up to five runs, so that a busy machine does not matter.
fn time(run: impl Fn()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
        if best < Duration::from_millis(500) {
            break;
        }
    }
    best
}

#[track_caller]
fn assert_quick(what: &str, run: impl Fn()) {
    let elapsed = time(run);
    assert!(elapsed < Duration::from_secs(5), "{what} took {elapsed:?}");
}

#[test]
fn ten_thousand_skills_answer_short_and_huge_queries() {
    let engine = ten_thousand();
    assert_eq!(engine.catalog().entries().count(), 10_000);
    let best = &engine.matches("please draft report1")[0];
    assert_eq!(best.phrase_words, 1);
    let log =
        "2026-11-22T01:02:03Z WARN cluster 17: draft of report1 failed, retrying\n".repeat(14_000);
    assert!(log.len() > 1_000_000);
    for query in ["please draft report1", "使用 cluster42 部署", "hello", &log] {
        let shown: String = query.chars().take(20).collect();
        assert_quick(&shown, || drop(engine.disclose(query)));
    }
    assert_quick("show all skills", || drop(engine.disclose("show all skills")));
    assert_quick("what can you do", || drop(engine.disclose("what can you do?")));
    assert_quick("the catalog prompt", || drop(engine.prompt()));
}

#[test]
fn of_a_huge_query_head_and_tail_are_looked_at() {
    let skill = skill("found", &json!({"keywords": ["needle"]}));
    let hay = "hay é ".repeat(200_000);
    let engine = engine([skill.clone()]);
    let end = format!("{hay}needle");
    let found = engine.matches(&end);
    assert_eq!(&end[found[0].hits[0].span.clone()], "needle");
    assert_eq!(engine.matches(format!("needle {hay}")).len(), 1);
    assert!(engine.matches(format!("{hay}needle {hay}")).is_empty());
    let patient = Engine::builder().skill(skill).max_query_bytes(usize::MAX).build().unwrap();
    assert_eq!(patient.matches(format!("{hay}needle {hay}")).len(), 1);
}

#[test]
fn a_thousand_skills_with_the_same_keyword_are_ranked_by_id() {
    let engine =
        engine((0..1000).map(|i| skill(&format!("s{i:03}"), &json!({"keywords": ["same"]}))));
    assert_quick("a thousand identical keywords", || {
        let matches = engine.matches("the same again");
        assert_eq!(matches.len(), 1000);
        assert_eq!((matches[0].id.as_str(), matches[999].id.as_str()), ("s000", "s999"));
    });
    let disclosure = engine.disclose("the same again");
    assert_eq!((disclosure.full.len(), disclosure.hidden), (3, 997));
}

#[test]
fn nested_keywords_on_a_run_of_their_letter_stay_linear() {
    let keywords: Vec<String> = (1..=256).map(|n| "a".repeat(n)).collect();
    let engine = engine([skill("nested", &json!({"keywords": keywords}))]);
    let run = "a".repeat(100_000);
    assert_quick("a × 100,000", || assert!(engine.matches(&run).is_empty()));
    let spaced = "a aa aaa ".repeat(20_000);
    assert_quick("a aa aaa …", || assert_eq!(engine.matches(&spaced)[0].hits.len(), 3));
}

#[test]
fn repeated_questions_courtesies_and_addresses_stay_linear() {
    let skill = skill("hello", &json!({"keywords": ["unheard"]}));
    let engine = engine([skill]);
    for (part, n) in [("hi ", 3_000), ("hi ! ", 2_000), ("skills. hi ", 100), ("://", 20_000)] {
        for end in ["", "skills? ", "what can you do? "] {
            let message = part.repeat(n) + &end.repeat(150);
            assert_quick(&format!("{part} and {end}"), || drop(engine.disclose(&message)));
        }
    }
    let list = format!("not hello{} but {}", ",".repeat(6_000), "hello ".repeat(2_000));
    assert_quick("a denial, commas and names", || drop(engine.disclose(&list)));
    assert!(engine.disclose("hi! hi. hi, skills? thanks").meta.is_some());
    assert!(engine.disclose("hi. skills? hi. the cat? skills?").meta.is_none());
}

#[test]
fn costly_patterns_are_bounded_or_refused() {
    let run = "a".repeat(100_000);
    let mixed = "aab 使ab1 x".repeat(9_000);
    for pattern in [
        "(a+)+$", ".*.*x", "(.*)*x", "(a|a)*b", "(a|aa)+$", "(?:a?){50}a{50}", r"(\w+\s*)+!",
        "(?:a{1,10}){1,10}b", r"\w{40}z", r"\b\w+\b.*\b使\w*\b", r"[^\d]{200}q", r"\d+\w*\d",
    ] {
        let skill = skill("costly", &json!({"patterns": [pattern]}));
        let engine = engine([skill]);
        assert_quick(pattern, || drop((engine.matches(&run), engine.matches(&mixed))));
    }
    for pattern in [
        "(?:a{1,100}){1,100}b",
        r"\w{1000}",
        r"(\w{100}){100}",
        "((a{1000}){1000}){1000}",
        "x{100000}",
    ] {
        assert_quick(pattern, || {
            let skill = skill("refused", &json!({"patterns": [pattern]}));
            assert!(skill.triggers().patterns.is_empty(), "{pattern} was accepted");
            assert_eq!(skill.diagnostics().len(), 1);
        });
    }
}

#[test]
fn many_patterns_without_a_literal_are_answered_together() {
    let engine = engine((0..200).map(|i| {
        skill(
            &format!("s{i:03}"),
            &json!({"patterns": [format!(r"\d{{{}}}[a-z]{{{}}}\d", i % 30 + 1, i / 30 + 1)]}),
        )
    }));
    let text = "12ab3 words and 4567 more words, 使用 ".repeat(3_000);
    assert_quick("200 patterns without a literal", || assert!(!engine.matches(&text).is_empty()));
}

#[test]
fn patterns_without_a_literal_that_are_too_many_to_try_are_named() {
    let skills = (0..1_000).map(|i| {
        let pattern = format!(r"[a-z]{{{}}}\d[a-z]{{0,{}}}", i % 100 + 1, i / 100 + 1);
        skill(&format!("s{i:03}"), &json!({"patterns": [pattern]}))
    });
    let engine = engine(skills);
    // As many letters as each pattern requires, and a digit, but not next to each other.
    let text = format!("{} a1", "z".repeat(101));
    let explained = engine.explain(&text, 3);
    let found: Vec<&str> = explained.matches.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(found, ["s000", "s100", "s200"], "the smallest are tried");
    let is_untried = |reason: &str| reason.contains("was not tried");
    let untried: Vec<_> =
        explained.rejected.iter().filter(|r| is_untried(&r.to_string())).collect();
    assert!((900..1_000).contains(&untried.len()), "{}", untried.len());
    assert!(
        untried
            .iter()
            .any(|r| r.id == "s999" && r.to_string().contains(r"`[a-z]{100}\d[a-z]{0,10}`"))
    );
    let omitted = engine.disclose(&text).omitted;
    for rejection in untried {
        assert!(omitted.iter().any(|o| o.id == rejection.id && is_untried(&o.to_string())));
    }
    assert_quick("1,000 patterns whose demands are met", || drop(engine.matches(&text)));
}
