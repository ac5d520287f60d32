//! The environment against which requirements of skills are checked: variables and programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The environment against which the requirements of skills are checked. This is the only place where
/// the library reads the environment of the process, and it does so only if the host gives no other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Environment {
    /// The environment of this process.
    #[default]
    Process,
    /// These variables; programs are looked up in their `PATH`.
    Fixed(BTreeMap<OsString, OsString>),
}

impl Environment {
    /// The value of a variable in this environment.
    pub(crate) fn var(&self, name: &str) -> Option<OsString> {
        match self {
            Environment::Process => std::env::var_os(name),
            Environment::Fixed(vars) => vars.get(OsStr::new(name)).cloned(),
        }
    }

    /// Tells whether the program is on the `PATH` of this environment.
    pub(super) fn has_program(&self, name: &str) -> bool {
        which::which_in(name, self.var("PATH"), Path::new(".")).is_ok()
    }

    /// Tells whether the variable is set and not empty.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.var(name).is_some_and(|value| !value.is_empty())
    }
}
