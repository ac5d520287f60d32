//! The `context` of a manifest.

use serde::Serialize;

/// The destination of an activated skill's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "snapshot", derive(serde::Deserialize))]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// Into the current conversation.
    #[default]
    Inline,
    /// To a task of its own, which the host spawns.
    Fork,
}

impl Context {
    /// The context as it is written in a manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Context::Inline => "inline",
            Context::Fork => "fork",
        }
    }
}
