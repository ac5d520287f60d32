//! The origin of a skill: a file, a provider, or a text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::provider::Provided;

/// Where a skill comes from.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Origin {
    File {
        path: PathBuf,
    },
    /// A text without a file.
    Memory {
        body: String,
    },
    /// A provider. Never in a snapshot, as engines with providers use none.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    Provided {
        location: PathBuf,
        provided: Arc<Provided>,
        body: String,
    },
}

impl Origin {
    /// The place of the `SKILL.md` in diagnostics; `None` for a text.
    pub(super) fn location(&self) -> Option<&Path> {
        match self {
            Origin::File { path } => Some(path),
            Origin::Provided { location, .. } => Some(location),
            Origin::Memory { .. } => None,
        }
    }
}

impl Default for Origin {
    fn default() -> Self {
        Origin::Memory { body: String::new() }
    }
}
