//! Runs the real `repertoire` binary, isolated from the skills and settings of the user who runs the
//! tests.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The environment variables that the binary depends on.
const VARIABLES: [&str; 54] = [
    "ANTHROPIC_MODEL",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    "CLAUDE_CODE_PLUGIN_DIRS",
    "CLAUDE_CODE_RESTRICTED",
    "CLAUDE_CODE_SAFE_MODE",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_USE_COWORK_PLUGINS",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CLICOLOR_FORCE",
    "CODEX_HOME",
    "COPILOT_HOME",
    "COPILOT_SKILLS_DIRS",
    "CURSOR_PROJECT_DIR",
    "FACTORY_HOME_OVERRIDE",
    "FACTORY_PROJECT_DIR",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
    "GEMINI_CLI_TRUST_WORKSPACE",
    "GEMINI_PROJECT_DIR",
    "GEMINI_RESTRICTED_MODE",
    "NO_COLOR",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_PERMISSION",
    "OPENCODE_PURE",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "QWEN_CODE_SAFE_MODE",
    "QWEN_CODE_SIMPLE",
    "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
    "QWEN_CODE_SYSTEM_SETTINGS_PATH",
    "QWEN_CODE_TRUSTED_FOLDERS_PATH",
    "QWEN_HOME",
    "QWEN_PROJECT_DIR",
    "REPERTOIRE_MAX_SKILLS",
    "REPERTOIRE_NO_CACHE",
    "REPERTOIRE_PROMPT_BUDGET",
    "REPERTOIRE_REFRESH",
    "REPERTOIRE_SESSIONS",
    "SKILL_CHAR_BUDGET",
    "SLASH_COMMAND_TOOL_CHAR_BUDGET",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// The result of a run of the binary.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Run {
    /// Parses standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns this run. Fails unless it ended with the exit code `code`.
    pub(crate) fn exits(self, code: i32) -> Run {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// An empty directory to run the binary in.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { dir: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes `content` to the file `name`, and creates the directories above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Builds a command line of the binary, to run in this directory.
    pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
        command.args(args).current_dir(self.path()).env("HOME", self.path().join("home"));
        for name in VARIABLES {
            command.env_remove(name);
        }
        command
    }

    /// Runs the binary.
    pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        self.run_with(args, b"")
    }

    /// Runs the binary with `input` on its standard input.
    pub(crate) fn run_with<S: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Run {
        finish(self.command(args), input)
    }
}

/// Runs `command` with `input` on its standard input.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may have ended before all of it is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
