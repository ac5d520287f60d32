//! Findings of `check` in one file: the position of the mistake, and a suggested fix that loads.

use repertoire::skill::{Profile, check_file};
use repertoire::{Code, Skill};

use super::{BRAND, codes, file};

#[test]
fn remedies_are_told_where_the_mistake_is_and_load() {
    let long = format!("d: {}: y", "x".repeat(200));
    for (line, yaml, help) in [
        (3, "triggers:\n  keywords: [a b]\n   patterns: [x]", "indent alike"),
        (3, "keywords: [a b] x", "write `keywords: '[a b] x'`"),
        (3, "triggers: [a b}", "close `[` with `]`"),
        (3, "triggers: [\"a b\" c]", "write `triggers: ['\"a b\" c']`"),
        (3, "allowed-tools: [Bash(git: *), Read]", "write `allowed-tools: ['Bash(git: *)', Read]`"),
        (3, "not a key", "indent alike"),
        (3, "when_to_use: \"now\nlicense: MIT", "write `when_to_use: '\"now'`"),
        (3, "when_to_use: Use it: now", "write `when_to_use: 'Use it: now'`"),
        (3, long.as_str(), "in quotes"),
        (3, "license: \"C:\\Users\"", "write `license: \"C:\\\\Users\"`"),
        (3, "\tlicense: MIT", "blanks, not with tabs"),
        (3, "license: \u{1}", "remove control characters"),
    ] {
        let text = format!("---\ndescription: d\n{yaml}\n---\nBody\n");
        let root = tempfile::tempdir().unwrap();
        let found = check_file(&file(root.path(), "a", &text), Profile::Repertoire, BRAND);
        let finding = found.iter().find(|finding| finding.code.as_str().ends_with("-yaml"));
        let finding = finding.unwrap_or_else(|| panic!("{yaml}: {found:?}"));
        assert!(finding.help.contains(help), "{yaml}: {finding:?}");
        assert!((line..=line + 2).contains(&finding.line), "{yaml}: {finding:?}");
        if let Some(remedy) = finding.help.strip_prefix("write `") {
            let remedy = remedy.strip_suffix('`').unwrap();
            let mended = format!("---\nname: a\ndescription: d\n{remedy}\n---\n");
            let skill = Skill::parse(&mended, BRAND).unwrap();
            assert!(skill.diagnostics().is_empty(), "{remedy}: {:?}", skill.diagnostics());
        }
    }
    let indented: Skill = "---\n name: a\ndescription: d\n---\n".parse().unwrap();
    assert_eq!((indented.name(), codes(indented.diagnostics())), ("a", vec!["salvaged-yaml"]));
    assert!(indented.diagnostics()[0].help.contains("indent alike"));
}

#[test]
fn a_trigger_that_yaml_reads_as_a_map_is_told_with_its_quotes() {
    for (yaml, help) in [
        ("triggers:\n  - how to: deploy it\n  - b c", "put it in quotes: `- 'how to: deploy it'`"),
        ("triggers:\n  patterns:\n  - it's \\d+: x", "put it in quotes: `- 'it''s \\d+: x'`"),
        ("triggers:\n  keywords: {a: b, c: d}", "write `keywords: [one, two]`"),
    ] {
        let skill = Skill::parse(&format!("---\nname: a\ndescription: d\n{yaml}\n---\n"), BRAND);
        let found = skill.unwrap().diagnostics().to_vec();
        assert_eq!((codes(&found), &*found[0].help), (vec!["wrong-type"], help), "{yaml}");
    }
}

#[test]
fn the_body_describes_a_skill_whose_front_matter_is_beyond_repair() {
    for (yaml, expected) in [("name: a\n]", "salvaged-yaml"), ("]", "invalid-yaml")] {
        let root = tempfile::tempdir().unwrap();
        let path = file(root.path(), "a", format!("---\n{yaml}\n---\n# T\n\nText.\n"));
        let skill = Skill::load(&path, BRAND).unwrap();
        assert_eq!((skill.name(), skill.description()), ("a", "Text."));
        assert_eq!(codes(skill.diagnostics()), ["description-from-body", expected]);
    }
}

#[test]
fn a_skill_for_the_user_alone_stays_so_when_its_yaml_is_broken() {
    for (yaml, code) in [
        ("triggers:\n  keywords: [#wipe, wipe staging]\n", "repaired-yaml"),
        ("triggers:\n  keywords: [{a} b, c]\n", "salvaged-yaml"),
        ("\u{1}", "salvaged-yaml"),
    ] {
        let text = format!(
            "---\nname: a\ndescription: d\ndisable-model-invocation: true\n{yaml}\n---\nBody\n"
        );
        let skill: Skill = text.parse().unwrap();
        assert_eq!(codes(skill.diagnostics()), [code], "{yaml}");
        assert!(skill.manifest().is_model_invocation_disabled(), "{yaml}");
    }
}

#[test]
fn lines_that_yaml_joins_to_the_text_above_are_told() {
    for (yaml, line, told) in [
        ("triggers: deploy\n  - release\n  - ship", 4, "`- release` and other lines like it are"),
        ("triggers: a\n  - b\n  - c\n  - d", 4, "`- b` and other lines like it are"),
        ("triggers:\n  keywords: deploy\n    - release", 5, "`- release` is read"),
        (
            "triggers:\n  keywords: [a b]\n   patterns: [x]\n   verbs: [y]",
            5,
            "`patterns: [x]` and other lines",
        ),
        ("triggers:\n  - one\n    - two", 5, "`- two` is read"),
        (
            "when_to_use: As asked.\n version: 1.0\n allowed-tools: Read",
            4,
            "`version: 1.0` and other lines",
        ),
        ("when_to_use:\n  In these cases\n  - one\n  - two", 5, "`- one` and other lines"),
        ("when_to_use: In these cases - one\n  or two, e.g. this: one", 0, ""),
        ("when_to_use: |\n  In these cases:\n  - one\n  version: two", 0, ""),
        ("when_to_use: >-\n\n  In these cases\n  - one", 0, ""),
        ("when_to_use: 'In these cases\n  - one\n  version: x'", 0, ""),
        ("when_to_use: \"In these cases\n  - one\"", 0, ""),
        ("triggers:\n  - one\n  - two\n# - three", 0, ""),
        ("triggers: [one,\n  two]", 0, ""),
        ("metadata:\n  triggers: deploy\n  version: x", 0, ""),
    ] {
        let text = format!("---\ndescription: d\n{yaml}\n---\nBody\n");
        let root = tempfile::tempdir().unwrap();
        let found = check_file(&file(root.path(), "a", &text), Profile::Repertoire, BRAND);
        let joined: Vec<_> = found.iter().filter(|found| found.code == Code::JoinedLines).collect();
        if told.is_empty() {
            assert!(joined.is_empty(), "{yaml}: {joined:?}");
            continue;
        }
        assert_eq!((joined.len(), joined[0].line), (1, line), "{yaml}: {found:?}");
        assert!(joined[0].message.starts_with(told), "{yaml}: {joined:?}");
    }
}

#[test]
fn front_matter_that_is_not_a_map_leaves_the_body_to_describe_the_skill() {
    for (yaml, kind) in [("- name: a\n- description: b", "a list"), ("plan releases", "text")] {
        let root = tempfile::tempdir().unwrap();
        let text = format!("---\n{yaml}\n---\n# Plan\n\nPlans the next release.\n\nMore.\n");
        let skill = Skill::load(&file(root.path(), "plan", &text), BRAND).unwrap();
        assert_eq!((skill.name(), skill.description()), ("plan", "Plans the next release."));
        let found = skill.diagnostics().iter().find(|found| found.code == Code::NotAMapping);
        let found = found.unwrap_or_else(|| panic!("{yaml}: {:?}", skill.diagnostics()));
        assert!(found.message.contains(kind) && found.line == 2, "{found:?}");
    }
}

#[test]
fn what_only_says_where_a_skill_is_is_skipped_with_what_to_do() {
    for (text, code, help) in [
        ("../../skills/plan/SKILL.md", "link-as-text", "core.symlinks"),
        ("Moved to `../plan`.\n", "moved-skill", "remove the file"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let found = Skill::load(&file(root.path(), "plan", text), BRAND).unwrap_err();
        assert_eq!(codes(&found), [code]);
        assert!(found[0].help.contains(help) && found[0].message.contains(text.trim_end()));
    }
}

#[test]
fn an_invalid_escape_costs_no_field() {
    let text = "---\nname: a\ndescription: \"In C:\\Users\"\nallowed-tools: [Read]\ntriggers: {patterns: \
                [\"rotate\\s+keys\"]}\ndisable-model-invocation: true\n---\n";
    let skill: Skill = text.parse().unwrap();
    assert_eq!(codes(skill.diagnostics()), ["repaired-yaml"]);
    assert_eq!(skill.description(), "In C:\\Users");
    let manifest = skill.manifest();
    assert_eq!(manifest.allowed_tools.as_ref().unwrap()[0].value, "Read");
    assert_eq!(manifest.triggers.patterns[0].value, "rotate\\s+keys");
    assert!(manifest.is_model_invocation_disabled());
}

#[test]
fn a_skill_whose_front_matter_is_not_between_fences_is_loaded_from_its_text() {
    let keys = "name: mine\ndescription: Mine.\nmodel: m\ndisable-model-invocation: true\n";
    for (text, code, name, description) in [
        (format!("---\n{keys}\n# T\n\nText.\n"), "unclosed-front-matter", "mine", "Mine."),
        (format!("---\n{keys}...\nText.\n"), "unclosed-front-matter", "mine", "Mine."),
        (
            "---\nmodel: m\ndisable-model-invocation: on\n\nText.".into(),
            "unclosed-front-matter",
            "a",
            "Text.",
        ),
        (format!("# T\n\nText.\n\n---\n{keys}---\nMore.\n"), "late-front-matter", "a", "Text."),
        (format!("Text.\n\n{keys}"), "no-front-matter", "a", "Text."),
        (format!("\n---\n{keys}---\nText.\n"), "late-front-matter", "mine", "Mine."),
    ] {
        let root = tempfile::tempdir().unwrap();
        let skill = Skill::load(&file(root.path(), "a", &text), BRAND).unwrap();
        let mut codes = codes(skill.diagnostics());
        codes.retain(|found| *found != "no-front-matter" || code == *found);
        codes.dedup();
        assert_eq!(codes, [code], "{text}");
        assert_eq!((skill.name(), skill.description()), (name, description), "{text}");
        assert!(skill.manifest().is_model_invocation_disabled(), "{text}");
        assert_eq!(skill.manifest().model.is_some(), text.starts_with('\n'), "{text}");
    }
}

#[test]
fn a_quoted_text_that_goes_on_without_indentation_is_cut_and_reported() {
    let text = "---\nname: a\ndescription: \"Use it to plan,\ndraw or list.\"\n---\nBody\n";
    let skill: Skill = text.parse().unwrap();
    assert_eq!(codes(skill.diagnostics()), ["salvaged-yaml"]);
    let description = skill.description();
    assert!(description.contains("Use it to plan,"), "{description}");
    assert!(!description.contains("draw"), "{description}");
}

#[test]
fn names_in_any_script_follow_the_specification() {
    for (name, is_right) in
        [("数据分析", true), ("résumé-2", true), ("план", true), ("План", false)]
    {
        let root = tempfile::tempdir().unwrap();
        let text = format!("---\nname: {name}\ndescription: d\n---\nBody\n");
        let found = check_file(&file(root.path(), name, &text), Profile::AgentSkills, BRAND);
        let is_refused = found.iter().any(|finding| finding.code == Code::SpecName);
        assert_eq!(is_refused, !is_right, "{name}: {found:?}");
    }
}
