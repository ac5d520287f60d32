//! The time that a session store adds to a turn, measured on the user's path: `Engine::turn(…).run()`.
//!
//! The benchmark starts its own servers: `PostgreSQL` with its default settings, including `fsync`, and
//! Redis with `appendonly`. Run it with `cargo bench --bench sessions --features postgres,redis`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and fails by panicking"
)]

#[path = "../../../tests/support/servers.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod servers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use repertoire::session::{MemoryStore, SessionStore};
use repertoire::{Engine, Source};
use repertoire_sessions::{ServerOptions, SqliteStore, open_url};
use servers::{Kind, Server};

/// The number of turns that are not counted, as a warm-up, and of those that are.
const TURNS: (usize, usize) = (50, 1000);

/// Returns the sorted times of turns. Every message matches a skill, so each turn reads the session and
/// records what it shows.
fn times(store: &Arc<dyn SessionStore>) -> Vec<Duration> {
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../../skills");
    let engine = Engine::builder()
        .source(Source::bundled(bundled))
        .session_store(Arc::clone(store))
        .build()
        .unwrap();
    let mut times = Vec::new();
    for n in 0..TURNS.0 + TURNS.1 {
        let session = engine.session(&format!("chat-{}", n % 20));
        let start = Instant::now();
        let turn = engine.turn("review the pull request", &session).run().unwrap();
        let time = start.elapsed();
        assert!(!turn.text.is_empty());
        // After compaction the instructions are shown again, so that each of these turns writes.
        session.compacted().unwrap();
        if n >= TURNS.0 {
            assert_eq!(turn.disclosure.full, ["code-review"]);
            times.push(time);
        }
    }
    times.sort();
    times
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let file = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    let server = Server::new(Kind::Postgres, &["fsync=on"]).unwrap();
    let without = Server::new(Kind::Postgres, &["fsync=off"]).unwrap();
    let redis = Server::new(Kind::Redis, &[]).unwrap();
    let open = |url: String| open_url(&url, ServerOptions::default()).unwrap();
    let stores: [(&str, Arc<dyn SessionStore>); 5] = [
        ("memory", Arc::new(MemoryStore::default())),
        ("SQLite", Arc::new(file)),
        ("PostgreSQL", open(server.fresh())),
        ("PostgreSQL without `fsync`", open(without.fresh())),
        ("Redis", open(redis.fresh())),
    ];
    println!("{} turns, each of which reads and writes its session, in microseconds\n", TURNS.1);
    println!("| store | a turn, µs | 99 % | more than memory |\n| --- | ---: | ---: | ---: |");
    let mut first = None;
    for (name, store) in stores {
        let times = times(&store);
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_micros();
        let none = *first.get_or_insert(at(50));
        println!("| {name} | {} | {} | {} |", at(50), at(99), at(50).saturating_sub(none));
    }
}
