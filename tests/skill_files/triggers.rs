//! The triggers of a manifest, read from the text of a skill.

use serde_json::json;

use super::codes;
use super::fields::{fields, refused, skill};

/// The triggers that are set, and the codes of the findings.
fn triggers(yaml: &str) -> (serde_json::Value, Vec<&'static str>) {
    let (manifest, codes) = fields(yaml);
    let mut triggers = manifest["triggers"].clone();
    if let Some(map) = triggers.as_object_mut() {
        map.retain(|_, entries| entries.as_array().is_some_and(|entries| !entries.is_empty()));
    }
    (triggers, codes)
}

#[test]
fn triggers_are_read_from_every_form_and_place() {
    let ab = json!({"keywords": ["a", "b c"]});
    let cases = [
        ("triggers: a, b c,", ab.clone()),
        ("triggers: {keywords: 'a, b c'}", ab.clone()),
        ("triggers:\n- a\n- keyword: b c", ab.clone()),
        ("triggers: {phrases: [a], keyword: b c}", ab.clone()),
        ("metadata:\n  triggers: a, b c", ab.clone()),
        ("metadata:\n  triggers: {keywords: 'a, b c'}", ab.clone()),
        ("activation: {keywords: [a, b c], max_context_tokens: 5}", ab.clone()),
        ("triggers: b c\nmetadata:\n  triggers: a", ab),
        ("triggers: {verbs: 'x,y', exclude: [z]}", json!({"verbs": ["x", "y"], "exclude": ["z"]})),
        (
            "activation: {patterns: ['a{1,2}'], exclude_keywords: z}",
            json!({"patterns": ["a{1,2}"], "exclude": ["z"]}),
        ),
        ("triggers:\n  patterns: |\n    a{1,2}\n    b, c", json!({"patterns": ["a{1,2}", "b, c"]})),
        ("triggers: {regex: 'a+'}", json!({"patterns": ["a+"]})),
        ("triggers:\n  regex:\n  - ' a '\n  - |\n    b\n", json!({"patterns": [" a ", "b"]})),
        (
            "paths: 'src/*.{ts,js}, *.md'\ntriggers: {files: ['a/**']}",
            json!({"paths": ["a/**", "src/*.{ts,js}", "*.md"]}),
        ),
        ("triggers: [1.0, ' NO ']", json!({"keywords": ["1.0", "NO"]})),
        ("triggers: []", json!(null)),
        ("triggers:", json!(null)),
        ("triggers: {exclude: [z]}", json!(null)),
    ];
    for (yaml, expected) in cases {
        assert_eq!(triggers(yaml), (expected, vec![]), "{yaml}");
    }
    let twice = (json!({"keywords": ["a", "b c"]}), vec!["redundant-trigger"]);
    assert_eq!(triggers("triggers: [a, b c, a, a]"), twice);
    assert_eq!(skill("triggers: {exclude: [z]}").triggers().exclude[0].value, "z");
}

#[test]
fn unusable_triggers_are_refused_at_their_place() {
    let long = format!("triggers: [{}]", "x".repeat(257));
    let cases = [
        ("triggers: ['', a]", "empty-trigger", "''"),
        ("triggers: ' '", "empty-trigger", "' '"),
        ("triggers: [[a]]", "wrong-type", "[a]"),
        ("triggers: {verbs: {a: b}}", "wrong-type", "{a: b}"),
        ("triggers: {intent: x}", "unknown-key", "intent"),
        ("activation: yes", "wrong-type", "yes"),
        ("triggers: {patterns: [a(b]}", "invalid-pattern", "("),
        ("triggers: {patterns: ['é(b']}", "invalid-pattern", "("),
        ("triggers: {patterns: [\"ab*\", \"a(b\"]}", "invalid-pattern", "("),
        ("triggers: {patterns: [\"\\\\s(\"]}", "invalid-pattern", "("),
        ("triggers: {patterns: [\"(\\x28\"]}", "invalid-pattern", "\"(\\x28\""),
        ("triggers: {patterns: ['a*']}", "pattern-matches-empty", "a*"),
        ("triggers: {patterns: ['(?!a)b']}", "invalid-pattern", "(?!"),
        ("paths: ['src/{a']", "invalid-glob", "src/{a"),
        (&long, "trigger-too-long", &"x".repeat(257)),
    ];
    for (yaml, code, place) in cases {
        let skill = refused(yaml, code, place);
        let declared = code != "unknown-key" && !yaml.starts_with("activation");
        assert_eq!(skill.triggers().declared, declared, "{yaml}");
    }
}

#[test]
fn a_pattern_in_another_form_is_told_with_the_form_of_messages() {
    for (pattern, remedy) in [
        ("怎么部署.*？", Some(r"\?")),
        ("（紧急）.+", Some(r"\(紧急\)")),
        (r"e\u0301tat", Some("état")),
        ("部署", None),
    ] {
        let with = |pattern: &str| skill(&format!("triggers: {{patterns: ['{pattern}']}}"));
        let skill = with(pattern);
        let Some(remedy) = remedy else {
            assert_eq!(codes(skill.diagnostics()), [""; 0], "{pattern}");
            continue;
        };
        let finding = &skill.diagnostics()[0];
        assert_eq!(finding.code.as_str(), "pattern-not-normalized", "{pattern}");
        assert!(finding.help.ends_with(&format!("`{remedy}`")), "{pattern}: {finding:?}");
        assert_eq!(codes(with(remedy).diagnostics()), [""; 0], "{pattern}");
    }
}

#[test]
fn the_first_512_triggers_count() {
    let words: Vec<String> = (0..600).map(|n| format!("w{n}")).collect();
    let skill = skill(&format!("triggers: [{}]", words.join(", ")));
    assert_eq!(codes(skill.diagnostics()), ["too-many-triggers"]);
    assert_eq!(skill.triggers().keywords.len(), 512);
}
