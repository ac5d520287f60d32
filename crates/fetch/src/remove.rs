//! Finding installed skills and sources by what people call them, and removing them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::address::{Address, is_same};
use super::config_file::change_config;
use super::copies::source_at;
use super::location::check_name;
use super::lock_file::{self, Locked, LockedFile};
use super::near::nearest;
use super::paths::dir_of_skill;
use super::selection::excluded_and_wanted;
use super::source_list::SourceList;
use repertoire::catalog::{Catalog, CatalogOptions, may_name};
use repertoire::{Error, ErrorCode};
use repertoire_config::{self as config, FetchSection, FetchSettings};

/// A source, or some of its skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InSource {
    /// The name of the source.
    pub source: String,
    /// The ids of the skills; empty for the whole source.
    pub skills: Vec<String>,
}

impl InSource {
    /// Names a whole source.
    pub fn whole(source: &str) -> InSource {
        InSource { source: source.to_owned(), skills: Vec::new() }
    }
}

/// The result of [`SourceList::remove_skills`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removed {
    /// The ids of the skills that were removed.
    pub skills: Vec<String>,
    /// True if no skill was left, so that the source was removed as well.
    pub source_removed: bool,
    /// The copy that was replaced, if the user had changed files in it.
    pub edited: Option<PathBuf>,
}

/// A skill in the copy of a source that was chosen on its own.
pub(super) struct Installed {
    pub(super) id: String,
    pub(super) name: String,
    /// Its directory in the copy; empty if the whole source is one skill.
    pub(super) at: String,
}

impl Installed {
    /// Tells whether `written` names the skill.
    pub(super) fn is_named(&self, written: &str) -> bool {
        let Installed { id, name, at } = self;
        let last = at.rsplit('/').next().unwrap_or_default();
        let is_dir = |dir: &str| !at.is_empty() && dir.ends_with(&format!("/{at}"));
        may_name(written, &[id, name, at, last]) || is_dir(written)
    }
}

impl SourceList<'_> {
    /// The installed skills of a source that can be removed one by one. Skills inside the directory of
    /// another one are part of that one.
    pub(super) fn installed(&self, name: &str) -> Vec<Installed> {
        let root = self.copies.root(name);
        let Ok(Some(locked)) = self.locked(name) else { return Vec::new() };
        let dirs: BTreeSet<&str> =
            locked.files.keys().filter_map(|path| dir_of_skill(path)).collect();
        let is_inside = |dir: &&&str| {
            let above = dir.match_indices('/').map(|(end, _)| &dir[..end]).chain([""]);
            !dir.is_empty() && above.into_iter().any(|above| dirs.contains(above))
        };
        let top: Vec<&str> = dirs.iter().filter(|dir| !is_inside(dir)).copied().collect();
        let source = source_at(name, &locked.source, root.clone());
        let catalog = Catalog::load(&CatalogOptions::new(vec![source]));
        let installed = catalog.entries().filter_map(|entry| {
            let below = entry.skill.dir()?.strip_prefix(&root).ok()?.to_string_lossy().into_owned();
            let at = top.iter().find(|dir| **dir == below.replace('\\', "/"))?;
            let (id, name) = (entry.id.to_string(), entry.skill.name().to_owned());
            Some(Installed { id, name, at: (*at).to_owned() })
        });
        installed.collect()
    }

    /// Finds the sources and installed skills that `text` names: a source by its name or address, a skill
    /// by its id, as `SOURCE@ID`, or several by a pattern. Returns nothing if there are none.
    ///
    /// Fails with `INVALID_PARAM` if skills of several sources have this id.
    pub fn find(&self, text: &str) -> Result<Vec<InSource>, Error> {
        let sections = self.sections();
        if sections.iter().any(|section| section.name == text) {
            return Ok(vec![InSource::whole(text)]);
        }
        let read = Address::read(text);
        let is_meant = |name: &str, source: &str| match (&read, text.split_once('@')) {
            (_, Some((before, _))) if before == name => true,
            (Some(read), _) => is_same(&read.source, source),
            _ => false,
        };
        let of_name = || text.split_once('@').map(|(_, id)| id).filter(|id| !id.is_empty());
        let mut skills = read.as_ref().map(|read| read.skills.clone()).unwrap_or_default();
        if skills.is_empty() {
            skills.extend(of_name().map(str::to_owned));
        }
        let meant: Vec<_> =
            sections.iter().filter(|it| is_meant(&it.name, &it.settings.source)).collect();
        if !meant.is_empty() && skills.is_empty() {
            return Ok(meant.iter().map(|section| InSource::whole(&section.name)).collect());
        }
        if !meant.is_empty() {
            let in_each = |section: &&FetchSection| {
                let found = skills.iter().filter_map(|skill| self.find_in(&section.name, skill));
                found.collect::<Vec<_>>()
            };
            return Ok(meant.iter().flat_map(in_each).collect());
        }
        let found: Vec<InSource> =
            sections.iter().filter_map(|section| self.find_in(&section.name, text)).collect();
        if let ([one, other, ..], false) = (&found[..], text.contains('*')) {
            let (one, other) = (&one.source, &other.source);
            let message = format!("`{text}` is a skill of the sources `{one}` and `{other}`");
            let help = format!("write `{one}@{text}` for the first one");
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        Ok(found)
    }

    /// The error for a text that names neither a source nor an installed skill.
    pub fn not_found(&self, text: &str) -> Error {
        let sources: Vec<String> = self.sections().into_iter().map(|it| it.name).collect();
        let skills = sources.iter().flat_map(|source| self.installed(source));
        let skills: Vec<String> = skills.map(|skill| skill.id).collect();
        let (of, name) = text.split_once('@').unwrap_or(("", text));
        let near = nearest(name, sources.iter().chain(&skills).map(String::as_str));
        let near = near.map(|near| match of {
            "" => near.to_owned(),
            of => {
                format!("{}@{near}", nearest(of, sources.iter().map(String::as_str)).unwrap_or(of))
            }
        });
        let message = format!("{} has no source or skill `{text}`", self.config.display());
        let help = match (near, &sources[..]) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "it has no sources at all".to_owned(),
            (None, sources) => format!("there are the sources `{}`", sources.join("`, `")),
        };
        Error::new(ErrorCode::NotFound, message, help)
    }

    /// Finds the skills of one source that `text` names.
    fn find_in(&self, source: &str, text: &str) -> Option<InSource> {
        let installed = self.installed(source).into_iter();
        let skills: Vec<String> =
            installed.filter(|skill| skill.is_named(text)).map(|skill| skill.id).collect();
        (!skills.is_empty()).then(|| InSource { source: source.to_owned(), skills })
    }

    /// Removes skills of a source, by their ids; without a network. The other skills stay as they are. If
    /// none is left, the source is removed.
    ///
    /// Fails with `NOT_FOUND` if the source is not installed or has no such skill.
    pub fn remove_skills(&self, name: &str, ids: &[String]) -> Result<Removed, Error> {
        check_name(name)?;
        let guard = self.copies.lock(&self.fetcher.deadline())?;
        let settings = self.section(name)?.settings;
        let installed = self.installed(name);
        let (gone, left): (Vec<&Installed>, Vec<&Installed>) =
            installed.iter().partition(|skill| ids.contains(&skill.id));
        if let Some(missing) = ids.iter().find(|id| !gone.iter().any(|skill| skill.id == **id)) {
            let message = format!("the source `{name}` has no skill `{missing}`");
            return Err(Error::new(ErrorCode::NotFound, message, "`list` shows the skills"));
        }
        let skills = gone.iter().map(|skill| skill.id.clone()).collect();
        if left.is_empty() {
            drop(guard);
            self.remove(name)?;
            return Ok(Removed { skills, source_removed: true, edited: None });
        }
        let chosen = without(&settings.skills, &gone, &left);
        let edited = self.keep_only(name, &FetchSettings { skills: chosen, ..settings }, &gone)?;
        Ok(Removed { skills, source_removed: false, edited })
    }

    /// Writes settings, and a copy without the files of the skills `gone`. The caller must hold the lock
    /// of the copies. Returns where the replaced copy is if the user had changed it.
    fn keep_only(
        &self,
        name: &str,
        settings: &FetchSettings,
        gone: &[&Installed],
    ) -> Result<Option<PathBuf>, Error> {
        let mut sources = lock_file::read(&self.lock)?;
        let locked = sources.get_mut(name).ok_or_else(|| {
            let message = format!("{} does not pin the source `{name}`", self.lock.display());
            Error::new(ErrorCode::NotFound, message, "update it first")
        })?;
        let replaced = locked.clone();
        self.copies.restock(name, &locked.files, &self.fetcher.objects);
        let is_own_revision = locked.revision != locked.digest().as_str();
        let is_gone = |path: &str| {
            gone.iter()
                .any(|it| path.strip_prefix(&it.at).is_some_and(|path| path.starts_with('/')))
        };
        locked.files.retain(|path: &String, _: &mut LockedFile| !is_gone(path));
        locked.skills.clone_from(&settings.skills);
        if !is_own_revision {
            locked.revision = locked.digest().to_string();
        }
        let locked: Locked = locked.clone();
        let new = self.copies.unpack(&locked.files, &self.fetcher.objects)?;
        let mut edited = None;
        change_config(&self.config, self.project(), |before| {
            let after = config::set_fetch(before, name, settings);
            let after = after.map_err(|error| self.of_config(&error))?;
            edited = self.copies.install(name, new, (&locked, Some(&replaced)), settings)?;
            lock_file::write(&self.lock, &sources)?;
            Ok(after)
        })?;
        Ok(edited)
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
}

/// The entries of `skills` that choose what is left. A pattern, a directory, and the choice of all
/// skills are kept, with an exclusion for each skill that is gone.
fn without(skills: &[String], gone: &[&Installed], left: &[&Installed]) -> Vec<String> {
    let is_literal = |id: &str| !id.contains('*');
    let is_gone = |id: &str| is_literal(id) && gone.iter().any(|skill| skill.is_named(id));
    let mut kept: Vec<String> = skills.iter().filter(|id| !is_gone(id)).cloned().collect();
    let (_, wanted) = excluded_and_wanted(&kept);
    let chooses_one = |id: &&str| is_literal(id) && left.iter().any(|skill| skill.is_named(id));
    if wanted.is_empty() || !wanted.iter().all(chooses_one) {
        kept.extend(gone.iter().map(|skill| format!("!{}", skill.name)));
    }
    kept
}
