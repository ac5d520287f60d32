//! Session stores: the trait, and the store in memory.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state::{Event, SessionState, SkillState};
use super::tally::{Day, Ledger, Tallies};
use crate::error::Error;

/// A store of conversations. Each event is recorded as a whole or not at all, whatever other
/// threads and processes do meanwhile.
pub trait SessionStore: Debug + Send + Sync {
    /// Records one event of `session`, and returns the earlier state of the skill that it is about,
    /// if any.
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error>;

    /// Records several events of `session` in their order: all or none, where the store can. By
    /// default each is recorded by itself.
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

/// A store in memory: each conversation is remembered until it ends or the process exits.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// The skills of each session, the last used one last.
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
