//! The session store of a hook, which falls back to memory.

use std::sync::{Arc, Mutex, PoisonError};

use repertoire::session::{
    Day, Event, MemoryStore, SessionState, SessionStore, SkillState, Tallies,
};
use repertoire::{Error, ErrorCode};
use repertoire_sessions::{FallbackStore, SetAside};

use super::deadline::Deadline;
use crate::sessions::Place;

/// The session store. If it cannot be used, as on a full disk or while its server is unreachable,
/// memory is used: repeating a text is better than omitting it.
#[derive(Debug)]
pub(super) struct HookStore {
    store: Box<dyn SessionStore>,
    deadline: Deadline,
}

/// The problems of the store so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Problems(Arc<Mutex<Vec<Error>>>);

impl Problems {
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records a problem, unless one with the same message is recorded already.
    fn note(&self, error: Error) {
        let mut problems = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.iter().all(|known| known.message() != error.message()) {
            problems.push(error);
        }
    }
}

impl HookStore {
    /// Opens the store at `place`. An answer that `deadline` cuts off is not recorded.
    pub(super) fn open(
        place: Result<Place, Error>,
        problems: &Problems,
        deadline: &Deadline,
    ) -> HookStore {
        let noted = problems.clone();
        let tell = move |set_aside: &SetAside| {
            let help = "it is no longer used: keep it, or remove it";
            noted.note(Error::new(ErrorCode::ExecutionError, set_aside.to_string(), help));
        };
        let store: Box<dyn SessionStore> = match place.and_then(|place| place.open(tell)) {
            Ok(store) => {
                let problems = problems.clone();
                Box::new(FallbackStore::new(store, move |error| problems.note(error)))
            }
            Err(error) => {
                problems.note(error);
                Box::new(MemoryStore::default())
            }
        };
        HookStore { store, deadline: deadline.clone() }
    }
}

impl SessionStore for HookStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.deadline.note();
        self.store.record(session, event)
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.deadline.note();
        self.store.record_all(session, events)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.store.state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.deadline.note();
        self.store.end(session)
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.store.tallies(since)
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.deadline.note();
        self.store.extend_trail(session, lines)
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.store.trails()
    }
}
