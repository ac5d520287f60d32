//! What a skill requires of the machine: `requires_bins` and `requires_env`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::seen::Seen;
use crate::skill::Manifest;

/// The environment that requirements are checked against. This is the one place where the
/// library looks at the process environment, and only if the host does not give another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Environment {
    /// That of this process.
    #[default]
    Process,
    /// These variables; programs are looked up in their `PATH`.
    Fixed(BTreeMap<OsString, OsString>),
}

impl Environment {
    /// A variable of it.
    pub(crate) fn var(&self, name: &str) -> Option<OsString> {
        match self {
            Environment::Process => std::env::var_os(name),
            Environment::Fixed(vars) => vars.get(OsStr::new(name)).cloned(),
        }
    }

    /// Whether there is such a program on its `PATH`.
    pub(super) fn has_program(&self, name: &str) -> bool {
        which::which_in(name, self.var("PATH"), Path::new(".")).is_ok()
    }

    /// Whether the variable is set, and not empty.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.var(name).is_some_and(|value| !value.is_empty())
    }

    /// The first requirement of a manifest that is not met, in a phrase.
    pub(super) fn unmet(&self, manifest: &Manifest, seen: &mut Seen) -> Option<String> {
        let mut programs = manifest.requires_bins.iter();
        let program = programs.find(|bin| !seen.has_program(&bin.value, self));
        if let Some(program) = program {
            return Some(format!("program `{}` is not on the PATH", program.value));
        }
        let mut variables = manifest.requires_env.iter();
        let variable = variables.find(|name| !seen.has_variable(&name.value, self))?;
        Some(format!("environment variable `{}` is not set", variable.value))
    }
}
