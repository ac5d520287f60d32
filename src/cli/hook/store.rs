//! The session store of a hook, which falls back to memory.

use std::sync::{Arc, Mutex, PoisonError};

use repertoire::session::{
    Day, Event, MemoryStore, SessionState, SessionStore, SetAside, SkillState, SqliteStore, Tallies,
};
use repertoire::{Error, ErrorCode};

use super::deadline::Deadline;
use crate::args::Common;
use crate::setup;

/// The session file; if that cannot be used, as on a full disk, memory: repeating a text is better
/// than omitting it.
#[derive(Debug)]
pub(super) struct HookStore {
    file: Option<SqliteStore>,
    memory: MemoryStore,
    problems: Problems,
    deadline: Deadline,
}

/// The problems so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Problems(Arc<Mutex<Vec<Error>>>);

impl Problems {
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records a problem, once.
    fn note(&self, error: Error) {
        let mut problems = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.iter().all(|known| known.message() != error.message()) {
            problems.push(error);
        }
    }
}

impl HookStore {
    /// Opens the store. An answer that `deadline` cuts off is not recorded.
    pub(super) fn open(common: &Common, problems: &Problems, deadline: &Deadline) -> HookStore {
        let noted = problems.clone();
        let tell = move |set_aside: &SetAside| {
            let help = "it is no longer used: keep it, or remove it";
            noted.note(Error::new(ErrorCode::ExecutionError, set_aside.to_string(), help));
        };
        let file =
            setup::sessions_file(common).and_then(|path| SqliteStore::open_telling(path, tell));
        let file = file.map_err(|error| problems.note(error)).ok();
        HookStore {
            file,
            memory: MemoryStore::default(),
            problems: problems.clone(),
            deadline: deadline.clone(),
        }
    }

    fn run<T>(&self, work: impl Fn(&dyn SessionStore) -> Result<T, Error>) -> Result<T, Error> {
        if let Some(file) = &self.file {
            match work(file) {
                Ok(done) => return Ok(done),
                Err(error) => self.problems.note(error),
            }
        }
        work(&self.memory)
    }
}

impl SessionStore for HookStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.deadline.note();
        self.run(|store| store.record(session, event))
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.deadline.note();
        self.run(|store| store.record_all(session, events))
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.run(|store| store.state(session))
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.deadline.note();
        self.run(|store| store.end(session))
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.run(|store| store.tallies(since))
    }
}
