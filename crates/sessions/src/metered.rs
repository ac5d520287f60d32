//! A store that counts and times the calls of another one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::call_counter::CallCounter;
use repertoire::Error;
use repertoire::session::SessionStore;
use repertoire::session::{Day, Tallies};
use repertoire::session::{Event, SessionState, SkillState};

/// The upper bounds of the durations that [`StoreCounts::took`] counts, in microseconds. The last number
/// of `took` counts the calls that took longer than all of them.
pub const STORE_BOUNDS: [u64; 12] =
    [250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000];

/// A session store that counts the calls of another one, their failures and their durations, for
/// metrics. Cheap to clone; all clones share the same counts.
#[derive(Debug, Clone)]
pub struct MeteredStore(Arc<Metered>);

#[derive(Debug)]
struct Metered {
    store: Box<dyn SessionStore>,
    calls: CallCounter<{ STORE_BOUNDS.len() + 1 }>,
}

/// The counts of the calls of a [`MeteredStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StoreCounts {
    /// The number of calls that failed.
    pub failed: u64,
    /// The time of all calls together.
    pub total: Duration,
    /// The number of calls by duration: at most the first of [`STORE_BOUNDS`], at most the second but
    /// more than the first, and so on.
    pub took: [u64; STORE_BOUNDS.len() + 1],
}

impl MeteredStore {
    /// Creates a store that counts the calls of `store`.
    pub fn new(store: impl SessionStore + 'static) -> MeteredStore {
        MeteredStore(Arc::new(Metered { store: Box::new(store), calls: CallCounter::default() }))
    }

    /// The counts so far.
    pub fn counts(&self) -> StoreCounts {
        let calls = &self.0.calls;
        let total = Duration::from_micros(calls.micros());
        StoreCounts { failed: calls.failed(), total, took: calls.took() }
    }

    fn run<T>(&self, call: impl FnOnce(&dyn SessionStore) -> Result<T, Error>) -> Result<T, Error> {
        let began = Instant::now();
        let done = call(&*self.0.store);
        self.0.calls.note(&STORE_BOUNDS, began.elapsed(), done.is_err());
        done
    }
}

impl SessionStore for MeteredStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.run(|store| store.record(session, event))
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.run(|store| store.record_all(session, events))
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.run(|store| store.state(session))
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.run(|store| store.end(session))
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.run(|store| store.tallies(since))
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.run(|store| store.extend_trail(session, lines))
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.run(|store| store.trails())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repertoire::ErrorCode;
    use repertoire::session::MemoryStore;

    /// A store that takes its time and then fails.
    #[derive(Debug)]
    struct Slow;

    impl SessionStore for Slow {
        fn record(&self, _: &str, _: &Event<'_>) -> Result<Option<SkillState>, Error> {
            std::thread::sleep(Duration::from_millis(30));
            Err(Error::new(ErrorCode::Timeout, "away", "wait"))
        }

        fn state(&self, _: &str) -> Result<SessionState, Error> {
            Ok(SessionState::default())
        }

        fn end(&self, _: &str) -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn calls_are_counted_by_their_duration_and_failures_apart() {
        let store = MeteredStore::new(Slow);
        store.state("a").unwrap();
        store.clone().record("a", &Event::Used(&"git".into())).unwrap_err();
        let StoreCounts { failed, total, took } = store.counts();
        assert_eq!((failed, took.iter().sum::<u64>()), (1, 2));
        assert!(total >= Duration::from_millis(30), "{total:?}");
        let slower_than_25_ms: u64 = took[7..].iter().sum();
        assert!(slower_than_25_ms >= 1, "{took:?}");
    }

    #[test]
    fn a_watched_store_remembers_as_the_one_behind_it() {
        let store = MeteredStore::new(MemoryStore::default());
        store.record_all("a", &[Event::Used(&"git".into())]).unwrap();
        assert_eq!(store.state("a").unwrap().skills.len(), 1);
        assert_eq!(store.tallies(Day::default()).unwrap().sessions, 1);
        store.end("a").unwrap();
        assert!(store.state("a").unwrap().skills.is_empty());
    }
}
