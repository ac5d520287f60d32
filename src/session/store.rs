//! Where conversations are remembered.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use crate::skill::SkillId;

/// Remembers what conversations did. Sessions know nothing of each other.
pub trait SessionStore: Debug + Send + Sync {
    /// Notes that `skill` was used in `session`, now.
    fn record_use(&self, session: &str, skill: &SkillId);

    /// The skills used in `session`, each once, the last one first, `limit` at most.
    fn recent(&self, session: &str, limit: usize) -> Vec<SkillId>;

    /// Forgets `session`.
    fn clear(&self, session: &str);
}

/// Remembers conversations for as long as the process lives.
///
/// ```
/// use repertoire::session::{MemoryStore, SessionStore};
///
/// let store = MemoryStore::default();
/// for id in ["git", "sql", "git"] {
///     store.record_use("chat-7", &id.into());
/// }
/// assert_eq!(store.recent("chat-7", 9), ["git", "sql"]);
/// assert!(store.recent("chat-8", 9).is_empty());
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    /// Session → skills, the last used one last.
    sessions: Mutex<HashMap<String, Vec<SkillId>>>,
}

impl SessionStore for MemoryStore {
    fn record_use(&self, session: &str, skill: &SkillId) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let used = sessions.entry(session.to_owned()).or_default();
        used.retain(|other| other != skill);
        used.push(skill.clone());
    }

    fn recent(&self, session: &str, limit: usize) -> Vec<SkillId> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let used = sessions.get(session).map_or(&[][..], Vec::as_slice);
        used.iter().rev().take(limit).cloned().collect()
    }

    fn clear(&self, session: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}
