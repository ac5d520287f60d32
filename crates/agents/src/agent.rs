//! The agents whose hooks are supported: the name, the protocol and the channel of each. Each `match`
//! lists all agents, so that a new agent does not compile until every part is defined for it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use super::channel::{Channel, List};
use super::event::HookEvent;
use super::refused;
use repertoire::disclosure::NativeSkills;
use repertoire::{Error, choose};

/// An agent whose hooks are supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HookAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
    /// `OpenCode`, through the plugin that `repertoire hook install opencode` writes.
    OpenCode,
    /// Qwen Code.
    Qwen,
    /// Factory's Droid.
    Droid,
}

impl HookAgent {
    /// All agents.
    pub const ALL: [HookAgent; 8] = [
        HookAgent::ClaudeCode,
        HookAgent::Codex,
        HookAgent::Gemini,
        HookAgent::Cursor,
        HookAgent::Copilot,
        HookAgent::OpenCode,
        HookAgent::Qwen,
        HookAgent::Droid,
    ];

    /// The agent's name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "claude-code",
            HookAgent::Codex => "codex",
            HookAgent::Gemini => "gemini",
            HookAgent::Cursor => "cursor",
            HookAgent::Copilot => "copilot",
            HookAgent::OpenCode => "opencode",
            HookAgent::Qwen => "qwen",
            HookAgent::Droid => "droid",
        }
    }

    /// The agent's name in texts for people.
    pub fn title(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "Claude Code",
            HookAgent::Codex => "Codex",
            HookAgent::Gemini => "Gemini CLI",
            HookAgent::Cursor => "Cursor",
            HookAgent::Copilot => "Copilot CLI",
            HookAgent::OpenCode => "OpenCode",
            HookAgent::Qwen => "Qwen Code",
            HookAgent::Droid => "Droid",
        }
    }

    /// Tells whether the agent accepts context from its hook `name`, which stands for this `event`.
    pub(super) fn takes_context(self, event: &HookEvent, name: &str) -> bool {
        match event {
            HookEvent::Start { .. } | HookEvent::Catalog | HookEvent::Prompt(_) => true,
            HookEvent::Files(_) => match self {
                HookAgent::ClaudeCode | HookAgent::Codex | HookAgent::Qwen => {
                    matches!(name, "PreToolUse" | "PostToolUse")
                }
                HookAgent::Droid => name == "PostToolUse",
                HookAgent::Gemini => name == "AfterTool",
                HookAgent::Cursor => name == "postToolUse",
                HookAgent::Copilot => !name.eq_ignore_ascii_case("preToolUse"),
                HookAgent::OpenCode => true,
            },
            HookEvent::Compacting | HookEvent::Compacted | HookEvent::Exit | HookEvent::End => {
                false
            }
        }
    }

    /// Wraps `context` in the JSON that the agent expects from its hook `name`.
    pub(super) fn wrap(self, event: &HookEvent, name: &str, context: &str) -> Value {
        match self {
            HookAgent::ClaudeCode
            | HookAgent::Codex
            | HookAgent::Gemini
            | HookAgent::Qwen
            | HookAgent::Droid => {
                json!({
                    "hookSpecificOutput": {"hookEventName": name, "additionalContext": context}
                })
            }
            HookAgent::Cursor if matches!(event, HookEvent::Prompt(_)) => {
                json!({"continue": true, "additional_context": context})
            }
            HookAgent::Cursor => json!({"additional_context": context}),
            HookAgent::Copilot => json!({"additionalContext": context}),
            HookAgent::OpenCode => json!({"context": context}),
        }
    }

    /// Returns the channel of this agent: the skills it lists by itself, and the place for the list of
    /// the others.
    pub(super) fn channel(self) -> &'static Channel {
        match self {
            HookAgent::ClaudeCode => &CLAUDE_CODE,
            HookAgent::Codex => &CODEX,
            HookAgent::Gemini => &GEMINI,
            HookAgent::Cursor => &CURSOR,
            HookAgent::Copilot => &COPILOT,
            HookAgent::OpenCode => &OPEN_CODE,
            HookAgent::Qwen => &QWEN,
            HookAgent::Droid => &DROID,
        }
    }

    /// Returns the skills that the agent lists and loads by itself. The engine does not list these
    /// skills again. If a message calls for one, the engine adds one line in the agent's own words.
    pub fn native_skills(self) -> &'static NativeSkills {
        &self.channel().native
    }

    /// Tells whether the agent looks for skills in the directories between the one where it was started and
    /// a file that its model touches. Claude Code does, in `.claude/skills` (observed with 2.1.332).
    pub fn finds_nested_skills(self) -> bool {
        self == HookAgent::ClaudeCode
    }

    /// Renders the channels of all agents as the table of `docs/agents.md`.
    pub fn channel_table() -> String {
        let head = "| agent | skills it lists by itself | order in the line of such a skill | list of the others |";
        let rows = HookAgent::ALL.map(|agent| agent.channel().row(agent.as_str()));
        format!("{head}\n|---|---|---|---|\n{}", rows.concat())
    }

    /// Renders the properties of a file for which agents do not list a skill, as the table of
    /// `docs/agents.md`.
    pub fn refusal_table() -> String {
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        for agent in HookAgent::ALL {
            for clause in agent.channel().refusals() {
                let name = format!("`{agent}`");
                match rows.iter_mut().find(|(of, _)| *of == clause) {
                    Some((_, agents)) => agents.push(name),
                    None => rows.push((clause, vec![name])),
                }
            }
        }
        let row = |(clause, agents): (&str, Vec<String>)| {
            format!("| {clause} | {} |\n", agents.join(", "))
        };
        let rows: String = rows.into_iter().map(row).collect();
        format!("| a skill is not listed if | by |\n|---|---|\n{rows}")
    }
}

static CLAUDE_CODE: Channel = Channel {
    native: NativeSkills::new(
        &[Cow::Borrowed(".claude/skills")],
        "call the `Skill` tool with `{name}`",
    )
    .hiding_paths()
    .named_by_directory()
    .in_exact_files()
    .refusing(refused::CLAUDE_CODE),
    list: List::Start { after_resume: false },
};

static CODEX: Channel = Channel {
    native: NativeSkills::new(
        &[Cow::Borrowed(".codex/skills"), Cow::Borrowed(".agents/skills")],
        "read {path}",
    )
    .down_to(6)
    .in_exact_files()
    .in_unlinked_files()
    .refusing(refused::CODEX),
    list: List::Start { after_resume: false },
};

static GEMINI: Channel = Channel {
    native: NativeSkills::new(
        &[Cow::Borrowed(".gemini/skills"), Cow::Borrowed(".agents/skills")],
        "call `activate_skill` with `{name}`",
    )
    .in_exact_files()
    .replacing_in_names(":\\/<>*?\"|")
    .refusing(refused::GEMINI),
    list: List::FirstPrompt,
};

/// From the documentation of Cursor; all other channels were observed with the real agent and a fake
/// model.
static CURSOR: Channel = Channel {
    native: NativeSkills::new(
        &[
            Cow::Borrowed(".cursor/skills"),
            Cow::Borrowed(".agents/skills"),
            Cow::Borrowed(".claude/skills"),
            Cow::Borrowed(".codex/skills"),
        ],
        "read {path}",
    ),
    list: List::Start { after_resume: false },
};

static COPILOT: Channel = Channel {
    native: NativeSkills::new(
        &[
            Cow::Borrowed(".github/skills"),
            Cow::Borrowed(".copilot/skills"),
            Cow::Borrowed(".claude/skills"),
            Cow::Borrowed(".agents/skills"),
        ],
        "call the `skill` tool with `{name}`",
    )
    .at_any_depth()
    .in_exact_files()
    .never_below_skills()
    .refusing(refused::COPILOT),
    list: List::Start { after_resume: true },
};

static OPEN_CODE: Channel = Channel {
    native: NativeSkills::new(
        &[
            Cow::Borrowed(".opencode/skills"),
            Cow::Borrowed("opencode/skills"),
            Cow::Borrowed(".claude/skills"),
            Cow::Borrowed(".agents/skills"),
        ],
        "call the `skill` tool with `{name}`",
    )
    .at_any_depth()
    .in_exact_files()
    .refusing(refused::OPEN_CODE),
    list: List::System,
};

/// The list is in the system prompt, which is written anew when a conversation is resumed.
static QWEN: Channel = Channel {
    native: NativeSkills::new(
        &[Cow::Borrowed(".qwen/skills"), Cow::Borrowed(".agents/skills")],
        "call the `skill` tool with `{name}`",
    )
    .hiding_paths()
    .in_exact_files()
    .refusing(refused::QWEN),
    list: List::Start { after_resume: true },
};

static DROID: Channel = Channel {
    native: NativeSkills::new(
        &[
            Cow::Borrowed(".factory/skills"),
            Cow::Borrowed(".agents/skills"),
            Cow::Borrowed(".agent/skills"),
        ],
        "call the `Skill` tool with `{name}`",
    )
    .at_any_depth()
    .in_exact_files()
    .never_below_skills()
    .refusing(refused::DROID),
    list: List::Start { after_resume: false },
};

impl fmt::Display for HookAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for HookAgent {
    type Err = Error;

    fn from_str(name: &str) -> Result<HookAgent, Error> {
        choose("an agent with hooks", name, &HookAgent::ALL, HookAgent::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use repertoire::ErrorCode;

    #[test]
    fn an_agent_is_known_by_its_name() {
        for agent in HookAgent::ALL {
            assert_eq!(agent.as_str().parse::<HookAgent>().unwrap(), agent);
        }
        let error = "emacs".parse::<HookAgent>().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam);
        assert!(error.help().contains("`claude-code`"), "{error:#}");
    }
    #[test]
    fn the_documentation_has_the_tables() {
        let page = include_str!("../../../docs/agents.md");
        for table in [HookAgent::channel_table(), HookAgent::refusal_table()] {
            assert!(page.contains(&table), "put this into docs/agents.md:\n{table}");
        }
    }

    #[test]
    fn an_agent_answers_commands_of_the_directories_it_reads() {
        for (agent, dir, wanted) in [
            (HookAgent::ClaudeCode, "/p/.claude/skills/a", true),
            (HookAgent::ClaudeCode, "/p/.agents/skills/a", false),
            (HookAgent::ClaudeCode, "/p/.claude/skills/group/a", false),
            (HookAgent::Codex, "/p/.agents/skills/group/a", true),
            (HookAgent::Codex, "/p/.claude/skills/a", false),
            (HookAgent::Gemini, "/p/.gemini/skills/a", true),
            (HookAgent::OpenCode, "/home/u/.config/opencode/skills/a", true),
            (HookAgent::Copilot, "/p/skills/a", false),
        ] {
            assert_eq!(agent.native_skills().reads(Path::new(dir)), wanted, "{agent} {dir}");
        }
    }
}
