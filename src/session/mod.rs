//! Sessions: the memory of a conversation. It holds the skills that were used, the instructions in the
//! context, and the activations that the user agreed to.
//!
//! A [`Session`] is one conversation in a [`SessionStore`]: in memory, or in one of the stores of the
//! crate `repertoire-sessions`.

mod fallback;
mod state;
mod store;
mod tally;
mod trail;

use std::sync::Arc;

use crate::error::Error;
use crate::skill::SkillId;
use crate::spans;
use fallback::Kept;

pub use fallback::FallbackStore;
pub use state::{Event, SessionState, SkillState};
pub use store::{MemoryStore, SessionStore};
#[doc(hidden)]
pub use tally::last_forgotten;
pub use tally::{Counts, Day, SkillTally, Tallies};
pub use trail::KeptMessage;
#[doc(hidden)]
pub use trail::extend_trail;
pub(crate) use trail::{Entry as TrailEntry, Said, messages};

/// One conversation. Cheap to clone; conversations do not affect each other.
///
/// ```
/// use repertoire::session::Session;
///
/// let session = Session::in_memory("chat-7");
/// for id in ["git", "sql", "git"] {
///     session.record_use(&id.into())?;
/// }
/// assert_eq!(session.state()?.recent().collect::<Vec<_>>(), ["git", "sql"]);
/// session.end()?;
/// assert_eq!(session.state()?.recent().count(), 0);
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    id: Arc<str>,
    store: Arc<FallbackStore>,
    is_tolerant: bool,
    keeps_messages: bool,
}

impl Session {
    /// Creates a handle to the conversation `id` in `store`. The store knows the conversation from its
    /// first event on.
    pub fn new(id: &str, store: Arc<dyn SessionStore>) -> Session {
        Session::of(id, Arc::new(FallbackStore::new(store, drop)))
    }

    /// Creates a handle to the conversation `id`, whose memory for failures of the store is that of `store`.
    pub(crate) fn of(id: &str, store: Arc<FallbackStore>) -> Session {
        Session { id: id.into(), store, is_tolerant: false, keeps_messages: false }
    }

    /// Returns a handle to the same conversation whose methods do not fail: while the store cannot be used, they
    /// read and write memory. Whatever answers a user or a model works with such a handle; turns, activations
    /// and tools make one themselves.
    ///
    /// ```
    /// use repertoire::session::{Event, Session, SessionState, SessionStore, SkillState};
    /// use repertoire::{Error, ErrorCode};
    /// use std::sync::Arc;
    ///
    /// /// A store on a disk that is full.
    /// #[derive(Debug)]
    /// struct Full;
    ///
    /// impl SessionStore for Full {
    ///     fn record(&self, _: &str, _: &Event<'_>) -> Result<Option<SkillState>, Error> {
    ///         Err(Error::new(ErrorCode::ExecutionError, "the disk is full", "make room"))
    ///     }
    ///     fn state(&self, _: &str) -> Result<SessionState, Error> {
    ///         Ok(SessionState::default())
    ///     }
    ///     fn end(&self, _: &str) -> Result<(), Error> {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let session = Session::new("chat-7", Arc::new(Full));
    /// assert!(session.record_use(&"git".into()).is_err());
    /// session.tolerant().record_use(&"git".into())?;
    /// assert_eq!(session.state()?.recent().count(), 1);
    /// assert_eq!(session.unsaved().unwrap().message(), "the disk is full");
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn tolerant(&self) -> Session {
        Session { is_tolerant: true, ..self.clone() }
    }

    /// Returns the last failure of the store because of which the conversation is kept in memory at the moment;
    /// `None` if the store has all of it. What is in memory is lost when the process ends, and when the store
    /// can be used again.
    pub fn unsaved(&self) -> Option<Error> {
        self.store.unsaved(&self.id)
    }

    /// Returns the value; fails with the failure, unless failures are tolerated.
    fn settle<T>(&self, kept: Kept<T>) -> Result<T, Error> {
        match kept? {
            (_, Some(failure)) if !self.is_tolerant => Err(failure),
            (value, _) => Ok(value),
        }
    }

    /// Creates a conversation that is remembered as long as this value or a clone of it lives.
    pub fn in_memory(id: &str) -> Session {
        Session::new(id, Arc::new(MemoryStore::default()))
    }

    /// Keeps the messages of the conversation, or does not, which is the default; see
    /// [`EngineBuilder::keep_messages`](crate::EngineBuilder::keep_messages).
    #[must_use]
    pub fn keep_messages(mut self, keep: bool) -> Session {
        self.keeps_messages = keep;
        self
    }

    /// Tells whether the messages of the conversation are kept.
    pub fn keeps_messages(&self) -> bool {
        self.keeps_messages
    }

    /// Records that the user sent a message that does not concern skills, such as a command of the agent.
    /// What the model loads from here on is not an answer to the message before it.
    pub fn other_message(&self) {
        self.extend_trail([TrailEntry::Other]);
    }

    /// Records, if messages are kept, that the model loaded `skill` by other means than this engine. It
    /// does not count as an activation: it gives no consent, and no rank.
    pub fn note_load(&self, skill: &SkillId) {
        self.extend_trail([TrailEntry::Loaded(skill.clone())]);
    }

    /// Records, if messages are kept, that the model used a file of `skill`, or the skill by other means
    /// than this engine.
    pub fn note_use(&self, skill: &SkillId) {
        self.extend_trail([TrailEntry::Used(skill.clone())]);
    }

    /// The conversation's name in the store.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what the conversation did so far.
    ///
    /// This and the other methods fail with `EXECUTION_ERROR` if the store cannot be read or
    /// written, and with `TIMEOUT` if a server does not answer in time. What they record is then kept in memory,
    /// for the [answers](Session::tolerant) that follow.
    pub fn state(&self) -> Result<SessionState, Error> {
        let span = spans::session_read();
        let state = spans::within(&span, || self.settle(self.store.read(&self.id)))?;
        span.record("skills", spans::int(state.skills.len()));
        Ok(state)
    }

    /// Records that `skill` was used now: it ranks higher from here on.
    pub fn record_use(&self, skill: &SkillId) -> Result<(), Error> {
        self.record(&Event::Used(skill)).map(drop)
    }

    /// Records that the user agreed to the activation of `skill`.
    pub fn consent(&self, skill: &SkillId) -> Result<(), Error> {
        self.record(&Event::Consented(skill)).map(drop)
    }

    /// Records that the context got a line for each of `skills`, such as the skills that a catalog prompt
    /// includes: no message gets these lines again.
    pub fn listed(&self, skills: &[SkillId]) -> Result<(), Error> {
        self.record_all(&skills.iter().map(Event::Listed).collect::<Vec<_>>())
    }

    /// Records that the host compacted the context: the instructions in it are lost, and the most recent
    /// ones will be disclosed again.
    pub fn compacted(&self) -> Result<(), Error> {
        self.record(&Event::Compacted).map(drop)
    }

    /// Forgets the conversation. If the store fails, at least what is kept in memory is forgotten.
    pub fn end(&self) -> Result<(), Error> {
        self.settle(self.store.forget(&self.id))
    }

    /// Records one event, and returns the earlier state of the skill that it is about.
    pub fn record(&self, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        let before = self.write(&[*event], |store| store.record(&self.id, event))?;
        self.extend_trail(TrailEntry::of(event));
        Ok(before)
    }

    /// Records several events in their order.
    pub fn record_all(&self, events: &[Event<'_>]) -> Result<(), Error> {
        if events.is_empty() {
            return Ok(());
        }
        self.write(events, |store| store.record_all(&self.id, events).map(|()| None))?;
        self.extend_trail(events.iter().filter_map(TrailEntry::of));
        Ok(())
    }

    fn write(
        &self,
        events: &[Event<'_>],
        work: impl FnOnce(&dyn SessionStore) -> Result<Option<SkillState>, Error>,
    ) -> Result<Option<SkillState>, Error> {
        let span = spans::session_write(events.len());
        spans::within(&span, || self.settle(self.store.write(&self.id, events, work)))
    }

    /// Adds to the trail of the conversation if its messages are kept. A failure is only logged: it costs
    /// a suggestion, not the answer to a message.
    pub(crate) fn extend_trail(&self, entries: impl IntoIterator<Item = TrailEntry>) {
        if !self.keeps_messages {
            return;
        }
        let lines: Vec<String> = entries.into_iter().filter_map(|entry| entry.line()).collect();
        if lines.is_empty() {
            return;
        }
        if let Err(error) = self.store.extend_trail(&self.id, &lines) {
            tracing::warn!(session = &*self.id, %error, "the message is not kept");
        }
    }
}
