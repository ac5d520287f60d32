//! The options of an agent's command line that take the tools of this program's MCP server away for a conversation.
//! Seen with the versions that `docs/agents.md` names.

use std::path::PathBuf;

use serde_json::Value;

use super::options::{Options, PLACE, by};
use super::server::{SERVER, TOOL, takes};
use super::settings::{Settings, text};
use super::{Obstacle, Start};
use crate::agent::HookAgent;

/// Returns the option that takes the tools of the server away.
pub(super) fn server_off(agent: HookAgent, start: &Start) -> Option<Obstacle> {
    let options = Options::of(start);
    if let Some(option) = options.without_all(agent).filter(|_| agent != HookAgent::OpenCode) {
        return Some(by(option));
    }
    let option = match agent {
        HookAgent::ClaudeCode => claude_code(options, start),
        HookAgent::Gemini | HookAgent::Qwen => {
            without(options, "--allowed-mcp-server-names", |name| name == SERVER)
        }
        HookAgent::Copilot => {
            let is_own = |tool: &str| tool == SERVER || tool == format!("{SERVER}-{TOOL}");
            named(options, &["--disable-mcp-server"], |name| name == SERVER)
                .or_else(|| named(options, &["--excluded-tools"], is_own))
                .or_else(|| without(options, "--available-tools", is_own))
        }
        HookAgent::Droid => {
            let is_own = |tool: &str| {
                let tool = tool.strip_prefix("MCP:").unwrap_or_default();
                tool == SERVER || tool == format!("{SERVER}/{TOOL}")
            };
            named(options, &["--remove-tools", "--disabled-tools"], is_own)
                .or_else(|| without(options, "--only-tools", is_own))
        }
        // Those of Codex are a layer of its configuration.
        HookAgent::Codex | HookAgent::OpenCode | HookAgent::Cursor => None,
    };
    option.map(|option| by(&option))
}

/// Tells whether the option by which Copilot CLI starts a server that its settings turn off names this one.
pub(super) fn is_turned_on(start: &Start) -> bool {
    named(Options::of(start), &["--enable-mcp-server"], |name| name == SERVER).is_some()
}

fn claude_code(options: Options<'_>, start: &Start) -> Option<String> {
    let strict = "--strict-mcp-config";
    let mut given = options.list(&["--mcp-config"]).into_iter();
    if options.has(strict) && !given.any(|given| has_server(given, start)) {
        return Some(strict.to_owned());
    }
    let names = ["--disallowedTools", "--disallowed-tools"];
    named(options, &names, |rule| takes(rule, &format!("mcp__{SERVER}")))
}

/// Tells whether a configuration, in JSON or in a file, has the server.
fn has_server(given: &str, start: &Start) -> bool {
    let file = || Some((text(&start.dir().join(given))?, PathBuf::from(given)));
    let given = if given.starts_with('{') {
        Some((given.to_owned(), PathBuf::from(PLACE)))
    } else {
        file()
    };
    let settings = given.and_then(|(text, path)| Settings::parse(&text, path));
    settings.is_some_and(|settings| settings.value["mcpServers"][SERVER] != Value::Null)
}

/// Returns the option if it names what `is_it` selects.
fn named(options: Options<'_>, names: &[&str], is_it: impl Fn(&str) -> bool) -> Option<String> {
    let value = options.tools(names).into_iter().find(|value| is_it(value))?;
    Some(format!("{} {value}", names[0]))
}

/// Returns the option if it is there and names nothing that `is_it` selects.
fn without(options: Options<'_>, name: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let left = options.tools(&[name]);
    (!left.is_empty() && !left.iter().any(|name| is_it(name)))
        .then(|| format!("{name} {}", left.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_takes_the_tools_of_the_server_away() {
        use HookAgent::{ClaudeCode, Codex, Copilot, Droid, Gemini, Qwen};
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("p");
        for (path, text) in [
            ("p/.git/HEAD", ""),
            ("p/with.json", r#"{"mcpServers": {"repertoire": {"command": "repertoire"}}}"#),
            ("p/without.json", r#"{"mcpServers": {}}"#),
            ("home/.codex/config.toml", "[mcp_servers.repertoire]\ncommand = \"repertoire\"\n"),
            ("home/.claude.json", r#"{"mcpServers": {"repertoire": {"command": "repertoire"}}}"#),
        ] {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for (agent, words, is_off) in [
            (ClaudeCode, "-p hi", false),
            (ClaudeCode, "--strict-mcp-config", true),
            (ClaudeCode, "--strict-mcp-config --mcp-config without.json", true),
            (ClaudeCode, "--strict-mcp-config --mcp-config without.json with.json", false),
            (
                ClaudeCode,
                r#"--strict-mcp-config --mcp-config={"mcpServers":{"repertoire":{}}}"#,
                false,
            ),
            (ClaudeCode, "--mcp-config without.json", false),
            (ClaudeCode, "--disallowedTools mcp__repertoire", true),
            (ClaudeCode, "--disallowed-tools Bash,mcp__repertoire__use_skill", true),
            (ClaudeCode, "--disallowedTools mcp__*", true),
            (ClaudeCode, "--disallowedTools mcp__other", false),
            (ClaudeCode, "--tools Bash", false),
            (ClaudeCode, "--setting-sources project", true),
            (ClaudeCode, "--setting-sources user,local", false),
            (ClaudeCode, "--restricted", true),
            (ClaudeCode, "--safe-mode", true),
            (ClaudeCode, r#"--settings {"deniedMcpServers":[{"serverName":"repertoire"}]}"#, true),
            (Codex, "exec hi", false),
            (Codex, "exec --ignore-user-config hi", true),
            (Codex, "-c mcp_servers.repertoire.enabled=false", true),
            (Gemini, "--allowed-mcp-server-names other", true),
            (Gemini, "--allowed-mcp-server-names other,repertoire", false),
            (Qwen, "--allowed-mcp-server-names=other", true),
            (Qwen, "--exclude-tools use_skill", false),
            (Qwen, "--bare", true),
            (Qwen, "--safe-mode", true),
            (Copilot, "--disable-mcp-server repertoire", true),
            (Copilot, "--disable-mcp-server other", false),
            (Copilot, "--disable-builtin-mcps", false),
            (Copilot, "--excluded-tools repertoire", true),
            (Copilot, "--excluded-tools repertoire-use_skill", true),
            (Copilot, "--excluded-tools repertoire-find_skills", false),
            (Copilot, "--available-tools bash", true),
            (Copilot, "--available-tools bash,repertoire", false),
            (Copilot, "--available-tools repertoire(use_skill)", true),
            (Copilot, "--deny-tool repertoire", false),
            (Droid, "exec --remove-tools MCP:repertoire", true),
            (Droid, "exec --remove-tools MCP:repertoire/use_skill", true),
            (Droid, "exec --only-tools Read", true),
            (Droid, "exec --only-tools Read,MCP:repertoire", false),
            (Droid, "exec --only-tools MCP:repertoire/find_skills", true),
        ] {
            let start = Start {
                home: Some(place.path().join("home")),
                project: project.clone(),
                dir: project.clone(),
                system: place.path().join("system"),
                options: words.split(' ').map(str::to_owned).collect(),
                ..Start::default()
            };
            let by = agent.server_off(&start);
            assert_eq!(by.is_some(), is_off, "{agent} {words}: {by:?}");
        }
    }

    #[test]
    fn an_option_turns_on_a_server_that_the_settings_turn_off() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".copilot")).unwrap();
        let settings = home.path().join(".copilot/settings.json");
        std::fs::write(settings, r#"{"disabledMcpServers": ["repertoire"]}"#).unwrap();
        for (words, is_off) in [
            ("", true),
            ("--enable-mcp-server repertoire", false),
            ("--enable-mcp-server other", true),
        ] {
            let options = words.split(' ').map(str::to_owned).collect();
            let start = Start { home: Some(home.path().to_owned()), options, ..Start::default() };
            assert_eq!(HookAgent::Copilot.server_off(&start).is_some(), is_off, "{words}");
        }
    }
}
