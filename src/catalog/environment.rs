//! The environment that requirements of skills are checked against: variables and programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The environment that requirements are checked against. This is the one place where the
/// library looks at the process environment, and only if the host does not give another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Environment {
    /// The environment of this process.
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

    /// Tells whether there is such a program on its `PATH`.
    pub(super) fn has_program(&self, name: &str) -> bool {
        which::which_in(name, self.var("PATH"), Path::new(".")).is_ok()
    }

    /// Tells whether the variable is set, and not empty.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.var(name).is_some_and(|value| !value.is_empty())
    }
}
