//! The agent programs: their versions, and how to install and run them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::binary::Place;
use crate::live::model::Model;
use crate::live::programs::{PROGRAMS, Program, isolate};
use crate::npm;

/// A program, with its pinned version.
pub(crate) struct Agent {
    pub(crate) program: &'static Program,
    package: &'static str,
    pub(crate) version: &'static str,
    /// A directory from which the agent reads skills itself.
    pub(crate) own_skills: &'static str,
    /// The settings file with the agent's hooks, below the home directory.
    pub(crate) hook_settings: &'static str,
    /// A call of a tool that reads the style sheet at `STYLE`, if the model can make one.
    pub(crate) by_file: Option<&'static str>,
    /// The message after which the agent compacts the conversation, if there is one; `LONG` stands for a
    /// long text.
    pub(crate) shortens: Option<&'static str>,
    /// True if the agent names the tools of MCP servers only after a search for them.
    pub(crate) defers_tools: bool,
    /// True if the agent supports packages.
    pub(crate) has_package: bool,
    /// The options with which the agent installs a package without asking.
    pub(crate) consents: &'static [&'static str],
}

/// The versions are pinned. For a new version, check the agent and write the matrix again.
pub(crate) const AGENTS: [Agent; 6] = [
    Agent {
        program: &PROGRAMS[0],
        package: "@anthropic-ai/claude-code",
        version: "2.1.332",
        own_skills: ".claude/skills",
        hook_settings: ".claude/settings.json",
        by_file: Some("[[call Read file_path=STYLE]]"),
        shortens: Some("/compact"),
        defers_tools: false,
        has_package: true,
        consents: &[],
    },
    Agent {
        program: &PROGRAMS[1],
        package: "@openai/codex",
        version: "0.171.0",
        own_skills: ".agents/skills",
        hook_settings: ".codex/hooks.json",
        by_file: Some(
            "[[call apply_patch input=*** Begin Patch\n*** Update File: STYLE\n@@\n-a {}\n+b {}\n\
             *** End Patch\n]]",
        ),
        shortens: Some("[[tokens 250000]] [[call exec_command cmd=true]]"),
        defers_tools: true,
        has_package: true,
        consents: &[],
    },
    Agent {
        program: &PROGRAMS[2],
        package: "@google/gemini-cli",
        version: "0.61.0",
        own_skills: ".agents/skills",
        hook_settings: ".gemini/settings.json",
        by_file: Some("[[call read_file file_path=STYLE]]"),
        // It keeps the last third of the text, so this message is longer than all that is to go.
        shortens: Some("[[tokens 900000]] [[call list_directory dir_path=.]] LONG"),
        defers_tools: false,
        has_package: true,
        consents: &["--consent"],
    },
    Agent {
        program: &PROGRAMS[3],
        package: "@github/copilot",
        version: "1.0.102",
        own_skills: ".claude/skills",
        hook_settings: ".copilot/hooks/repertoire.json",
        by_file: Some("[[call view path=STYLE]]"),
        shortens: Some("/compact"),
        defers_tools: false,
        has_package: true,
        consents: &[],
    },
    Agent {
        program: &PROGRAMS[4],
        package: "opencode-ai",
        version: "1.18.33",
        own_skills: ".agents/skills",
        hook_settings: ".config/opencode/plugins/repertoire.js",
        by_file: Some("[[call read filePath=STYLE]]"),
        shortens: Some("[[tokens 99500]] [[call glob pattern=*.md]]"),
        defers_tools: false,
        has_package: false,
        consents: &[],
    },
    Agent {
        program: &PROGRAMS[5],
        package: "@qwen-code/qwen-code",
        version: "0.24.4",
        own_skills: ".qwen/skills",
        hook_settings: ".qwen/settings.json",
        by_file: Some("[[call read_file file_path=STYLE]]"),
        shortens: None,
        defers_tools: true,
        has_package: true,
        consents: &["--consent"],
    },
];

/// The time limit of a run, in seconds. It is for a program that hangs: on a busy machine, a start takes a
/// minute.
const PATIENCE: &str = "900";

pub(crate) fn git_init(dir: &Path) {
    for args in [&["init", "-q", "."][..], &["add", "-A"], &["commit", "-qm", "Begin"]] {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        let status = Command::new("git").args(identity).args(args).current_dir(dir).status();
        assert!(status.unwrap().success(), "git {args:?}");
    }
}

/// Makes Codex wait for the MCP server in its settings, as long as a busy machine needs. By default, it begins
/// without one that is not ready.
pub(crate) fn wait_for_server(place: &Place) {
    let settings = place.path().join("home/.codex/config.toml");
    if let Ok(text) = fs::read_to_string(&settings) {
        let server = "[mcp_servers.repertoire]\n";
        let patient = format!("{server}required = true\nstartup_timeout_sec = {PATIENCE}\n");
        fs::write(settings, text.replace(server, &patient)).unwrap();
    }
}

impl Agent {
    pub(crate) fn install_program(&self) {
        npm::install(npm::NODE);
        npm::install((self.package, self.version));
    }

    /// Returns the `PATH` that contains the program.
    pub(crate) fn path(&self) -> String {
        let bins = [npm::bin((self.package, self.version)), npm::bin(npm::NODE)];
        bins.map(|dir| dir.display().to_string()).join(":") + ":/usr/bin:/bin"
    }

    /// Writes the settings that make the program use `model`.
    pub(crate) fn configure(&self, place: &Place, model: &Model) {
        if let Some((name, text)) = self.program.settings(&model.url(), Some(place.path())) {
            place.write(&format!("home/{name}"), text);
        }
    }

    /// Makes the program answer `message`, isolated from this machine except for its own home
    /// directory. Returns the output.
    pub(crate) fn run(&self, place: &Place, model: &Model, message: &str, resumes: bool) -> String {
        self.execute(place, model, &self.program.words(message, resumes))
    }

    /// Runs `words` as a command line of the program.
    pub(crate) fn execute(&self, place: &Place, model: &Model, words: &[&str]) -> String {
        let mut command = Command::new("timeout");
        isolate(&mut command, &self.path(), &place.path().join("home"), &model.url());
        command.arg(PATIENCE).args(words).current_dir(place.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|of| String::from_utf8_lossy(&of).into_owned());
        format!("{}: {stdout}{stderr}", output.status)
    }
}
