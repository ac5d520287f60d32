//! Tallies: how often the engine's conversations met each skill.

use super::Engine;
use crate::error::Error;
use crate::session::{Day, Tallies};

impl Engine {
    /// The counts of conversations that met each skill since the beginning of a day, as kept by the
    /// [store of sessions](super::EngineBuilder::session_store).
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
