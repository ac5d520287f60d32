//! The programs: which versions, how they are installed, set up and run.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::binary::Place;
use crate::model::Model;
use crate::npm;

/// A program, and how it is used here.
pub(crate) struct Agent {
    pub(crate) title: &'static str,
    /// Its name in `repertoire hook`.
    pub(crate) hook: &'static str,
    package: &'static str,
    pub(crate) version: &'static str,
    /// A directory of skills that it reads.
    pub(crate) own_skills: &'static str,
    /// The words for a first message, before it.
    begins: &'static [&'static str],
    /// The words for one that goes on with the conversation.
    goes_on: &'static [&'static str],
    /// The words after the message.
    options: &'static [&'static str],
}

/// Versions are pinned: a new one is looked at, and the matrix made anew.
pub(crate) const AGENTS: [Agent; 5] = [
    Agent {
        title: "Claude Code",
        hook: "claude-code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.330",
        own_skills: ".claude/skills",
        begins: &["claude", "-p"],
        goes_on: &["claude", "-c", "-p"],
        options: &[],
    },
    Agent {
        title: "Codex",
        hook: "codex",
        package: "@openai/codex",
        version: "0.169.0",
        own_skills: ".agents/skills",
        begins: &["codex", "exec", "--dangerously-bypass-hook-trust"],
        goes_on: &["codex", "exec", "--dangerously-bypass-hook-trust", "resume", "--last"],
        options: &[],
    },
    Agent {
        title: "Gemini CLI",
        hook: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        own_skills: ".agents/skills",
        begins: &["gemini", "-p"],
        goes_on: &["gemini", "-r", "latest", "-p"],
        options: &[],
    },
    Agent {
        title: "Copilot CLI",
        hook: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        own_skills: ".claude/skills",
        begins: &["copilot", "-p"],
        goes_on: &["copilot", "--continue", "-p"],
        options: &["--allow-all-tools"],
    },
    Agent {
        title: "OpenCode",
        hook: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        own_skills: ".agents/skills",
        begins: &["opencode", "run"],
        goes_on: &["opencode", "run", "-c"],
        options: &[],
    },
];

/// A run that takes longer is stopped, in seconds.
const PATIENCE: &str = "100";

pub(crate) fn git_init(dir: &Path) {
    for args in [&["init", "-q", "."][..], &["add", "-A"], &["commit", "-qm", "Begin"]] {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        let status = Command::new("git").args(identity).args(args).current_dir(dir).status();
        assert!(status.unwrap().success(), "git {args:?}");
    }
}

impl Agent {
    pub(crate) fn install_program(&self) {
        npm::install(npm::NODE);
        npm::install((self.package, self.version));
    }

    /// Writes the settings with which the program speaks to `model`.
    pub(crate) fn configure(&self, place: &Place, model: &Model) {
        let url = model.url();
        match self.hook {
            "codex" => place.write(
                "home/.codex/config.toml",
                format!(
                    "model = \"gpt-5\"\nmodel_provider = \"here\"\n\n[model_providers.here]\n\
                     name = \"here\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
                     env_key = \"HERE_KEY\"\n\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
                    place.path().display()
                ),
            ),
            "gemini" => {
                let auth = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
                place.write("home/.gemini/settings.json", auth.to_string());
            }
            "opencode" => {
                let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "dummy"});
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "here", "options": options,
                    "models": {"one": {"name": "one"}},
                });
                let settings = json!({
                    "model": "here/one", "small_model": "here/one", "provider": {"here": provider},
                });
                place.write("home/.config/opencode/opencode.json", settings.to_string());
            }
            _ => {}
        }
    }

    /// Has the program answer `message`, with nothing of this machine but its own home; gives its
    /// output.
    pub(crate) fn run(&self, place: &Place, model: &Model, message: &str, resumes: bool) -> String {
        let bins = [npm::bin((self.package, self.version)), npm::bin(npm::NODE)];
        let mut path = bins.map(|dir| dir.display().to_string()).join(":");
        path.push_str(":/usr/bin:/bin");
        let url = model.url();
        let mut command = Command::new("timeout");
        command
            .arg(PATIENCE)
            .args(if resumes { self.goes_on } else { self.begins })
            .arg(message)
            .args(self.options)
            .current_dir(place.path())
            .env_clear()
            .envs([("PATH", &*path), ("TERM", "dumb"), ("LANG", "C.UTF-8"), ("HERE_KEY", "dummy")])
            .env("HOME", place.path().join("home"))
            .envs([("ANTHROPIC_BASE_URL", &*url), ("ANTHROPIC_API_KEY", "sk-ant-dummy")])
            .envs([("DISABLE_AUTOUPDATER", "1"), ("DISABLE_TELEMETRY", "1")])
            .envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("IS_SANDBOX", "1")])
            .envs([("GOOGLE_GEMINI_BASE_URL", &*url), ("GEMINI_API_KEY", "dummy")])
            .envs([("GEMINI_TELEMETRY_ENABLED", "false"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")])
            .envs([("NO_BROWSER", "1"), ("OPENCODE_DISABLE_AUTOUPDATE", "1")])
            .envs([("OPENCODE_DISABLE_MODELS_FETCH", "1"), ("OPENCODE_DISABLE_SHARE", "1")])
            .envs([("COPILOT_PROVIDER_TYPE", "openai"), ("COPILOT_PROVIDER_API_KEY", "dummy")])
            .env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"))
            .envs([("COPILOT_MODEL", "gpt-4.1"), ("COPILOT_OFFLINE", "true")])
            .env("COPILOT_AUTO_UPDATE", "false")
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|of| String::from_utf8_lossy(&of).into_owned());
        format!("{}: {stdout}{stderr}", output.status)
    }
}
