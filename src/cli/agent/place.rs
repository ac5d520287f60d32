//! The owner of settings (user or project), and the directories where an agent keeps them.

use std::path::PathBuf;

use repertoire::integration::hook::HookAgent;
use repertoire::{Error, ErrorCode};
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
    /// Settings of the project that are not shared. Nothing is installed there, but some users edit
    /// them by hand.
    Local,
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
        }
    }
}

/// Returns the directory of the project, which must exist.
pub(crate) fn project_dir(common: &Common) -> Result<PathBuf, Error> {
    if common.project.is_dir() {
        return Ok(common.project.clone());
    }
    let message = format!("the project {} is not a directory", common.project.display());
    Err(Error::new(
        ErrorCode::NotFound,
        message,
        "name the project's directory with `--project DIR`",
    ))
}

/// Returns the directory of the user's settings for `agent`.
pub(crate) fn user_dir(agent: HookAgent) -> Result<PathBuf, Error> {
    let (variable, below_home) = match agent {
        HookAgent::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
        HookAgent::Codex => ("CODEX_HOME", ".codex"),
        HookAgent::Gemini => ("", ".gemini"),
        HookAgent::Cursor => ("", ".cursor"),
        HookAgent::Copilot => ("COPILOT_HOME", ".copilot"),
        HookAgent::OpenCode => ("OPENCODE_CONFIG_DIR", ""),
        _ => return Err(unknown(agent)),
    };
    let named = if variable.is_empty() { None } else { std::env::var_os(variable) };
    if let Some(dir) = named.map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        return Ok(dir);
    }
    let dir = match agent {
        HookAgent::OpenCode => {
            setup::directory("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("opencode"))
        }
        _ => setup::home().map(|home| home.join(below_home)),
    };
    dir.ok_or_else(|| {
        let message = format!("there is no home directory with the settings of {agent}");
        Error::new(ErrorCode::NotFound, message, "set `HOME`, or use `--project`")
    })
}

/// The error for an agent that this program does not know.
pub(crate) fn unknown(agent: HookAgent) -> Error {
    let message = format!("it is not known where {agent} has its settings");
    Error::new(ErrorCode::InternalError, message, "")
}
