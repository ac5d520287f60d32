//! The fields of a manifest, read from the text of a skill.

use repertoire::{Code, Skill};
use serde_json::json;

use super::codes;

/// A skill with these lines of front matter besides name and description.
pub(super) fn skill(yaml: &str) -> Skill {
    let text = format!("---\nname: n\ndescription: d\n{yaml}\n---\nBody\n");
    let skill = Skill::parse(&text, "sven");
    assert!(skill.is_ok(), "{yaml}: {skill:?}");
    skill.unwrap()
}

/// The manifest as JSON without its name and description, and the codes of its findings.
pub(super) fn fields(yaml: &str) -> (serde_json::Value, Vec<&'static str>) {
    let skill = skill(yaml);
    let mut manifest = skill.manifest().to_json();
    let map = manifest.as_object_mut().unwrap();
    map.retain(|key, _| key != "name" && key != "description");
    let codes = skill.diagnostics().iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    (manifest, codes)
}

#[test]
fn fields_are_read_in_all_their_forms() {
    let cases = [
        ("version: 1.0", json!({"version": "1.0.0"})),
        ("version: '2'", json!({"version": "2.0.0"})),
        ("version: 1.2.3-rc.1", json!({"version": "1.2.3-rc.1"})),
        (
            "allowed-tools: Bash(git add:*), Read",
            json!({"allowed_tools": ["Bash(git add:*)", "Read"]}),
        ),
        ("allowed_tools: Read Write", json!({"allowed_tools": ["Read", "Write"]})),
        ("allowed-tools: [Read, 'Bash(a, b)']", json!({"allowed_tools": ["Read", "Bash(a, b)"]})),
        ("allowed-tools: []", json!({"allowed_tools": []})),
        ("allowed-tools:\nscripts: ~", json!({})),
        ("toolsets: [toolsets/hello:Hello]", json!({"toolsets": ["toolsets/hello:Hello"]})),
        ("toolsets: 'a:B, c:D'", json!({"toolsets": ["a:B", "c:D"]})),
        ("scripts: []", json!({"scripts": []})),
        ("disable-model-invocation: 'True'", json!({"disable_model_invocation": true})),
        ("user_invocable_only: true", json!({"disable_model_invocation": true})),
        ("user-invocable: false", json!({"user_invocable": false})),
        ("user-invocable: Off", json!({"user_invocable": false})),
        ("disable-model-invocation: yes", json!({"disable_model_invocation": true})),
        ("user_invocable_only: 1", json!({"disable_model_invocation": true})),
        ("user_invocable_only:\nuser-invocable: ~", json!({})),
        ("default_enabled: false", json!({"default_enabled": false})),
        ("context: Fork", json!({"context": "fork"})),
        ("context: inline\nagent:\nmodel: ''", json!({})),
        ("argument-hint: [file] ", json!({"argument_hint": "file"})),
        ("arguments: [a, b]", json!({"arguments": "a b"})),
        ("arguments: a b", json!({"arguments": "a b"})),
        ("model: NO\nagent: 1.0", json!({"model": "NO", "agent": "1.0"})),
        (
            "sven:\n  always: true\n  requires-bins: git, gh\n  x: 1",
            json!({"always": true, "requires_bins": ["git", "gh"], "extra": {"sven": {"x": 1}}}),
        ),
        (
            "always: false\nother: {always: true}",
            json!({"always": false, "extra": {"other": {"always": true}}}),
        ),
        (
            "requires_env: [A]\nknowledge: a.md, b.md",
            json!({"requires_env": ["A"], "knowledge": ["a.md", "b.md"]}),
        ),
        (
            "metadata: {a: {b: 1.5}}\nlicense: MIT",
            json!({"metadata": {"a": {"b": 1.5}}, "license": "MIT"}),
        ),
        ("Some Key: [1, yes]", json!({"extra": {"Some Key": [1, "yes"]}})),
        (
            "examples: {should: [a, b c], should-not: 'd, e'}",
            json!({"examples": {"should": ["a", "b c"], "should_not": ["d, e"]}}),
        ),
        (
            "examples:\n  should_not: |\n    a, b\n    c\n  should: ~",
            json!({"examples": {"should": [], "should_not": ["a, b", "c"]}}),
        ),
        ("trigger-phrases: [a, b c, a]", json!({"trigger_phrases": ["a", "b c"]})),
        ("trigger_phrases: a, b c", json!({"trigger_phrases": ["a", "b c"]})),
        ("examples: [a, b]", json!({"extra": {"examples": ["a", "b"]}})),
        ("examples: Say a", json!({"extra": {"examples": "Say a"}})),
        ("examples: {basic: a}", json!({"extra": {"examples": {"basic": "a"}}})),
        ("examples:", json!({"extra": {"examples": null}})),
    ];
    for (yaml, expected) in cases {
        assert_eq!(fields(yaml), (expected, vec![]), "{yaml}");
    }
}

#[test]
fn toolsets_may_ask_for_rights() {
    let asks = json!({"read": [".", "/data"], "network": true});
    let reads = json!({"read": ["."], "network": false});
    for (yaml, toolsets, rights) in [
        (
            "toolsets: [{class: 'a:B', rights: {read: ['.', /data], network: true}}, 'c:D']",
            json!(["a:B", "c:D"]),
            json!({"a:B": asks}),
        ),
        (
            "metadata: {toolsets: [{class: 'a:B', rights: {read: .}}]}",
            json!(["a:B"]),
            json!({"a:B": reads}),
        ),
        (
            "toolsets: [{class: 'a:B', rights: {}}, {class: 'c:D'}]",
            json!(["a:B", "c:D"]),
            json!(null),
        ),
    ] {
        let skill = skill(yaml);
        let manifest = skill.manifest().to_json();
        let found = (manifest["toolsets"].clone(), manifest["toolset_rights"].clone());
        assert_eq!(found, (toolsets, rights), "{yaml}");
        assert!(skill.diagnostics().is_empty(), "{yaml}");
    }
    for (yaml, code) in [
        ("toolsets: [{rights: {network: true}}]", Code::WrongType),
        ("toolsets: [{class: 'a:B', rights: all}]", Code::WrongType),
        ("toolsets: [{class: 'a:B', rights: {write: [/]}}]", Code::InvalidValue),
        ("toolsets: [{class: '../a:B', rights: {network: true}}]", Code::InvalidToolset),
    ] {
        let skill = skill(yaml);
        let codes: Vec<Code> = skill.diagnostics().iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{yaml}");
    }
}

#[test]
fn toolsets_may_stand_in_the_metadata_which_other_programs_accept() {
    let toolsets = |yaml| skill(yaml).manifest().to_json()["toolsets"].clone();
    for yaml in [
        "metadata: {toolsets: ['a:B', 'c:D']}",
        "metadata: {toolsets: 'a:B, c:D'}",
        "metadata:\n  toolsets:\n  - a:B\ntoolsets: ['a:B', 'c:D']",
    ] {
        assert_eq!(toolsets(yaml), json!(["a:B", "c:D"]), "{yaml}");
    }
}

#[test]
fn examples_and_phrases_may_stand_in_the_metadata() {
    let manifest = |yaml: &str| skill(yaml).manifest().to_json();
    let read = manifest(
        "metadata:\n  examples: {should: a, should-not: [b]}\n  trigger-phrases: c, d\nexamples: \
         {should: [e, a]}\ntrigger_phrases: [f]",
    );
    assert_eq!(read["examples"], json!({"should": ["a", "e"], "should_not": ["b"]}));
    assert_eq!(read["trigger_phrases"], json!(["c", "d", "f"]));
    assert_eq!(read.get("triggers"), None, "phrases are not triggers");
    // In another form, the key belongs to another program.
    let other = manifest("metadata: {examples: [a]}");
    assert_eq!((other.get("examples"), &other["metadata"]), (None, &json!({"examples": ["a"]})));
}

#[test]
fn examples_know_their_place_and_their_limits() {
    let text = "---\nname: n\ndescription: d\nexamples:\n  should:\n  - ship it, now\n---\n";
    let skill: Skill = text.parse().unwrap();
    assert_eq!(&text[skill.manifest().examples.should[0].span.clone()], "ship it, now");
    let (long, many) = ("x".repeat(257), (0..600).map(|n| format!("m{n}")).collect::<Vec<_>>());
    let many = many.join(", ");
    for (yaml, code, kept) in [
        (format!("examples: {{should: [a, {long}]}}"), "invalid-value", 1),
        (format!("examples: {{should: [{many}]}}"), "invalid-value", 512),
        ("examples: {should: [a, {b: c}]}".to_owned(), "wrong-type", 1),
        ("examples: {should: [a], could: [b]}".to_owned(), "unknown-key", 1),
    ] {
        let text = format!("---\nname: n\ndescription: d\n{yaml}\n---\n");
        let skill: Skill = text.parse().unwrap();
        assert_eq!(codes(skill.diagnostics()), [code], "{yaml:.80}");
        assert_eq!(skill.manifest().examples.should.len(), kept, "{yaml:.80}");
    }
    let phrases = skill_with_many_phrases(&many);
    assert_eq!(phrases.manifest().trigger_phrases.len(), 512);
}

fn skill_with_many_phrases(many: &str) -> Skill {
    format!("---\nname: n\ndescription: d\ntrigger_phrases: {many}\n---\n").parse().unwrap()
}

#[test]
fn what_a_field_cannot_hold_is_reported_and_ignored() {
    let cases = [
        ("version: latest", json!({"extra": {"version": "latest"}}), "invalid-value"),
        ("context: thread", json!({}), "invalid-value"),
        ("always: maybe", json!({}), "wrong-type"),
        ("always: [true]", json!({}), "wrong-type"),
        ("model: {a: b}", json!({}), "wrong-type"),
        // A restriction that cannot be read still restricts the skill.
        ("allowed-tools: {a: b}", json!({"allowed_tools": []}), "wrong-type"),
        ("disable-model-invocation: sure", json!({"disable_model_invocation": true}), "wrong-type"),
        ("user_invocable_only: []", json!({"disable_model_invocation": true}), "wrong-type"),
        (
            "sven: {user-invocable-only: [no]}",
            json!({"disable_model_invocation": true}),
            "wrong-type",
        ),
        ("user-invocable: {a: b}", json!({"user_invocable": false}), "wrong-type"),
        ("scripts: {a: b}", json!({}), "wrong-type"),
        ("knowledge: [a, [b]]", json!({"knowledge": ["a"]}), "wrong-type"),
        (
            "metadata: {toolsets: {a: b}}",
            json!({"metadata": {"toolsets": {"a": "b"}}}),
            "wrong-type",
        ),
        ("metadata: [a]", json!({}), "wrong-type"),
        ("allowed-tools: a\nallowed_tools: b", json!({"allowed_tools": ["b"]}), "duplicate-key"),
        ("model: a\nmodel: b", json!({"model": "b"}), "duplicate-key"),
    ];
    for (yaml, expected, code) in cases {
        assert_eq!(fields(yaml), (expected, vec![code]), "{yaml}");
    }
}

/// Returns the skill with these fields, and asserts that its only finding is `code`, at `place`.
pub(super) fn refused(yaml: &str, code: &str, place: &str) -> Skill {
    let text = format!("---\nname: n\ndescription: d\n{yaml}\n---\n");
    let skill: Skill = text.parse().unwrap();
    assert_eq!(codes(skill.diagnostics()), [code], "{yaml}");
    let finding = &skill.diagnostics()[0];
    assert_eq!(&text[finding.span.clone().unwrap()], place, "{yaml}: {finding}");
    skill
}

#[test]
fn code_that_is_always_refused_is_reported_where_it_is_named() {
    let cases = [
        ("toolsets: [hello, 'a:B']", "invalid-toolset", "hello"),
        ("toolsets: ['a:1x']", "invalid-toolset", "'a:1x'"),
        ("toolsets: ['../x:Y', 'a:B']", "invalid-toolset", "'../x:Y'"),
        ("toolsets: ['/abs:X']", "invalid-toolset", "'/abs:X'"),
        ("toolsets: 'c:D, a:b:c'", "invalid-toolset", "a:b:c"),
        ("metadata: {toolsets: [hello, 'a:B']}", "invalid-toolset", "hello"),
        ("scripts: [../b.sh, c.sh]", "invalid-script", "../b.sh"),
        ("scripts: [c.sh, /etc/passwd]", "invalid-script", "/etc/passwd"),
        ("scripts: 'c.sh, a\\b.sh'", "invalid-script", r"a\b.sh"),
        ("scripts: c/", "invalid-script", "c/"),
    ];
    for (yaml, code, place) in cases {
        let skill = refused(yaml, code, place);
        // The manifest keeps the entry as written; the loader refuses it by name.
        let manifest = skill.manifest().to_json();
        assert!(
            manifest
                .to_string()
                .contains(&serde_json::to_string(place.trim_matches('\'')).unwrap())
        );
    }
}

#[test]
fn a_skill_has_the_text_of_its_fields() {
    let skill = skill("when_to_use: When asked.\nbrief_description: In short");
    assert_eq!(skill.description(), "d When asked.");
    assert_eq!((skill.name(), skill.brief(), skill.body().unwrap()), ("n", "In short", "Body\n"));
    assert_eq!((skill.path(), skill.dir()), (None, None));
}

#[test]
fn texts_that_are_no_skill_are_refused_with_a_reason() {
    let cases = [
        ("", "empty-file"),
        ("---\nname: a\n---\n", "no-description"),
        ("---\ndescription: b\n---\n", "invalid-value"),
        ("---\nname: \"a\\nb\"\ndescription: b\n---\n", "invalid-value"),
        // These have a description, but no name, since there is no directory.
        ("---\njust text\n---\nBody", "not-a-mapping"),
        ("---\n- a\n---\nBody", "not-a-mapping"),
        ("../../skills/plan/SKILL.md", "link-as-text"),
        ("Moved to ../plan.\n", "moved-skill"),
        ("---\na: b: c\n]\n---\nBody", "invalid-yaml"),
        ("---\na: {b: {c: *x}}\n}\n---\nBody", "invalid-yaml"),
    ];
    for (text, code) in cases {
        let diagnostics = Skill::parse(text, "sven").expect_err(text);
        assert!(codes(&diagnostics).contains(&code), "{text:?}: {diagnostics:?}");
        assert!(!text.parse::<Skill>().unwrap_err().message().is_empty());
    }
}

#[test]
fn what_was_repaired_is_reported_where_it_was_broken() {
    let cases = [
        ("---\nname: a\ndescription: Use when: asked\n---\n", "repaired-yaml", (3, 22)),
        ("---\nname: a\ndescription: [beta] x\n---\n", "repaired-yaml", (3, 21)),
        ("---\nname: a\ndescription: \"b\nagent: c\n---\n", "repaired-yaml", (3, 14)),
        ("---\nname: a\n]\ndescription: b\n---\n", "salvaged-yaml", (3, 1)),
        ("---\nname: a\ndescription: [b]\n---\nBody", "wrong-type", (3, 14)),
    ];
    for (text, code, place) in cases {
        let skill: Skill = text.parse().unwrap();
        let finding = &skill.diagnostics().last().unwrap();
        assert_eq!(
            (finding.code.as_str(), (finding.line, finding.column)),
            (code, place),
            "{finding}"
        );
    }
}

#[test]
fn descriptions_are_read_as_their_authors_meant_them() {
    for (written, wanted, code) in [
        ("&ref helper", "&ref helper", Some("repaired-yaml")),
        ("!important helper", "!important helper", Some("repaired-yaml")),
        ("'it's fine'", "it's fine", Some("repaired-yaml")),
        ("\"say \"hi\" now\"", "say \"hi\" now", Some("repaired-yaml")),
        ("'Foo' and 'bar'", "'Foo' and 'bar'", Some("repaired-yaml")),
        ("one\n\ttwo", "one two", Some("repaired-yaml")),
        (">\n\tone\n\ttwo", "one two", Some("repaired-yaml")),
        ("!!str 12", "12", None),
        ("&a text\nagent: *a", "text", None),
        ("R&D !important", "R&D !important", None),
    ] {
        let text = format!("---\nname: n\ndescription: {written}\ntriggers: [a b]\n---\nBody\n");
        let skill: Skill = text.parse().unwrap();
        assert_eq!(skill.description(), wanted, "{written}");
        assert_eq!(codes(skill.diagnostics()), code.into_iter().collect::<Vec<_>>(), "{written}");
        assert_eq!(skill.manifest().triggers.keywords.len(), 1, "{written}");
    }
    let text = "---\nname: n\ndescription: d\ntriggers:\n\tkeywords:\n\t\t- a b\n---\nBody\n";
    let skill: Skill = text.parse().unwrap();
    assert_eq!(skill.manifest().triggers.keywords.len(), 1);
    assert_eq!(codes(skill.diagnostics()), ["repaired-yaml"]);
}

#[test]
fn skills_can_be_shared_between_threads() {
    fn assert_shareable<T: Send + Sync>() {}
    assert_shareable::<Skill>();
}

#[test]
fn a_text_that_is_parsed_without_a_brand_reads_the_block_of_any_host() {
    for (block, always, bins) in [
        ("sven: {always: true}", true, 0),
        ("acme: {requires-bins: [gh], always: yes}", true, 1),
        ("Kit_Kat: {requires_bins: gh}", false, 1),
        ("repertoire: {always: true}", true, 0),
        ("metadata: {always: true}", false, 0),
        ("other: {always: true, colour: red}", false, 0),
        ("other: {}", false, 0),
    ] {
        let text = format!("---\nname: a\ndescription: d\n{block}\n---\nB\n");
        let skill: Skill = text.parse().unwrap();
        let manifest = skill.manifest();
        let is_always = manifest.always.as_ref().is_some_and(|always| always.value);
        assert_eq!((is_always, manifest.requires_bins.len()), (always, bins), "{block}");
    }
}
