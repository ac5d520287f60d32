//! Tallies: the counts of conversations in which each skill occurred.

use super::Engine;
use crate::error::Error;
use crate::session::{Day, SessionStore as _, Tallies};

impl Engine {
    /// For each skill, the counts of conversations in which it occurred since the beginning of `since`,
    /// from the [store of sessions](super::EngineBuilder::session_store).
    ///
    /// Fails with `EXECUTION_ERROR` if the store cannot be read.
    ///
    /// ```
    /// use repertoire::Engine;
    /// use repertoire::session::Day;
    ///
    /// let engine = Engine::builder().build()?;
    /// engine.session("chat-7").record_use(&"git".into())?;
    /// let tallies = engine.tallies(Day::today().before(29))?;
    /// assert_eq!(tallies.of(&"git".into()).map(|git| git.counts.used), Some(1));
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.0.sessions.tallies(since)
    }
}
