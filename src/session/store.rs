//! Where conversations are remembered.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state::{Event, SessionState, SkillState};
use super::tally::{Day, Ledger, Tallies};
use crate::error::Error;

/// Remembers what conversations did. Each event is taken in as a whole or not at all, whatever
/// other threads and processes do meanwhile.
pub trait SessionStore: Debug + Send + Sync {
    /// Notes what happened in `session`, and gives back what was known until then of the skill it
    /// is about, if anything.
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error>;

    /// Notes several events of `session`, in their order. Takes all of them or none, where the
    /// store can; by default each by itself.
    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        events.iter().try_for_each(|event| self.record(session, event).map(drop))
    }

    /// What `session` did so far; nothing, if it is not known.
    fn state(&self, session: &str) -> Result<SessionState, Error>;

    /// Forgets `session`.
    fn end(&self, session: &str) -> Result<(), Error>;

    /// How often conversations met each skill since the beginning of a day, conversations that were
    /// ended since included; nothing, for a store that does not count.
    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        let _ = since;
        Ok(Tallies::default())
    }
}

/// Remembers conversations for as long as the process lives, each until it is ended.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// Session → its skills, the last used one last.
    sessions: HashMap<String, Vec<SkillState>>,
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
        let skills = sessions.entry(session.to_owned()).or_insert_with(|| {
            ledger.begin_session(today);
            Vec::new()
        });
        ledger.count(today, event);
        let Some(skill) = event.skill() else {
            for state in skills {
                state.apply(event);
            }
            return Ok(None);
        };
        let known = skills.iter().position(|state| state.skill == *skill);
        let before = known.map(|place| skills[place].clone());
        let place = known.unwrap_or_else(|| {
            skills.push(SkillState::new(skill.clone()));
            skills.len() - 1
        });
        skills[place].apply(event);
        if skills[place].joins() {
            let last = skills.iter().filter_map(|state| state.joined).max();
            skills[place].joined = Some(last.unwrap_or_default() + 1);
        }
        if event.is_use() {
            skills[place..].rotate_left(1);
        }
        Ok(before)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        let memory = self.lock();
        let skills = memory.sessions.get(session).map_or(&[][..], Vec::as_slice);
        Ok(SessionState { skills: skills.iter().rev().cloned().collect() })
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.lock().sessions.remove(session);
        Ok(())
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        Ok(self.lock().ledger.since(since))
    }
}
