//! Opens the session store for commands: a file, or a server that the user names.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire::Error;
use repertoire::session::{MemoryStore, Session, SessionStore};
use repertoire_config::Config;
use repertoire_sessions::{
    FallbackStore, ServerOptions, SetAside, SqliteStore, open_url, without_secrets,
};

use crate::args::Common;
use crate::hook::note;
use crate::output::Output;
use crate::{sanitize, setup};

/// The environment variable that names the server of the session store. It overrides `config.toml`.
pub(crate) const VARIABLE: &str = "REPERTOIRE_SESSIONS";

/// The location of the session store.
pub(crate) enum Place {
    /// A file, and the longest time to wait for another process that keeps it locked.
    File(PathBuf, Duration),
    /// The address may hold a password: only [`Place::shown`] is printed.
    Server(String, ServerOptions),
}

impl Place {
    /// Returns the location that the environment or the configuration names, otherwise the user's
    /// file.
    pub(crate) fn of(config: &Config, common: &Common) -> Result<Place, Error> {
        let named = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
        match named.or_else(|| config.session_store().map(str::to_owned)) {
            Some(url) => Ok(Place::Server(url, config.sessions(ServerOptions::default()))),
            None => setup::sessions_file(common).map(|path| Place::File(path, SqliteStore::WAITS)),
        }
    }

    /// Returns the location with the wait for a server, or for other processes that keep the file
    /// locked, limited to at most `time`.
    pub(crate) fn within(mut self, time: Duration) -> Place {
        let wait = match &mut self {
            Place::File(_, wait) => wait,
            Place::Server(_, options) => &mut options.timeout,
        };
        *wait = time.min(*wait);
        self
    }

    /// Returns the path, or the address without its password.
    pub(crate) fn shown(&self) -> String {
        match self {
            Place::File(path, _) => path.display().to_string(),
            Place::Server(url, _) => without_secrets(url),
        }
    }

    /// Opens the store; creates the file if there is none. `tell` is called if a damaged file is set
    /// aside.
    pub(crate) fn open(
        self,
        tell: impl Fn(&SetAside) + Send + 'static,
    ) -> Result<Arc<dyn SessionStore>, Error> {
        match self {
            Place::File(path, wait) => Ok(Arc::new(SqliteStore::open_waiting(path, wait, tell)?)),
            Place::Server(url, options) => open_url(&url, options),
        }
    }
}

/// The longest time for which a command waits for other processes that keep the file locked, or for a
/// server. Its answer does not depend on them.
const ANSWER_WAITS: Duration = Duration::from_secs(1);

/// Opens the session `name`, which is kept between commands. Without a name, returns a session in
/// memory.
pub(crate) fn named(common: &Common, name: Option<&str>) -> Result<Session, Error> {
    let Some(name) = name else { return Ok(Session::in_memory("")) };
    let config = setup::config(common)?;
    Ok(Session::new(name, open(common)?).keep_messages(config.keeps_messages()))
}

/// Opens the store for a command that answers with or without it: while it cannot be used, or if the address of a
/// server is not valid, the conversation continues in memory, and standard error says so.
pub(crate) fn open(common: &Common) -> Result<Arc<dyn SessionStore>, Error> {
    let place = Place::of(&setup::config(common)?, common);
    match place.and_then(|place| open_at(place.within(ANSWER_WAITS), common)) {
        Ok(store) => Ok(Arc::new(in_memory_without(store, Output::of(common)))),
        Err(error) => {
            note_memory(&error, Output::of(common));
            Ok(Arc::new(MemoryStore::default()))
        }
    }
}

/// Returns a store that answers from memory while `store` cannot be used, and reports that to `out`.
pub(crate) fn in_memory_without(store: impl SessionStore + 'static, out: Output) -> FallbackStore {
    let told = LastReported::default();
    FallbackStore::new(store, move |error| told.tell(&error, out))
}

/// The time after which a failure that continues is reported again.
const AGAIN: Duration = Duration::from_secs(60);

/// The failure that was reported last, and the time of the report.
#[derive(Debug, Default)]
struct LastReported(Mutex<Option<(String, Instant)>>);

impl LastReported {
    /// Reports a failure, unless it was reported just now: while a store is unreachable, each call
    /// fails.
    fn tell(&self, error: &Error, out: Output) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = told
            .as_ref()
            .is_some_and(|(message, at)| message == error.message() && at.elapsed() < AGAIN);
        if !is_known {
            note_memory(error, out);
            *told = Some((error.message().to_owned(), Instant::now()));
        }
    }
}

/// Reports that answers are given without the store, and why.
pub(crate) fn note_memory(error: &Error, out: Output) {
    let line = format!("answering without the memory of sessions: {error}");
    out.note(&sanitize::line(&line));
}

/// Opens the store if it exists, for reading alone where it cannot be written. Never creates a file.
pub(crate) fn open_existing(common: &Common) -> Result<Option<Arc<dyn SessionStore>>, Error> {
    match Place::of(&setup::config(common)?, common)? {
        Place::File(path, _) if !path.exists() => Ok(None),
        Place::File(path, wait) => {
            let opened = open_at(Place::File(path.clone(), wait), common);
            let read_only = |error| match SqliteStore::open_read_only(&path) {
                Ok(store) => Ok(Arc::new(store) as Arc<dyn SessionStore>),
                Err(_) => Err(error),
            };
            opened.or_else(read_only).map(Some)
        }
        place @ Place::Server(..) => open_at(place, common).map(Some),
    }
}

/// Opens the store at `place`, and reports a damaged one as [`open`] does.
pub(crate) fn open_at(place: Place, common: &Common) -> Result<Arc<dyn SessionStore>, Error> {
    let teller = common.clone();
    place.open(move |set_aside| {
        let what = set_aside.to_string();
        Output::of(&teller).note(&sanitize::line(&what));
        note(&what, &teller);
    })
}
