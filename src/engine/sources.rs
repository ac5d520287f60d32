//! Polling of sources: updates fetched skills while an engine runs.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Engine;
use crate::catalog::{CatalogOptions, Refreshed};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorCode};
use crate::fetch::{PolledSource, SourcePoll, SourcePoller};

/// The shortest time between two polls of a watch.
const MIN_PAUSE: Duration = Duration::from_secs(1);

/// The time after which a watch polls again if the skills could not be refreshed, or if no source has an
/// interval.
const AFTER_ERROR: Duration = Duration::from_secs(60);

/// The poller of an engine, and the latest findings about its sources.
#[derive(Debug)]
pub(super) struct Polled {
    poller: SourcePoller,
    findings: Mutex<Findings>,
    /// The outcomes that no call has returned yet, because the skills could not be refreshed after the
    /// poll.
    unreported: Mutex<Vec<PolledSource>>,
}

#[derive(Debug, Default)]
struct Findings {
    /// `None` if the findings with which the engine was built are still the latest.
    now: Option<Vec<Diagnostic>>,
    /// True if the catalog does not have these findings yet.
    are_new: bool,
}

impl Polled {
    pub(super) fn new(poller: SourcePoller) -> Polled {
        Polled { poller, findings: Mutex::default(), unreported: Mutex::default() }
    }

    /// Adds to `poll` the outcomes of earlier polls that no call has returned yet. If the skills could
    /// not be refreshed, keeps all outcomes for the next call.
    fn told(
        &self,
        mut poll: SourcePoll,
        refreshed: Result<Refreshed, Error>,
    ) -> Result<SourcePoll, Error> {
        let mut unreported = self.unreported.lock().unwrap_or_else(PoisonError::into_inner);
        unreported.append(&mut poll.sources);
        refreshed?;
        poll.sources = std::mem::take(&mut *unreported);
        Ok(poll)
    }

    fn note(&self, now: Vec<Diagnostic>) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        if findings.now.as_ref() != Some(&now) {
            *findings = Findings { now: Some(now), are_new: true };
        }
    }
}

/// A guard that keeps the fetched skills of an engine up to date until it is dropped. Dropping it ends a
/// running fetch and the programs that the fetch started.
#[derive(Debug)]
#[must_use = "no source is asked any more when this is dropped"]
pub struct SourceWatch {
    /// Cancels a running fetch once it is set.
    flag: Arc<AtomicBool>,
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Checks for updates of the fetched sources that are due, [refreshes](Engine::refresh) the skills, and
    /// updates the [diagnostics](Engine::diagnostics) about sources. Blocks on the network; no other
    /// call does, so queries go on in the meantime. Without a
    /// [poller](super::EngineBuilder::source_poller), only refreshes the skills.
    ///
    /// Fails as [`Engine::refresh`] does; the next call then returns the outcomes of this one as well. A
    /// source that cannot be fetched is an outcome, not an error.
    ///
    /// ```
    /// use repertoire::Engine;
    /// use repertoire::config::{Config, ConfigPlace};
    /// use repertoire::fetch::{Fetcher, SourcePoller};
    ///
    /// let dir = tempfile::tempdir()?;
    /// let project = dir.path().to_owned();
    /// let working_dir = project.clone();
    /// let place = ConfigPlace { home: None, project, working_dir, brand: "acme".to_owned() };
    /// let fetcher = Fetcher::new(dir.path().join("cache"));
    /// let engine = Engine::builder()
    ///     .config(&fetcher.apply(Config::load(&place)))
    ///     .source_poller(SourcePoller::new(&fetcher, &place))
    ///     .build()?;
    /// let poll = engine.poll_sources()?;
    /// // No source has an interval. A host calls it again after this time:
    /// assert_eq!(poll.next, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll_sources(&self) -> Result<SourcePoll, Error> {
        self.poll_by(self.0.polled.as_ref().map(|polled| &polled.poller))
    }

    fn poll_by(&self, poller: Option<&SourcePoller>) -> Result<SourcePoll, Error> {
        let (Some(poller), Some(state)) = (poller, &self.0.polled) else {
            self.refresh()?;
            return Ok(SourcePoll::default());
        };
        let poll = poller.poll();
        state.note(poller.findings());
        state.told(poll, self.refresh())
    }

    /// Starts a thread that calls [`Engine::poll_sources`] whenever a source is due, and passes the
    /// result to `listener`. The thread ends when the guard or the last clone of this engine is dropped.
    /// As long as no source has an interval, it checks once a minute whether one has. Errors are logged
    /// and do not end the thread.
    ///
    /// Fails with `EXECUTION_ERROR` if no thread can be started.
    pub fn watch_sources(
        &self,
        listener: impl Fn(&SourcePoll) + Send + 'static,
    ) -> Result<SourceWatch, Error> {
        // Shared with the threads of a fetch, some of which may outlive the watch.
        let flag = Arc::<AtomicBool>::default();
        let poller = self.0.polled.as_ref().map(|polled| polled.poller.flagged(Arc::clone(&flag)));
        let inner = Arc::downgrade(&self.0);
        let (stop, is_stopped) = channel();
        let run = move || {
            while let Some(inner) = inner.upgrade() {
                let poll = Engine(inner).poll_by(poller.as_ref()).unwrap_or_else(|error| {
                    tracing::warn!(%error, "skills could not be refreshed");
                    SourcePoll { next: Some(AFTER_ERROR), ..SourcePoll::default() }
                });
                listener(&poll);
                // The user may give a source an interval, or fetch it, at any time: check again after a
                // while.
                let pause = poll.next.unwrap_or(AFTER_ERROR);
                if is_stopped.recv_timeout(pause.max(MIN_PAUSE)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("repertoire-sources".to_owned()).spawn(run);
        let thread = thread.map_err(|error| {
            let message = format!("sources cannot be watched: {error}");
            let help = "call `poll_sources` from time to time instead";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        })?;
        Ok(SourceWatch { flag, stop, thread: Some(thread) })
    }

    /// Tells whether there are findings about sources that the catalog does not have yet.
    pub(super) fn has_new_findings(&self) -> bool {
        self.0.polled.as_ref().is_some_and(|polled| {
            polled.findings.lock().unwrap_or_else(PoisonError::into_inner).are_new
        })
    }

    /// The options for loading the catalog, with the latest findings about sources. Marks the findings
    /// as no longer new.
    pub(super) fn options_now(&self) -> Cow<'_, CatalogOptions> {
        let Some(polled) = &self.0.polled else { return Cow::Borrowed(&self.0.sources) };
        let mut findings = polled.findings.lock().unwrap_or_else(PoisonError::into_inner);
        findings.are_new = false;
        let Some(now) = &findings.now else { return Cow::Borrowed(&self.0.sources) };
        let mut options = self.0.sources.clone();
        options.findings.retain(|finding| !SourcePoller::finds(finding.code));
        options.findings.extend_from_slice(now);
        Cow::Owned(options)
    }
}

impl Drop for SourceWatch {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
        let _ = self.stop.send(());
        // If the listener drops the guard on the thread itself, the thread cannot wait for its own end.
        let thread =
            self.thread.take().filter(|thread| thread.thread().id() != thread::current().id());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigPlace;
    use crate::fetch::{Fetcher, PollOutcome};

    #[test]
    fn outcomes_are_told_once_the_skills_were_refreshed() {
        let dir = tempfile::tempdir().unwrap();
        let (project, working_dir) = (dir.path().to_owned(), dir.path().to_owned());
        let place = ConfigPlace { home: None, project, working_dir, brand: "acme".to_owned() };
        let polled = Polled::new(SourcePoller::new(&Fetcher::new(dir.path()), &place));
        let poll = |name: &str| SourcePoll {
            sources: vec![PolledSource { name: name.to_owned(), outcome: PollOutcome::Unchanged }],
            next: None,
        };
        let failed = || Err(Error::new(ErrorCode::InvalidParam, "too many", ""));
        assert!(polled.told(poll("one"), failed()).is_err());
        let told = |poll, refreshed| {
            let told = polled.told(poll, refreshed).unwrap().sources;
            told.into_iter().map(|source| source.name).collect::<Vec<_>>()
        };
        assert_eq!(told(poll("two"), Ok(Refreshed::default())), ["one", "two"]);
        assert_eq!(told(SourcePoll::default(), Ok(Refreshed::default())), [""; 0]);
    }
}
