//! The rights and the tools that a user has accepted of a trusted library, by class.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ContentHash, TrustStore, TrustedFile, not_trusted, real};
use crate::error::Error;
use crate::skill::ToolsetRights;

impl TrustStore {
    /// Grants rights to classes of the trusted library at `path`, replacing all rights granted before.
    /// Fails with `NOT_FOUND` if the library is not trusted.
    pub fn grant(
        &self,
        path: &Path,
        rights: BTreeMap<String, ToolsetRights>,
    ) -> Result<TrustedFile, Error> {
        self.amend(path, |file| file.rights = rights)
    }

    /// Grants rights to one class of the trusted library at `path`, replacing those that the class had.
    /// Fails with `NOT_FOUND` if the library is not trusted.
    pub fn grant_class(
        &self,
        path: &Path,
        class: &str,
        rights: ToolsetRights,
    ) -> Result<TrustedFile, Error> {
        self.change(|trusted| {
            let path = real(path);
            trusted.forget_refusals(&path, Some(class));
            let file = trusted.files.get_mut(&path)?;
            file.rights.insert(class.to_owned(), rights);
            Some(file.clone())
        })?
        .ok_or_else(|| not_trusted(path))
    }

    /// Records which tools of the trusted library at `path` were shown to the user, by class. Fails with
    /// `NOT_FOUND` if the library is not trusted.
    pub fn record_tools(
        &self,
        path: &Path,
        tools: BTreeMap<String, BTreeMap<String, ContentHash>>,
    ) -> Result<TrustedFile, Error> {
        self.amend(path, |file| file.tools = tools)
    }

    /// Records the tools of a class, unless the user saw tools of it already. Fails with `NOT_FOUND` if the
    /// library is not trusted.
    #[cfg(feature = "toolsets")]
    pub(crate) fn record_first_tools(
        &self,
        path: &Path,
        class: &str,
        tools: BTreeMap<String, ContentHash>,
    ) -> Result<TrustedFile, Error> {
        self.amend(path, |file| {
            file.tools.entry(class.to_owned()).or_insert(tools);
        })
    }

    /// The tools that the user saw of the library at `path`, by class; `None` if the library is not in the
    /// store.
    #[cfg(feature = "toolsets")]
    pub(crate) fn trusted_tools(
        &self,
        path: &Path,
    ) -> Option<BTreeMap<String, BTreeMap<String, ContentHash>>> {
        self.state().trusted.files.get(&real(path)).map(|file| file.tools.clone())
    }

    /// The rights that the user granted to a class of the library at `path`.
    #[cfg(feature = "toolsets")]
    pub(crate) fn granted(&self, path: &Path, class: &str) -> ToolsetRights {
        let state = self.state();
        let granted = state.trusted.files.get(&real(path)).and_then(|file| file.rights.get(class));
        granted.cloned().unwrap_or_default()
    }

    fn amend(
        &self,
        path: &Path,
        amend: impl FnOnce(&mut TrustedFile),
    ) -> Result<TrustedFile, Error> {
        let amended = self.change(|trusted| {
            let file = trusted.files.get_mut(&real(path))?;
            amend(file);
            Some(file.clone())
        })?;
        amended.ok_or_else(|| not_trusted(path))
    }
}
