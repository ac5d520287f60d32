//! Polling: checks each source with an interval in `config.toml` for updates, and takes them.
//!
//! Nobody is asked about such an update, so it is restricted. It only updates a source that the user
//! fetched on this machine with exactly the settings that `config.toml` has now, whoever wrote that
//! file. It runs no code that the user has not trusted. It removes no skill.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::address::sections_of;
use super::copies::source_at;
use super::fetcher::Fetcher;
use super::location::check_name;
use super::lock_file;
use super::schedule::pause;
use super::source_list::SourceList;
use super::state::{Answer, Moment, State, written};
use super::unattended::reason_to_hold;
use super::update::{Update, UpdateStep};
use repertoire::catalog::Scope;
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::{Error, ErrorCode};
use repertoire_config::{Config, ConfigPlace, FetchSection};

/// Checks the sources of a configuration for updates at their intervals: `refresh` of `[fetch.NAME]`.
/// Processes share the times of the checks, and only one process at a time asks a source.
///
/// ```
/// use repertoire_config::ConfigPlace;
/// use repertoire_fetch::{Fetcher, SourcePoller};
///
/// let dir = tempfile::tempdir()?;
/// let project = dir.path().to_owned();
/// let working_dir = project.clone();
/// let place = ConfigPlace { home: None, project, working_dir, brand: "acme".to_owned() };
/// let poller = SourcePoller::new(&Fetcher::new(dir.path().join("cache")), &place);
/// let poll = poller.poll();
/// assert!(poll.sources.is_empty() && poll.next.is_none(), "no source has an interval");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SourcePoller {
    fetcher: Fetcher,
    place: ConfigPlace,
    clock: Clock,
    /// The seed of the deviations from intervals.
    jitter: RandomState,
    /// The outcomes that no call has returned yet, because the skills could not be refreshed after the
    /// poll. Clones share them.
    pub(crate) unreported: Arc<Mutex<Vec<PolledSource>>>,
}

#[derive(Clone)]
struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// The result of [`SourcePoller::poll`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SourcePoll {
    /// The sources that were due.
    pub sources: Vec<PolledSource>,
    /// The time until the next source is due; `None` if no source has an interval.
    pub next: Option<Duration>,
}

/// A source that was due.
#[derive(Debug)]
#[non_exhaustive]
pub struct PolledSource {
    /// The name in `config.toml`.
    pub name: String,
    /// The outcome of polling it.
    pub outcome: PollOutcome,
}

/// The outcome of polling a source.
#[derive(Debug)]
#[non_exhaustive]
pub enum PollOutcome {
    /// The newest state was in use already.
    Unchanged,
    /// A newer state was fetched; it is pinned and in use from now on.
    Updated(Update),
    /// There is a newer state, which was left for the user to take, for this reason. The last good state
    /// stays in use.
    Held(String),
    /// The source could not be asked or fetched. The last good state stays in use.
    Failed(Error),
    /// Another process is polling the source, or its settings or its pinned state changed during the
    /// poll.
    Busy,
}

impl SourcePoller {
    /// Creates a poller for the sources in the configuration of `place`. The cache of `fetcher` must be
    /// the one from which the configuration [gets](Fetcher::apply) its sources.
    pub fn new(fetcher: &Fetcher, place: &ConfigPlace) -> SourcePoller {
        let clock = Clock(Arc::new(SystemTime::now));
        let (fetcher, place, jitter) = (fetcher.clone(), place.clone(), RandomState::new());
        SourcePoller { fetcher, place, clock, jitter, unreported: Arc::default() }
    }

    /// Replaces the clock, so that tests need not wait.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> SourcePoller {
        self.clock = Clock(Arc::new(now));
        self
    }

    /// Returns a poller whose fetches end once this flag is set, too.
    pub(crate) fn flagged(&self, flag: Arc<AtomicBool>) -> SourcePoller {
        let mut poller = self.clone();
        poller.fetcher.flag = Some(flag);
        poller
    }

    /// Asks the sources that are due, and takes newer states: they are pinned and in use as after
    /// [`SourceList::update`]. Blocks on the network; if no source is due, it only reads a few small
    /// files. Once the fetcher is [cancelled](Fetcher::cancelled_when), the remaining sources are
    /// skipped.
    ///
    /// An update that would remove a skill is held back. So is the update of a source that was never
    /// fetched from the address, or with the settings, in `config.toml`.
    pub fn poll(&self) -> SourcePoll {
        let mut poll = SourcePoll::default();
        let config = Config::load(&self.place);
        let fetcher = self.fetcher.with_policy_of(&config);
        for section in sections_of(&config) {
            let (Some(interval), Some(list)) = (section.refresh, self.list(&fetcher, &section))
            else {
                continue;
            };
            let (wait, outcome) = self.poll_one(&list, &section, interval);
            poll.next = Some(poll.next.map_or(wait, |next| next.min(wait)));
            let name = section.name;
            poll.sources.extend(outcome.map(|outcome| PolledSource { name, outcome }));
            if self.fetcher.deadline().is_cancelled() {
                break;
            }
        }
        poll
    }

    /// The current findings about fetched sources: `source-stale` and `source-held`. Does not use the
    /// network.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let config = self.fetcher.apply(Config::load(&self.place));
        let findings = config.diagnostics().iter();
        findings.filter(|finding| SourcePoller::finds(finding.code)).cloned().collect()
    }

    /// Tells whether findings with this code may appear and disappear by polling.
    pub(crate) fn finds(code: Code) -> bool {
        matches!(code, Code::SourceStale | Code::SourceHeld)
    }

    /// The list that has a source, if the source was fetched on this machine.
    fn list<'f>(&self, fetcher: &'f Fetcher, section: &FetchSection) -> Option<SourceList<'f>> {
        let ConfigPlace { home, project, brand, .. } = &self.place;
        let base = if section.scope == Scope::User { home.as_ref()? } else { project };
        let list = SourceList::new(fetcher, section.scope, base, brand);
        let is_fetched = check_name(&section.name).is_ok() && list.copy_of(&section.name).is_dir();
        is_fetched.then_some(list)
    }

    /// Asks a source if it is due. Returns the time until it is due again.
    fn poll_one(
        &self,
        list: &SourceList<'_>,
        section: &FetchSection,
        interval: Duration,
    ) -> (Duration, Option<PollOutcome>) {
        let name = section.name.as_str();
        let now = Moment::of((self.clock.0)());
        let wait = || self.wait(&list.copies.state(name), name, interval, now);
        if let Some(wait) = wait() {
            return (wait, None);
        }
        let guard = match list.copies.lock_to_poll(name) {
            Ok(Some(guard)) => guard,
            // The other process will store the answer, which changes the time.
            Ok(None) => return (interval / 10, Some(PollOutcome::Busy)),
            Err(error) => return (interval, Some(PollOutcome::Failed(error))),
        };
        // Another process may have asked the source since the first check.
        if let Some(wait) = wait() {
            return (wait, None);
        }
        let outcome = list.refresh(section, now).unwrap_or_else(PollOutcome::Failed);
        drop(guard);
        if let PollOutcome::Updated(_) = outcome {
            // What could not be placed is reported by the next `update` of the user.
            let _ = list.place();
            // Only clean-up, so a failure does not matter.
            let _ = self.fetcher.collect(Fetcher::UNUSED);
        }
        let is_cancelled = matches!(&outcome, PollOutcome::Failed(e) if is_cancelled(e));
        // If the answer could not be stored, wait for one interval.
        (wait().unwrap_or(interval), (!is_cancelled).then_some(outcome))
    }

    /// The time until a source is due; `None` if it is due now.
    fn wait(&self, state: &State, name: &str, interval: Duration, now: Moment) -> Option<Duration> {
        let asked = state.asked();
        let roll = self.jitter.hash_one((name, asked));
        // If the clock was set back, the time since the last check is unknown: the source is due.
        let since = asked.until(now)?;
        let wait = pause(interval, state.failures(), roll).saturating_sub(since);
        (!wait.is_zero()).then_some(wait)
    }
}

fn is_cancelled(error: &Error) -> bool {
    error.code() == ErrorCode::Cancelled
}

impl SourceList<'_> {
    /// Updates a source as far as that needs no consent of the user, and stores the answer.
    fn refresh(&self, section: &FetchSection, now: Moment) -> Result<PollOutcome, Error> {
        let FetchSection { name, settings, .. } = section;
        let result = self.try_refresh(section);
        let answer = match &result {
            Ok((revision, PollOutcome::Held(reason))) => Some(Answer::Held { revision, reason }),
            Ok((_, PollOutcome::Busy)) => None,
            Ok(_) => Some(Answer::Newest { settings }),
            Err(error) if is_cancelled(error) => None,
            Err(error) => Some(Answer::Failed { message: error.message() }),
        };
        if let Some(answer) = answer {
            self.copies.note(name, &answer, now, &self.fetcher.deadline())?;
        }
        result.map(|(_, outcome)| outcome)
    }

    /// The outcome, and the revision that it is about.
    fn try_refresh(&self, section: &FetchSection) -> Result<(String, PollOutcome), Error> {
        let FetchSection { name, settings, .. } = section;
        let state = self.copies.state(name);
        let locked = self.locked(name)?;
        let is_fetched = locked.as_ref().is_some_and(|locked| locked.is_of(settings));
        if !is_fetched || state.settings != written(settings) {
            let reason = "`config.toml` names it otherwise than it was fetched".to_owned();
            return Ok((String::new(), PollOutcome::Held(reason)));
        }
        // The provider is asked only once, since the request may already download the archive.
        let provider = self.provider(settings)?;
        let newest = provider.newest()?;
        if let Some(held) = state.held.filter(|held| newest.as_ref() == Some(&held.revision)) {
            return Ok((held.revision, PollOutcome::Held(held.reason)));
        }
        let candidate = match self.newest_from(&*provider, name, settings, newest.as_deref())? {
            UpdateStep::InUse(locked, _) => return Ok((locked.revision, PollOutcome::Unchanged)),
            UpdateStep::Other(candidate) => candidate,
        };
        let revision = candidate.locked.revision.clone();
        // Nobody was asked whether files that only the copy has may be deleted.
        if let Some(path) = locked.and_then(|locked| self.copies.added(name, &locked.files)) {
            let reason = format!("it would remove {}, which was added to the copy", path.display());
            return Ok((revision, PollOutcome::Held(reason)));
        }
        let source = |root: &std::path::Path| source_at(name, &settings.source, root.to_owned());
        let (before, after) = (self.copies.root(name), candidate.new.path());
        if let Some(reason) = reason_to_hold(&candidate.changes, &before, after, &source) {
            return Ok((revision, PollOutcome::Held(reason)));
        }
        let _guard = self.copies.lock(&self.fetcher.deadline())?;
        let sources = lock_file::read(&self.lock)?;
        // The user may have updated or removed the source, or changed its address, during the fetch.
        let is_same = sources.get(name) == candidate.before.as_ref()
            && self.section(name).is_ok_and(|now| now.settings == *settings);
        if !is_same {
            return Ok((revision, PollOutcome::Busy));
        }
        let update = candidate.update();
        self.take(name, *candidate, settings, sources)?;
        Ok((revision, PollOutcome::Updated(update)))
    }
}
