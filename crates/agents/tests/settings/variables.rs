//! Texts in settings that stand for variables and files.

use repertoire::catalog::RuleTarget;
use repertoire_agents::HookAgent::{Gemini, OpenCode, Qwen};

use super::{state, state_in};

#[test]
fn files_of_variables_count_for_qwen() {
    let settings = r#"{"skills": {"disabled": ["$ZN"]}}"#;
    let excluding = r#"{"skills": {"disabled": ["$ZN"]}, "advanced": {"excludedEnvVars": ["ZN"]}}"#;
    let trusting =
        r#"{"security": {"folderTrust": {"enabled": true}}, "skills": {"disabled": ["$ZN"]}}"#;
    let (project, user) = ("p/.qwen/settings.json", "home/.qwen/settings.json");
    let native = ("p/.env", "ZN=native");
    for (files, is_off) in [
        (vec![(project, settings)], false),
        (vec![(project, settings), native], true),
        (vec![(user, settings), native], true),
        (vec![(project, settings), ("p/.qwen/.env", "export ZN='native' # x")], true),
        (vec![(project, settings), (".env", "ZN=native")], true),
        (vec![(project, settings), ("home/.env", "ZN=native")], true),
        (vec![(project, settings), ("home/.qwen/.env", "ZN=native")], true),
        // The nearest file counts, and its own before the other; those of the user count, too.
        (vec![(project, settings), native, ("p/.qwen/.env", "ZN=other")], false),
        (vec![(project, settings), ("p/.env", "ZZ=1"), (".env", "ZN=native")], false),
        (vec![(project, settings), ("p/.env", "ZN=other"), ("home/.env", "ZN=native")], false),
        (vec![(project, settings), ("p/.env", "ZZ=1"), ("home/.env", "ZN=native")], true),
        (vec![(project, excluding), native], false),
        (vec![(project, excluding), ("p/.qwen/.env", "ZN=native")], true),
        (
            vec![(project, r#"{"skills": {"disabled": ["$DEBUG"]}}"#), ("p/.env", "DEBUG=native")],
            false,
        ),
        // The environment wins.
        (vec![(project, r#"{"skills": {"disabled": ["$NAME"]}}"#), ("p/.env", "NAME=other")], true),
        (vec![(user, trusting), native], true),
        (
            vec![
                (user, trusting),
                native,
                ("home/.qwen/trustedFolders.json", r#"{"PLACE/p": "DO_NOT_TRUST"}"#),
            ],
            false,
        ),
    ] {
        let place = tempfile::tempdir().unwrap();
        let here = |text: &str| text.replace("PLACE", place.path().to_str().unwrap());
        let texts: Vec<(&str, String)> =
            files.iter().map(|(path, text)| (*path, here(text))).collect();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, &**text)).collect();
        let switches = state_in(&place, Qwen, &texts).switches;
        let native = RuleTarget::Caseless("native".to_owned());
        assert_eq!(switches.iter().any(|switch| switch.target == native), is_off, "{files:?}");
    }
    // Gemini CLI reads its files after the settings.
    let files = [("p/.gemini/settings.json", settings), native];
    let switches = state(Gemini, &files).switches;
    assert!(switches.iter().all(|switch| switch.target != RuleTarget::Caseless("native".into())));
}

#[test]
fn gemini_and_qwen_fill_in_variables() {
    for (agent, file, text, is_off) in [
        (Gemini, "p/.gemini/settings.json", r#"{"skills": {"disabled": ["$NAME"]}}"#, true),
        (Gemini, "home/.gemini/settings.json", r#"{"skills": {"disabled": ["${NAME}"]}}"#, true),
        (
            Gemini,
            "p/.gemini/settings.json",
            r#"{"skills": {"disabled": ["${NONE:-native}"]}}"#,
            true,
        ),
        (Gemini, "p/.gemini/settings.json", r#"{"skills": {"disabled": ["$NONE"]}}"#, false),
        (Qwen, "home/.qwen/settings.json", r#"{"skills": {"disabled": ["$NAME"]}}"#, true),
    ] {
        let switches = state(agent, &[(file, text)]).switches;
        let native = RuleTarget::Caseless("native".to_owned());
        assert_eq!(switches.iter().any(|switch| switch.target == native), is_off, "{file} {text}");
    }
    for (value, is_off) in [
        ("\"false\"", true),
        ("\"${NONE:-false}\"", true),
        ("\"true\"", false),
        ("\"$NONE\"", false),
    ] {
        let text = format!("{{\"hooksConfig\": {{\"enabled\": {value}}}}}");
        let hooks_off = state(Gemini, &[("p/.gemini/settings.json", &text)]).hooks_off;
        assert_eq!(hooks_off.is_some(), is_off, "{value}");
    }
}
#[test]
fn open_code_fills_in_variables_and_files() {
    let rule = |name: &str, what: &str| {
        format!("{{\"permission\": {{\"skill\": {{\"{name}\": \"{what}\"}}}}}}")
    };
    for (file, text, is_off) in [
        ("p/opencode.json", rule("native", "deny"), true),
        ("p/opencode.json", rule("{env:NAME}", "deny"), true),
        ("p/opencode.json", rule("native", "{env:WHAT}"), true),
        ("p/opencode.json", rule("native", "{file:./what.txt}"), true),
        ("p/opencode.json", rule("native", "{file:./none.txt}"), false),
        ("p/opencode.json", rule("native", "{env:NONE}"), false),
        ("p/opencode.json", rule("{other:NAME}", "deny"), false),
        ("home/.config/opencode/opencode.json", rule("{env:NAME}", "deny"), true),
        ("etc/opencode/opencode.json", rule("native", "deny"), true),
    ] {
        let state = state(OpenCode, &[(file, &text), ("p/what.txt", "deny\n")]);
        let is_it = |target: &RuleTarget| *target == RuleTarget::Name("native".to_owned());
        let last = state.switches.iter().rfind(|switch| is_it(&switch.target));
        assert_eq!(last.is_some_and(|switch| switch.off), is_off, "{file} {text}");
    }
    let paths = ("p/opencode.json", r#"{"skills": {"paths": ["{env:DIR}/skills"]}}"#);
    let roots = state(OpenCode, &[paths]).roots;
    assert!(roots.iter().any(|root| root.path.ends_with("more/skills")), "{roots:?}");
}
