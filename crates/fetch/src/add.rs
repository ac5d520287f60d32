//! Adding skills and sources to a list: they are fetched once, may be looked at and chosen from, and are then
//! put into use. A repository is one source, however many of its skills are added one after the other.

use std::fmt;
use std::iter;
use std::path::{Path, PathBuf};

use super::address::{Address, taken_apart};
use super::config_file::{change_config, check_config};
use super::copies::source_at;
use super::fetcher::{Fetched, Fetcher};
use super::layout::LeftOut;
use super::location::{Location, check_name};
use super::lock_file::{self, Locked};
use super::preview::Preview;
use super::provider::SourceTree;
use super::source_list::SourceList;
use repertoire::catalog::{Catalog, CatalogOptions, Source};
use repertoire::spans;
use repertoire::{Error, ErrorCode};
use repertoire_config::{self as config, FetchSection, FetchSettings};

/// A source that was added, or that got more skills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// The name in `config.toml`.
    pub name: String,
    /// The state that was fetched.
    pub locked: Locked,
    /// The ids of all its skills.
    pub skills: Vec<String>,
    /// The ids of the skills that its copy did not have before.
    pub new: Vec<String>,
    /// The skills that were not taken.
    pub left_out: Vec<LeftOut>,
    /// The key that signed the source, if a signature is required.
    pub signed_by: Option<String>,
    /// The copy that was replaced, if the user had changed files in it.
    pub edited: Option<PathBuf>,
}

/// The change that an addition makes.
struct Plan {
    name: String,
    settings: FetchSettings,
    /// The section that gets more skills.
    known: Option<FetchSection>,
}

impl SourceList<'_> {
    /// Fetches a source, and writes it into `config.toml` and the lock file. Relative paths are below
    /// `here`. Without a `name`, the source is named after its address. If the list has the repository
    /// already, its skills are added to that source, which keeps its revision and the keys that must sign
    /// it, unless `settings` name others.
    ///
    /// Fails like [`Fetcher::fetch`], with `INVALID_PARAM` if another source, or this one at another
    /// revision, has the name, and with `PERMISSION_DENIED` if a project may not name this source. In
    /// that case nothing was changed.
    pub fn add(
        &self,
        name: Option<&str>,
        settings: &FetchSettings,
        here: &Path,
    ) -> Result<Added, Error> {
        self.open(name, settings, here)?.add()
    }

    /// Fetches what [`add`](SourceList::add) would take, to be looked at first. Fails like `add`.
    pub fn open(
        &self,
        name: Option<&str>,
        settings: &FetchSettings,
        here: &Path,
    ) -> Result<Opened<'_>, Error> {
        check_config(&self.config, self.project())?;
        in_each_reading(&self.with_address(settings, here), |settings| {
            let plan = self.plan(name, settings, here)?;
            let provider = self.provider(&plan.settings)?;
            let fetch = || {
                let mut tree = provider.open(None)?;
                let fetched = self.fetcher.take(self.scope, &mut *tree, &plan.settings)?;
                Ok((tree, fetched))
            };
            let (tree, fetched) = spans::within(&spans::fetch(), fetch)?;
            let (list, name, settings) = (self, name.map(str::to_owned), settings.clone());
            Ok(Opened { list, name, settings, here: here.to_owned(), plan, tree, fetched })
        })
    }

    /// The settings with the address of a source of this list where they have its name: `team`, or `team@pdf`
    /// for a skill of it. A path of this name comes first.
    pub fn with_address(&self, settings: &FetchSettings, here: &Path) -> FetchSettings {
        let mut settings = settings.clone();
        let (name, skill) = settings.source.split_once('@').unwrap_or((&settings.source, ""));
        let known = self.named(name).filter(|_| !here.join(&settings.source).exists());
        if let Some(known) = known {
            settings.skills.extend(Some(skill.to_owned()).filter(|skill| !skill.is_empty()));
            settings.source = known.settings.source;
        }
        settings
    }

    fn plan(
        &self,
        name: Option<&str>,
        settings: &FetchSettings,
        here: &Path,
    ) -> Result<Plan, Error> {
        let apart = taken_apart(settings);
        let of_address = Address::read(&settings.source).and_then(|address| address.rev);
        if let (Some(one), Some(other)) = (&settings.rev, &of_address)
            && one != other
        {
            let message = format!("the address names the revision `{other}`, not `{one}`");
            return Err(Error::new(ErrorCode::InvalidParam, message, "leave one of them out"));
        }
        let location = Location::parse(&apart.source, here)?;
        self.check_location(&location)?;
        let source = location.written(self.project());
        let new = FetchSettings { source, ..apart };
        let known = match name {
            Some(name) => self.named(name),
            None => self.same(&new).or_else(|| self.named(&location.default_name())),
        };
        let chosen = || name.map_or_else(|| location.default_name(), str::to_owned);
        let name = known.as_ref().map_or_else(chosen, |known| known.name.clone());
        for name in iter::once(&name).chain(&new.alias) {
            check_name(name)?;
        }
        let settings = match &known {
            Some(known) => self.joined(known, new, settings.rev.is_none())?,
            None => new,
        };
        Ok(Plan { name, settings, known })
    }
}

/// A source that was fetched, and of which nothing is in use yet.
pub struct Opened<'l> {
    list: &'l SourceList<'l>,
    /// The name that was asked for.
    name: Option<String>,
    settings: FetchSettings,
    here: PathBuf,
    plan: Plan,
    tree: Box<dyn SourceTree>,
    fetched: Fetched,
}

impl fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Opened { plan: Plan { name, settings, .. }, .. } = self;
        f.debug_struct("Opened")
            .field("name", name)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

impl Opened<'_> {
    /// Tells whether the address or the settings name skills.
    pub fn names_skills(&self) -> bool {
        !self.plan.settings.skills.is_empty()
    }

    /// Writes the skills into a directory to be looked at. Fails with `EXECUTION_ERROR` if that cannot be
    /// written.
    pub fn preview(&self) -> Result<Preview, Error> {
        let Plan { name, settings, .. } = &self.plan;
        self.list.fetcher.preview(self.fetched.clone(), name.clone(), settings.clone())
    }

    /// Takes only these skills, from what was fetched. Fails like [`SourceList::add`].
    pub fn choose(mut self, skills: Vec<String>) -> Result<Self, Error> {
        let settings = FetchSettings { skills, ..self.settings.clone() };
        self.plan = self.list.plan(self.name.as_deref(), &settings, &self.here)?;
        let Opened { list, tree, plan, .. } = &mut self;
        self.fetched = list.fetcher.take(list.scope, &mut **tree, &plan.settings)?;
        Ok(self)
    }

    /// Writes the source into `config.toml` and the lock file, and puts its skills into use. Fails like
    /// [`SourceList::add`].
    pub fn add(self) -> Result<Added, Error> {
        let Opened { list, plan: Plan { name, settings, known }, fetched, .. } = self;
        let Fetched { locked, signed_by, left_out } = fetched;
        let new = list.copies.unpack(&locked.files, &list.fetcher.objects)?;
        let ids = |root: PathBuf| {
            let source = source_at(&name, &locked.source, root);
            ids_in(source.alias(settings.alias.as_deref().unwrap_or_default()))
        };
        let before = ids(list.copies.root(&name));
        let _guard = list.copies.lock(&list.fetcher.deadline())?;
        if list.named(&name).map(|section| section.settings) != known.map(|known| known.settings) {
            let message = format!("another process has changed the source `{name}` meanwhile");
            return Err(Error::new(ErrorCode::InvalidParam, message, "add it again"));
        }
        let mut sources = lock_file::read(&list.lock)?;
        let replaced = sources.insert(name.clone(), locked.clone());
        let mut edited = None;
        change_config(&list.config, list.project(), |before| {
            let after = config::set_fetch(before, &name, &settings);
            let after = after.map_err(|error| list.of_config(&error))?;
            edited = list.copies.install(&name, new, (&locked, replaced.as_ref()), &settings)?;
            lock_file::write(&list.lock, &sources)?;
            Ok(after)
        })?;
        let skills = ids(list.copies.root(&name));
        let new = skills.iter().filter(|id| !before.contains(id)).cloned().collect();
        Ok(Added { name, locked, skills, new, left_out, signed_by, edited })
    }
}

impl Fetcher {
    /// Fetches the skills of an address into a directory of their own, to be looked at. Relative paths
    /// are below `here`. Fails like [`fetch`](Fetcher::fetch).
    pub fn preview_of(&self, settings: &FetchSettings, here: &Path) -> Result<Preview, Error> {
        in_each_reading(settings, |settings| {
            let settings = taken_apart(settings);
            let location = Location::parse(&settings.source, here)?;
            let provider = self.provider_of(&location, &settings)?;
            let scope = repertoire::catalog::Scope::User;
            let fetched = self.fetch_for(scope, &*provider, &settings, None)?;
            self.preview(fetched, location.default_name(), settings)
        })
    }
}

/// Calls `take` with each reading of an address, until one is found: a page does not show where the name
/// of a branch ends. Fails as the likeliest reading does.
fn in_each_reading<T>(
    settings: &FetchSettings,
    take: impl Fn(&FetchSettings) -> Result<T, Error>,
) -> Result<T, Error> {
    let first = match take(settings) {
        Err(error) if error.code() == ErrorCode::NotFound => error,
        taken => return taken,
    };
    let Some(Address { source, rev: Some(rev), skills, .. }) = Address::read(&settings.source)
    else {
        return Err(first);
    };
    let [skill] = &skills[..] else { return Err(first) };
    for (rev, skill) in Address::splits(&rev, skill) {
        let mut settings = settings.clone();
        settings.source.clone_from(&source);
        settings.rev = Some(rev);
        settings.skills.extend(skill);
        match take(&settings) {
            Err(error) if error.code() == ErrorCode::NotFound => {}
            taken => return taken,
        }
    }
    Err(first)
}

/// The ids of the skills of a source, which may not be there.
fn ids_in(source: Source) -> Vec<String> {
    if !source.root().is_some_and(Path::is_dir) {
        return Vec::new();
    }
    let catalog = Catalog::load(&CatalogOptions::new(vec![source]));
    let entries = catalog.entries().filter(|entry| !entry.is_shadowed());
    entries.map(|entry| entry.id.to_string()).collect()
}
