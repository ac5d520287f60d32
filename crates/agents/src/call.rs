//! Parses the JSON that an agent writes to its hook.

use std::path::PathBuf;

use super::agent::HookAgent;
use super::event::HookEvent;
use super::files::touched;
use super::input::Input;
use super::listing::ListingBudget;
use super::skill_use::{self, SkillUse};
use repertoire::disclosure::NativeSkills;
use repertoire::{Error, ErrorCode};
use repertoire_text::surrogates;

/// One run of a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HookCall {
    /// The agent that runs the hook.
    pub agent: HookAgent,
    /// The event.
    pub event: HookEvent,
    /// The agent's own name for the event.
    pub name: String,
    /// The name of the conversation in a session store. It is unique for each agent and each subagent,
    /// since a subagent has its own context. `None` if the agent names no conversation: the call is then
    /// answered as the first one of a conversation, and nothing is remembered.
    pub session: Option<String>,
    /// The agent's working directory, if it names one.
    pub cwd: Option<PathBuf>,
    /// The skills that the agent lists and loads by itself. [`HookCall::read`] assumes those in the
    /// agent's usual directories; [`AgentState::native_skills`](crate::AgentState::native_skills) knows
    /// those of a real one.
    pub native: NativeSkills,
    /// The model of the conversation, if the agent names it.
    pub model: Option<String>,
    /// The budget of the agent's own list of skills. If it is set, the list at the start of a conversation also
    /// describes native skills whose description the agent cuts, and a message those for which it had no room.
    pub listing: Option<ListingBudget>,
    /// True if the agent's MCP client lists the skills of the engine itself. The hook adds no list then, and
    /// treats these skills as listed.
    pub is_listed_by_client: bool,
    /// True if the message is the command of a file of the agent, such as those of
    /// [`HookAgent::commands`]. The agent answers it, also if a skill has the same name.
    pub is_agent_command: bool,
    /// The file with the agent's record of the conversation, if it shows which text is still in the
    /// context.
    pub transcript: Option<PathBuf>,
    /// The directory nearest to the touched files, below the one where the agent was started, whose
    /// skills the engine has as well. If it is set, those skills are listed once.
    pub nested: Option<PathBuf>,
    /// The use of a skill, if the event is a tool call that was made and shows one.
    pub skill: Option<SkillUse>,
}

impl HookCall {
    /// Parses the JSON that `agent` writes to its hook. A lone surrogate, where a text was cut, becomes
    /// `U+FFFD`.
    ///
    /// A field that is `null` or of another type counts as missing, and any field may be missing.
    ///
    /// Fails with `INVALID_PARAM` if `input` is not a JSON object, or reports an unknown event.
    pub fn read(agent: HookAgent, input: &str) -> Result<HookCall, Error> {
        let refuse = |what: String| {
            let message = format!("the input of the hook for {agent} {what}");
            let help = "let the agent run the hook itself, with its own input";
            Error::new(ErrorCode::InvalidParam, message, help)
        };
        let input: Input =
            surrogates::parse(input.trim_start_matches('\u{feff}')).map_err(|error| {
                let wanted = if error.is_data() { "a JSON object" } else { "JSON" };
                refuse(format!("is not {wanted}: {error}"))
            })?;
        let name = input.text(&["hook_event_name", "hookEventName"]);
        let name = name.or_else(|| input.unnamed(agent)).unwrap_or_default().to_owned();
        let event = input
            .event(agent, &name)
            .ok_or_else(|| refuse(format!("is about an unknown event, `{name}`")))?;
        let session = input.name(&["session_id", "sessionId", "conversation_id", "sessionID"]);
        let subagent = input.name(&["agent_id", "agentId"]);
        let session = session.map(|session| {
            let parts = [Some(agent.as_str().to_owned()), Some(session), subagent];
            parts.into_iter().flatten().collect::<Vec<_>>().join(":")
        });
        let cwd = input.text(&["cwd"]).or_else(|| input.workspace()).map(PathBuf::from);
        // A subagent has a record of its own, which is not the one that is named.
        let has_record = agent == HookAgent::Gemini
            || agent == HookAgent::ClaudeCode && input.name(&["agent_id"]).is_none();
        let transcript = input.text(&["transcript_path"]).filter(|_| has_record);
        let transcript = transcript.map(PathBuf::from);
        let native = agent.native_skills().clone();
        let skill = input.skill(&name);
        let model = input.text(&["model"]).map(str::to_owned);
        Ok(HookCall {
            agent,
            event,
            name,
            session,
            cwd,
            native,
            model,
            listing: None,
            is_listed_by_client: false,
            is_agent_command: false,
            transcript,
            nested: None,
            skill,
        })
    }

    /// Tells whether the answer depends on the skills, or, if messages are kept, what is recorded; if not,
    /// an engine without skills does the same.
    pub fn needs_skills(&self, keeps_messages: bool) -> bool {
        if keeps_messages && self.skill.is_some() {
            return true;
        }
        match &self.event {
            HookEvent::Start { resumed, .. } => self.agent.channel().lists_at_start(*resumed),
            HookEvent::Catalog | HookEvent::Prompt(_) => true,
            HookEvent::Files(paths) => {
                !paths.is_empty() && self.agent.takes_context(&self.event, &self.name)
            }
            HookEvent::Compacting | HookEvent::Compacted | HookEvent::Exit | HookEvent::End => {
                false
            }
        }
    }
}

impl Input {
    /// Returns the use of a skill that the event `name` shows. A call that is only about to be made may
    /// still be refused.
    fn skill(&self, name: &str) -> Option<SkillUse> {
        let (tool, arguments) = self.tool();
        let was_made = matches!(name, "PostToolUse" | "AfterTool" | "postToolUse");
        was_made.then(|| skill_use::shown(tool, arguments)).flatten()
    }

    fn event(&self, agent: HookAgent, name: &str) -> Option<HookEvent> {
        Some(match name {
            "SessionStart" | "sessionStart" => {
                let source = self.text(&["source"]);
                HookEvent::Start {
                    resumed: source == Some("resume"),
                    compacted: source == Some("compact"),
                    cleared: source == Some("clear"),
                }
            }
            // A subagent begins with a context of its own. Its task is not in the input.
            "SubagentStart" => {
                HookEvent::Start { resumed: false, compacted: false, cleared: false }
            }
            "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" | "userPromptSubmitted" => {
                let prompt = self.text(&["prompt"]).unwrap_or_default();
                let unquoted = if agent == HookAgent::OpenCode { unquoted(prompt) } else { None };
                HookEvent::Prompt(unquoted.unwrap_or_else(|| prompt.to_owned()))
            }
            "PreToolUse" | "PostToolUse" | "BeforeTool" | "AfterTool" | "preToolUse"
            | "postToolUse" => {
                let (tool, arguments) = self.tool();
                HookEvent::Files(touched(tool, arguments))
            }
            // From the OpenCode plugin, since OpenCode has no event for the start of a session.
            "Catalog" => HookEvent::Catalog,
            // Gemini sends this before each turn, and only then decides whether it compresses.
            "PreCompress" if self.text(&["trigger"]) != Some("manual") => HookEvent::Compacting,
            "PreCompact" | "PostCompact" | "PreCompress" | "preCompact" => HookEvent::Compacted,
            "SessionEnd" | "sessionEnd" if self.is_resumable(agent) => HookEvent::Exit,
            "SessionEnd" | "sessionEnd" => HookEvent::End,
            _ => return None,
        })
    }
}

/// Removes the quotation marks that `opencode run` puts around a message which is one argument with
/// blanks, and the backslashes before those inside. `None` for any other message.
fn unquoted(message: &str) -> Option<String> {
    let inner = message.strip_prefix('"')?.strip_suffix('"')?;
    let plain = inner.replace("\\\"", "");
    (inner.contains(' ') && !plain.contains('"')).then(|| inner.replace("\\\"", "\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_agent_writes_is_refused_by_name() {
        let cases = [
            ("", "is not JSON: EOF"),
            ("[]", "is not a JSON object: invalid type: sequence, expected"),
            ("{}", "unknown event, ``"),
            (r#"{"hook_event_name": "Stop", "session_id": "1"}"#, "unknown event, `Stop`"),
        ];
        for (input, wanted) in cases {
            let error = HookCall::read(HookAgent::ClaudeCode, input).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam);
            assert!(error.message().contains(wanted), "{input}: {error}");
        }
    }

    #[test]
    fn a_subagent_and_another_agent_have_sessions_of_their_own() {
        let main = r#"{"hook_event_name": "SessionEnd", "session_id": "1"}"#;
        let sub = r#"{"hook_event_name": "SessionEnd", "session_id": "1", "agent_id": "a"}"#;
        let session = |agent, input| HookCall::read(agent, input).unwrap().session.unwrap();
        assert_eq!(session(HookAgent::ClaudeCode, main), "claude-code:1");
        assert_eq!(session(HookAgent::ClaudeCode, sub), "claude-code:1:a");
        assert_eq!(session(HookAgent::Codex, main), "codex:1");
    }

    #[test]
    fn opencode_quotes_a_message_that_is_one_argument() {
        let prompt = |agent, text: &str| {
            let call =
                json!({"hook_event_name": "UserPromptSubmit", "session_id": "1", "prompt": text});
            HookCall::read(agent, &call.to_string()).unwrap().event
        };
        for (text, wanted) in [
            (r#""/deploy to staging""#, "/deploy to staging"),
            (r#""say \"hi\" to them""#, r#"say "hi" to them"#),
            (r#""one" and "two""#, r#""one" and "two""#),
            (r#""quoted""#, r#""quoted""#),
            ("\"", "\""),
            ("/deploy now", "/deploy now"),
        ] {
            assert_eq!(prompt(HookAgent::OpenCode, text), HookEvent::Prompt(wanted.to_owned()));
            assert_eq!(prompt(HookAgent::Codex, text), HookEvent::Prompt(text.to_owned()));
        }
    }
}
