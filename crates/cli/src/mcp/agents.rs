//! The agents that read MCP servers from a settings file: its path and its form.

use std::path::{Path, PathBuf};

use etcetera::base_strategy::BaseStrategy as _;
use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use serde_json::{Value, json};

use super::entry::{Form, Server};
use crate::agent::{self, Place, Settings};
use crate::args::{Common, McpAgent};
use crate::setup;

impl McpAgent {
    /// Returns the settings file, and the directory above all that is made for the agent.
    pub(super) fn file(self, place: Place, common: &Common) -> Result<(PathBuf, PathBuf), Error> {
        let base = match place {
            Place::User | Place::System => self.user_dir(common)?,
            _ => setup::project_dir(common)?.to_owned(),
        };
        let is_user = place == Place::User;
        let name = match self {
            // `OpenCode` reads both names: do not create a second file beside an existing one.
            McpAgent::Hooked(HookAgent::OpenCode)
                if base.join("opencode.jsonc").is_file()
                    && !base.join("opencode.json").is_file() =>
            {
                "opencode.jsonc"
            }
            McpAgent::Hooked(agent) => {
                let (user, project) = Settings::of(agent)?.servers;
                if is_user { user } else { project }
            }
            McpAgent::VsCode if is_user => "mcp.json",
            McpAgent::VsCode => ".vscode/mcp.json",
        };
        let file = base.join(name);
        // In the home directory is only the file itself.
        let is_home = setup::home().is_some_and(|home| home == base);
        // VS Code has its settings two directories down: `Code/User`.
        let depth = if matches!(self, McpAgent::VsCode) { 2 } else { 1 };
        let above = base.ancestors().nth(depth).filter(|_| is_user && !is_home).map(Path::to_owned);
        Ok((file, above.unwrap_or(base)))
    }

    /// Returns the directory of the user's settings.
    fn user_dir(self, common: &Common) -> Result<PathBuf, Error> {
        let dir = match self {
            // Claude Code keeps the file beside its settings directory, unless a variable names that
            // directory.
            McpAgent::Hooked(HookAgent::ClaudeCode)
                if std::env::var_os("CLAUDE_CONFIG_DIR").is_none() =>
            {
                setup::home()
            }
            McpAgent::Hooked(agent) => return agent::user_dir(agent, common),
            McpAgent::VsCode if cfg!(target_os = "macos") => {
                setup::home().map(|home| home.join("Library/Application Support/Code/User"))
            }
            McpAgent::VsCode if cfg!(windows) => {
                std::env::var_os("APPDATA").map(|dir| PathBuf::from(dir).join("Code/User"))
            }
            McpAgent::VsCode => {
                setup::directories().map(|dirs| dirs.config_dir().join("Code/User"))
            }
        };
        dir.ok_or_else(|| {
            let message = format!("there is no home directory with the settings of {self}");
            Error::new(ErrorCode::NotFound, message, "set `HOME`, or use `--project`")
        })
    }

    /// Tells whether this user has the agent: its settings, or its program.
    pub(crate) fn is_here(self, common: &Common) -> bool {
        let programs: &[&str] = match self {
            McpAgent::Hooked(HookAgent::ClaudeCode) => &["claude"],
            McpAgent::Hooked(HookAgent::Cursor) => &["cursor", "cursor-agent"],
            McpAgent::Hooked(agent) => &[agent.as_str()],
            McpAgent::VsCode => &["code"],
        };
        let dir = match self {
            McpAgent::Hooked(agent) => agent::user_dir(agent, common),
            McpAgent::VsCode => self.user_dir(common),
        };
        dir.is_ok_and(|dir| dir.is_dir())
            || programs.iter().any(|program| which::which(program).is_ok())
    }

    /// Returns the entry with which the agent runs `words`.
    pub(super) fn server(self, words: &[String]) -> Server {
        let (program, args) =
            words.split_first().map_or(("", words), |(program, args)| (program, args));
        let command = json!({"command": program, "args": args});
        let (form, command, defaults) = match self {
            McpAgent::Hooked(HookAgent::Codex) => (Form::Toml, command, Value::Null),
            McpAgent::Hooked(HookAgent::OpenCode) => {
                let defaults = json!({"type": "local", "enabled": true});
                (Form::Json("mcp"), json!({"command": words}), defaults)
            }
            McpAgent::Hooked(HookAgent::ClaudeCode | HookAgent::Copilot | HookAgent::Droid) => {
                (Form::Json("mcpServers"), command, json!({"type": "stdio"}))
            }
            McpAgent::VsCode => (Form::Json("servers"), command, json!({"type": "stdio"})),
            McpAgent::Hooked(_) => (Form::Json("mcpServers"), command, Value::Null),
        };
        Server { agent: self, form, command, defaults }
    }
}
