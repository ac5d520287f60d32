//! A store that answers from memory while another one cannot be used.

use std::fmt;

use repertoire::Error;
use repertoire::session::{Day, Tallies};
use repertoire::session::{Event, SessionState, SkillState};
use repertoire::session::{MemoryStore, SessionStore};

/// A session store whose conversations never fail: while the store behind it cannot be used, for example
/// because its server is down or its disk is full, conversations continue in memory. Repeating a text is
/// better than no answer. Tallies are not kept in memory, so reading them can fail.
///
/// Each failure is reported to a callback. Events that were recorded in memory are not written to the
/// store later: as soon as the store answers again, its state counts, and the state that this process
/// kept of the session is dropped.
///
/// ```
/// use repertoire::session::{MemoryStore, Session};
/// use repertoire_sessions::FallbackStore;
/// use std::sync::Arc;
///
/// let store = FallbackStore::new(MemoryStore::default(), |error| eprintln!("{error:#}"));
/// let session = Session::new("chat-7", Arc::new(store));
/// session.record_use(&"git".into())?;
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct FallbackStore {
    store: Box<dyn SessionStore>,
    memory: MemoryStore,
    tell: Box<dyn Fn(Error) + Send + Sync>,
}

impl fmt::Debug for FallbackStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FallbackStore").field(&self.store).finish()
    }
}

impl FallbackStore {
    /// Creates a store that prefers `store`, and calls `tell` for each of its failures, on the
    /// thread of the call.
    pub fn new(
        store: impl SessionStore + 'static,
        tell: impl Fn(Error) + Send + Sync + 'static,
    ) -> FallbackStore {
        FallbackStore {
            store: Box::new(store),
            memory: MemoryStore::default(),
            tell: Box::new(tell),
        }
    }

    /// Runs `work` with the store, or with memory if that fails.
    fn run<T>(
        &self,
        session: &str,
        work: impl Fn(&dyn SessionStore) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match work(&*self.store) {
            Ok(done) => {
                // The memory does not see what the store records, and would be outdated at the next
                // failure.
                self.memory.end(session)?;
                Ok(done)
            }
            Err(error) => {
                tracing::Span::current().record("fallback", error.code().as_str());
                tracing::warn!(session, %error, "the session is kept in memory");
                (self.tell)(error);
                work(&self.memory)
            }
        }
    }
}

impl SessionStore for FallbackStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.run(session, |store| store.record(session, event))
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.run(session, |store| store.record_all(session, events))
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.run(session, |store| store.state(session))
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.run(session, |store| store.end(session))
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.store.tallies(since)
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.store.extend_trail(session, lines)
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.store.trails()
    }
}
