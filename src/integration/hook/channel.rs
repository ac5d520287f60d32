//! The channel with authority, per agent: the skills that the agent lists itself, the way its model
//! loads one, and the place where the list of the others goes. Each entry was observed with the
//! real program against a fake model, except Cursor's, which is from its documentation.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::agent::HookAgent;
use crate::disclosure::NativeSkills;

/// The place for the list of skills that the agent does not list itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// At the start of a conversation. `after_resume` is true if the agent loses the list when it
    /// resumes a conversation, so that the list is given again.
    Start { after_resume: bool },
    /// Beside the first message, because text given at the start spoils that message.
    FirstPrompt,
    /// In the system prompt of each request, added by our plugin.
    System,
}

/// The skills that one agent lists itself, and the place of the others.
#[derive(Debug)]
pub(super) struct Channel {
    agent: HookAgent,
    /// The skills that the agent lists and loads by itself.
    native: NativeSkills,
    pub(super) list: List,
}

/// All channels, in the order of [`HookAgent::ALL`].
static CHANNELS: [Channel; HookAgent::ALL.len()] = [
    Channel {
        agent: HookAgent::ClaudeCode,
        native: NativeSkills {
            roots: Cow::Borrowed(&[Cow::Borrowed(".claude/skills")]),
            nested: false,
            hides_paths: true,
            how_to_load: Cow::Borrowed("use this skill: call the `Skill` tool with `{name}`"),
        },
        list: List::Start { after_resume: false },
    },
    Channel {
        agent: HookAgent::Codex,
        native: NativeSkills {
            roots: Cow::Borrowed(&[
                Cow::Borrowed(".codex/skills"),
                Cow::Borrowed(".agents/skills"),
            ]),
            nested: true,
            hides_paths: false,
            how_to_load: Cow::Borrowed("use this skill: read {path}"),
        },
        list: List::Start { after_resume: false },
    },
    Channel {
        agent: HookAgent::Gemini,
        native: NativeSkills {
            roots: Cow::Borrowed(&[
                Cow::Borrowed(".gemini/skills"),
                Cow::Borrowed(".agents/skills"),
            ]),
            nested: false,
            hides_paths: false,
            how_to_load: Cow::Borrowed("use this skill: call `activate_skill` with `{name}`"),
        },
        list: List::FirstPrompt,
    },
    Channel {
        agent: HookAgent::Cursor,
        native: NativeSkills {
            roots: Cow::Borrowed(&[
                Cow::Borrowed(".cursor/skills"),
                Cow::Borrowed(".agents/skills"),
                Cow::Borrowed(".claude/skills"),
                Cow::Borrowed(".codex/skills"),
            ]),
            nested: false,
            hides_paths: false,
            how_to_load: Cow::Borrowed("use this skill: read {path}"),
        },
        list: List::Start { after_resume: false },
    },
    Channel {
        agent: HookAgent::Copilot,
        native: NativeSkills {
            roots: Cow::Borrowed(&[
                Cow::Borrowed(".github/skills"),
                Cow::Borrowed(".copilot/skills"),
                Cow::Borrowed(".claude/skills"),
                Cow::Borrowed(".agents/skills"),
            ]),
            nested: false,
            hides_paths: false,
            how_to_load: Cow::Borrowed("use this skill: call the `skill` tool with `{name}`"),
        },
        list: List::Start { after_resume: true },
    },
    Channel {
        agent: HookAgent::OpenCode,
        native: NativeSkills {
            roots: Cow::Borrowed(&[
                Cow::Borrowed(".opencode/skills"),
                Cow::Borrowed("opencode/skills"),
                Cow::Borrowed(".claude/skills"),
                Cow::Borrowed(".agents/skills"),
            ]),
            nested: true,
            hides_paths: false,
            how_to_load: Cow::Borrowed("use this skill: call the `skill` tool with `{name}`"),
        },
        list: List::System,
    },
];

impl HookAgent {
    /// Returns the channel of this agent.
    pub(super) fn channel(self) -> &'static Channel {
        let place = HookAgent::ALL.iter().position(|agent| *agent == self);
        &CHANNELS[place.unwrap_or_default()]
    }

    /// Returns the skills that the agent lists and loads by itself. They are not listed again; if a
    /// message calls for one, it becomes a line in the agent's own words.
    pub fn native_skills(self) -> &'static NativeSkills {
        &self.channel().native
    }

    /// Renders the channels of all agents as the table of `docs/agents.md`.
    pub fn channel_table() -> String {
        let mut table = "| agent | skills it lists by itself | line of such a skill | list of the \
                         others |\n|---|---|---|---|\n"
            .to_owned();
        for channel in &CHANNELS {
            let Channel { agent, native, list } = channel;
            let NativeSkills { roots, nested, hides_paths, how_to_load } = native;
            let roots: Vec<String> = roots.iter().map(|root| format!("`{root}`")).collect();
            let nested = if *nested { ", at any depth" } else { "" };
            let hidden = if *hides_paths { ", without `paths`" } else { "" };
            let list = match list {
                List::Start { after_resume: false } => "when a conversation begins",
                List::Start { after_resume: true } => "when one begins or is resumed",
                List::FirstPrompt => "beside the first message",
                List::System => "in the system prompt",
            };
            let how = how_to_load.replace("{name}", "NAME").replace("{path}", "PATH");
            let roots = roots.join(", ");
            let _ = writeln!(table, "| `{agent}` | {roots}{nested}{hidden} | {how} | {list} |");
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn each_agent_has_its_own_channel() {
        for agent in HookAgent::ALL {
            assert_eq!(agent.channel().agent, agent);
        }
    }

    #[test]
    fn the_documentation_has_the_table() {
        let page = include_str!("../../../docs/agents.md");
        let table = HookAgent::channel_table();
        assert!(page.contains(&table), "put this into docs/agents.md:\n{table}");
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
