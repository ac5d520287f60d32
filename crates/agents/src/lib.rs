//! Hooks: an agent runs a program on certain events, writes JSON to its standard input, and adds its
//! output to the context.
//!
//! The host does the input and output: [`HookCall::read`] parses the agent's JSON, and
//! [`HookCall::answer`] returns JSON for the agent, from an engine whose session store outlives the
//! process. `docs/agents.md` names the source of each protocol.
//!
//! ```
//! use repertoire_agents::{HookAgent, HookCall};
//! use repertoire::Engine;
//!
//! let skill = "---\nname: notes\ndescription: Writes notes.\ntriggers: [take notes]\n---\nBe brief.";
//! let engine = Engine::builder().skill(skill.parse()?).build()?;
//! let input = r#"{"hook_event_name": "UserPromptSubmit", "session_id": "7",
//!     "prompt": "take notes"}"#;
//! let call = HookCall::read(HookAgent::ClaudeCode, input)?;
//! let answer = call.answer(&engine)?.unwrap_or_default();
//! let context = &answer["hookSpecificOutput"]["additionalContext"];
//! assert!(context.as_str().is_some_and(|text| text.starts_with("## Skill: notes")));
//! // The same skill is not added to the same conversation again.
//! let answer = call.answer(&engine)?.unwrap_or_default().to_string();
//! assert!(!answer.contains("## Skill"));
//! # Ok::<(), repertoire::Error>(())
//! ```

mod agent;
mod answer;
mod call;
mod channel;
mod command;
mod event;
mod files;
mod gaps;
mod input;
mod listing;
mod mcp_client;
mod notes;
mod own_commands;
mod real_path;
mod refused;
mod repeated_context;
mod skill_use;
mod state;
mod transcript;

pub use agent::HookAgent;
pub use answer::{disclosure_options, prompt_options};
pub use call::HookCall;
pub use command::is_agent_command;
pub use event::HookEvent;
pub use gaps::with_gaps;
pub use listing::{ListedPlace, ListingBudget, undescribed};
pub use skill_use::SkillUse;
pub use state::{
    AgentCommand, AgentState, HookFiles, Obstacle, SkillPlace, SkillRoot, SkillSwitch, Start,
};
