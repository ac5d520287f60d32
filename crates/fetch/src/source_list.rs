//! The sources of one `config.toml`: adding, updating and removing them, with their lock file.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::config_file::{change_config, check_config};
use super::copies::{Copies, source_at};
use super::fetcher::Fetcher;
use super::location::{Location, check_name};
use super::lock_file::{self, Locked};
use super::signature::Demand;
use super::state::Moment;
use repertoire::catalog::{Catalog, CatalogOptions, Scope};
use repertoire::{Error, ErrorCode, Remedy};
use repertoire_config::{self as config, Config, ConfigPlace, FetchSection, FetchSettings};

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

/// A source that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// The name in `config.toml`.
    pub name: String,
    /// The state that was fetched.
    pub locked: Locked,
    /// The ids of its skills.
    pub skills: Vec<String>,
    /// The key that signed the source, if a signature is required.
    pub signed_by: Option<String>,
}

impl<'a> SourceList<'a> {
    /// Creates the list of a user, whose home directory is `base`, or of a project, whose root is
    /// `base`.
    pub fn new(fetcher: &'a Fetcher, scope: Scope, base: &Path, brand: &str) -> SourceList<'a> {
        let config = Config::path(base, brand);
        let dir = config.parent().unwrap_or(base);
        let (lock, copies) = (dir.join(lock_file::NAME), fetcher.copies(dir));
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
        config.fetch_sections()
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

    /// Fetches a source, and writes it into `config.toml` and the lock file. Relative paths are below
    /// `here`. Without a `name`, the source is named after its address. Adding the same source again
    /// fetches it again; it keeps the keys that must sign it, unless `settings` name others.
    ///
    /// Fails like [`Fetcher::fetch`], with `INVALID_PARAM` if another source, or this one with other
    /// settings, has the name, and with `PERMISSION_DENIED` if a project may not name this source. In
    /// that case nothing was changed.
    pub fn add(
        &self,
        name: Option<&str>,
        settings: &FetchSettings,
        here: &Path,
    ) -> Result<Added, Error> {
        let location = Location::parse(&settings.source, here)?;
        self.check_location(&location)?;
        let source = location.written(self.project());
        let mut settings = FetchSettings { source, ..settings.clone() };
        let name = name.map_or_else(|| location.default_name(), str::to_owned);
        check_name(&name)?;
        if let Some(known) = self.check_free(&name, &settings)?
            && settings.signed_by.is_empty()
        {
            settings.signed_by = known.signed_by;
        }
        check_config(&self.config, self.project())?;
        let provider = self.provider(&settings)?;
        let (locked, signed_by) =
            self.fetcher.fetch_for(self.scope, &*provider, &settings, None)?;
        let new = self.copies.unpack(&locked.files, &self.fetcher.objects)?;
        let _guard = self.copies.lock(&self.fetcher.deadline())?;
        // Another process may have added a source with this name during the fetch.
        self.check_free(&name, &settings)?;
        let mut sources = lock_file::read(&self.lock)?;
        sources.insert(name.clone(), locked.clone());
        change_config(&self.config, self.project(), |before| {
            let after = config::set_fetch(before, &name, &settings);
            let after = after.map_err(|error| self.of_config(&error))?;
            self.copies.install(&name, new, &locked, &settings)?;
            lock_file::write(&self.lock, &sources)?;
            Ok(after)
        })?;
        let source = source_at(&name, &locked.source, self.copies.root(&name));
        let catalog = Catalog::load(&CatalogOptions::new(vec![source]));
        let entries = catalog.entries().filter(|entry| !entry.is_shadowed());
        let skills = entries.map(|entry| entry.id.to_string()).collect();
        Ok(Added { name, locked, skills, signed_by })
    }

    /// Removes a source, its pinned state and its copy. Fails with `NOT_FOUND` if neither the lock file
    /// nor `config.toml` has the source.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        check_name(name)?;
        let _guard = self.copies.lock(&self.fetcher.deadline())?;
        let mut sources = lock_file::read(&self.lock)?;
        let was_locked = sources.remove(name).is_some();
        if !was_locked {
            self.section(name)?;
        }
        change_config(&self.config, self.project(), |before| {
            config::remove_fetch(before, name).map_err(|error| self.of_config(&error))
        })?;
        if was_locked {
            lock_file::write(&self.lock, &sources)?;
        }
        self.copies.remove(name)
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

    /// Fails if another source has this name, or the same source with other settings. If the same source
    /// has it, apart from the keys that must sign it, returns its settings.
    fn check_free(
        &self,
        name: &str,
        settings: &FetchSettings,
    ) -> Result<Option<FetchSettings>, Error> {
        let known = self.sections().into_iter().find(|section| section.name == name);
        let Some(FetchSection { settings: known, .. }) = known else { return Ok(None) };
        let signed_by = known.signed_by.clone();
        if known != (FetchSettings { signed_by, ..settings.clone() }) {
            let (message, help) = if known.source == settings.source {
                let file = self.config.display();
                let message = format!("`{name}` is this source already, with other settings");
                (message, format!("change `[fetch.{name}]` in {file}, and update it"))
            } else {
                let message = format!("`{name}` is the name of another source: {}", known.source);
                (message, "give it a name of its own, or remove the other one first".to_owned())
            };
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        Ok(Some(known))
    }

    /// Adds the path of the file to an error about its text.
    fn of_config(&self, error: &Error) -> Error {
        error.reworded(format!("{}: {}", self.config.display(), error.message()))
    }

    /// The root of the project; `None` for the list of a user.
    fn project(&self) -> Option<&Path> {
        (self.scope == Scope::Project).then_some(&self.base)
    }
}
