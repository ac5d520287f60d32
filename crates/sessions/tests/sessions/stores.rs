//! The kinds of stores with which the same tests are run.

use std::sync::Arc;

use repertoire::session::{MemoryStore, SessionStore};
use repertoire_sessions::SqliteStore;

/// The kinds of servers that this build supports.
#[cfg(all(unix, any(feature = "postgres", feature = "redis")))]
pub(super) const SERVERS: &[super::servers::Kind] = &[
    #[cfg(feature = "postgres")]
    super::servers::Kind::Postgres,
    #[cfg(feature = "redis")]
    super::servers::Kind::Redis,
];

/// A kind of store, with data of its own.
pub(super) struct Kind {
    pub(super) name: &'static str,
    open: Box<dyn Fn() -> Arc<dyn SessionStore>>,
}

impl Kind {
    /// Opens the store, as another process would.
    pub(super) fn open(&self) -> Arc<dyn SessionStore> {
        (self.open)()
    }
}

/// Returns every kind of store that this machine supports, and reports the server kinds that are
/// skipped.
pub(super) fn kinds() -> Vec<Kind> {
    let memory: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
    let dir = tempfile::tempdir().unwrap();
    let file = move || open(dir.path().join("sessions.db").to_str().unwrap());
    #[cfg_attr(
        not(any(feature = "postgres", feature = "redis")),
        expect(unused_mut, reason = "there is no server")
    )]
    let mut kinds = vec![
        Kind { name: "memory", open: Box::new(move || Arc::clone(&memory)) },
        Kind { name: "SQLite", open: Box::new(file) },
    ];
    #[cfg(all(unix, any(feature = "postgres", feature = "redis")))]
    for kind in SERVERS {
        let Some(server) = super::servers::Server::shared(*kind) else { continue };
        let url = server.fresh();
        let name = if url.starts_with("redis") { "Redis" } else { "PostgreSQL" };
        let open = move || {
            let _server = &server;
            open(&url)
        };
        kinds.push(Kind { name, open: Box::new(open) });
    }
    kinds
}

/// Opens the store at a path or an address.
pub(super) fn open(place: &str) -> Arc<dyn SessionStore> {
    #[cfg(any(feature = "postgres", feature = "redis"))]
    if place.contains("://") {
        let mut options = repertoire_sessions::ServerOptions::default();
        // The machine may be busy with other tests.
        options.timeout = std::time::Duration::from_secs(20);
        return repertoire_sessions::open_url(place, options).unwrap();
    }
    Arc::new(SqliteStore::open(place).unwrap())
}

/// Opens the store at an address, with these options.
#[cfg(all(unix, any(feature = "postgres", feature = "redis")))]
pub(super) fn open_with(
    url: &str,
    options: repertoire_sessions::ServerOptions,
) -> Arc<dyn SessionStore> {
    repertoire_sessions::open_url(url, options).unwrap()
}

/// Returns the addresses of stores on servers at this port.
#[cfg(all(unix, any(feature = "postgres", feature = "redis")))]
pub(super) fn urls_at(port: u16) -> Vec<String> {
    let password = super::servers::PASSWORD;
    let url = |kind: &super::servers::Kind| match kind {
        super::servers::Kind::Postgres => format!("postgres://ann:{password}@127.0.0.1:{port}/a"),
        super::servers::Kind::Redis => format!("redis://ann:{password}@127.0.0.1:{port}/7"),
    };
    SERVERS.iter().map(url).collect()
}
