//! The sources of one `config.toml`: adding, updating and removing them, with their lock file.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::address::sections_of;
use super::copies::Copies;
use super::fetcher::Fetcher;
use super::location::{Location, check_name};
use super::lock_file::{self, Locked};
use super::signature::Demand;
use super::state::Moment;
use repertoire::catalog::Scope;
use repertoire::{Error, ErrorCode, Remedy};
use repertoire_config::{Config, ConfigPlace, FetchSection};

/// The fetched sources in the `config.toml` of a user or a project, with the lock file next to it.
///
/// ```
/// use std::path::Path;
/// use repertoire::catalog::Scope;
/// use repertoire_config::FetchSettings;
/// use repertoire_fetch::{Fetcher, SourceList};
///
/// let (home, cache) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let fetcher = Fetcher::new(cache.path());
/// let list = SourceList::new(&fetcher, Scope::User, home.path(), "acme");
/// let settings = FetchSettings { source: "../../examples/skills".to_owned(), ..Default::default() };
/// let added = list.add(None, &settings, Path::new("."))?;
/// assert_eq!(added.name, "skills");
/// assert!(added.skills.contains(&"hello-extended".to_owned()));
/// assert!(home.path().join(".acme/skills.lock").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SourceList<'a> {
    pub(super) fetcher: &'a Fetcher,
    pub(super) scope: Scope,
    pub(super) base: PathBuf,
    brand: String,
    pub(super) config: PathBuf,
    pub(super) lock: PathBuf,
    pub(super) copies: Copies,
}

impl<'a> SourceList<'a> {
    /// Creates the list of a user, whose home directory is `base`, or of a project, whose root is
    /// `base`.
    pub fn new(fetcher: &'a Fetcher, scope: Scope, base: &Path, brand: &str) -> SourceList<'a> {
        let config = Config::path(base, brand);
        let dir = config.parent().unwrap_or(base);
        let (lock, copies) = (dir.join(lock_file::NAME), fetcher.copies(scope, dir));
        let (base, brand) = (base.to_owned(), brand.to_owned());
        SourceList { fetcher, scope, base, brand, config, lock, copies }
    }

    /// The path of the `config.toml`.
    pub fn config_file(&self) -> &Path {
        &self.config
    }

    /// The path of the lock file.
    pub fn lock_file(&self) -> &Path {
        &self.lock
    }

    /// The directory from which engines read a source; it exists once the source was fetched.
    pub fn copy_of(&self, name: &str) -> PathBuf {
        self.copies.root(name)
    }

    /// The `[fetch.NAME]` sections of the file, in its order.
    pub fn sections(&self) -> Vec<FetchSection> {
        let of_user = self.scope == Scope::User;
        let config = Config::load(&ConfigPlace {
            home: of_user.then(|| self.base.clone()),
            project: self.base.clone(),
            working_dir: self.base.clone(),
            brand: self.brand.clone(),
        });
        sections_of(&config)
    }

    /// The section of a source. Fails with `NOT_FOUND` if there is none; the error lists the known
    /// names.
    pub fn section(&self, name: &str) -> Result<FetchSection, Error> {
        let mut sections = self.sections();
        let nth = sections.iter().position(|section| section.name == name);
        nth.map(|nth| sections.swap_remove(nth)).ok_or_else(|| {
            let message = format!("{} has no source `{name}`", self.config.display());
            let known: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
            let help = if known.is_empty() {
                "it has none at all".to_owned()
            } else {
                format!("there are `{}`", known.join("`, `"))
            };
            Error::new(ErrorCode::NotFound, message, help)
        })
    }

    /// The pinned state of a source, if there is one. Fails with `INVALID_PARAM` if the lock file is
    /// damaged.
    pub fn locked(&self, name: &str) -> Result<Option<Locked>, Error> {
        Ok(lock_file::read(&self.lock)?.remove(name))
    }

    /// Compares the copy of a source with the pinned state, without using the network.
    ///
    /// Fails with `NOT_FOUND` if the source is not pinned or has no copy, and with `PERMISSION_DENIED`
    /// if the copy is not signed as it must be. Fails with `EXECUTION_ERROR` if the copy has another
    /// state or was changed, if the last update failed, or if an update waits for the user.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        check_name(name)?;
        let fetch = |code, message: String, help: &str, frozen| {
            let remedy = Remedy::Fetch { name: name.to_owned(), frozen };
            Err(Error::new(code, message, help).with_remedy(remedy))
        };
        let (missing, differs) = (ErrorCode::NotFound, ErrorCode::ExecutionError);
        let Some(locked) = self.locked(name)? else {
            let message = format!("{} does not pin it", self.lock.display());
            return fetch(missing, message, "update it", false);
        };
        let root = self.copies.root(name);
        if !root.is_dir() {
            let message = "it was not fetched on this machine".to_owned();
            return fetch(missing, message, "fetch what is pinned", true);
        }
        let state = self.copies.state(name);
        if state.digest != locked.digest().as_str() {
            let message = format!("{} pins another state than its copy has", self.lock.display());
            return fetch(differs, message, "fetch what is pinned", true);
        }
        if let Some(path) = self.copies.changed(name, &locked.files) {
            let path = path.display();
            let message = format!("{path} was changed, removed or added after the fetch");
            return fetch(differs, message, "fetch what is pinned", true);
        }
        let section = self.section(name)?;
        self.signed_by(&section)?;
        let problem = match (state.failure, state.held) {
            (Some(failure), _) => format!("it is as it was fetched last: {failure}"),
            (None, Some(held)) => format!("it has an update that waits: {held}"),
            (None, None) => return Ok(()),
        };
        fetch(differs, problem, "update it", false)
    }

    /// Returns the key that signed the copy of a source; `None` if no signature is required.
    ///
    /// Fails with `PERMISSION_DENIED` if the copy is not signed by an accepted key.
    pub fn signed_by(&self, section: &FetchSection) -> Result<Option<String>, Error> {
        let FetchSection { name, settings, .. } = section;
        let Some(keys) = self.fetcher.demands.keys_for(self.scope, settings) else {
            return Ok(None);
        };
        let demand = Demand { source: &settings.source, keys: &keys };
        self.copies.signed_by(name, &self.copies.state(name), demand).map(Some)
    }

    /// The last time `update` or a [`SourcePoller`](super::SourcePoller) asked the source for its newest
    /// state, successfully or not; `None` if neither ever did.
    pub fn asked(&self, name: &str) -> Option<SystemTime> {
        let asked = self.copies.state(name).asked();
        (asked != Moment::default()).then(|| asked.time())
    }

    /// Fails if a project names a source on this machine outside of the project. Its files would be
    /// chosen by the author of the project, and be read by everyone who works on it.
    pub(super) fn check_location(&self, location: &Location) -> Result<(), Error> {
        let why = location.why_not_of_project(&self.base);
        if let Some(why) = why.filter(|_| self.scope == Scope::Project) {
            let message = format!("a project cannot name {location}, which {why}");
            let help = "name a repository by its URL, or add the source for the user";
            return Err(Error::new(ErrorCode::PermissionDenied, message, help));
        }
        Ok(())
    }

    /// Adds the path of the file to an error about its text.
    pub(super) fn of_config(&self, error: &Error) -> Error {
        error.reworded(format!("{}: {}", self.config.display(), error.message()))
    }

    /// The root of the project; `None` for the list of a user.
    pub(super) fn project(&self) -> Option<&Path> {
        (self.scope == Scope::Project).then_some(&self.base)
    }
}
