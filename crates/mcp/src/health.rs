//! Health and metrics of an HTTP server, for its operators.
//!
//! | path | answer |
//! |---|---|
//! | `/health` | 200 while the process serves |
//! | `/ready` | 200 if the session store answers, otherwise 503 |
//! | `/metrics` | metrics, for clients with a token |

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire::catalog::Audience;
use repertoire::engine::Engine;
use repertoire::session::SessionStore as _;
use repertoire_sessions::MeteredStore;

/// The session that is read to check whether the store answers. It never has any content.
const PROBE: &str = "repertoire-ready";

/// The time for which the last result of the check is reused.
const FRESH: Duration = Duration::from_secs(1);

/// A path with a page for operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    Health,
    Ready,
    Metrics,
}

impl Page {
    /// Returns the page at a path.
    pub(super) fn at(path: &str) -> Option<Page> {
        match path {
            "/health" => Some(Page::Health),
            "/ready" => Some(Page::Ready),
            "/metrics" => Some(Page::Metrics),
            _ => None,
        }
    }
}

/// The last result of checking the store, so that probes cost the store at most one call a second.
#[derive(Debug, Default)]
pub(super) struct Probe(Mutex<Option<(Instant, bool)>>);

impl Probe {
    /// Tells whether the store answers. Blocks for at most the store's time limit.
    fn answers(&self, store: &MeteredStore) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, answers)) = *last
            && at.elapsed() < FRESH
        {
            return answers;
        }
        let state = store.state(PROBE);
        if let Err(error) = &state {
            tracing::warn!(%error, "the session store does not answer");
        }
        *last = Some((Instant::now(), state.is_ok()));
        state.is_ok()
    }

    /// Tells whether the server is ready, with a text for the response. Without a store the server is
    /// always ready, since its catalogs were compiled before it started to serve.
    pub(super) fn report(&self, engine: &Engine, store: Option<&MeteredStore>) -> (bool, String) {
        let n_skills = engine.catalog().listed(Audience::Model).count();
        let (is_ready, state) = match store {
            None => (true, "in memory"),
            Some(store) if self.answers(store) => (true, "answers"),
            Some(_) => (false, "away"),
        };
        (is_ready, format!("skills: {n_skills}\nsession store: {state}\n"))
    }
}
