//! Settings because of which the model has neither hook nor server, and plugins that nobody installed.

use serde_json::json;

use crate::binary::Place;

const SKILL: &str =
    "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
const MESSAGE: &str = "a limerick, please";

#[test]
fn a_setting_that_hides_the_tools_of_the_server_is_told_where_no_hook_runs() {
    let off = json!({"disableAllHooks": true}).to_string();
    let both = json!({
        "disableAllHooks": true, "deniedMcpServers": [{"serverName": "repertoire"}],
    });
    for (settings, is_told) in [(off, false), (both.to_string(), true)] {
        let place = Place::new();
        place.write(".git/HEAD", "");
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        for what in ["hook", "mcp"] {
            place.run([what, "install", "claude-code"]).exits(0);
        }
        place.write(".claude/settings.local.json", &settings);
        let args = ["why", "verse", MESSAGE, "--agent", "claude-code", "--json"];
        let verdict = place.run(args).json();
        let reason = verdict["reason"].as_str().unwrap();
        assert!(reason.contains("disableAllHooks"), "{verdict:#}");
        let told = "as for the MCP server, Claude Code does not show its tools to the model because of \
                    `deniedMcpServers";
        assert_eq!(reason.contains(told), is_told, "{verdict:#}");
        let doctor = place.run(["doctor", "--bundled=off"]).stdout;
        assert_eq!(doctor.contains("MCP server of claude-code: "), is_told, "{doctor}");
    }
}

#[test]
fn a_plugin_that_is_on_and_not_installed_is_told() {
    for (agent, file, text) in [
        ("claude-code", "home/.claude/settings.local.json", "{}"),
        ("codex", "home/.codex/config.toml", "[plugins.\"poetry@market\"]\nenabled = true\n"),
        ("droid", ".factory/settings.json", r#"{"enabledPlugins": {"poetry@market": true}}"#),
        (
            "copilot",
            "home/.copilot/settings.json",
            r#"{"enabledPlugins": {"poetry@market": true}}"#,
        ),
    ] {
        let place = Place::new();
        place.write(".git/HEAD", "");
        place.write(".repertoire/skills/prose/SKILL.md", SKILL.replace("verse", "prose"));
        place.run(["hook", "install", agent]).exits(0);
        place.write(file, text);
        place.write(".claude/settings.json", r#"{"enabledPlugins": {"poetry@market": true}}"#);
        let run = place.run(["why", "poetry/verse", MESSAGE, "--agent", agent]).exits(1);
        assert!(
            run.stderr.contains("has not installed the plugin `poetry@market`"),
            "{}",
            run.stderr
        );
        let run = place.run(["why", "other/verse", MESSAGE, "--agent", agent]);
        assert!(!run.stderr.contains("has not installed"), "{}", run.stderr);
    }
}
