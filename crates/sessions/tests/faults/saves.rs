//! The saves, and the states of their stores.

use std::fs;
use std::path::Path;
use std::time::Duration;

use repertoire::Error;
use repertoire::session::{Event, SessionStore as _};
use repertoire::trust::{ContentHash, TrustStore};
use repertoire_sessions::SqliteStore;

/// A save: it adds one thing to a store that holds others.
pub(crate) struct Save {
    pub(crate) name: &'static str,
    prepare: fn(&Path),
    pub(crate) make: fn(&Path) -> Result<(), Error>,
    /// The number of things that the store holds, or a reason why it cannot be used.
    held: fn(&Path) -> Result<usize, String>,
    /// The number of things that it holds before the save.
    before: usize,
}

/// The state of a store after a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Old,
    New,
    Wrong(String),
}

pub(crate) const SAVES: [Save; 6] = [
    Save { name: "a session", prepare: sessions, make: use_skill, held: uses, before: 2 },
    Save {
        name: "a session beside a journal",
        prepare: sessions_with_a_journal,
        make: use_skill,
        held: uses,
        before: 2,
    },
    Save { name: "the first session", prepare: |_| {}, make: use_skill, held: uses, before: 0 },
    Save {
        name: "the end of a session",
        prepare: sessions,
        make: end_other,
        held: others,
        before: 0,
    },
    Save { name: "trust", prepare: trusts, make: trust_another, held: trusted, before: 2 },
    Save {
        name: "the first trust",
        prepare: |_| {},
        make: trust_another,
        held: trusted,
        before: 0,
    },
];

impl Save {
    pub(crate) fn prepare(&self, place: &Path) {
        (self.prepare)(place);
    }

    /// Opens the store and tells its state.
    pub(crate) fn state(&self, place: &Path) -> State {
        match (self.held)(place) {
            Ok(held) if held == self.before => State::Old,
            Ok(held) if held == self.before + 1 => State::New,
            Ok(held) => State::Wrong(format!("it holds {held} things")),
            Err(why) => State::Wrong(why),
        }
    }
}

const NAME: &str = "sessions.db";

fn sessions(place: &Path) {
    let store = SqliteStore::open(place.join(NAME)).unwrap();
    for session in ["one", "other"] {
        store.record(session, &Event::Used(&"git".into())).unwrap();
        store.extend_trail(session, &["a message".to_owned()]).unwrap();
    }
    store.record("one", &Event::Used(&"deploy".into())).unwrap();
}

/// A store as a process that was killed leaves it: what it recorded is in the journal only.
fn sessions_with_a_journal(place: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(elsewhere.path().join(NAME)).unwrap();
    for (session, skill) in [("one", "git"), ("one", "deploy"), ("other", "git")] {
        store.record(session, &Event::Used(&skill.into())).unwrap();
    }
    for part in ["", "-wal", "-shm"] {
        let name = format!("{NAME}{part}");
        fs::copy(elsewhere.path().join(&name), place.join(&name)).unwrap();
    }
}

/// Opens the store of a save. A lock that fails looks like one that another process holds, which is not waited for
/// as long as usual.
fn open(place: &Path) -> Result<SqliteStore, Error> {
    SqliteStore::open_waiting(place.join(NAME), Duration::from_millis(100), |_| {})
}

fn use_skill(place: &Path) -> Result<(), Error> {
    let store = open(place)?;
    store.record("one", &Event::Used(&"review".into())).map(drop)
}

fn end_other(place: &Path) -> Result<(), Error> {
    open(place)?.end("other")
}

/// Tells what is wrong with a store, if anything is.
fn opened(place: &Path) -> Result<SqliteStore, String> {
    let store = SqliteStore::open(place.join(NAME)).map_err(|error| format!("{error:#}"))?;
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    let aside = names.filter(|name| name.to_string_lossy().contains("damaged"));
    match aside.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(store),
        aside => Err(format!("{aside:?} was set aside")),
    }
}

fn uses(place: &Path) -> Result<usize, String> {
    let state = opened(place)?.state("one").map_err(|error| format!("{error:#}"))?;
    Ok(state.skills.len())
}

/// The number of sessions that have ended.
fn others(place: &Path) -> Result<usize, String> {
    let store = opened(place)?;
    let failed = |error: Error| format!("{error:#}");
    let is_there =
        |session| Ok::<_, String>(!store.state(session).map_err(failed)?.skills.is_empty());
    if !is_there("one")? {
        return Err("another session is gone".to_owned());
    }
    Ok(usize::from(!is_there("other")?))
}

const TRUST: &str = "trust.json";

fn trusts(place: &Path) {
    let store = TrustStore::open(place.join(TRUST)).unwrap();
    for name in ["one", "two"] {
        store.add_content(&place.join(name), ContentHash::of(name.as_bytes())).unwrap();
    }
}

fn trust_another(place: &Path) -> Result<(), Error> {
    let store = TrustStore::open(place.join(TRUST))?;
    store.add_content(&place.join("new"), ContentHash::of(b"new")).map(drop)
}

fn trusted(place: &Path) -> Result<usize, String> {
    let store = TrustStore::open(place.join(TRUST)).map_err(|error| format!("{error:#}"))?;
    Ok(store.list().len())
}
