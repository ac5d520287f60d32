//! A store that answers from memory while another one cannot be used.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state::{Event, SessionState, SkillState};
use super::store::SessionStore;
use super::tally::{Day, Tallies};
use crate::error::Error;

/// A session store whose conversations never fail: while the store behind it cannot be used, for example
/// because its server is down or its disk is full, conversations continue in memory. Repeating a text is
/// better than no answer. Tallies are not kept in memory, so reading them can fail.
///
/// Every [`Session`](super::Session) has one of these in front of its store. In front of another, it adds a
/// callback for each failure. Events that were recorded in memory are not written to the store later: as soon
/// as the store can be read and written again, its state counts, and the state that this process kept of the
/// session is dropped. Until then [`unsaved`](SessionStore::unsaved) has the last failure.
///
/// ```
/// use repertoire::session::{FallbackStore, MemoryStore, Session};
/// use std::sync::Arc;
///
/// let store = FallbackStore::new(MemoryStore::default(), |error| eprintln!("{error:#}"));
/// let session = Session::new("chat-7", Arc::new(store));
/// session.record_use(&"git".into())?;
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct FallbackStore {
    store: Box<dyn SessionStore>,
    lapses: Mutex<HashMap<String, Lapse>>,
    tell: Box<dyn Fn(Error) + Send + Sync>,
}

/// The memory of a session whose store failed.
struct Lapse {
    state: SessionState,
    /// True from a read that failed until one that succeeds.
    reads_fail: bool,
    /// True from a write that failed until one that succeeds.
    writes_fail: bool,
    error: Error,
}

/// A value, and the failure because of which it came from memory, if any.
pub(super) type Kept<T> = Result<(T, Option<Error>), Error>;

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
        let (store, lapses) = (Box::new(store), Mutex::default());
        FallbackStore { store, lapses, tell: Box::new(tell) }
    }

    /// Reads the state of `session`, from memory if that fails. Fails only if the store is
    /// [closed](SessionStore::is_closed).
    pub(super) fn read(&self, session: &str) -> Kept<SessionState> {
        match self.known(session) {
            Ok(state) => {
                let mut lapses = self.lapses();
                let is_behind = |lapse: &Lapse| lapse.writes_fail && !lapse.reads_fail;
                match lapses.get(session) {
                    // The store can be read, but does not know what it could not write.
                    Some(lapse) if is_behind(lapse) => return Ok((lapse.state.clone(), None)),
                    Some(_) => drop(lapses.remove(session)),
                    None => {}
                }
                Ok((state, None))
            }
            Err(error) => {
                let error = self.failed(session, error)?;
                let mut lapses = self.lapses();
                let lapse = lapse(&mut lapses, session, &error, SessionState::default);
                lapse.reads_fail = true;
                Ok((lapse.state.clone(), Some(error)))
            }
        }
    }

    /// Records `events` with `work`, and in memory if that fails. In that case, returns the earlier state of
    /// the skill of the last event, as memory knew it. Fails only if the store is closed.
    pub(super) fn write(
        &self,
        session: &str,
        events: &[Event<'_>],
        work: impl FnOnce(&dyn SessionStore) -> Result<Option<SkillState>, Error>,
    ) -> Kept<Option<SkillState>> {
        let apply =
            |state: &mut SessionState| events.iter().fold(None, |_, event| state.apply(event));
        match work(&*self.store) {
            Ok(before) => {
                let mut lapses = self.lapses();
                if let Some(lapse) = lapses.get_mut(session) {
                    lapse.writes_fail = false;
                    if lapse.reads_fail {
                        apply(&mut lapse.state);
                    } else {
                        lapses.remove(session);
                    }
                }
                Ok((before, None))
            }
            Err(error) => {
                let error = self.failed(session, error)?;
                let is_known = self.lapses().contains_key(session);
                // Memory goes on from what the store has, if it can still be read.
                let known = if is_known { None } else { self.known(session).ok() };
                let mut lapses = self.lapses();
                let lapse = lapse(&mut lapses, session, &error, || known.unwrap_or_default());
                lapse.writes_fail = true;
                let before = apply(&mut lapse.state);
                // A consent that the store has, and that it cannot mark as spent, must not be spent: another
                // process would spend it again.
                Ok((before.filter(|_| is_known), Some(error)))
            }
        }
    }

    /// Forgets `session`, at least in memory. Fails only if the store is closed.
    pub(super) fn forget(&self, session: &str) -> Kept<()> {
        self.lapses().remove(session);
        match self.store.end(session) {
            Ok(()) => Ok(((), None)),
            Err(error) => Ok(((), Some(self.failed(session, error)?))),
        }
    }

    fn known(&self, session: &str) -> Result<SessionState, Error> {
        self.store.state(session).map(SessionState::without_doubles)
    }

    /// Logs a failure of the store and returns it, as an error of the call if the store is closed.
    fn failed(&self, session: &str, error: Error) -> Result<Error, Error> {
        if self.store.is_closed() {
            return Err(error);
        }
        tracing::Span::current().record("fallback", error.code().as_str());
        tracing::warn!(session, %error, "the session is kept in memory");
        Ok(error)
    }

    /// Reports the failure, if there is one.
    fn told<T>(&self, (value, failure): (T, Option<Error>)) -> T {
        if let Some(error) = failure {
            (self.tell)(error);
        }
        value
    }

    fn lapses(&self) -> MutexGuard<'_, HashMap<String, Lapse>> {
        self.lapses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what is kept of `session`, which begins with the state that `known` returns.
fn lapse<'l>(
    lapses: &'l mut HashMap<String, Lapse>,
    session: &str,
    error: &Error,
    known: impl FnOnce() -> SessionState,
) -> &'l mut Lapse {
    let begin =
        || Lapse { state: known(), reads_fail: false, writes_fail: false, error: error.clone() };
    let lapse = lapses.entry(session.to_owned()).or_insert_with(begin);
    lapse.error = error.clone();
    lapse
}

impl SessionStore for FallbackStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        let work = |store: &dyn SessionStore| store.record(session, event);
        self.write(session, &[*event], work).map(|kept| self.told(kept))
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        let work = |store: &dyn SessionStore| store.record_all(session, events).map(|()| None);
        self.write(session, events, work).map(|kept| drop(self.told(kept)))
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.read(session).map(|kept| self.told(kept))
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.forget(session).map(|kept| self.told(kept))
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

    fn unsaved(&self, session: &str) -> Option<Error> {
        let lapse = self.lapses().get(session).map(|lapse| lapse.error.clone());
        lapse.or_else(|| self.store.unsaved(session))
    }

    fn is_closed(&self) -> bool {
        self.store.is_closed()
    }
}
