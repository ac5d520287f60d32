//! The parts that the Python and the Node binding share: settings of an engine as plain values,
//! the names of enumerations, events of sessions as records, and failures of callbacks.
//!
//! A binding converts the values of its language to these and back; all behaviour is the engine's.

mod code;
mod event;
mod failure;
mod hosts;
mod names;
mod options;
mod results;
mod settings;
mod store;

pub use code::{ScriptSettings, ToolsetSettings};
pub use event::EventRecord;
pub use failure::{catch, is_pending, note};
pub use hosts::{Ask, Hosts};
pub use names::{approval_verdict, audience, consent_policy, meta_question, scope, tool_policy};
pub use options::{BudgetValue, DisclosureSettings, HowToLoadSetting, PromptSettings};
pub use repertoire;
pub use results::{EntryFacts, status_of, triggers_of};
pub use settings::{ConfigSetting, Settings, SourceSetting, refusal};
pub use store::GuardedStore;
