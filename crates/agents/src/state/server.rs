//! Settings that take the MCP server of this program away from the model. Seen with Claude Code 2.1.332, Codex
//! 0.171.0, Gemini CLI 0.61.0, Copilot CLI 1.0.102, `OpenCode` 1.18.33, Qwen Code 0.24.4 and Droid 0.215.0.

use std::path::Path;

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item};

use super::claude_settings::{Files, MANAGED};
use super::options::without_source;
use super::settings::Settings;
use super::{Obstacle, Start};
use crate::agent::HookAgent;

/// The name under which the server is installed.
pub(super) const SERVER: &str = "repertoire";

/// The tool of the server without which the model loads no skill.
pub(super) const TOOL: &str = "use_skill";

/// Returns the setting of Copilot CLI: of the `user`, of the file in which the server is installed, or of the
/// administrator.
pub(super) fn of_copilot(
    user: Option<&Settings>,
    servers: Option<&Settings>,
    managed: Option<&Settings>,
) -> Option<Obstacle> {
    for key in ["disabledMcpServers", "disabled_mcp_servers"] {
        if let Some(file) = user.filter(|file| file.texts(&format!("/{key}")).contains(&SERVER)) {
            return Some(Obstacle::new(format!("{key}: [\"{SERVER}\"]"), &file.path));
        }
    }
    let entry = servers.map_or(&Value::Null, |file| &file.value["mcpServers"][SERVER]);
    let by_entry = servers.and_then(|file| {
        let lists_it = |list: &Vec<Value>| list.iter().any(|tool| tool == "*" || tool == TOOL);
        if entry["disabled"] == true {
            return Some(Obstacle::new("disabled: true", &file.path));
        }
        let tools = entry["tools"].as_array().filter(|list| !lists_it(list))?;
        Some(Obstacle::new(format!("tools: {}", Value::from(tools.clone())), &file.path))
    });
    by_entry.or_else(|| {
        let file = managed?;
        let only = file.switch("/allowManagedMcpServersOnly") == Some(true);
        let only = only.then_some("allowManagedMcpServersOnly: true");
        refused_by(&[file], &[file], entry).or_else(|| {
            only.filter(|_| file.value["allowedMcpServers"].is_null())
                .map(|setting| Obstacle::new(setting, &file.path))
        })
    })
}

/// Returns the setting of Droid, of whose `files` the last one that has the server decides.
pub(super) fn of_droid(files: impl DoubleEndedIterator<Item = Settings>) -> Option<Obstacle> {
    let file = files.rev().find(|file| file.value["mcpServers"][SERVER].is_object())?;
    let is_off = file.value["mcpServers"][SERVER]["disabled"] == true;
    is_off.then(|| Obstacle::new("disabled: true", &file.path))
}

/// Returns the setting of Claude Code about `server`, as its file has it. `local` is the file with its own state,
/// which has lists for each directory.
pub(super) fn of_claude_code(files: &Files, start: &Start) -> Option<Obstacle> {
    let local = start.dir_of("CLAUDE_CONFIG_DIR", "").map(|dir| dir.join(".claude.json"));
    let local = local.and_then(Settings::read);
    let of_project = start.levels().into_iter().rev().find_map(|dir| {
        let servers = Settings::read(dir.join(".mcp.json"))?;
        Some(servers.value["mcpServers"][SERVER].clone()).filter(Value::is_object)
    });
    let is_of_project = of_project.is_some();
    let unread = without_source(start, if is_of_project { "project" } else { "user" });
    let of_user = local.iter().map(|file| file.value["mcpServers"][SERVER].clone());
    let server = of_project.or_else(|| of_user.into_iter().next()).unwrap_or_default();
    let named_off = |file: &Settings| {
        let disabled = file.texts("/disabledMcpjsonServers").contains(&SERVER) && is_of_project;
        disabled
            .then(|| Obstacle::new(format!("disabledMcpjsonServers: [\"{SERVER}\"]"), &file.path))
    };
    let denied = |file: &Settings| {
        let rules = file.texts("/permissions/deny");
        let rule = rules.into_iter().find(|rule| takes(rule, &format!("mcp__{SERVER}")))?;
        Some(Obstacle::new(format!("permissions.deny: [\"{rule}\"]"), &file.path))
    };
    let of_directory = |key: &str| {
        let file = local.as_ref()?;
        let here = start.dir().to_string_lossy().into_owned();
        let list = file.value["projects"][here][key].as_array()?;
        let by = || Obstacle::new(format!("{key}: [\"{SERVER}\"]"), &file.path);
        list.iter().any(|name| name == SERVER).then(by)
    };
    let managed_only =
        files.managed.iter().any(|file| file.switch("/allowManagedMcpServersOnly") == Some(true));
    let all: Vec<&Settings> = files.all().collect();
    let managed: Vec<&Settings> = files.managed.iter().collect();
    let allowing = if managed_only { &managed } else { &all };
    let exclusive = Settings::read(start.in_system(MANAGED).join("managed-mcp.json"));
    let exclusive = exclusive.filter(|file| !file.value["mcpServers"][SERVER].is_object());
    unread
        .or_else(|| files.all().find_map(|file| named_off(file).or_else(|| denied(file))))
        .or_else(|| of_directory("disabledMcpServers"))
        .or_else(|| of_directory("disabledMcpjsonServers").filter(|_| is_of_project))
        .or_else(|| refused_by(&all, allowing, &server))
        .or_else(|| files.plugins_only("mcp"))
        .or_else(|| exclusive.map(|file| Obstacle::new("mcpServers", &file.path)))
}

/// Tells whether a rule takes away a tool of the server, whose tools have the names `SERVER__TOOL`.
pub(super) fn takes(rule: &str, server: &str) -> bool {
    rule == server || covers(rule, &format!("{server}__{TOOL}"))
}

/// Tells whether a name, or the beginning of one before `*`, is that of `tool`.
fn covers(pattern: &str, tool: &str) -> bool {
    pattern == tool || pattern.strip_suffix('*').is_some_and(|start| tool.starts_with(start))
}

/// Returns the list of `deniedMcpServers` in `denying` files that has the server, or of `allowedMcpServers` in
/// `allowing` ones that lacks it. An entry has its name, or its command with all arguments; if one has a command,
/// names of servers do not count.
fn refused_by(denying: &[&Settings], allowing: &[&Settings], server: &Value) -> Option<Obstacle> {
    const DENIED: &str = "deniedMcpServers";
    const ALLOWED: &str = "allowedMcpServers";
    let words = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let command: Vec<Value> =
        std::iter::once(server["command"].clone()).chain(words(&server["args"])).collect();
    let has_command = |entry: &Value| words(&entry["serverCommand"]) == command;
    let has_name = |entry: &Value| entry["serverName"] == SERVER;
    let denies = |file: &&&Settings| {
        words(&file.value[DENIED]).iter().any(|entry| has_name(entry) || has_command(entry))
    };
    if let Some(file) = denying.iter().find(denies) {
        let setting = format!("{DENIED}: {}", file.value[DENIED]);
        return Some(Obstacle::new(setting, &file.path));
    }
    let file = allowing.iter().rev().find(|file| file.value[ALLOWED].is_array())?;
    let allowed: Vec<Value> =
        allowing.iter().flat_map(|file| words(&file.value[ALLOWED])).collect();
    let by_command = allowed.iter().any(|entry| entry["serverCommand"].is_array());
    let is_allowed = |entry: &Value| if by_command { has_command(entry) } else { has_name(entry) };
    (!allowed.iter().any(is_allowed))
        .then(|| Obstacle::new(format!("{ALLOWED} without \"{SERVER}\""), &file.path))
}

/// Returns the setting of Gemini CLI and Qwen Code, of whose `files` the last one has the highest precedence.
pub(super) fn of_gemini(agent: HookAgent, files: &[&Settings]) -> Option<Obstacle> {
    let excludes = files.iter().find(|file| file.texts("/mcp/excluded").contains(&SERVER));
    if let Some(file) = excludes {
        return Some(Obstacle::new(format!("mcp.excluded: [\"{SERVER}\"]"), &file.path));
    }
    let is_gemini = agent == HookAgent::Gemini;
    // Gemini CLI takes an empty list for none.
    let is_list = |file: &&&Settings| {
        let list = file.value.pointer("/mcp/allowed");
        list.is_some_and(|list| !is_gemini || list.as_array().is_some_and(|all| !all.is_empty()))
    };
    if let Some(file) = files.iter().rev().find(is_list)
        && !file.texts("/mcp/allowed").contains(&SERVER)
    {
        return Some(Obstacle::new(format!("mcp.allowed without \"{SERVER}\""), &file.path));
    }
    let of_entry = |key: &str| {
        let at = format!("/mcpServers/{SERVER}/{key}");
        let file = files.iter().rev().find(|file| file.value.pointer(&at).is_some())?;
        Some((file.texts(&at), *file))
    };
    if let Some((tools, file)) = of_entry("excludeTools").filter(|(tools, _)| tools.contains(&TOOL))
    {
        return Some(Obstacle::new(format!("excludeTools: {}", Value::from(tools)), &file.path));
    }
    if let Some((_, file)) = of_entry("includeTools").filter(|(tools, _)| !tools.contains(&TOOL)) {
        return Some(Obstacle::new(format!("includeTools without \"{TOOL}\""), &file.path));
    }
    // Qwen Code compares other names here, and still shows the tools.
    files.iter().filter(|_| is_gemini).find_map(|file| {
        // It names the tool with its server, too.
        let is_it = |tool: &&str| *tool == TOOL || covers(tool, &format!("mcp_{SERVER}_{TOOL}"));
        let tool = file.texts("/tools/exclude").into_iter().find(is_it)?;
        Some(Obstacle::new(format!("tools.exclude: [\"{tool}\"]"), &file.path))
    })
}

/// Returns the switch of Gemini CLI, `/mcp disable`, in the directory of the user's settings.
pub(super) fn of_gemini_switch(user_dir: Option<&Path>) -> Option<Obstacle> {
    let file = Settings::read(user_dir?.join("mcp-server-enablement.json"))?;
    let is_off = file.switch(&format!("/{SERVER}/enabled")) == Some(false);
    is_off.then(|| Obstacle::new(format!("{SERVER}: {{\"enabled\": false}}"), &file.path))
}

/// Tells whether a configuration of Codex has the server.
pub(super) fn is_in_codex(config: &DocumentMut) -> bool {
    config.get("mcp_servers").is_some_and(|servers| servers.get(SERVER).is_some())
}

/// Returns the setting in a configuration of Codex that takes the server away.
pub(super) fn of_codex(config: &DocumentMut) -> Option<String> {
    let server = config.get("mcp_servers")?.get(SERVER)?;
    let has_tool = |list: &Array| list.iter().any(|tool| tool.as_str() == Some(TOOL));
    let list = |key: &str| server.get(key).and_then(Item::as_array);
    let by = |setting: &str| Some(format!("mcp_servers.{SERVER}.{setting}"));
    if server.get("enabled").and_then(Item::as_bool) == Some(false) {
        return by("enabled = false");
    }
    if list("enabled_tools").is_some_and(|list| !has_tool(list)) {
        return by(&format!("enabled_tools without \"{TOOL}\""));
    }
    let is_disabled = list("disabled_tools").is_some_and(has_tool);
    is_disabled.then(|| by(&format!("disabled_tools = [\"{TOOL}\"]"))).flatten()
}

/// Returns the list of servers in the requirements of Codex that lacks this one, which runs `command`.
pub(super) fn required_in_codex(
    requirements: &DocumentMut,
    command: Option<&str>,
) -> Option<String> {
    let servers = requirements.get("mcp_servers")?;
    let identity = servers.get(SERVER).and_then(|server| server.get("identity"));
    let wanted = identity.and_then(|identity| identity.get("command")).and_then(Item::as_str);
    (wanted.is_none() || wanted != command).then(|| format!("mcp_servers without {SERVER}"))
}

/// Returns the command of the server in a configuration of Codex.
pub(super) fn command_in_codex(config: &DocumentMut) -> Option<&str> {
    config.get("mcp_servers")?.get(SERVER)?.get("command")?.as_str()
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
