//! The place and the environment in which an agent starts.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf, absolute};

use super::Obstacle;
use super::settings::text;
use repertoire::catalog::levels;
use repertoire_system::project::is_safe_above;

/// The place and the environment in which an agent starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory of the user's settings by the XDG specification.
    pub config_home: Option<PathBuf>,
    /// The root of the project.
    pub project: PathBuf,
    /// The directory in which the agent starts, in the project.
    pub dir: PathBuf,
    /// Environment variables, of those in [`Start::VARIABLES`].
    pub variables: BTreeMap<&'static str, OsString>,
    /// All environment variables, for settings that name one.
    pub environment: BTreeMap<String, String>,
    /// The words of the command line with which the agent was started, without the program; empty if they are
    /// not known.
    pub options: Vec<String>,
    /// The directory above those with settings of the system; `/` outside of tests.
    pub system: PathBuf,
}

impl Start {
    /// The environment variables on which the state of an agent depends.
    pub const VARIABLES: [&'static str; 36] = [
        "ANTHROPIC_MODEL",
        "CLAUDE_CODE_DISABLE_ATTACHMENTS",
        "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
        "CLAUDE_CODE_PLUGIN_DIRS",
        "CLAUDE_CODE_RESTRICTED",
        "CLAUDE_CODE_SAFE_MODE",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_USE_COWORK_PLUGINS",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "COPILOT_SKILLS_DIRS",
        "FACTORY_HOME_OVERRIDE",
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
        "GEMINI_CLI_TRUST_WORKSPACE",
        "GEMINI_RESTRICTED_MODE",
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_CONTENT",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_PERMISSION",
        "OPENCODE_PURE",
        "QWEN_CODE_SAFE_MODE",
        "QWEN_CODE_SIMPLE",
        "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH",
        "QWEN_CODE_TRUSTED_FOLDERS_PATH",
        "QWEN_HOME",
        "SKILL_CHAR_BUDGET",
        "SLASH_COMMAND_TOOL_CHAR_BUDGET",
    ];

    /// The directory that the variable `name` names, as seen from the starting directory.
    pub(super) fn named_dir(&self, name: &str) -> Option<PathBuf> {
        let dir = self.variables.get(name).filter(|dir| !dir.is_empty())?;
        Some(self.dir().join(dir))
    }

    /// The directory that the variable names, or else the one at `path` in the home directory.
    pub(super) fn dir_of(&self, variable: &str, path: &str) -> Option<PathBuf> {
        self.named_dir(variable).or_else(|| self.in_home(path))
    }

    /// The path in the home directory.
    pub(super) fn in_home(&self, path: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(path))
    }

    /// The path that a setting means: below the home directory after `~`, otherwise as seen from `base`.
    pub(super) fn expanded(&self, path: &Path, base: &Path) -> PathBuf {
        let in_home = path.strip_prefix("~").ok().zip(self.home.as_ref());
        in_home.map_or_else(|| base.join(path), |(rest, home)| home.join(rest))
    }

    /// Tells whether the variable `name` is set to a value that means yes.
    pub(super) fn is_set(&self, name: &str) -> bool {
        let value = self.variables.get(name).map(|value| value.to_string_lossy().to_lowercase());
        matches!(value.as_deref(), Some("1" | "true"))
    }

    /// Returns the variable `name`, if it is set to a value that Claude Code and Qwen Code take as yes.
    pub(super) fn turned_on(&self, name: &str) -> Option<Obstacle> {
        let value = self.variables.get(name).filter(|value| means_yes(value))?;
        Some(Obstacle::of_variable(name, &value.to_string_lossy()))
    }

    /// The root of the project, as an absolute path.
    pub(super) fn project(&self) -> PathBuf {
        absolute(&self.project).unwrap_or_else(|_| self.project.clone())
    }

    /// The directories from the root of the project down to the starting directory, as absolute paths.
    pub(super) fn levels(&self) -> Vec<PathBuf> {
        levels(&self.project(), &self.dir)
    }

    /// The starting directory, spelt like the root of the project.
    pub(super) fn dir(&self) -> PathBuf {
        self.levels().pop().unwrap_or_else(|| self.dir.clone())
    }

    /// The directories above the project, up to the user's home directory or the root, for agents that look
    /// there if nothing marks the root of a project; the highest first. Without those into which other users can
    /// put files.
    pub(super) fn above_project(&self) -> Vec<PathBuf> {
        let (project, home) = (self.project(), self.home.as_deref());
        if project.join(".git").exists() || home == Some(&*project) {
            return Vec::new();
        }
        let is_inside = |dir: &&Path| Some(*dir) != home;
        let above = project.ancestors().skip(1).take_while(is_inside);
        let above = above.filter(|dir| is_safe_above(dir, &project));
        let mut above: Vec<PathBuf> = above.map(Path::to_owned).collect();
        above.reverse();
        above
    }

    /// The root of the project, if it is that of a repository.
    pub(super) fn project_with_git(&self) -> Option<PathBuf> {
        Some(self.project()).filter(|project| project.join(".git").exists())
    }

    /// The main checkout of the repository, if the project is a linked worktree of it.
    pub(super) fn main_checkout(&self) -> Option<PathBuf> {
        let link = self.project().join(".git");
        let pointer = text(&link)?;
        let git_dir = PathBuf::from(pointer.strip_prefix("gitdir:")?.trim());
        // Git keeps a path back. Without it, anybody's file could name any directory.
        let back = PathBuf::from(text(&git_dir.join("gitdir"))?.trim());
        if back.canonicalize().ok()? != link.canonicalize().ok()? {
            return None;
        }
        let common = text(&git_dir.join("commondir"))?;
        let common = git_dir.join(common.trim()).canonicalize().ok()?;
        Some(common.parent()?.to_owned()).filter(|_| common.ends_with(".git"))
    }

    /// The path in the directory of the system's settings.
    pub(super) fn in_system(&self, path: &str) -> PathBuf {
        self.system.join(path)
    }
}

/// Tells whether Claude Code and Qwen Code take the value of a variable as yes.
pub(super) fn means_yes(value: &OsStr) -> bool {
    let value = value.to_string_lossy().trim().to_lowercase();
    matches!(value.as_str(), "1" | "true" | "yes" | "on")
}
