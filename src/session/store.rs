//! Session stores: the trait, and the store in memory.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::state::{Event, SessionState, SkillState};
use super::tally::{Day, Ledger, Tallies};
use super::trail::{KeptMessage, extend_trail};
use crate::error::Error;

/// A store of conversations. An answer never depends on it: while it fails, turns, calls of tools and activations go on
/// [in memory](super::Session::unsaved). Each event is recorded as a whole or not at all, whatever other threads and
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

    /// Appends lines, none of which has a line break, to the trail of `session`: the messages that are
    /// [kept](crate::EngineBuilder::keep_messages). Called only if they are. A store that keeps trails
    /// bounds them by [`KeptMessage::MAX_LINES`] and [`KeptMessage::MAX_SESSIONS`], and deletes a trail
    /// when its session ends or expires. The default implementation keeps none.
    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        let _ = (session, lines);
        Ok(())
    }

    /// Returns the trail of each session that has one, in any order; none for a store that keeps none.
    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        Ok(Vec::new())
    }

    /// Returns the last failure because of which `session` is kept in memory at the moment; `None` for a
    /// store that does not go on in memory, as [`FallbackStore`](super::FallbackStore) does.
    fn unsaved(&self, session: &str) -> Option<Error> {
        let _ = session;
        None
    }

    /// True while the running call has failed already, so that nothing of it may be recorded, not even in
    /// memory. For the packages of other languages, whose callbacks cannot always return an error.
    #[doc(hidden)]
    fn is_closed(&self) -> bool {
        false
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

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        (**self).extend_trail(session, lines)
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        (**self).trails()
    }

    fn unsaved(&self, session: &str) -> Option<Error> {
        (**self).unsaved(session)
    }

    fn is_closed(&self) -> bool {
        (**self).is_closed()
    }
}

/// A store in memory: each conversation is remembered until it ends or the process exits.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    sessions: HashMap<String, SessionState>,
    ledger: Ledger,
    /// The trail of each session, the last extended at the end.
    trails: Vec<(String, Vec<String>)>,
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemoryStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        let today = Day::today();
        let Memory { sessions, ledger, .. } = &mut *self.lock();
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
        let mut memory = self.lock();
        memory.sessions.remove(session);
        memory.trails.retain(|(known, _)| known != session);
        Ok(())
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        Ok(self.lock().ledger.since(since))
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        let trails = &mut self.lock().trails;
        let known = trails.iter().position(|(known, _)| known == session);
        let mut trail =
            known.map_or_else(|| (session.to_owned(), Vec::new()), |place| trails.remove(place));
        extend_trail(&mut trail.1, lines);
        trails.push(trail);
        trails.drain(..trails.len().saturating_sub(KeptMessage::MAX_SESSIONS));
        Ok(())
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        Ok(self.lock().trails.iter().map(|(_, trail)| trail.clone()).collect())
    }
}
