//! Settings that take the MCP server of this program away from the model. Seen with Claude Code 2.1.332, Codex
//! 0.171.0, Gemini CLI 0.61.0, `OpenCode` 1.18.33 and Qwen Code 0.24.4.

use toml_edit::{DocumentMut, Item};

use super::settings::Settings;
use super::{Obstacle, Start};

/// The name under which the server is installed.
const SERVER: &str = "repertoire";

/// Returns the setting of Claude Code. One of them is about the servers in a project's `.mcp.json` only.
pub(super) fn of_claude_code<'f>(
    files: impl Iterator<Item = &'f Settings>,
    start: &Start,
) -> Option<Obstacle> {
    let is_of_project = || {
        start.levels().into_iter().any(|dir| {
            let servers = Settings::read(dir.join(".mcp.json"));
            servers.is_some_and(|file| file.value["mcpServers"][SERVER].is_object())
        })
    };
    let denied = format!("mcp__{SERVER}");
    let mut off = files.filter_map(|file| {
        let names = |at: &str, name: &str| file.texts(at).contains(&name);
        let by = |setting: String| Some(Obstacle::new(setting, &file.path));
        if names("/disabledMcpjsonServers", SERVER) && is_of_project() {
            return by(format!("disabledMcpjsonServers: [\"{SERVER}\"]"));
        }
        if names("/permissions/deny", &denied) {
            return by(format!("permissions.deny: [\"{denied}\"]"));
        }
        None
    });
    off.next()
}

/// Returns the setting of Gemini CLI and Qwen Code, of whose `files` the last one has the highest precedence.
pub(super) fn of_gemini(files: &[&Settings]) -> Option<Obstacle> {
    let excludes = files.iter().find(|file| file.texts("/mcp/excluded").contains(&SERVER));
    if let Some(file) = excludes {
        return Some(Obstacle::new(format!("mcp.excluded: [\"{SERVER}\"]"), &file.path));
    }
    let file = files.iter().rev().find(|file| file.value.pointer("/mcp/allowed").is_some())?;
    (!file.texts("/mcp/allowed").contains(&SERVER))
        .then(|| Obstacle::new(format!("mcp.allowed without \"{SERVER}\""), &file.path))
}

/// Tells whether a configuration of Codex turns the server off, if it has a switch for it.
pub(super) fn is_off_in_codex(config: &DocumentMut) -> Option<bool> {
    let server = config.get("mcp_servers")?.get(SERVER)?;
    server.get("enabled").and_then(Item::as_bool).map(|is_on| !is_on)
}

/// The setting of Codex.
pub(super) fn codex_setting() -> String {
    format!("mcp_servers.{SERVER}.enabled = false")
}

/// Returns the setting of `OpenCode`, of whose `files` the last one has the highest precedence.
pub(super) fn of_open_code(files: &[&Settings]) -> Option<Obstacle> {
    let switch = format!("/mcp/{SERVER}/enabled");
    let decides = files.iter().rev().find(|file| file.switch(&switch).is_some());
    if let Some(file) = decides.filter(|file| file.switch(&switch) == Some(false)) {
        return Some(Obstacle::new(format!("mcp.{SERVER}.enabled: false"), &file.path));
    }
    // Its tools have the server's name before their own.
    let tool = format!("{SERVER}_use_skill");
    files.iter().find_map(|file| {
        let tools = file.properties(&["tools"]).into_iter();
        let mut off = tools.filter(|(name, is_on)| {
            *is_on == false
                && (*name == tool
                    || name.strip_suffix('*').is_some_and(|start| tool.starts_with(start)))
        });
        let (name, _) = off.next()?;
        Some(Obstacle::new(format!("tools.{name}: false"), &file.path))
    })
}
