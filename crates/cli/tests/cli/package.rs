//! Packages of the hooks and the MCP server, which agents can install.

use serde_json::Value;

use crate::binary::Place;

#[test]
fn a_package_has_hooks_and_server_where_its_agent_looks() {
    for (agent, manifest, hooks, servers, event) in [
        (
            "claude-code",
            ".claude-plugin/plugin.json",
            "hooks/hooks.json",
            ".mcp.json",
            "UserPromptSubmit",
        ),
        (
            "codex",
            "plugins/repertoire/.codex-plugin/plugin.json",
            "plugins/repertoire/hooks/hooks.json",
            "plugins/repertoire/.mcp.json",
            "UserPromptSubmit",
        ),
        (
            "gemini", "gemini-extension.json", "hooks/hooks.json", "gemini-extension.json",
            "BeforeAgent",
        ),
        (
            "qwen", "qwen-extension.json", "hooks/hooks.json", "qwen-extension.json",
            "UserPromptSubmit",
        ),
        ("copilot", "plugin.json", "hooks.json", ".mcp.json", "userPromptSubmitted"),
    ] {
        let place = Place::new();
        let read = |name: &str| -> Value {
            let path = place.path().join("made").join(name);
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
        };
        let args = ["package", agent, "--out", "made", "--brand", "acme", "--json"];
        let told = place.run(args).exits(0).json();
        let first = told["install"][0].as_str().unwrap();
        assert!(first.ends_with("/made"), "{told}");
        assert_eq!(read(manifest)["name"], "repertoire");
        assert_eq!(read(manifest)["version"], env!("CARGO_PKG_VERSION"));
        let hooks = read(hooks);
        let hook = &hooks["hooks"][event][0];
        let hook = hook["hooks"].get(0).unwrap_or(hook);
        let command = hook["command"].as_str().unwrap();
        let wanted = format!("hook {agent} --brand acme --with-server");
        assert!(command.ends_with(&wanted), "{command}");
        assert_eq!(hooks["version"] == 1, agent == "copilot", "{hooks}");
        let server = &read(servers)["mcpServers"]["repertoire"];
        assert_eq!(
            server["args"],
            serde_json::json!(["mcp", "--no-list", "--agent", agent, "--brand", "acme"])
        );
        // The command overwrites its own output directory, but no other directory.
        place.run(args).exits(0);
        place.write("other/mine.txt", "x");
        let refused = place.run(["package", agent, "--out", "other"]).exits(1);
        assert!(refused.stderr.contains("other holds something else"), "{refused:?}");
    }
    Place::new().run(["package", "cursor"]).exits(2);
}
