//! The session store of an MCP server: the one that hooks use, or memory while that is unreachable.

use std::sync::Arc;

use repertoire_sessions::{FallbackStore, MeteredStore};

use crate::args::Common;
use crate::output::Output;
use crate::sessions::{self, Place};
use crate::setup;

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
            let store = MeteredStore::new(store);
            let fallback = Arc::new(sessions::in_memory_without(store.clone(), out));
            Ok(Some(Stores { store, fallback }))
        }
        Err(error) if is_server => Err(error.into()),
        Err(error) => {
            sessions::note_memory(&error, out);
            Ok(None)
        }
    }
}
