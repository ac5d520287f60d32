//! The rights of a class in addition to its limits: those that its skill asks for, and those that it
//! was granted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Isolation, Limits, ToolsetOptions};
use crate::catalog::Scope;
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::{Network, SkillId, ToolsetRights};
use crate::trust::{Abilities, Owner, TrustStore};

/// The parts of a tool's message which show that the system refused something. They only decide whether the
/// help names the settings that open more; a question about rights does not depend on words.
const REFUSALS: [&str; 4] =
    ["ermission denied", "peration not permitted", "(os error 13)", "(os error 1)"];

/// A question to the user: may a class have the rights that its skill asks for? It is asked after a call of
/// one of its tools failed without them. The words of the error do not matter: `SQLite` and many servers
/// report a refused file like a missing one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RightsRequest {
    /// The skill.
    pub skill: SkillId,
    /// The class.
    pub class: String,
    /// The library or the MCP server.
    pub library: PathBuf,
    /// The rights that the class asks for. Paths are absolute, with links resolved.
    pub rights: ToolsetRights,
    /// The error that the tool reported, in its own words.
    pub refused: String,
    trust: Arc<TrustStore>,
}

impl RightsRequest {
    /// Grants the rights for the present content of the library. They take effect with the next call.
    ///
    /// Fails with `NOT_FOUND` if the library is no longer trusted, and with the errors of writing the
    /// trust store.
    pub fn grant(&self) -> Result<(), Error> {
        self.trust.grant_class(&self.library, &self.class, self.rights.clone()).map(drop)
    }

    /// Remembers that the user refused the rights for the present content of the library: they are not asked
    /// for again.
    ///
    /// Fails with `NOT_FOUND` if the library is no longer trusted, and with the errors of writing the
    /// trust store.
    pub fn refuse(&self) -> Result<(), Error> {
        self.trust.refuse_class(&self.library, &self.class, self.rights.clone())
    }
}

impl ToolsetOptions {
    /// The things that these classes of a skill may do once their library is trusted.
    pub fn abilities(&self, owner: &Owner, classes: &[String]) -> Abilities {
        let Isolation::Process { limits: general, .. } = &self.isolation else {
            return Abilities::of_user();
        };
        if !cfg!(target_os = "linux") {
            return Abilities::of_user();
        }
        let (mut read, mut write, mut network) =
            (BTreeSet::new(), BTreeSet::new(), Network::default());
        for class in classes {
            let name = self.limits_name(owner, class);
            let own = name.and_then(|name| self.named_limits(owner, &name));
            let limits = own.unwrap_or(general);
            read.extend(limits.read.iter().cloned());
            write.extend(limits.write.iter().cloned());
            network = network.or(&limits.network);
        }
        if owner.scope.is_trusted() {
            for rights in owner.toolset_rights.values().map(ToolsetRights::resolved) {
                read.extend(rights.read.iter().map(PathBuf::from));
                network = network.or(&rights.network);
            }
        }
        let (read, write) = (read.into_iter().collect(), write.into_iter().collect());
        Abilities {
            read: Some(read),
            project: false,
            network,
            is_network_limited: repertoire_system::sandbox::limits_network(),
            write: Some(write),
        }
    }

    /// The name under which there are limits for a class of a skill.
    pub(super) fn limits_name(&self, owner: &Owner, class: &str) -> Option<String> {
        let names = [format!("{}:{class}", owner.id), class.to_owned()];
        names.into_iter().find(|name| self.named_limits(owner, name).is_some())
    }

    /// The limits that a skill's classes have under a name.
    pub(super) fn named_limits(&self, owner: &Owner, name: &str) -> Option<&Limits> {
        let of_project = (owner.scope == Scope::Project).then(|| self.project_limits.get(name));
        of_project.flatten().or_else(|| self.limits.get(name))
    }
}

/// The rights that a class asks for and has. A class of a project's skill has those that the user
/// granted; a class of any other skill has all that it asks for, because its code is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Rights {
    /// The class; empty if it asks for nothing.
    class: String,
    asked: ToolsetRights,
    /// The rights that the class has.
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
        let held = if owner.scope.is_trusted() {
            asked.clone()
        } else {
            asked.and(&trust.granted(path, class))
        };
        Rights { class: class.to_owned(), asked, held }
    }

    /// Returns the question to ask the user after a tool failed with `error`, if the tool itself reported
    /// it, and the skill asks for more rights than the class has and the user did not refuse them.
    pub(super) fn request(
        &self,
        error: &Error,
        skill: &SkillId,
        library: &Path,
        trust: &Arc<TrustStore>,
    ) -> Option<RightsRequest> {
        let is_refused = error.code() == ErrorCode::ExecutionError
            && matches!(error.remedy(), Some(Remedy::Trust(_)))
            && self.held != self.asked
            && !trust.is_class_refused(library, &self.class, &self.asked);
        is_refused.then(|| RightsRequest {
            skill: skill.clone(),
            class: self.class.clone(),
            library: library.to_owned(),
            rights: self.asked.clone(),
            refused: error.message().to_owned(),
            trust: Arc::clone(trust),
        })
    }

    /// Tells whether the user's grants still cover the rights that the class has.
    pub(super) fn are_granted(&self, trust: &TrustStore, scope: Scope, path: &Path) -> bool {
        scope.is_trusted() || self.held.and(&trust.granted(path, &self.class)) == self.held
    }

    /// Adds help to the error of a tool of the library at `path` if its class lacks rights that it asks for,
    /// or if the system refused something: the rights that the tool has, and a way to extend them.
    pub(super) fn explained(&self, error: Error, class: &str, path: &Path) -> Error {
        let is_of_tool = error.code() == ErrorCode::ExecutionError && error.help().is_empty();
        let is_all = self.held == self.asked;
        let is_refused = || REFUSALS.iter().any(|words| error.message().contains(words));
        if !is_of_tool || (is_all && !is_refused()) {
            return error;
        }
        let mut help = "its process may read the directory of its skill and nothing else of the \
                        user, and has no network"
            .to_owned();
        if !self.held.is_empty() {
            help = format!("its process has few rights; it was granted {}", self.held);
        }
        help = if is_all {
            format!(
                "{help}; the user can allow more by `read` and `network` in the section \
                 `[toolsets.{class}]` of `config.toml`"
            )
        } else {
            let missing = self.asked.without(&self.held);
            format!("{help}; the skill asks {missing}, and the user has to grant that")
        };
        let explained = Error::new(error.code(), error.message(), help);
        let explained =
            if is_all { explained } else { explained.with_remedy(Remedy::Trust(path.to_owned())) };
        explained.with_source(error)
    }
}
