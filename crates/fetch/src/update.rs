//! Updating the sources of a list, and checking whether they are outdated.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempDir;

use super::copies::source_at;
use super::diff::{self, SkillChange};
use super::fetcher::Fetched;
use super::layout::LeftOut;
use super::location::{Location, check_name};
use super::lock_file::{self, Locked};
use super::provider::SourceProvider;
use super::source_list::SourceList;
use super::state::{Answer, Moment};
use repertoire::spans;
use repertoire::{Error, ErrorCode, Remedy};
use repertoire_config::FetchSettings;

/// The options of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UpdateOptions {
    /// Tells what would change, and changes nothing.
    pub dry_run: bool,
    /// Takes exactly the state that the lock file pins, and never changes the lock file.
    pub frozen: bool,
}

impl UpdateOptions {
    /// Creates options with both fields set.
    pub fn new(dry_run: bool, frozen: bool) -> UpdateOptions {
        UpdateOptions { dry_run, frozen }
    }
}

/// The outcome of an [`Update`] in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum UpdateStatus {
    /// The newest state was in use already.
    Unchanged,
    /// A newer state was fetched; it is pinned and in use from now on.
    Updated,
    /// The state that the lock file pinned already was installed, and is in use from now on.
    Installed,
}

impl UpdateStatus {
    /// The status in lower case, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            UpdateStatus::Unchanged => "unchanged",
            UpdateStatus::Updated => "updated",
            UpdateStatus::Installed => "installed",
        }
    }
}

/// The outcome of updating a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Update {
    /// The outcome in one word.
    pub status: UpdateStatus,
    /// The revision that was pinned before.
    pub from: Option<String>,
    /// The revision that is pinned now; with `dry_run`, the one that would be pinned.
    pub to: String,
    /// The changes of skills on this machine.
    pub changes: Vec<SkillChange>,
    /// The key that signed the state, if a signature is required.
    pub signed_by: Option<String>,
    /// The skills of a newly fetched state that were not taken.
    pub left_out: Vec<LeftOut>,
    /// The copy that was replaced, if the user had changed files in it.
    pub edited: Option<PathBuf>,
}

/// The result of [`SourceList::outdated`]: whether a source has a newer state than the pinned one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Outdated {
    /// The revision that is pinned, if there is one.
    pub locked: Option<String>,
    /// The newest revision.
    pub newest: String,
    /// True if the two revisions differ, or if the source was fetched with other settings.
    pub outdated: bool,
    /// The reason why a [`SourcePoller`](super::SourcePoller) left the newest revision for the user to
    /// take.
    pub held: Option<String>,
    /// The key that signed the copy in use, if a signature is required and valid.
    pub signed_by: Option<String>,
}

/// A fetched state of a source that is not in use yet.
pub(super) struct FetchedState {
    status: UpdateStatus,
    /// The state that was pinned when this one was fetched.
    pub(super) before: Option<Locked>,
    pub(super) locked: Locked,
    pub(super) new: TempDir,
    pub(super) changes: Vec<SkillChange>,
    signed_by: Option<String>,
    left_out: Vec<LeftOut>,
}

impl FetchedState {
    /// The outcome of the update once this state is in use.
    pub(super) fn update(&self) -> Update {
        Update {
            status: self.status,
            from: self.before.as_ref().map(|before| before.revision.clone()),
            to: self.locked.revision.clone(),
            changes: self.changes.clone(),
            signed_by: self.signed_by.clone(),
            left_out: self.left_out.clone(),
            edited: None,
        }
    }
}

/// The state that an update leads to.
pub(super) enum UpdateStep {
    /// The state is in use already; with the key that signed it, if a signature is required.
    InUse(Locked, Option<String>),
    Other(Box<FetchedState>),
}

impl SourceList<'_> {
    /// Updates one source. If that fails, its last good state stays in use, and
    /// [`Fetcher::apply`](super::Fetcher::apply) reports the reason as a finding until an update
    /// succeeds.
    ///
    /// Fails like [`Fetcher::fetch`](super::Fetcher::fetch), with `NOT_FOUND` if the list has no such
    /// source, and with `INVALID_PARAM` if `frozen` is set and the lock file does not fit the settings
    /// or the source.
    pub fn update(&self, name: &str, options: UpdateOptions) -> Result<Update, Error> {
        check_name(name)?;
        let section = self.section(name)?;
        let span = spans::update(name);
        let result = spans::within(&span, || self.try_update(name, &section.settings, options));
        if let Ok(update) = &result {
            span.record("status", update.status.as_str());
        }
        let is_cancelled = result.as_ref().is_err_and(|error| error.code() == ErrorCode::Cancelled);
        // A frozen update may be served from the cache alone, so its result says nothing about the
        // source.
        let is_asked = !options.dry_run && !options.frozen && !is_cancelled;
        if is_asked {
            let answer = match &result {
                Ok(_) => Answer::Newest { settings: &section.settings },
                Err(error) => Answer::Failed { message: error.message() },
            };
            self.copies.note(name, &answer, Moment::now(), &self.fetcher.deadline())?;
        }
        result
    }

    fn try_update(
        &self,
        name: &str,
        settings: &FetchSettings,
        options: UpdateOptions,
    ) -> Result<Update, Error> {
        let next = if options.frozen {
            self.pinned(name, settings, self.locked(name)?)?
        } else {
            let provider = self.provider(settings)?;
            let is_fetched = self.locked(name)?.is_some_and(|locked| locked.is_of(settings));
            let newest = if is_fetched { provider.newest()? } else { None };
            self.newest_from(&*provider, name, settings, newest.as_deref())?
        };
        match next {
            UpdateStep::InUse(locked, signed_by) => Ok(unchanged(&locked, signed_by)),
            UpdateStep::Other(candidate) if options.dry_run => Ok(candidate.update()),
            UpdateStep::Other(candidate) => {
                let mut update = candidate.update();
                let _guard = self.copies.lock(&self.fetcher.deadline())?;
                // The user may have removed the source, or changed its address, during the fetch.
                if self.section(name)?.settings != *settings {
                    let message =
                        format!("`config.toml` has changed the source `{name}` meanwhile");
                    return Err(Error::new(ErrorCode::InvalidParam, message, "update it again"));
                }
                let sources = lock_file::read(&self.lock)?;
                update.edited = self.take(name, *candidate, settings, sources)?;
                Ok(update)
            }
        }
    }

    /// Fetches the newest state of a source, unless that state is pinned already, from a provider that
    /// was already asked for its newest revision. That request may have downloaded the source. Fails like
    /// [`SourceList::update`].
    pub(super) fn newest_from(
        &self,
        provider: &dyn SourceProvider,
        name: &str,
        settings: &FetchSettings,
        newest: Option<&str>,
    ) -> Result<UpdateStep, Error> {
        let locked = self.locked(name)?;
        let fitting = locked.as_ref().filter(|locked| locked.is_of(settings));
        if fitting.is_some_and(|fitting| newest == Some(fitting.revision.as_str())) {
            return self.pinned(name, settings, locked);
        }
        let fetched = self.fetcher.fetch_for(self.scope, provider, settings, None)?;
        let Fetched { locked: fetched, signed_by, left_out } = fetched;
        if locked.as_ref() == Some(&fetched) && self.is_current(name, &fetched) {
            return Ok(UpdateStep::InUse(fetched, signed_by));
        }
        let new = self.copies.unpack(&fetched.files, &self.fetcher.objects)?;
        let changes = self.changes(name, &settings.source, new.path());
        let status = UpdateStatus::Updated;
        let (before, locked) = (locked, fetched);
        let state = FetchedState { status, before, locked, new, changes, signed_by, left_out };
        Ok(UpdateStep::Other(Box::new(state)))
    }

    /// Puts a state into use, and pins it in the lock file, whose current entries are `sources`. The
    /// caller must hold the lock of the copies.
    pub(super) fn take(
        &self,
        name: &str,
        candidate: FetchedState,
        settings: &FetchSettings,
        mut sources: lock_file::Sources,
    ) -> Result<Option<PathBuf>, Error> {
        let FetchedState { locked, new, .. } = candidate;
        let edited = self.copies.install(name, new, (&locked, sources.get(name)), settings)?;
        if sources.get(name) != Some(&locked) {
            sources.insert(name.to_owned(), locked);
            lock_file::write(&self.lock, &sources)?;
        }
        Ok(edited)
    }

    /// Returns the pinned state: unpacked from the cache if possible, otherwise fetched at its revision.
    fn pinned(
        &self,
        name: &str,
        settings: &FetchSettings,
        locked: Option<Locked>,
    ) -> Result<UpdateStep, Error> {
        let lock = self.lock.display();
        let outdated = |why: &str| {
            let message = format!("{lock} {why} the source `{name}`");
            let help = "update the source without holding it to what is pinned";
            let remedy = Remedy::Fetch { name: name.to_owned(), frozen: false };
            Error::new(ErrorCode::InvalidParam, message, help).with_remedy(remedy)
        };
        let locked = locked.ok_or_else(|| outdated("does not pin"))?;
        if !locked.is_of(settings) {
            return Err(outdated("pins another state than `config.toml` names of"));
        }
        let verify = |root: &Path| {
            let read = |path: &str| std::fs::read(root.join(path)).ok();
            self.fetcher.demands.verify(self.scope, settings, &locked, &read)
        };
        if self.is_current(name, &locked) {
            let signed_by = verify(&self.copies.root(name))?;
            return Ok(UpdateStep::InUse(locked, signed_by));
        }
        let new = self.unpack_locked(settings, &locked)?;
        let signed_by = verify(new.path())?;
        let changes = self.changes(name, &settings.source, new.path());
        let (status, before) = (UpdateStatus::Installed, Some(locked.clone()));
        let left_out = Vec::new();
        let state = FetchedState { status, before, locked, new, changes, signed_by, left_out };
        Ok(UpdateStep::Other(Box::new(state)))
    }

    fn unpack_locked(&self, settings: &FetchSettings, locked: &Locked) -> Result<TempDir, Error> {
        let objects = &self.fetcher.objects;
        if locked.files.values().all(|file| objects.has(&file.sha256)) {
            match self.copies.unpack(&locked.files, objects) {
                // A content in the cache was damaged; fetch it again below.
                Err(error) if error.code() == ErrorCode::NotFound => {}
                result => return result,
            }
        }
        let provider = self.provider(settings)?;
        let revision = Some(locked.revision.as_str());
        let fetched = self.fetcher.fetch_for(self.scope, &*provider, settings, revision)?.locked;
        if fetched.files != locked.files {
            let message = format!(
                "{} does not have the files that {} pins for it",
                settings.source,
                self.lock.display()
            );
            let help =
                "find out why before you take the new ones: the same revision has other content";
            return Err(Error::new(ErrorCode::PermissionDenied, message, help));
        }
        self.copies.unpack(&locked.files, objects)
    }

    /// Asks a source for its newest revision. If the provider cannot tell without a fetch, fetches the
    /// source. Fails like [`SourceList::update`].
    pub fn outdated(&self, name: &str) -> Result<Outdated, Error> {
        let section = self.section(name)?;
        let settings = &section.settings;
        let locked = self.locked(name)?;
        let provider = self.provider(settings)?;
        let newest = match provider.newest()? {
            Some(newest) => newest,
            None => self.fetcher.fetch_for(self.scope, &*provider, settings, None)?.locked.revision,
        };
        let is_newest = |locked: &Locked| locked.revision == newest && locked.is_of(settings);
        let outdated = !locked.as_ref().is_some_and(is_newest);
        let held = self.copies.state(name).held.filter(|held| held.revision == newest);
        let held = held.filter(|_| outdated).map(|held| held.to_string());
        // A copy whose signature is not valid is not in use; `Fetcher::apply` reports that.
        let signed_by = self.signed_by(&section).unwrap_or_default();
        let locked = locked.map(|locked| locked.revision);
        Ok(Outdated { locked, newest, outdated, held, signed_by })
    }

    pub(super) fn provider(
        &self,
        settings: &FetchSettings,
    ) -> Result<Box<dyn SourceProvider>, Error> {
        let location = Location::parse(&settings.source, &self.base)?;
        self.check_location(&location)?;
        self.fetcher.demands.check_signable(self.scope, settings)?;
        self.fetcher.provider_of(&location, settings)
    }

    /// The changes from the copy of a source to another directory.
    fn changes(&self, name: &str, address: &str, new: &Path) -> Vec<SkillChange> {
        let source = |root: &Path| source_at(name, address, root.to_owned());
        diff::between(&self.copies.root(name), new, &source)
    }

    /// Tells whether the copy has the pinned state. Compares every file, so that an update repairs a
    /// copy that was changed by hand.
    fn is_current(&self, name: &str, locked: &Locked) -> bool {
        self.copies.root(name).is_dir()
            && self.copies.state(name).digest == locked.digest().as_str()
            && self.copies.changed(name, &locked.files).is_none()
    }
}

fn unchanged(locked: &Locked, signed_by: Option<String>) -> Update {
    let (from, to) = (Some(locked.revision.clone()), locked.revision.clone());
    let (changes, left_out) = (Vec::new(), Vec::new());
    Update { status: UpdateStatus::Unchanged, from, to, changes, signed_by, left_out, edited: None }
}
