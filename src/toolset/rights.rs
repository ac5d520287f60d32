//! The rights of a class beside its limits: those that its skill asks for and that it was granted.

use std::path::Path;

use crate::catalog::Scope;
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::ToolsetRights;
use crate::trust::{Owner, TrustStore};

/// The words by which a tool passes on that the system refused something.
const REFUSALS: [&str; 4] =
    ["ermission denied", "peration not permitted", "(os error 13)", "(os error 1)"];

/// The rights that a class asks for. A skill of a project has those that the user granted; other
/// skills have them all, as their code is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Rights {
    /// The class; empty if it asks for nothing.
    class: String,
    asked: ToolsetRights,
    /// The rights that it has.
    pub(super) held: ToolsetRights,
}

impl Rights {
    pub(super) fn of(
        trust: &TrustStore,
        owner: &Owner,
        path: &Path,
        class: &str,
        asked: &ToolsetRights,
    ) -> Rights {
        if asked.is_empty() {
            return Rights::default();
        }
        let asked = asked.resolved();
        let held = match owner.scope {
            Scope::Project => asked.and(&trust.granted(path, class)),
            _ => asked.clone(),
        };
        Rights { class: class.to_owned(), asked, held }
    }

    /// Tells whether the user granted no less than the class has.
    pub(super) fn are_granted(&self, trust: &TrustStore, scope: Scope, path: &Path) -> bool {
        scope != Scope::Project || self.held.and(&trust.granted(path, &self.class)) == self.held
    }

    /// The error of a tool of the library at `path`; if the sandbox refused something, with what it
    /// leaves open and how to open more.
    pub(super) fn explained(&self, error: Error, class: &str, path: &Path) -> Error {
        let is_refused = error.code() == ErrorCode::ExecutionError
            && error.help().is_empty()
            && REFUSALS.iter().any(|words| error.message().contains(words));
        if !is_refused {
            return error;
        }
        let mut help = "its process may read the directory of its skill and nothing else of the \
                        user, and has no network"
            .to_owned();
        if !self.held.is_empty() {
            help = format!("its process has few rights; it was granted {}", self.held);
        }
        let is_all = self.held == self.asked;
        help = if is_all {
            format!(
                "{help}; the user can allow more by `read` and `network` in the section \
                 `[toolsets.{class}]` of `config.toml`"
            )
        } else {
            format!("{help}; the skill asks {}, and the user has to grant that", self.asked)
        };
        let explained = Error::new(error.code(), error.message(), help);
        let explained =
            if is_all { explained } else { explained.with_remedy(Remedy::Trust(path.to_owned())) };
        explained.with_source(error)
    }
}
