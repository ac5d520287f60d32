//! Counters of an HTTP server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use data_encoding::HEXLOWER;
use http::StatusCode;
use sha2::{Digest as _, Sha256};

use repertoire::catalog::{Audience, Catalog};
use repertoire::engine::SessionTools;
use repertoire_sessions::CallCounter;

/// The upper bounds of the buckets for the durations of calls, in microseconds.
pub(super) const CALL_BOUNDS: [u64; 12] = [
    500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000,
    30_000_000,
];

/// The tools whose calls are counted separately. The last one counts the calls of all toolsets, since
/// the names of their tools would reveal skills.
const TOOLS: [&str; 5] =
    [SessionTools::USE_SKILL, "find_skills", "read_skill_file", "run_skill_script", "toolset"];

/// The number of classes of status codes, by their hundreds.
const N_CLASSES: usize = 6;

/// The counts of the calls of one tool.
type Calls = CallCounter<{ CALL_BOUNDS.len() + 1 }>;

/// The counters of a server.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    answers: [AtomicU64; N_CLASSES],
    calls: [Calls; TOOLS.len()],
    /// The catalog of each client and its fingerprint, which is computed again only for a new catalog.
    versions: Mutex<Vec<(Weak<Catalog>, String)>>,
}

impl Metrics {
    /// Counts an HTTP response.
    pub(super) fn note_answer(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(N_CLASSES - 1);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call of a tool.
    pub(super) fn note_call(&self, tool: &str, duration: Duration, has_failed: bool) {
        let place = TOOLS.iter().position(|known| *known == tool).unwrap_or(TOOLS.len() - 1);
        self.calls[place].note(&CALL_BOUNDS, duration, has_failed);
    }

    /// The classes of status codes, from 1, each with the number of responses.
    pub(super) fn answers(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.answers.iter().map(|count| count.load(Ordering::Relaxed));
        counts.enumerate().skip(1)
    }

    /// The tools with their calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&'static str, &Calls)> {
        TOOLS.into_iter().zip(&self.calls)
    }

    /// Returns the fingerprints of the catalogs.
    pub(super) fn versions(&self, catalogs: &[Arc<Catalog>]) -> Vec<String> {
        let mut known = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = catalogs.iter().map(|catalog| {
            let is_same =
                |of: &Weak<Catalog>| of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, catalog));
            let found = known.iter().find(|(of, _)| is_same(of));
            found.map_or_else(|| fingerprint(catalog), |(_, version)| version.clone())
        });
        let versions: Vec<String> = versions.collect();
        *known = catalogs.iter().map(Arc::downgrade).zip(versions.iter().cloned()).collect();
        versions
    }
}

/// Returns the fingerprint of a catalog. Equal skills give equal fingerprints in all processes of one
/// program.
fn fingerprint(catalog: &Catalog) -> String {
    let mut hash = Sha256::new();
    for entry in catalog.listed(Audience::Model) {
        hash.update(entry.id.as_str());
        hash.update(entry.skill.manifest().to_json().to_string());
        // A body that cannot be read counts as the hash 0.
        hash.update(entry.skill.body_hash().unwrap_or_default().to_le_bytes());
    }
    HEXLOWER.encode(&hash.finalize()[..8])
}
