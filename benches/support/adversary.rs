//! Hostile skills and queries, constructed to be slow.

use repertoire::Skill;
use serde_json::{Value, json};

fn skill(place: usize, triggers: &Value) -> Skill {
    format!("---\nname: skill-{place}\ndescription: d\ntriggers: [{triggers}]\n---\n")
        .parse()
        .unwrap()
}

/// Returns the name, the skills and the query of each case.
pub(crate) fn cases() -> Vec<(&'static str, Vec<Skill>, String)> {
    let run = "a".repeat(100_000);
    let nested = |prefix: &str| -> Vec<Skill> {
        let keywords = |of: usize| -> Vec<String> {
            (1..=50).map(|n| format!("{prefix}{}", "a".repeat(of * 50 + n))).collect()
        };
        (0..5).map(|of| skill(of, &json!({"keywords": keywords(of)}))).collect()
    };
    let of_pattern = |pattern: &str| vec![skill(0, &json!({"patterns": [pattern]}))];
    let everything = super::catalog::skills(1_000);
    let every_keyword: Vec<String> = everything
        .iter()
        .flat_map(|skill| skill.triggers().keywords.iter().map(|keyword| keyword.value.clone()))
        .collect();
    let without_literal = |n_skills: usize| -> Vec<Skill> {
        let pattern = |i: usize| {
            let (digits, letters, more) = (i % 25 + 1, i / 25 % 20 + 1, i / 500 % 20 + 1);
            format!(r"\d{{{digits}}}[a-z]{{{letters}}}\d{{{more}}}[g-q]")
        };
        (0..n_skills).map(|i| skill(i, &json!({"patterns": [pattern(i)]}))).collect()
    };
    let plain = "12ab3 some words, 456 q ".repeat(5);
    // Meets the requirements of each of those patterns, but matches none of them.
    let meeting = format!("{}{}{}z", "1".repeat(45), "a".repeat(31), "1".repeat(43));
    vec![
        ("nested keywords on `a` × 100,000", nested(""), run.clone()),
        ("nested keywords that are not words", nested("+"), run.replace("aaaaaaa", "aaa+aaa")),
        ("a query of every keyword", everything, every_keyword.join(" ")),
        ("`(?:a{1,10}){1,10}b`", of_pattern("(?:a{1,10}){1,10}b"), format!("{run}b")),
        ("`.*.*x`", of_pattern(".*.*x"), format!("{run}x")),
        ("`(a|aa)+$`", of_pattern("(a|aa)+$"), format!("{run}!")),
        (r"`\w{40}z`", of_pattern(r"\w{40}z"), "word z ".repeat(14_000)),
        ("1,000 patterns without a literal", without_literal(1_000), plain.clone()),
        ("10,000 patterns without a literal", without_literal(10_000), plain),
        (
            "the same, of a message not in English",
            without_literal(10_000),
            "été 12 où ça, 天気 3 ".repeat(5),
        ),
        ("the same, of a message that meets their demands", without_literal(10_000), meeting),
    ]
}
