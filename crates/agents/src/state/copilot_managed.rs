//! The administrator's settings of Copilot CLI, and hooks beside them. Observed with 1.0.102 and a fake model: its
//! documents call them managed settings, of which those of a server are not known here.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::settings::{Settings, Syntax, entries};
use super::{AgentState, Obstacle, Start};
use repertoire::catalog::RuleTarget;

/// The directory of the administrator's settings, relative to the root of the system.
const DIR: &str = "etc/github-copilot";

/// The administrator's settings.
pub(super) struct Managed {
    /// The file, if it is valid.
    pub(super) file: Option<Settings>,
    /// The fault of the file.
    fault: Option<Obstacle>,
    /// The directory of the administrator's hooks.
    pub(super) hooks: PathBuf,
}

impl Managed {
    pub(super) fn read(start: &Start) -> Managed {
        let dir = start.in_system(DIR);
        let read = Settings::read_valid(dir.join("managed-settings.json"), Syntax::Json);
        let (file, fault) = match read {
            Some(Ok(file)) => (Some(file), None),
            Some(Err(fault)) => (None, Some(fault)),
            None => (None, None),
        };
        Managed { file, fault, hooks: dir.join("policy.d") }
    }

    /// Returns the files with the administrator's hooks, last the one that we would write.
    pub(super) fn hooks_files(&self) -> Vec<PathBuf> {
        let files = entries(&self.hooks).into_iter();
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        files.chain([self.hooks.join("repertoire.json")]).collect()
    }

    /// Returns the setting by which only the administrator's hooks run. A file that is not valid has this effect, too.
    pub(super) fn only_managed_hooks(&self) -> Option<Obstacle> {
        let fault = self.fault.clone();
        let only = || set(self.file.as_ref()?, "allowManagedHooksOnly");
        fault.or_else(only).or_else(|| self.plugins_only("hooks"))
    }

    /// Returns the setting by which only those `things` count that plugins bring.
    pub(super) fn plugins_only(&self, things: &str) -> Option<Obstacle> {
        const KEY: &str = "strictPluginOnlyCustomization";
        let file = self.file.as_ref()?;
        let value = &file.value[KEY];
        let named = value.as_array().is_some_and(|list| list.iter().any(|thing| thing == things));
        (*value == Value::Bool(true) || named)
            .then(|| Obstacle::new(format!("{KEY}: {value}"), &file.path))
    }

    /// Turns off the skills that do not belong to plugins, if the administrator wants only those.
    pub(super) fn apply(&self, state: &mut AgentState) {
        let Some(by) = self.plugins_only("skills") else { return };
        let own = state.roots.iter().filter(|root| root.plugin.is_none());
        let own: Vec<PathBuf> = own.map(|root| root.path.clone()).collect();
        for path in own {
            state.switch(RuleTarget::Below(path), true, by.clone());
        }
    }

    /// Returns the setting by which plugins of `marketplace`, at `place`, do not count.
    pub(super) fn refuses(&self, place: Option<&Path>) -> Option<Obstacle> {
        const KEY: &str = "strictKnownMarketplaces";
        let file = self.file.as_ref()?;
        let known = file.value[KEY].as_array()?;
        let is_it = |of: &&Value| {
            of["path"].as_str().or_else(|| of["source"]["path"].as_str()).map(Path::new) == place
        };
        (!known.iter().any(|of| is_it(&of)))
            .then(|| Obstacle::new(format!("{KEY}: {}", file.value[KEY]), &file.path))
    }
}

/// Returns the switch `key`, if it is on in the file.
fn set(file: &Settings, key: &str) -> Option<Obstacle> {
    (file.switch(&format!("/{key}")) == Some(true))
        .then(|| Obstacle::new(format!("{key}: true"), &file.path))
}
