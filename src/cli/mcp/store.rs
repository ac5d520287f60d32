//! The session store of a server: the one that hooks use, and memory while that is away.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire::Error;
use repertoire::session::{FallbackStore, MeteredStore};

use crate::args::Common;
use crate::output::Output;
use crate::sessions::{self, Place};
use crate::{sanitize, setup};

/// The time after which a failure that goes on is told again.
const AGAIN: Duration = Duration::from_secs(60);

/// The store of sessions.
pub(super) struct Stores {
    /// The store itself, which may be away.
    pub(super) store: MeteredStore,
    /// The same, or memory while it is away.
    pub(super) fallback: Arc<FallbackStore>,
}

/// Opens the store that the environment or the configuration names, or else the user's file; `None`
/// if there is no such file and none can be made, which is told.
///
/// Fails if the address of a server is not valid. A server that is away does not fail here: the
/// store answers from memory, and says so, until it is back.
pub(super) fn open(common: &Common, out: Output) -> anyhow::Result<Option<Stores>> {
    let config = setup::config(common)?;
    let (place, is_server) = match Place::of(&config, common) {
        Ok(place) => {
            let is_server = matches!(place, Place::Server(..));
            (Ok(place), is_server)
        }
        Err(error) => (Err(error), false),
    };
    match place.and_then(|place| sessions::open_at(place, common)) {
        Ok(store) => {
            let (told, store) = (Told::default(), MeteredStore::new(store));
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

/// The failure that was told last, and when.
#[derive(Debug, Default)]
struct Told(Mutex<Option<(String, Instant)>>);

impl Told {
    /// Tells a failure, unless it was told just now: while a store is away, each call fails.
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
