//! A session store that records nothing for a call whose callback failed.

use std::sync::Arc;

use repertoire::session::{Day, Event, SessionState, SessionStore, SkillState, Tallies};
use repertoire::{Error, ErrorCode};

use crate::failure;

/// A wrapper around an engine's session store. A call whose callback failed ends with that failure, so
/// its text never reaches a model, and the session must not record that it did.
#[derive(Debug)]
pub struct GuardedStore(Arc<dyn SessionStore>);

impl GuardedStore {
    /// Wraps `store`.
    pub fn new(store: Arc<dyn SessionStore>) -> GuardedStore {
        GuardedStore(store)
    }
}

/// Returns an error if a callback has failed. The binding raises the callback's failure instead of this
/// error.
fn admit() -> Result<(), Error> {
    if !failure::is_pending() {
        return Ok(());
    }
    let message = "nothing is recorded, as a callback of the host failed";
    Err(Error::new(ErrorCode::ExecutionError, message, "see to the callback"))
}

impl SessionStore for GuardedStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        admit()?;
        self.0.record(session, event)
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        admit()?;
        self.0.record_all(session, events)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.0.state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.0.end(session)
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.0.tallies(since)
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        admit()?;
        self.0.extend_trail(session, lines)
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.0.trails()
    }
}

#[cfg(test)]
mod tests {
    use repertoire::session::MemoryStore;
    use repertoire::{DisclosureOptions, Engine, Skill};

    use super::*;

    #[derive(Debug)]
    struct Failing;

    impl repertoire::disclosure::TokenCounter for Failing {
        fn count(&self, text: &str) -> usize {
            failure::note("no counter");
            text.len()
        }
    }

    #[test]
    fn a_turn_whose_callback_failed_is_not_noted() {
        let skill: Skill =
            "---\nname: git\ndescription: d\ntriggers: [commit]\n---\nBody\n".parse().unwrap();
        let mut options = DisclosureOptions::default();
        options.budget = Some(repertoire::Budget::Tokens(1000));
        let engine = Engine::builder()
            .skill(skill)
            .token_counter(Failing)
            .disclosure(options)
            .session_store(GuardedStore::new(Arc::new(MemoryStore::default())))
            .build()
            .unwrap();
        let session = engine.session("s");
        let (turn, failed) =
            failure::catch::<_, &str>(|| engine.turn("commit", &session).run().map(drop));
        assert_eq!((turn.is_err(), failed), (true, Some("no counter")));
        assert!(session.state().unwrap().skills.is_empty());
    }
}
