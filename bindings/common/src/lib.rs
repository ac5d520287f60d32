//! The code that the Python and Node bindings share: engine settings as plain values, names of
//! enumeration values, session events as records, and failures of callbacks.
//!
//! A binding only converts between these and the values of its language; the engine does the rest.

mod code;
mod event;
mod failure;
mod hosts;
mod names;
mod options;
mod results;
mod settings;
mod source;
mod store;

pub use code::{ScriptSettings, ToolsetSettings};
pub use event::EventRecord;
pub use failure::{catch, is_pending, note};
pub use hosts::{Ask, Hosts};
pub use names::{approval_verdict, audience, consent_policy, meta_question, scope, tool_policy};
pub use options::{
    BudgetValue, DisclosureSettings, HowToLoadSetting, LOADED_BY_THE_AGENT, PromptSettings,
};
pub use repertoire;
pub use repertoire_text::surrogates::without_halves;
pub use results::{EntryFacts, status_of, triggers_of};
pub use settings::{ConfigSetting, MeaningSetting, Settings, refusal};
pub use source::{SourcePlace, SourceSetting};
pub use store::GuardedStore;
