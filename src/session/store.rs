//! Session stores: the trait, and the store in memory.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::state::{Event, SessionState, SkillState};
use super::tally::{Day, Ledger, Tallies};
use crate::error::Error;

/// A store of conversations. Each event is recorded as a whole or not at all, whatever other threads and
/// processes do at the same time.
pub trait SessionStore: Debug + Send + Sync {
    /// Records one event of `session`, and returns the earlier state of the skill that it is about,
    /// if any.
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error>;

    /// Records several events of `session` in their order: all or none of them, if the store can do
    /// that. The default implementation records each event separately.
    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        events.iter().try_for_each(|event| self.record(session, event).map(drop))
    }

    /// Returns the state of `session`; empty if the session is not known.
    fn state(&self, session: &str) -> Result<SessionState, Error>;

    /// Forgets `session`.
    fn end(&self, session: &str) -> Result<(), Error>;

    /// Returns the daily counts of encounters with each skill since a day, including those of
    /// conversations that have ended; empty for a store that does not count.
    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        let _ = since;
        Ok(Tallies::default())
    }
}

/// A store that is shared.
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        (**self).record(session, event)
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        (**self).record_all(session, events)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        (**self).state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        (**self).end(session)
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        (**self).tallies(since)
    }
}

/// A store in memory: each conversation is remembered until it ends or the process exits.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    sessions: HashMap<String, SessionState>,
    ledger: Ledger,
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemoryStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        let today = Day::today();
        let Memory { sessions, ledger } = &mut *self.lock();
        let state = sessions.entry(session.to_owned()).or_insert_with(|| {
            ledger.begin_session(today);
            SessionState::default()
        });
        ledger.count(today, event);
        Ok(state.apply(event))
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        Ok(self.lock().sessions.get(session).cloned().unwrap_or_default())
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.lock().sessions.remove(session);
        Ok(())
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        Ok(self.lock().ledger.since(since))
    }
}
