//! The session store of an MCP server: the one that hooks use, or memory while that is unreachable.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire::Error;
use repertoire_sessions::{FallbackStore, MeteredStore};

use crate::args::Common;
use crate::output::Output;
use crate::sessions::{self, Place};
use crate::{sanitize, setup};

/// The time after which a failure that continues is reported again.
const AGAIN: Duration = Duration::from_secs(60);

/// The session store in its two forms.
pub(super) struct Stores {
    /// The store itself, which may be unreachable.
    pub(super) store: MeteredStore,
    /// The store, or memory while it is unreachable.
    pub(super) fallback: Arc<FallbackStore>,
}

/// Opens the store that the environment or the configuration names, otherwise the user's file. If
/// there is no file and none can be created, reports that and returns `None`.
///
/// Fails if the address of a server is not valid. An unreachable server is not an error here: until
/// it is back, the store answers from memory, and says so.
pub(super) fn open(common: &Common, out: Output) -> anyhow::Result<Option<Stores>> {
    let config = setup::config(common)?;
    let place = Place::of(&config, common);
    let is_server = matches!(place, Ok(Place::Server(..)));
    match place.and_then(|place| sessions::open_at(place, common)) {
        Ok(store) => {
            let (told, store) = (LastReported::default(), MeteredStore::new(store));
            let tell = move |error: Error| told.tell(&error, out);
            let fallback = Arc::new(FallbackStore::new(store.clone(), tell));
            Ok(Some(Stores { store, fallback }))
        }
        Err(error) if is_server => Err(error.into()),
        Err(error) => {
            note(&error, out);
            Ok(None)
        }
    }
}

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
            note(error, out);
            *told = Some((error.message().to_owned(), Instant::now()));
        }
    }
}

fn note(error: &Error, out: Output) {
    let line = format!("answering without the memory of sessions: {error}");
    out.note(&sanitize::line(&line));
}
