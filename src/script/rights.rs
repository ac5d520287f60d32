//! The rights of the scripts of a skill, by the scope of the skill, the options of the host and the user's trust.

use std::path::PathBuf;

use super::{Offline, ProjectScripts, ScriptLimits, Scripts, limits_network};
use crate::catalog::Scope;
use crate::skill::{Network, ToolsetRights};
use crate::trust::{Abilities, Owner};

impl Scripts {
    /// The things that the scripts of a skill may do once they are trusted: those of the
    /// user's own skills read all files, and those of projects what their skill asks for and the project in which they run.
    /// Where the system confines nothing, they may do all that the user may. `asked` are the rights that their skill
    /// asks for, as [`ToolsetRights::resolved`] returned them: these very rights are to be stored after a yes.
    pub fn abilities(&self, skill: &Owner, asked: &ToolsetRights) -> Abilities {
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
        let ToolsetRights { read, mut network } = asked.clone();
        if !is_allowed {
            network = Network::default();
        }
        let read = Some(read.into_iter().map(PathBuf::from).collect());
        // Not the workspace of now: the script may run in another one later.
        Abilities { read, project: true, network, is_network_limited: limits_network(), write }
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
