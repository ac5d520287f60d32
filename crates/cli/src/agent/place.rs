//! The owner of settings (user or project), and the directories in which agents keep them.

use std::path::PathBuf;

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use serde::Serialize;

use crate::args::{Common, PlaceArgs};
use crate::failure::UsageError;
use crate::setup;

/// The settings of a project that are not shared; only Claude Code has them.
pub(crate) const LOCAL_SETTINGS: &str = "settings.local.json";

/// The owner of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    User,
    Project,
    /// Settings of the administrator, in which nothing is installed by this program.
    System,
    /// Settings of the project that are not shared. Nothing is installed there, but some users edit
    /// them by hand.
    Local,
    /// Another file that people edit by hand.
    #[serde(rename = "by hand")]
    ByHand,
    /// A plugin or an extension of the agent, such as a package of this program.
    Plugin,
}

impl Place {
    /// Returns the place that a command line names.
    pub(crate) fn named(args: &PlaceArgs, common: &Common) -> Result<Place, UsageError> {
        match (args.user, common.names_project) {
            (true, true) => Err(UsageError(Error::new(
                ErrorCode::InvalidParam,
                "`--user` and `--project` exclude each other",
                "install twice, if both are wanted",
            ))),
            (_, false) => Ok(Place::User),
            (false, true) => Ok(Place::Project),
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Place::User => "user",
            Place::Project => "project",
            Place::Local => "local",
            Place::ByHand => "by hand",
            Place::Plugin => "plugin",
            Place::System => "system",
        }
    }
}

/// The places of an agent's settings.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The directory of a project's settings, relative to the project.
    pub(crate) project_dir: &'static str,
    /// The file with hooks, relative to either directory.
    pub(crate) hooks: &'static str,
    /// The files with MCP servers: relative to the user's directory, and relative to the project.
    pub(crate) servers: (&'static str, &'static str),
}

impl Settings {
    /// Returns the places of the settings of `agent`.
    pub(crate) fn of(agent: HookAgent) -> Result<Settings, Error> {
        Ok(match agent {
            HookAgent::ClaudeCode => Settings {
                project_dir: ".claude",
                hooks: "settings.json",
                servers: (".claude.json", ".mcp.json"),
            },
            HookAgent::Codex => Settings {
                project_dir: ".codex",
                hooks: "hooks.json",
                servers: ("config.toml", ".codex/config.toml"),
            },
            HookAgent::Gemini => Settings {
                project_dir: ".gemini",
                hooks: "settings.json",
                servers: ("settings.json", ".gemini/settings.json"),
            },
            HookAgent::Cursor => Settings {
                project_dir: ".cursor",
                hooks: "hooks.json",
                servers: ("mcp.json", ".cursor/mcp.json"),
            },
            HookAgent::Copilot => Settings {
                project_dir: ".github",
                hooks: "hooks/repertoire.json",
                servers: ("mcp-config.json", ".mcp.json"),
            },
            HookAgent::OpenCode => Settings {
                project_dir: ".opencode",
                hooks: "plugins/repertoire.js",
                servers: ("opencode.json", "opencode.json"),
            },
            HookAgent::Qwen => Settings {
                project_dir: ".qwen",
                hooks: "settings.json",
                servers: ("settings.json", ".qwen/settings.json"),
            },
            HookAgent::Droid => Settings {
                project_dir: ".factory",
                hooks: "settings.json",
                servers: ("mcp.json", ".factory/mcp.json"),
            },
            _ => return Err(unknown(agent)),
        })
    }
}

/// Returns the directory of the user's settings for `agent`.
pub(crate) fn user_dir(agent: HookAgent, common: &Common) -> Result<PathBuf, Error> {
    agent.user_dir(&setup::start(common)).ok_or_else(|| {
        let message = format!("there is no home directory with the settings of {agent}");
        Error::new(ErrorCode::NotFound, message, "set `HOME`, or use `--project`")
    })
}

/// Returns the error for an agent whose places of settings this program does not know.
pub(crate) fn unknown(agent: HookAgent) -> Error {
    let message = format!("the place of {agent}'s settings is not known");
    Error::new(ErrorCode::InternalError, message, "")
}
