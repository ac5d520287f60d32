//! Session stores: the one that a path or URL names, and one that records nothing for a call whose callback
//! failed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use repertoire::session::{Day, Event, SessionState, SessionStore, SkillState, Tallies};
use repertoire::{Error, ErrorCode};
use repertoire_sessions::{FallbackStore, ServerOptions, SqliteStore, open_url};

use crate::failure;
use crate::source::path_of_url;

/// Opens the session store at `place`: the path of a database file, or a URL. `sqlite:sessions.db` and
/// `sqlite:///var/sessions.db` are files as well; `postgres://` and `redis://` (`rediss://` for TLS) are
/// servers, which are connected with the first call. While a store cannot be used, conversations go on in memory,
/// with a warning in the log: repeating a text is better than no answer.
///
/// Fails with `INVALID_PARAM` if the URL is of another kind.
pub(crate) fn open_sessions(place: &Path) -> Result<Arc<dyn SessionStore>, Error> {
    let store: Arc<dyn SessionStore> = match session_file(place) {
        Some(file) => match SqliteStore::open(&file) {
            Ok(store) => Arc::new(store),
            Err(_) => Arc::new(LateStore { file, opened: OnceLock::new() }),
        },
        None => open_url(place.to_str().unwrap_or_default(), ServerOptions::default())?,
    };
    Ok(Arc::new(FallbackStore::new(store, |_| ())))
}

/// Returns the database file of the sessions at `place`, or `None` if a server keeps them.
pub(crate) fn session_file(place: &Path) -> Option<PathBuf> {
    let text = place.to_str().unwrap_or_default();
    if let Some(file) = path_of_url(text) {
        return Some(file);
    }
    if let Some(file) = text.strip_prefix("sqlite:") {
        return Some(file.strip_prefix("//").unwrap_or(file).into());
    }
    (!text.contains("://")).then(|| place.to_owned())
}

/// The time for which a call waits for another process that keeps the file locked, where opening it failed before.
const LATE_WAIT: Duration = Duration::from_secs(1);

/// A file that could not be opened: each call tries again, and fails until it succeeds.
#[derive(Debug)]
struct LateStore {
    file: PathBuf,
    opened: OnceLock<SqliteStore>,
}

impl LateStore {
    fn opened(&self) -> Result<&SqliteStore, Error> {
        if let Some(store) = self.opened.get() {
            return Ok(store);
        }
        let store = SqliteStore::open_waiting(&self.file, LATE_WAIT, |_| {})?;
        Ok(self.opened.get_or_init(|| store))
    }
}

impl SessionStore for LateStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.opened()?.record(session, event)
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.opened()?.record_all(session, events)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.opened()?.state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.opened()?.end(session)
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.opened()?.tallies(since)
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.opened()?.extend_trail(session, lines)
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.opened()?.trails()
    }
}

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

    fn unsaved(&self, session: &str) -> Option<Error> {
        self.0.unsaved(session)
    }

    fn is_closed(&self) -> bool {
        failure::is_pending()
    }
}

#[cfg(test)]
mod tests {
    use repertoire::session::MemoryStore;
    use repertoire::{DisclosureOptions, Engine, Skill};

    use super::*;

    #[test]
    fn urls_and_paths_name_session_stores() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sessions.db");
        let event = Event::Used(&"git".into());
        for place in [
            file.clone(),
            format!("sqlite:{}", file.display()).into(),
            format!("sqlite://{}", file.display()).into(),
            format!("file://{}", file.display()).into(),
        ] {
            let store = open_sessions(&place).unwrap();
            store.record(&place.display().to_string(), &event).unwrap();
            assert_eq!(
                open_sessions(&file)
                    .unwrap()
                    .state(&place.display().to_string())
                    .unwrap()
                    .skills
                    .len(),
                1
            );
        }
        for url in ["postgres://localhost/acme", "redis://localhost/1"] {
            assert!(open_sessions(Path::new(url)).is_ok(), "{url} connects with the first call");
        }
        let unknown = open_sessions(Path::new("mysql://localhost/acme")).unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::InvalidParam);
    }

    #[test]
    fn a_file_that_cannot_be_opened_costs_no_answer_and_is_used_once_it_can() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("blocked");
        std::fs::write(&blocked, "a file").unwrap();
        let file = blocked.join("sessions.db");
        let store = open_sessions(&file).unwrap();
        let event = Event::Used(&"git".into());
        store.record("a", &event).unwrap();
        assert_eq!(store.state("a").unwrap().skills.len(), 1);
        std::fs::remove_file(&blocked).unwrap();
        store.record("b", &event).unwrap();
        assert_eq!(SqliteStore::open(&file).unwrap().state("b").unwrap().skills.len(), 1);
    }

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
