//! The settings of administrators, files that are not valid, and texts that stand for variables and files, as the
//! agents were seen to treat them (in a directory of its own in place of `/etc`).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod plugins;
mod schema;
mod variables;

use std::fs;

use repertoire::catalog::RuleTarget;
use repertoire_agents::{AgentState, HookAgent, Start};
use tempfile::TempDir;

use HookAgent::{ClaudeCode, Codex, Copilot, Gemini, OpenCode, Qwen};

/// A part of the administrator's settings for Claude Code.
const PART: &str = "etc/claude-code/managed-settings.d/10.json";
/// The administrator's settings for Copilot CLI.
const COPILOT: &str = "etc/github-copilot/managed-settings.json";

/// Returns the state of `agent` with `files`, in a project `p` beside the home directory and the system.
fn state(agent: HookAgent, files: &[(&str, &str)]) -> AgentState {
    state_in(&tempfile::tempdir().unwrap(), agent, files)
}

fn state_in(place: &TempDir, agent: HookAgent, files: &[(&str, &str)]) -> AgentState {
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("p/.git")).unwrap();
    for (path, text) in files {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), text).unwrap();
    }
    let variables = [("NAME", "native"), ("WHAT", "deny"), ("DIR", "/more")];
    agent.state(&Start {
        home: Some(at("home")),
        config_home: Some(at("home/.config")),
        project: at("p"),
        dir: at("p"),
        system: place.path().to_owned(),
        environment: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..Start::default()
    })
}

#[test]
fn a_file_that_is_not_valid_keeps_some_agents_from_starting() {
    for (agent, file, text, starts) in [
        (ClaudeCode, "etc/claude-code/managed-settings.json", "{\"disableAllHooks\": tru", false),
        (ClaudeCode, "etc/claude-code/managed-settings.json", "{ // x\n}", false),
        (ClaudeCode, "etc/claude-code/managed-settings.json", "{\"model\": 7}", true),
        (ClaudeCode, "p/.claude/settings.json", "{ // x\n}", true),
        (Gemini, "etc/gemini-cli/settings.json", "{\"a\" {}}", false),
        (Gemini, "etc/gemini-cli/settings.json", "{ // x\n}", true),
        (Gemini, "p/.gemini/settings.json", "{\"a\" {}}", false),
        (Gemini, "p/.gemini/settings.json", "", true),
        (Qwen, "etc/qwen-code/settings.json", "{\"a\" {}}", false),
        (Qwen, "p/.qwen/settings.json", "{\"a\" {}}", true),
        (Codex, "etc/codex/requirements.toml", "a = = 1", false),
        (Codex, "etc/codex/requirements.toml", "a = 1", true),
        (OpenCode, "p/opencode.json", "{\"permission\" {}}", false),
        (OpenCode, "p/opencode.json", "{ /* x */ }", true),
    ] {
        let place = tempfile::tempdir().unwrap();
        let not_starting = state_in(&place, agent, &[(file, text)]).not_starting();
        assert_eq!(not_starting.is_none(), starts, "{agent} {file} {text}: {not_starting:?}");
        assert!(not_starting.is_none_or(|by| by.file.ends_with(file)), "{agent} {file}");
    }
}

#[test]
fn administrators_turn_hooks_off() {
    let managed = "etc/claude-code/managed-settings.json";
    let off = "[features]\nhooks = false\n";
    let on = "[features]\nhooks = true\n";
    for (agent, files, setting, spares) in [
        (
            ClaudeCode,
            vec![(managed, r#"{"disableAllHooks": true}"#)],
            Some("disableAllHooks"),
            false,
        ),
        (
            ClaudeCode,
            vec![
                (managed, r#"{"disableAllHooks": false}"#),
                ("p/.claude/settings.json", r#"{"disableAllHooks": true}"#),
            ],
            None,
            false,
        ),
        (
            ClaudeCode,
            vec![(managed, r#"{"allowManagedHooksOnly": true}"#)],
            Some("allowManagedHooksOnly"),
            true,
        ),
        (
            ClaudeCode,
            vec![(managed, r#"{"strictPluginOnlyCustomization": ["hooks"]}"#)],
            Some(r#"strictPluginOnlyCustomization: ["hooks"]"#),
            true,
        ),
        (
            ClaudeCode,
            vec![(managed, r#"{"strictPluginOnlyCustomization": ["skills"]}"#)],
            None,
            false,
        ),
        // A switch of the user leaves the administrator's hooks on; one of a part of their settings does not.
        (
            ClaudeCode,
            vec![("home/.claude/settings.json", r#"{"disableAllHooks": true}"#)],
            Some("disableAllHooks"),
            true,
        ),
        (ClaudeCode, vec![(PART, r#"{"disableAllHooks": true}"#)], Some("disableAllHooks"), false),
        (
            ClaudeCode,
            vec![
                (managed, r#"{"disableAllHooks": true}"#),
                (PART, r#"{"disableAllHooks": false}"#),
            ],
            None,
            false,
        ),
        (
            ClaudeCode,
            vec![(PART, r#"{"allowManagedHooksOnly": true}"#)],
            Some("allowManagedHooksOnly"),
            true,
        ),
        (
            Codex,
            vec![("etc/codex/requirements.toml", "allow_managed_hooks_only = true")],
            Some("allow_managed_hooks_only = true"),
            true,
        ),
        (
            Codex,
            vec![("etc/codex/requirements.toml", "[features]\ncodex_hooks = false\n")],
            Some("features.codex_hooks = false"),
            false,
        ),
        (
            Copilot,
            vec![(COPILOT, r#"{"allowManagedHooksOnly": true}"#)],
            Some("allowManagedHooksOnly: true"),
            true,
        ),
        (Copilot, vec![(COPILOT, r#"{"disableAllHooks": true}"#)], None, false),
        (
            Copilot,
            vec![(COPILOT, r#"{"strictPluginOnlyCustomization": true}"#)],
            Some("strictPluginOnlyCustomization: true"),
            true,
        ),
        (
            Copilot,
            vec![("p/.github/copilot/settings.json", r#"{"disableAllHooks": true}"#)],
            Some("disableAllHooks"),
            true,
        ),
        (Codex, vec![("etc/codex/config.toml", off)], Some("features.hooks = false"), false),
        (Codex, vec![("etc/codex/config.toml", off), ("home/.codex/config.toml", on)], None, false),
        (Codex, vec![("etc/codex/requirements.toml", off)], Some("features.hooks = false"), false),
        (
            Codex,
            vec![("etc/codex/requirements.toml", off), ("home/.codex/config.toml", on)],
            Some("features.hooks = false"),
            false,
        ),
        (
            Codex,
            vec![("etc/codex/managed_config.toml", off), ("home/.codex/config.toml", on)],
            Some("features.hooks = false"),
            false,
        ),
        (
            Gemini,
            vec![("etc/gemini-cli/system-defaults.json", r#"{"hooksConfig": {"enabled": false}}"#)],
            Some("hooksConfig.enabled: false"),
            false,
        ),
        (
            Qwen,
            vec![("etc/qwen-code/settings.json", r#"{"disableAllHooks": true}"#)],
            Some("disableAllHooks: true"),
            false,
        ),
    ] {
        let state = state(agent, &files);
        let by = state.hooks_off.as_ref().map(|by| by.setting.as_str());
        assert_eq!((by, state.spares_managed_hooks), (setting, spares), "{agent} {files:?}");
    }
}

#[test]
fn parts_of_the_administrators_settings_count_in_their_order() {
    let off = r#"{"skillOverrides": {"native": "off"}}"#;
    let on = r#"{"skillOverrides": {"native": "on"}}"#;
    let base = "etc/claude-code/managed-settings.json";
    for (files, is_off) in [
        (vec![(PART, off)], true),
        (vec![(base, off), (PART, on)], false),
        (vec![(PART, off), ("etc/claude-code/managed-settings.d/20.json", on)], false),
        (vec![("etc/claude-code/managed-settings.d/.10.json", off)], false),
        (vec![("etc/claude-code/managed-settings.d/10.txt", off)], false),
        (vec![("etc/claude-code/managed-settings.d/10.JSON", off)], false),
        (vec![("etc/claude-code/managed-settings.d/more/10.json", off)], false),
    ] {
        let switches = state(ClaudeCode, &files).switches;
        let native = RuleTarget::Exact("native".to_owned());
        let last = switches.iter().rfind(|switch| switch.target == native);
        assert_eq!(last.is_some_and(|switch| switch.off), is_off, "{files:?}");
    }
    let broken = [(PART, "{\"a\": tru"), ("etc/claude-code/managed-settings.d/10.txt", "tru")];
    for (file, is_demanded) in [(broken[0], true), (broken[1], false)] {
        let place = tempfile::tempdir().unwrap();
        let fault = state_in(&place, ClaudeCode, &[file]).not_starting();
        assert_eq!(fault.is_some(), is_demanded, "{file:?}");
    }
}

#[test]
fn administrators_hooks_are_found_in_each_of_their_files() {
    let ours =
        r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"command": "repertoire hook NAME"}]}]}}"#;
    for (agent, files, wanted) in [
        (ClaudeCode, vec![], "etc/claude-code/managed-settings.json"),
        (ClaudeCode, vec![PART], PART),
        (Codex, vec![], "etc/codex/hooks.json"),
        (Codex, vec!["etc/codex/requirements.toml"], "etc/codex/requirements.toml"),
        (Codex, vec!["etc/codex/config.toml"], "etc/codex/config.toml"),
        (Copilot, vec![], "etc/github-copilot/policy.d/repertoire.json"),
        (Copilot, vec!["etc/github-copilot/policy.d/x.json"], "etc/github-copilot/policy.d/x.json"),
    ] {
        let text = ours.replace("NAME", agent.as_str());
        let files: Vec<(&str, &str)> = files.into_iter().map(|file| (file, &*text)).collect();
        let place = tempfile::tempdir().unwrap();
        let found = state_in(&place, agent, &files).managed_settings(agent).unwrap();
        assert!(found.ends_with(wanted), "{agent} {files:?}: {}", found.display());
    }
}
