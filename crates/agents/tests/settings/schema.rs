//! The forms of the settings of Claude Code, as its program 2.1.332 was seen to treat them: one file of settings with a
//! hook for each line of `claude_settings.jsonl`, which also says whether the hook ran.

use repertoire_agents::HookAgent::ClaudeCode;
use serde_json::Value;

#[test]
fn claude_code_ignores_a_file_with_a_value_that_its_schema_refuses() {
    let cases = include_str!("claude_settings.jsonl").lines();
    for case in cases.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let file = "home/.claude/settings.json";
        let ignored =
            super::state(ClaudeCode, &[(file, &case["settings"].to_string())]).ignored_files;
        let is_read = ignored.is_empty();
        assert_eq!(Value::Bool(is_read), case["read"], "{case}: {ignored:?}");
        let name = case["settings"].as_object().unwrap().keys().next().unwrap();
        let names_it = |by: &str| by.starts_with(&**name);
        assert!(ignored.iter().all(|(_, by)| names_it(&by.setting)), "{ignored:?}");
    }
}

#[test]
fn the_innermost_wrong_value_is_told() {
    for (settings, told) in [
        (
            r#"{"sandbox": {"network": {"httpProxyPort": "x"}}}"#,
            r#"sandbox.network.httpProxyPort: "x""#,
        ),
        (r#"{"attribution": {"commit": 7}}"#, "attribution.commit: 7"),
        (r#"{"enabledPlugins": {"x@y": 1}}"#, "enabledPlugins.x@y: 1"),
        (r#"{"statusLine": {"type": "command"}}"#, r#"statusLine: {"type":"command"}"#),
        (r#"{"sshConfigs": [{"id": 7}]}"#, "sshConfigs.id: 7"),
    ] {
        let file = "home/.claude/settings.json";
        let ignored = super::state(ClaudeCode, &[(file, settings)]).ignored_files;
        let found: Vec<&str> = ignored.iter().map(|(_, by)| &*by.setting).collect();
        assert_eq!(found, [told]);
    }
}
