//! The store of conversations, as commands open it: a file, or a server that the user names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use repertoire::Error;
use repertoire::config::Config;
use repertoire::session::{
    ServerOptions, Session, SessionStore, SetAside, SqliteStore, open_url, without_secrets,
};

use crate::args::Common;
use crate::hook::note;
use crate::output::Output;
use crate::{sanitize, setup};

/// The variable that names the server of the sessions in place of `config.toml`.
pub(crate) const VARIABLE: &str = "REPERTOIRE_SESSIONS";

/// The place of the store of conversations.
pub(crate) enum Place {
    File(PathBuf),
    /// The address may hold a password: only [`Place::shown`] is printed.
    Server(String, ServerOptions),
}

impl Place {
    /// The place that the environment or the configuration names, otherwise the user's file.
    pub(crate) fn of(config: &Config, common: &Common) -> Result<Place, Error> {
        let named = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
        match named.or_else(|| config.session_store().map(str::to_owned)) {
            Some(url) => Ok(Place::Server(url, config.sessions(ServerOptions::default()))),
            None => setup::sessions_file(common).map(Place::File),
        }
    }

    /// The same place, where each call of a server takes at most `time`.
    pub(crate) fn within(mut self, time: Duration) -> Place {
        if let Place::Server(_, options) = &mut self {
            options.timeout = options.timeout.min(time);
        }
        self
    }

    /// The path or the address, without a password.
    pub(crate) fn shown(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            Place::Server(url, _) => without_secrets(url),
        }
    }

    /// Opens the store, and creates a file if there is none. `tell` is called for damaged files that
    /// are set aside.
    pub(crate) fn open(
        self,
        tell: impl Fn(&SetAside) + Send + 'static,
    ) -> Result<Arc<dyn SessionStore>, Error> {
        match self {
            Place::File(path) => Ok(Arc::new(SqliteStore::open_telling(path, tell)?)),
            Place::Server(url, options) => open_url(&url, options),
        }
    }
}

/// Opens the session `name`, which is kept between commands; without a name, one that is not kept.
pub(crate) fn named(common: &Common, name: Option<&str>) -> Result<Session, Error> {
    let Some(name) = name else { return Ok(Session::in_memory("")) };
    Ok(Session::new(name, open(common)?))
}

/// Opens the store, which is made if there is none. A damaged one that is set aside is told of on
/// standard error and in the log of hooks.
pub(crate) fn open(common: &Common) -> Result<Arc<dyn SessionStore>, Error> {
    open_at(Place::of(&setup::config(common)?, common)?, common)
}

/// Opens the store if it exists. Never creates a file.
pub(crate) fn open_existing(common: &Common) -> Result<Option<Arc<dyn SessionStore>>, Error> {
    match Place::of(&setup::config(common)?, common)? {
        Place::File(path) if !path.exists() => Ok(None),
        place => open_at(place, common).map(Some),
    }
}

/// Opens the store at `place` as [`open`] does.
pub(crate) fn open_at(place: Place, common: &Common) -> Result<Arc<dyn SessionStore>, Error> {
    let teller = common.clone();
    place.open(move |set_aside| {
        let what = set_aside.to_string();
        Output::of(&teller).note(&sanitize::line(&what));
        note(&what, &teller);
    })
}
