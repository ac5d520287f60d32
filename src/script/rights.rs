//! The rights of the scripts of a skill, by the scope of the skill, the options of the host and the user's trust.

use std::path::{Path, PathBuf};

use super::{Offline, ProjectScripts, ScriptLimits, Scripts, limits_network};
use crate::catalog::Scope;
use crate::skill::{Network, ToolsetRights};
use crate::trust::{Abilities, Owner};

impl Scripts {
    /// The things that the scripts of a skill may do once they are trusted: those of the
    /// user's own skills read all files, and those of projects what their skill asks for and the workspace.
    /// Where the system confines nothing, they may do all that the user may.
    pub fn abilities(&self, skill: &Owner) -> Abilities {
        if !cfg!(target_os = "linux") {
            return Abilities::of_user();
        }
        let write = Some(self.options.write.clone());
        let is_allowed = self.allows_network(skill);
        if skill.scope.is_trusted() {
            let mut abilities = Abilities::of_user();
            (abilities.network, abilities.write) = (is_allowed.into(), write);
            return abilities;
        }
        let ToolsetRights { read, mut network } = skill.script_rights.resolved();
        if !is_allowed {
            network = Network::default();
        }
        let mut read: Vec<_> = read.into_iter().map(PathBuf::from).collect();
        read.extend(self.options.workspace());
        Abilities { read: Some(read), network, is_network_limited: limits_network(), write }
    }

    /// The rights that a script of a project has: those that its skill asks for, and with which it was trusted.
    pub(super) fn script_rights(&self, skill: &Owner, path: &Path) -> ToolsetRights {
        skill.script_rights.resolved().and(&self.trust.script_rights(path))
    }

    /// The limits that the project's settings leave to the scripts of a skill; `None` if it is not the project's.
    fn of_project(&self, skill: &Owner) -> Option<&ProjectScripts> {
        self.options.project.as_ref().filter(|_| skill.scope == Scope::Project)
    }

    pub(super) fn limits(&self, skill: &Owner) -> &ScriptLimits {
        self.of_project(skill).map_or(&self.options.limits, |project| &project.limits)
    }

    fn allows_network(&self, skill: &Owner) -> bool {
        self.options.network && self.of_project(skill).is_none_or(|project| project.network)
    }

    /// The reason why the network is closed to a script that has these rights; `None` if it is open.
    pub(super) fn offline(&self, skill: &Owner, rights: &ToolsetRights) -> Option<Offline> {
        let is_foreign = !skill.scope.is_trusted();
        match () {
            () if !self.allows_network(skill) => Some(Offline::Host),
            () if is_foreign && skill.script_rights.network.is_none() => Some(Offline::NotAsked),
            () if is_foreign && rights.network.is_none() => Some(Offline::NotAllowed),
            () => None,
        }
    }
}
