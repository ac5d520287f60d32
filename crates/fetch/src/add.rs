//! Adding skills and sources to a list. A repository is one source, however many of its skills are added
//! one after the other.

use std::path::{Path, PathBuf};

use super::address::{Address, is_same, taken_apart};
use super::config_file::{change_config, check_config};
use super::copies::source_at;
use super::fetcher::{Fetched, Fetcher};
use super::layout::LeftOut;
use super::location::{Location, check_name};
use super::lock_file::{self, Locked};
use super::preview::Preview;
use super::provider::no_skill;
use super::selection::excluded_and_wanted;
use super::source_list::SourceList;
use repertoire::catalog::{Catalog, CatalogOptions, may_name};
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
        in_each_reading(settings, |settings| self.add_one(name, settings, here))
    }

    /// Fetches what [`add`](SourceList::add) would take, without putting it into use. Fails like `add`.
    pub fn preview(
        &self,
        name: Option<&str>,
        settings: &FetchSettings,
        here: &Path,
    ) -> Result<Preview, Error> {
        in_each_reading(settings, |settings| {
            let Plan { name, settings, .. } = self.plan(name, settings, here)?;
            self.fetcher.preview(self.fetched(&settings)?, name, settings)
        })
    }

    fn add_one(
        &self,
        name: Option<&str>,
        settings: &FetchSettings,
        here: &Path,
    ) -> Result<Added, Error> {
        let Plan { name, settings, known } = self.plan(name, settings, here)?;
        check_config(&self.config, self.project())?;
        let Fetched { locked, signed_by, left_out } = self.fetched(&settings)?;
        let new = self.copies.unpack(&locked.files, &self.fetcher.objects)?;
        let ids = |root: PathBuf| ids_in(&name, &locked.source, root);
        let before = ids(self.copies.root(&name));
        let _guard = self.copies.lock(&self.fetcher.deadline())?;
        if self.named(&name).map(|section| section.settings) != known.map(|known| known.settings) {
            let message = format!("another process has changed the source `{name}` meanwhile");
            return Err(Error::new(ErrorCode::InvalidParam, message, "add it again"));
        }
        let mut sources = lock_file::read(&self.lock)?;
        sources.insert(name.clone(), locked.clone());
        change_config(&self.config, self.project(), |before| {
            let after = config::set_fetch(before, &name, &settings);
            let after = after.map_err(|error| self.of_config(&error))?;
            self.copies.install(&name, new, &locked, &settings)?;
            lock_file::write(&self.lock, &sources)?;
            Ok(after)
        })?;
        let skills = ids(self.copies.root(&name));
        let new = skills.iter().filter(|id| !before.contains(id)).cloned().collect();
        Ok(Added { name, locked, skills, new, left_out, signed_by })
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
        check_name(&name)?;
        let settings = match &known {
            Some(known) => self.joined(known, new, settings.rev.is_none())?,
            None => new,
        };
        Ok(Plan { name, settings, known })
    }

    fn fetched(&self, settings: &FetchSettings) -> Result<Fetched, Error> {
        let provider = self.provider(settings)?;
        self.fetcher.fetch_for(self.scope, &*provider, settings, None)
    }

    pub(super) fn named(&self, name: &str) -> Option<FetchSection> {
        self.sections().into_iter().find(|section| section.name == name)
    }

    /// The section of the same repository, at the same revision if there are several.
    fn same(&self, new: &FetchSettings) -> Option<FetchSection> {
        let same = |section: &FetchSection| is_same(&section.settings.source, &new.source);
        let sections: Vec<FetchSection> = self.sections().into_iter().filter(same).collect();
        let fits = |known: &FetchSettings| {
            [(&known.rev, &new.rev), (&known.path, &new.path)]
                .iter()
                .all(|(known, new)| new.is_none() || known == new)
        };
        let nth = sections.iter().position(|section| fits(&section.settings)).unwrap_or(0);
        sections.into_iter().nth(nth)
    }

    /// The settings of a known source with what `new` adds. `is_seen` tells that the revision in `new` is
    /// only the one that a page showed.
    ///
    /// Fails with `INVALID_PARAM` if `new` is another source, or this one at another revision.
    fn joined(
        &self,
        section: &FetchSection,
        new: FetchSettings,
        is_seen: bool,
    ) -> Result<FetchSettings, Error> {
        let FetchSection { name, settings: known, .. } = section;
        if !is_same(&known.source, &new.source) {
            let message = format!("`{name}` is the name of another source: {}", known.source);
            let help = "give it a name of its own, or remove the other one first";
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        let differs = |known: &Option<String>, new: &Option<String>| new.is_some() && known != new;
        let is_other_revision = differs(&known.rev, &new.rev)
            && !(is_seen && self.newest(known)? == self.newest(&new)?);
        if is_other_revision || differs(&known.path, &new.path) {
            let message = format!("`{name}` is this source already, with other settings");
            let file = self.config.display();
            let help = format!(
                "change `[fetch.{name}]` in {file}, and update it; or give this one a name of its own"
            );
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        let signed_by =
            if new.signed_by.is_empty() { known.signed_by.clone() } else { new.signed_by };
        let skills = self.joined_skills(section, &new.skills)?;
        let mut agents = known.agents.clone();
        agents.extend(new.agents.into_iter().filter(|agent| !known.agents.contains(agent)));
        Ok(FetchSettings { signed_by, skills, agents, ..known.clone() })
    }

    fn newest(&self, settings: &FetchSettings) -> Result<Option<String>, Error> {
        self.provider(settings)?.newest()
    }

    /// The skills of a known source with those of `new`. Fails with `NOT_FOUND` if all skills are known,
    /// and this one is not among them.
    fn joined_skills(&self, section: &FetchSection, new: &[String]) -> Result<Vec<String>, Error> {
        let known = &section.settings.skills;
        let (_, wanted) = excluded_and_wanted(new);
        let is_wanted = |id: &str| wanted.iter().any(|wanted| may_name(wanted, &[id]));
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let is_excluded = |id: &&String| id.strip_prefix('!').is_some_and(is_wanted);
        let readmits = known.iter().any(|id| is_excluded(&id));
        let mut skills: Vec<String> = known.iter().filter(|id| !is_excluded(id)).cloned().collect();
        let has_all = excluded_and_wanted(known).1.is_empty();
        if has_all && wanted.iter().all(|id| !id.contains('/')) && !readmits {
            let source = &section.settings.source;
            let have = self.installed(&section.name);
            let missing = wanted.iter().find(|id| !have.iter().any(|skill| skill.is_named(id)));
            if let Some(missing) = missing.filter(|_| !have.is_empty()) {
                let ids: Vec<String> = have.into_iter().map(|skill| skill.id).collect();
                return Err(no_skill(source, missing, &ids));
            }
        }
        let is_of_all = |id: &String| has_all && !id.starts_with('!') && !id.contains('/');
        let more = new.iter().filter(|id| !is_of_all(id) && !known.contains(id));
        let more: Vec<String> = more.cloned().collect();
        if has_all && more.iter().any(|id| !id.starts_with('!')) {
            skills.insert(0, "*".to_owned());
        }
        skills.extend(more);
        Ok(skills)
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

/// The ids of the skills in a copy.
fn ids_in(name: &str, address: &str, root: PathBuf) -> Vec<String> {
    if !root.is_dir() {
        return Vec::new();
    }
    let source = source_at(name, address, root);
    let catalog = Catalog::load(&CatalogOptions::new(vec![source]));
    let entries = catalog.entries().filter(|entry| !entry.is_shadowed());
    entries.map(|entry| entry.id.to_string()).collect()
}
