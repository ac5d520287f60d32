//! The `context` of a manifest.

use serde::Serialize;

/// The destination of an activated skill's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "snapshot", derive(serde::Deserialize))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Context {
    /// The instructions go into the current conversation.
    #[default]
    Inline,
    /// The instructions go to a separate task, which the host spawns.
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
