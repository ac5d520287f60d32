//! The kinds of stores that the same tests are run with.

use std::sync::Arc;

use repertoire::session::{MemoryStore, SessionStore, SqliteStore};

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

/// Returns every kind of store that this machine has; those on servers are skipped aloud.
pub(super) fn kinds() -> Vec<Kind> {
    let memory: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
    let dir = tempfile::tempdir().unwrap();
    let file = move || open(dir.path().join("sessions.db").to_str().unwrap());
    #[cfg_attr(not(feature = "postgres"), expect(unused_mut, reason = "there is no server"))]
    let mut kinds = vec![
        Kind { name: "memory", open: Box::new(move || Arc::clone(&memory)) },
        Kind { name: "SQLite", open: Box::new(file) },
    ];
    #[cfg(all(unix, feature = "postgres"))]
    if let Some(server) = super::servers::Server::shared(super::servers::Kind::Postgres) {
        let url = server.fresh();
        let open = move || {
            let _server = &server;
            open(&url)
        };
        kinds.push(Kind { name: "PostgreSQL", open: Box::new(open) });
    }
    kinds
}

/// Opens the store at a path or an address.
pub(super) fn open(place: &str) -> Arc<dyn SessionStore> {
    #[cfg(feature = "postgres")]
    if place.starts_with("postgres://") {
        let mut options = repertoire::session::ServerOptions::default();
        // The machine may be busy with other tests.
        options.timeout = std::time::Duration::from_secs(20);
        return repertoire::session::open_url(place, options).unwrap();
    }
    Arc::new(SqliteStore::open(place).unwrap())
}

/// Opens the store at an address, with these options.
#[cfg(all(unix, feature = "postgres"))]
pub(super) fn open_with(
    url: &str,
    options: repertoire::session::ServerOptions,
) -> Arc<dyn SessionStore> {
    repertoire::session::open_url(url, options).unwrap()
}

/// The addresses of stores on servers at this port.
#[cfg(all(unix, feature = "postgres"))]
pub(super) fn urls_at(port: u16) -> Vec<String> {
    vec![format!("postgres://ann:{}@127.0.0.1:{port}/agents", super::servers::PASSWORD)]
}
