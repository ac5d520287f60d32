//! The programs of agents: their settings for a model on the loopback, and their command lines.

use std::path::Path;
use std::process::Command;

use serde_json::json;

/// The program of an agent.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) title: &'static str,
    /// The agent's name in `repertoire hook`.
    pub(crate) agent: &'static str,
    /// The words of the command line before a first message.
    begins: &'static [&'static str],
    /// The words of the command line before a message that continues the conversation.
    goes_on: &'static [&'static str],
    /// The words of the command line after the message.
    options: &'static [&'static str],
}

/// The option with which Codex runs hooks that nobody trusted.
pub(crate) const TRUST_OPTION: &str = "--dangerously-bypass-hook-trust";
/// The variable with which Gemini CLI trusts the project.
pub(crate) const TRUST_VARIABLE: &str = "GEMINI_CLI_TRUST_WORKSPACE";

/// The programs that run without a terminal.
pub(crate) const PROGRAMS: [Program; 6] = [
    Program {
        title: "Claude Code",
        agent: "claude-code",
        begins: &["claude", "-p"],
        goes_on: &["claude", "-c", "-p"],
        options: &["--dangerously-skip-permissions"],
    },
    Program {
        title: "Codex",
        agent: "codex",
        begins: &["codex", "exec", "--skip-git-repo-check", TRUST_OPTION],
        goes_on: &["codex", "exec", "--skip-git-repo-check", TRUST_OPTION, "resume", "--last"],
        options: &[],
    },
    Program {
        title: "Gemini CLI",
        agent: "gemini",
        begins: &["gemini", "-p"],
        goes_on: &["gemini", "-r", "latest", "-p"],
        options: &["--approval-mode", "yolo"],
    },
    Program {
        title: "Copilot CLI",
        agent: "copilot",
        begins: &["copilot", "-p"],
        goes_on: &["copilot", "--continue", "-p"],
        options: &["--allow-all-tools"],
    },
    Program {
        title: "OpenCode",
        agent: "opencode",
        begins: &["opencode", "run"],
        goes_on: &["opencode", "run", "-c"],
        options: &[],
    },
    Program {
        title: "Qwen Code",
        agent: "qwen",
        begins: &["qwen", "-p"],
        goes_on: &["qwen", "-c", "-p"],
        options: &["--approval-mode", "yolo"],
    },
];

impl Program {
    /// Returns the settings file, below the home directory, with which the program speaks to the
    /// model at `url`, and trusts a `trusted` project; `None` where variables are enough.
    pub(crate) fn settings(
        &self,
        url: &str,
        trusted: Option<&Path>,
    ) -> Option<(&'static str, String)> {
        let trust = |project: &Path| {
            format!("\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n", project.display())
        };
        match self.agent {
            "codex" => Some((
                ".codex/config.toml",
                format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"here\"\napproval_policy = \"never\"\n\
                     sandbox_mode = \"danger-full-access\"\nmodel_context_window = 300000\n\
                     model_auto_compact_token_limit = 200000\n\n[model_providers.here]\n\
                     name = \"here\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
                     env_key = \"HERE_KEY\"\n{}",
                    trusted.map(trust).unwrap_or_default()
                ),
            )),
            "gemini" => {
                let auth = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
                Some((".gemini/settings.json", auth.to_string()))
            }
            "opencode" => {
                let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "dummy"});
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "here", "options": options,
                    "models": {"one": {"name": "one", "limit": {"context": 100_000, "output": 1000}}},
                });
                let settings = json!({
                    "model": "here/one", "small_model": "here/one", "provider": {"here": provider},
                    "snapshot": false,
                });
                Some((".config/opencode/opencode.json", settings.to_string()))
            }
            "qwen" => {
                // Its memory would ask the model as well, with the same message.
                let auth = json!({
                    "security": {"auth": {"selectedType": "openai"}},
                    "memory": {"enableManagedAutoMemory": false},
                });
                Some((".qwen/settings.json", auth.to_string()))
            }
            _ => None,
        }
    }

    /// Returns the words that make the program answer `message`.
    pub(crate) fn words<'w>(&self, message: &'w str, resumes: bool) -> Vec<&'w str> {
        let before = if resumes { self.goes_on } else { self.begins };
        [before, &[message], self.options].concat()
    }
}

/// Restricts the environment of `command` to `path`, its own `home`, and the model at `url`.
pub(crate) fn isolate(command: &mut Command, path: &str, home: &Path, url: &str) {
    command
        .env_clear()
        .envs([("PATH", path), ("TERM", "dumb"), ("LANG", "C.UTF-8"), ("HERE_KEY", "dummy")])
        .env("HOME", home)
        .envs([("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", "sk-ant-dummy")])
        .envs([("DISABLE_AUTOUPDATER", "1"), ("DISABLE_TELEMETRY", "1")])
        .envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("IS_SANDBOX", "1")])
        // Its first message waits for the MCP servers.
        .env("MCP_CONNECTION_NONBLOCKING", "false")
        .envs([("GOOGLE_GEMINI_BASE_URL", url), ("GEMINI_API_KEY", "dummy")])
        .envs([("GEMINI_TELEMETRY_ENABLED", "false"), (TRUST_VARIABLE, "true")])
        .envs([("NO_BROWSER", "1"), ("OPENCODE_DISABLE_AUTOUPDATE", "1")])
        .envs([("OPENCODE_DISABLE_MODELS_FETCH", "1"), ("OPENCODE_DISABLE_SHARE", "1")])
        .envs([("COPILOT_PROVIDER_TYPE", "openai"), ("COPILOT_PROVIDER_API_KEY", "dummy")])
        .env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"))
        .envs([("COPILOT_MODEL", "gpt-4.1"), ("COPILOT_OFFLINE", "true")])
        .env("COPILOT_AUTO_UPDATE", "false")
        .env("OPENAI_BASE_URL", format!("{url}/v1"))
        .envs([("OPENAI_API_KEY", "dummy"), ("OPENAI_MODEL", "gpt-4.1")]);
}
