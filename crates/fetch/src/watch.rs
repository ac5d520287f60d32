//! Updates fetched skills while an engine runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use repertoire::catalog::Refreshed;
use repertoire::{Engine, Error, ErrorCode};

use super::poll::{SourcePoll, SourcePoller};

/// The shortest time between two polls of a watch.
const MIN_PAUSE: Duration = Duration::from_secs(1);

/// The time after which a watch polls again if the skills could not be refreshed, or if no source has an
/// interval.
const AFTER_ERROR: Duration = Duration::from_secs(60);

impl SourcePoller {
    /// Polls the sources that are due, [refreshes](Engine::refresh) the skills of `engine`, and updates
    /// its [diagnostics](Engine::diagnostics) about sources. Blocks on the network; queries go on in the
    /// meantime.
    ///
    /// Fails as [`Engine::refresh`] does; the next call then returns the outcomes of this one as well. A
    /// source that cannot be fetched is an outcome, not an error.
    ///
    /// ```
    /// use repertoire::Engine;
    /// use repertoire_config::{Config, ConfigPlace};
    /// use repertoire_fetch::{Fetcher, SourcePoller};
    ///
    /// let dir = tempfile::tempdir()?;
    /// let project = dir.path().to_owned();
    /// let working_dir = project.clone();
    /// let place = ConfigPlace { home: None, project, working_dir, brand: "acme".to_owned() };
    /// let fetcher = Fetcher::new(dir.path().join("cache"));
    /// let engine = fetcher.apply(Config::load(&place)).apply(Engine::builder()).build()?;
    /// let poll = SourcePoller::new(&fetcher, &place).refresh(&engine)?;
    /// // No source has an interval. A host calls it again after this time:
    /// assert_eq!(poll.next, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh(&self, engine: &Engine) -> Result<SourcePoll, Error> {
        let poll = self.poll();
        engine.report(SourcePoller::finds, self.findings());
        self.told(poll, engine.refresh())
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

impl SourceWatch {
    /// Starts a thread that calls [`SourcePoller::refresh`] whenever a source is due, and passes the
    /// result to `listener`. The thread ends when the guard or the last clone of `engine` is dropped.
    /// As long as no source has an interval, it checks once a minute whether one has. Errors are logged
    /// and do not end the thread.
    ///
    /// Fails with `EXECUTION_ERROR` if no thread can be started.
    pub fn start(
        engine: &Engine,
        poller: &SourcePoller,
        listener: impl Fn(&SourcePoll) + Send + 'static,
    ) -> Result<SourceWatch, Error> {
        // Shared with the threads of a fetch, some of which may outlive the watch.
        let flag = Arc::<AtomicBool>::default();
        let poller = poller.flagged(Arc::clone(&flag));
        let engine = engine.downgrade();
        let (stop, is_stopped) = channel();
        let run = move || {
            while let Some(engine) = engine.upgrade() {
                let poll = poller.refresh(&engine).unwrap_or_else(|error| {
                    tracing::warn!(%error, "skills could not be refreshed");
                    SourcePoll { next: Some(AFTER_ERROR), ..SourcePoll::default() }
                });
                drop(engine);
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
            let help = "call `SourcePoller::refresh` from time to time instead";
            Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
        })?;
        Ok(SourceWatch { flag, stop, thread: Some(thread) })
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
    use repertoire_config::ConfigPlace;

    use super::*;
    use crate::{Fetcher, PollOutcome, PolledSource};

    #[test]
    fn outcomes_are_told_once_the_skills_were_refreshed() {
        let dir = tempfile::tempdir().unwrap();
        let (project, working_dir) = (dir.path().to_owned(), dir.path().to_owned());
        let place = ConfigPlace { home: None, project, working_dir, brand: "acme".to_owned() };
        let poller = SourcePoller::new(&Fetcher::new(dir.path()), &place);
        let poll = |name: &str| SourcePoll {
            sources: vec![PolledSource { name: name.to_owned(), outcome: PollOutcome::Unchanged }],
            next: None,
        };
        let failed = || Err(Error::new(ErrorCode::InvalidParam, "too many", ""));
        assert!(poller.told(poll("one"), failed()).is_err());
        let told = |poll, refreshed| {
            let told = poller.told(poll, refreshed).unwrap().sources;
            told.into_iter().map(|source| source.name).collect::<Vec<_>>()
        };
        assert_eq!(told(poll("two"), Ok(Refreshed::default())), ["one", "two"]);
        assert_eq!(told(SourcePoll::default(), Ok(Refreshed::default())), [""; 0]);
    }
}
