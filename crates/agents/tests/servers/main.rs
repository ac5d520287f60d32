//! The settings that take the tools of the MCP server away from the model, as the agents were seen to treat them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "one line a case")]

use std::fs;

use repertoire_agents::{HookAgent, Obstacle, Start};

use HookAgent::{ClaudeCode, Codex, Copilot, Droid, Gemini, OpenCode, Qwen};

const OF_USER: (&str, &str) = (
    "home/.claude.json",
    r#"{"mcpServers": {"repertoire": {"command": "repertoire", "args": ["mcp"]}}}"#,
);
const USER: &str = "home/.claude/settings.json";
const MANAGED: &str = "etc/claude-code/managed-settings.json";
const TOML: &str = "home/.codex/config.toml";
const SERVER_TOML: &str = "[mcp_servers.repertoire]\ncommand = \"repertoire\"";
const REQUIRED: &str = "etc/codex/requirements.toml";
const GEMINI: &str = "p/.gemini/settings.json";
const QWEN: &str = "p/.qwen/settings.json";
const SETTINGS: &str = "home/.copilot/settings.json";
const SERVERS: &str = "home/.copilot/mcp-config.json";
const COPILOT: &str = "etc/github-copilot/managed-settings.json";
const DROID_OFF: &str = r#"{"mcpServers": {"repertoire": {"disabled": true}}}"#;

/// Returns the setting with `files`, in which `PLACE` stands for the directory above the project `p` and the home
/// directory.
fn server_off(agent: HookAgent, files: &[(&str, &str)]) -> Option<Obstacle> {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("p/.git")).unwrap();
    for (path, text) in files {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), text.replace("PLACE", place.path().to_str().unwrap())).unwrap();
    }
    agent.server_off(&Start {
        home: Some(at("home")),
        config_home: Some(at("home/.config")),
        project: at("p"),
        dir: at("p"),
        system: place.path().to_owned(),
        ..Start::default()
    })
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
        // Claude Code: lists of the user, a project, the administrator and the directory.
        (ClaudeCode, vec![OF_USER, (USER, r#"{"disabledMcpjsonServers": ["repertoire"]}"#)], None),
        (
            ClaudeCode,
            vec![
                servers,
                (local, r#"{"enabledMcpjsonServers": ["repertoire"]}"#),
                (USER, r#"{"disabledMcpjsonServers": ["repertoire"]}"#),
            ],
            Some(r#"disabledMcpjsonServers: ["repertoire"]"#),
        ),
        (ClaudeCode, vec![servers, (local, r#"{"enableAllProjectMcpServers": false}"#)], None),
        (
            ClaudeCode,
            vec![OF_USER, (USER, r#"{"deniedMcpServers": [{"serverName": "repertoire"}]}"#)],
            Some(r#"deniedMcpServers: [{"serverName":"repertoire"}]"#),
        ),
        (
            ClaudeCode,
            vec![
                OF_USER,
                (MANAGED, r#"{"deniedMcpServers": [{"serverCommand": ["repertoire", "mcp"]}]}"#),
            ],
            Some(r#"deniedMcpServers: [{"serverCommand":["repertoire","mcp"]}]"#),
        ),
        (
            ClaudeCode,
            vec![
                OF_USER,
                (MANAGED, r#"{"deniedMcpServers": [{"serverCommand": ["repertoire"]}]}"#),
            ],
            None,
        ),
        (
            ClaudeCode,
            vec![OF_USER, (USER, r#"{"allowedMcpServers": [{"serverName": "other"}]}"#)],
            Some("allowedMcpServers without \"repertoire\""),
        ),
        (
            ClaudeCode,
            vec![OF_USER, (MANAGED, r#"{"allowedMcpServers": [{"serverName": "repertoire"}]}"#)],
            None,
        ),
        (
            ClaudeCode,
            vec![OF_USER, (MANAGED, r#"{"allowedMcpServers": []}"#)],
            Some("allowedMcpServers without \"repertoire\""),
        ),
        (
            ClaudeCode,
            vec![
                OF_USER,
                (MANAGED, r#"{"allowedMcpServers": [{"serverCommand": ["repertoire", "mcp"]}]}"#),
            ],
            None,
        ),
        (
            ClaudeCode,
            vec![
                OF_USER,
                (MANAGED, r#"{"allowManagedMcpServersOnly": true}"#),
                (USER, r#"{"allowedMcpServers": [{"serverName": "other"}]}"#),
            ],
            None,
        ),
        (
            ClaudeCode,
            vec![OF_USER, (MANAGED, r#"{"strictPluginOnlyCustomization": ["mcp"]}"#)],
            Some(r#"strictPluginOnlyCustomization: ["mcp"]"#),
        ),
        (
            ClaudeCode,
            vec![OF_USER, ("etc/claude-code/managed-mcp.json", r#"{"mcpServers": {}}"#)],
            Some("mcpServers"),
        ),
        (
            ClaudeCode,
            vec![OF_USER, (USER, r#"{"permissions": {"deny": ["mcp__repertoire__use_skill"]}}"#)],
            Some(r#"permissions.deny: ["mcp__repertoire__use_skill"]"#),
        ),
        (
            ClaudeCode,
            vec![OF_USER, (USER, r#"{"permissions": {"deny": ["mcp__*"]}}"#)],
            Some(r#"permissions.deny: ["mcp__*"]"#),
        ),
        (
            ClaudeCode,
            vec![(
                "home/.claude.json",
                r#"{"projects": {"PLACE/p": {"disabledMcpServers": ["repertoire"]}}}"#,
            )],
            Some(r#"disabledMcpServers: ["repertoire"]"#),
        ),
        (
            ClaudeCode,
            vec![(
                "home/.claude.json",
                r#"{"projects": {"PLACE/x": {"disabledMcpServers": ["repertoire"]}}}"#,
            )],
            None,
        ),
        (
            ClaudeCode,
            vec![(
                "home/.claude.json",
                r#"{"projects": {"PLACE/p": {"disabledMcpjsonServers": ["repertoire"]}}}"#,
            )],
            None,
        ),
        // Codex: its tools, and the administrator's list.
        (
            Codex,
            vec![(TOML, "[mcp_servers.repertoire]\ndisabled_tools = [\"use_skill\"]")],
            Some("mcp_servers.repertoire.disabled_tools = [\"use_skill\"]"),
        ),
        (Codex, vec![(TOML, "[mcp_servers.repertoire]\ndisabled_tools = [\"find_skills\"]")], None),
        (
            Codex,
            vec![(TOML, "[mcp_servers.repertoire]\nenabled_tools = []")],
            Some("mcp_servers.repertoire.enabled_tools without \"use_skill\""),
        ),
        (Codex, vec![(TOML, "[mcp_servers.repertoire]\nenabled_tools = [\"use_skill\"]")], None),
        (
            Codex,
            vec![(TOML, SERVER_TOML), (REQUIRED, "[mcp_servers]")],
            Some("mcp_servers without repertoire"),
        ),
        (
            Codex,
            vec![
                (TOML, SERVER_TOML),
                (REQUIRED, "[mcp_servers.repertoire]\nidentity = {command = \"repertoire\"}"),
            ],
            None,
        ),
        (
            Codex,
            vec![
                (TOML, SERVER_TOML),
                (REQUIRED, "[mcp_servers.repertoire]\nidentity = {command = \"x\"}"),
            ],
            Some("mcp_servers without repertoire"),
        ),
        (Codex, vec![(REQUIRED, "[mcp_servers]")], None),
        // Gemini CLI and Qwen Code: an empty list, and lists of tools.
        (Gemini, vec![(GEMINI, r#"{"mcp": {"allowed": []}}"#)], None),
        (
            Qwen,
            vec![(QWEN, r#"{"mcp": {"allowed": []}}"#)],
            Some("mcp.allowed without \"repertoire\""),
        ),
        (
            Gemini,
            vec![(GEMINI, r#"{"mcpServers": {"repertoire": {"excludeTools": ["use_skill"]}}}"#)],
            Some(r#"excludeTools: ["use_skill"]"#),
        ),
        (
            Qwen,
            vec![(QWEN, r#"{"mcpServers": {"repertoire": {"excludeTools": ["find_skills"]}}}"#)],
            None,
        ),
        (
            Qwen,
            vec![(QWEN, r#"{"mcpServers": {"repertoire": {"includeTools": ["find_skills"]}}}"#)],
            Some("includeTools without \"use_skill\""),
        ),
        (
            Gemini,
            vec![(GEMINI, r#"{"tools": {"exclude": ["mcp_repertoire_*"]}}"#)],
            Some(r#"tools.exclude: ["mcp_repertoire_*"]"#),
        ),
        (Gemini, vec![(GEMINI, r#"{"tools": {"exclude": ["mcp__repertoire__use_skill"]}}"#)], None),
        (Qwen, vec![(QWEN, r#"{"tools": {"exclude": ["use_skill"]}}"#)], None),
        (
            Gemini,
            vec![(
                "home/.gemini/mcp-server-enablement.json",
                r#"{"repertoire": {"enabled": false}}"#,
            )],
            Some(r#"repertoire: {"enabled": false}"#),
        ),
        // Copilot CLI: of the user, of the server itself, and of the administrator.
        (
            Copilot,
            vec![(SETTINGS, r#"{"disabledMcpServers": ["repertoire"]}"#)],
            Some(r#"disabledMcpServers: ["repertoire"]"#),
        ),
        (
            Copilot,
            vec![(SETTINGS, r#"{"disabled_mcp_servers": ["repertoire"]}"#)],
            Some(r#"disabled_mcp_servers: ["repertoire"]"#),
        ),
        (
            Copilot,
            vec![("home/.copilot/config.json", r#"{"disabledMcpServers": ["repertoire"]}"#)],
            None,
        ),
        (
            Copilot,
            vec![("p/.github/copilot/settings.json", r#"{"disabledMcpServers": ["repertoire"]}"#)],
            None,
        ),
        (Copilot, vec![(SERVERS, r#"{"mcpServers": {"repertoire": {"tools": ["*"]}}}"#)], None),
        (Copilot, vec![(SERVERS, r#"{"mcpServers": {"repertoire": {}}}"#)], None),
        (
            Copilot,
            vec![(SERVERS, r#"{"mcpServers": {"repertoire": {"tools": ["find_skills"]}}}"#)],
            Some(r#"tools: ["find_skills"]"#),
        ),
        (
            Copilot,
            vec![(SERVERS, r#"{"mcpServers": {"repertoire": {"disabled": true}}}"#)],
            Some("disabled: true"),
        ),
        (
            Copilot,
            vec![(COPILOT, r#"{"deniedMcpServers": [{"serverName": "repertoire"}]}"#)],
            Some(r#"deniedMcpServers: [{"serverName":"repertoire"}]"#),
        ),
        (
            Copilot,
            vec![(COPILOT, r#"{"allowedMcpServers": [{"serverName": "other"}]}"#)],
            Some("allowedMcpServers without \"repertoire\""),
        ),
        (
            Copilot,
            vec![(COPILOT, r#"{"allowManagedMcpServersOnly": true}"#)],
            Some("allowManagedMcpServersOnly: true"),
        ),
        (
            Copilot,
            vec![(COPILOT, r#"{"strictPluginOnlyCustomization": ["mcp"]}"#)],
            Some(r#"strictPluginOnlyCustomization: ["mcp"]"#),
        ),
        // Droid: the nearest file that has the server.
        (Droid, vec![("home/.factory/mcp.json", DROID_OFF)], Some("disabled: true")),
        (
            Droid,
            vec![
                ("home/.factory/mcp.json", DROID_OFF),
                ("p/.factory/mcp.json", r#"{"mcpServers": {"repertoire": {}}}"#),
            ],
            None,
        ),
        (
            Droid,
            vec![("home/.factory/mcp.json", r#"{"mcpServers": {"other": {"disabled": true}}}"#)],
            None,
        ),
    ] {
        let by = server_off(agent, &files).map(|by| by.setting);
        assert_eq!(by.as_deref(), setting, "{agent} {files:?}");
    }
}
