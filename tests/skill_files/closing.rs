//! Fields that close a skill: to the model, to the user, or all tools but some. They count in any spelling and at any place.

use repertoire::Skill;
use repertoire::skill::Manifest;

/// The manifest of a skill with these fields.
fn manifest(fields: &str) -> Manifest {
    let text = format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n");
    text.parse::<Skill>().unwrap().manifest().clone()
}

#[test]
fn a_field_that_closes_counts_wherever_it_stands() {
    for fields in [
        "disableModelInvocation: true",
        "DISABLE MODEL INVOCATION: True",
        "disable\u{2011}model\u{2011}invocation: yes",
        "userInvocableOnly: on",
        "allowImplicitInvocation: false",
        "policy: {allow_implicit_invocation: no}",
        "policy:\n  allow_implicit_invocation: never",
        "metadata: {disable-model-invocation: true}",
        "metadata:\n  repertoire:\n    user_invocable_only: true",
        "metadata: {acme: {userInvocableOnly: sure}}",
        "repertoire: {disable-model-invocation: true}",
        "acme: {disable-model-invocation: true, colour: red}",
        "  disable-model-invocation: true",
        "\tdisable-model-invocation: true",
        "disable-model-invocation= true",
        "disable-model-invocation = \"true\"",
        "disable-model-invocation:true",
        "disable-model-invocation：true",
        "- disable-model-invocation: true",
        "\"disable-model-invocation\": true,",
        "disable-model-invocation: true\ndisable-model-invocation: false",
        "disable-model-invocation: false\ndisableModelInvocation: true",
        "user_invocable_only: true\ndisable-model-invocation: false",
        "disable-model-invocation: false\nmetadata: {disable-model-invocation: true}",
        "disable-model-invocation: true\ndisable-model-invocation:",
        "brief_description: |\n  Rotates.\n  disable-model-invocation: true",
        "metadata: {disable-model-invocation: true, disable-model-invocation: false}",
        "metadata: {disable-model-invocation: false, disable-model-invocation: true}",
        "metadata: {a: {user_invocable_only: on, user_invocable_only: off}}",
        "metadata: {disable-model-invocation: true}\nmetadata: {x: 1}",
        "policy: {allow_implicit_invocation: no, allow_implicit_invocation: yes}",
        "\"disable-model-invocation\": true\n'disable-model-invocation': false",
        "? disable-model-invocation\n: true\n? disable-model-invocation\n: false",
    ] {
        let manifest = manifest(fields);
        assert!(manifest.is_model_invocation_disabled(), "{fields}");
        assert!(manifest.is_user_invocable(), "{fields}");
    }
    for fields in [
        "userInvocable: false",
        "User-Invocable: no",
        "metadata: {user-invocable: false}",
        "user-invocable= off",
        "  user-invocable: false",
        "user-invocable: false\nuser-invocable: true",
    ] {
        let manifest = manifest(fields);
        assert!(!manifest.is_user_invocable(), "{fields}");
        assert!(!manifest.is_model_invocation_disabled(), "{fields}");
    }
}

#[test]
fn a_key_that_is_set_twice_is_a_finding_that_says_which_value_counts() {
    let restricts = "the value that restricts the skill is used";
    for (fields, used) in [
        ("metadata: {a: 1, a: 2}", "the last value is used"),
        ("metadata:\n  a: 1\n  a: 2", "the last value is used"),
        ("version: 1.0\nVersion: 2.0", "the last value is used"),
        ("allowed-tools: [Read]\nallowed-tools: [Bash]", "the last value is used"),
        ("metadata: {user-invocable: false, user-invocable: true}", restricts),
        ("disable-model-invocation: true\ndisable-model-invocation: false", restricts),
        ("disable-model-invocation: true\ndisableModelInvocation: false", restricts),
    ] {
        let text = format!("---\nname: a\ndescription: d\n{fields}\n---\nB\n");
        let loaded: Skill = text.parse().unwrap();
        let messages: Vec<&str> = loaded.diagnostics().iter().map(|of| &*of.message).collect();
        assert!(matches!(messages[..], [one] if one.ends_with(used)), "{fields}: {messages:?}");
    }
}

#[test]
fn tools_are_limited_wherever_the_field_stands() {
    for (fields, tools) in [
        ("allowedTools: [Read, Grep]", &["Read", "Grep"][..]),
        ("ALLOWED TOOLS: Read Grep", &["Read", "Grep"]),
        ("metadata: {allowed-tools: [Read]}", &["Read"]),
        ("repertoire: {allowed_tools: Read}", &["Read"]),
        ("allowed-tools= Read, Grep", &["Read", "Grep"]),
        ("allowed-tools = [\"Read\", \"Grep\"]", &["Read", "Grep"]),
        ("  allowed-tools: Read", &["Read"]),
        ("  allowed-tools:\n    - Read", &[]),
        ("metadata: {allowed-tools: [Bash]}\nallowed-tools: Read", &["Read"]),
    ] {
        let manifest = manifest(fields);
        let found = manifest.allowed_tools.as_deref().unwrap().iter();
        assert_eq!(found.map(|tool| &*tool.value).collect::<Vec<_>>(), tools, "{fields}");
    }
}

#[test]
fn what_opens_or_only_speaks_of_such_a_field_closes_nothing() {
    for fields in [
        "disableModelInvocation: false",
        "disable-model-invocation:false",
        "disable-model-invocation= no",
        "disable-model-invocation: false\ndisable-model-invocation: off",
        "metadata: {disable-model-invocation: no, user-invocable: yes}",
        "policy: {allow_implicit_invocation: true}",
        "disable-model-invocations: true",
        "no-disable-model-invocation: true",
        "# disable-model-invocation: true",
        "brief_description: 'Set disable-model-invocation: true'",
        "inputs:\n  allowed_tools:\n    type: array",
        "brief_description: |\n  Write\n  disable-model-invocation: true\n  to hide a skill.",
        "brief_description: |\n  user-invocable: skills that the user starts",
        "inputs: {disable_model_invocation: {type: boolean}, allowed_tools: {type: array}}",
        "examples: {should: ['disable-model-invocation: true']}",
        "disableModelInvocation:",
        "allowedTools:",
    ] {
        let manifest = manifest(fields);
        assert!(!manifest.is_model_invocation_disabled(), "{fields}");
        assert!(manifest.is_user_invocable() && manifest.allowed_tools.is_none(), "{fields}");
    }
}

#[test]
fn other_kinds_of_front_matter_close_as_well() {
    for text in [
        "+++\nname = \"a\"\ndisable-model-invocation = true\n+++\nBody\n",
        "---\rname: a\rdescription: d\rdisable-model-invocation: true\r---\rBody\r",
        "---\n{\"name\": \"a\", \"description\": \"d\", \"disableModelInvocation\": true}\n---\nB",
        "---\n{name: a, description: d, disableModelInvocation: true, disableModelInvocation: no}\n---\nB",
        "---\nname: a\ndescription: d\ndisableModelInvocation = true\n\n# Body\n",
        "```yaml\ndisableModelInvocation: true\n```\nBody\n",
    ] {
        assert!(
            Skill::parse(text, "")
                .map_or(true, |skill| { skill.manifest().is_model_invocation_disabled() }),
            "{text}"
        );
    }
}
