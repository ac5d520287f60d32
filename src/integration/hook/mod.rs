//! Hooks: an agent runs a program at certain moments, gives it JSON on standard input, and takes
//! from its standard output what is to be added to the context.
//!
//! Here is what is pure of it: [`HookCall::read`] takes the agent's JSON in, and
//! [`HookCall::answer`] gives the agent's JSON back, from an engine whose session store outlives
//! the process. `docs/agents.md` says where each protocol was found.
//!
//! ```
//! use repertoire::integration::hook::{HookAgent, HookCall};
//! use repertoire::{Engine, Source};
//!
//! let engine = Engine::builder().source(Source::bundled("skills")).build()?;
//! let input = r#"{"hook_event_name": "UserPromptSubmit", "session_id": "7",
//!     "prompt": "write a commit message"}"#;
//! let call = HookCall::read(HookAgent::ClaudeCode, input)?;
//! let answer = call.answer(&engine)?.unwrap_or_default();
//! let context = &answer["hookSpecificOutput"]["additionalContext"];
//! assert!(context.as_str().is_some_and(|text| text.starts_with("## Skill: commit-message")));
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
mod files;
mod given;
mod json;
mod transcript;

pub use agent::HookAgent;
pub use answer::{disclosure_options, prompt_options};
pub use call::{HookCall, HookEvent};
pub use command::is_agent_command;
