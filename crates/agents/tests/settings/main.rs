//! The settings of administrators, files that are not valid, and texts that stand for variables and files, as the
//! agents were seen to treat them (in a directory of its own in place of `/etc`).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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
        let found = state(agent, &files).managed_settings.unwrap();
        assert!(found.ends_with(wanted), "{agent} {files:?}: {}", found.display());
    }
}

#[test]
fn administrators_of_copilot_choose_what_counts() {
    let user = "home/.copilot/settings.json";
    let plugin = r#"{"enabledPlugins": {"kit@mk": true}, "extraKnownMarketplaces":
        {"mk": {"source": {"source": "directory", "path": "PLACE/mk"}}}}"#;
    let strict = r#"{"strictPluginOnlyCustomization": ["skills"]}"#;
    for (managed, has_plugin, has_own) in [
        ("{}", true, true),
        (strict, true, false),
        (r#"{"enabledPlugins": {"kit@mk": false}}"#, false, true),
        (r#"{"strictKnownMarketplaces": []}"#, false, true),
        (
            r#"{"strictKnownMarketplaces": [{"source": "directory", "path": "PLACE/mk"}]}"#,
            true,
            true,
        ),
        (r#"{"disabledSkills": ["native"]}"#, true, true),
    ] {
        let place = tempfile::tempdir().unwrap();
        let here = |text: &str| text.replace("PLACE", place.path().to_str().unwrap());
        let marketplace = r#"{"plugins": [{"name": "kit", "source": "./kit"}]}"#;
        let files = [
            (user, here(plugin)),
            (COPILOT, here(managed)),
            ("mk/.github/plugin/marketplace.json", marketplace.to_owned()),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        let state = state_in(&place, Copilot, &files);
        let kit = place.path().join("mk/kit/skills");
        assert_eq!(state.roots.iter().any(|root| root.path == kit), has_plugin, "{managed}");
        let own = RuleTarget::Below(place.path().join("p/.github/skills"));
        let is_off = state.switches.iter().any(|switch| switch.target == own && switch.off);
        assert_eq!(!is_off, has_own, "{managed}");
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

#[test]
fn settings_take_the_server_away_from_the_model() {
    let servers = ("p/.mcp.json", r#"{"mcpServers": {"repertoire": {"command": "repertoire"}}}"#);
    let local = "p/.claude/settings.local.json";
    for (agent, files, setting) in [
        (
            ClaudeCode,
            vec![servers, (local, r#"{"disabledMcpjsonServers": ["repertoire"]}"#)],
            Some(r#"disabledMcpjsonServers: ["repertoire"]"#),
        ),
        (ClaudeCode, vec![(local, r#"{"disabledMcpjsonServers": ["repertoire"]}"#)], None),
        (ClaudeCode, vec![servers, (local, r#"{"enabledMcpjsonServers": ["other"]}"#)], None),
        (
            ClaudeCode,
            vec![(local, r#"{"permissions": {"deny": ["mcp__repertoire"]}}"#)],
            Some(r#"permissions.deny: ["mcp__repertoire"]"#),
        ),
        (ClaudeCode, vec![(local, r#"{"permissions": {"deny": ["mcp__other"]}}"#)], None),
        (
            Gemini,
            vec![("p/.gemini/settings.json", r#"{"mcp": {"excluded": ["repertoire"]}}"#)],
            Some(r#"mcp.excluded: ["repertoire"]"#),
        ),
        (
            Qwen,
            vec![("home/.qwen/settings.json", r#"{"mcp": {"allowed": ["other"]}}"#)],
            Some(r#"mcp.allowed without "repertoire""#),
        ),
        (Qwen, vec![("home/.qwen/settings.json", r#"{"mcp": {"allowed": ["repertoire"]}}"#)], None),
        (
            Codex,
            vec![("home/.codex/config.toml", "[mcp_servers.repertoire]\nenabled = false\n")],
            Some("mcp_servers.repertoire.enabled = false"),
        ),
        (Codex, vec![("home/.codex/config.toml", "[mcp_servers.other]\nenabled = false\n")], None),
        (
            OpenCode,
            vec![("p/opencode.json", r#"{"mcp": {"repertoire": {"enabled": false}}}"#)],
            Some("mcp.repertoire.enabled: false"),
        ),
        (
            OpenCode,
            vec![("p/opencode.json", r#"{"tools": {"repertoire*": false}}"#)],
            Some("tools.repertoire*: false"),
        ),
        (OpenCode, vec![("p/opencode.json", r#"{"tools": {"repertoire*": true}}"#)], None),
    ] {
        let by = state(agent, &files).server_off.map(|by| by.setting);
        assert_eq!(by.as_deref(), setting, "{agent} {files:?}");
    }
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
