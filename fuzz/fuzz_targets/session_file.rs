//! Fuzzes the file of a session store. The store must either open it and remember new records, or
//! reject it and leave it unchanged.
#![no_main]
#![expect(clippy::unwrap_used, reason = "the fuzzer looks for panics")]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use repertoire::session::{Event, SessionStore as _};
use repertoire_sessions::SqliteStore;

#[derive(Debug, Arbitrary)]
struct Input {
    /// The content of the file; if `None`, the file is a damaged store.
    whole: Option<Vec<u8>>,
    /// Offsets in the store, and the bytes to write there.
    edits: Vec<(u16, Vec<u8>)>,
    /// The part of the file that is kept, in 256ths.
    len: u8,
    journal: Option<Vec<u8>>,
}

/// The file of an intact store with sessions.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let store = SqliteStore::open(&path).unwrap();
    for nth in 0..60 {
        store.record(&format!("chat {nth}"), &Event::Used(&"git".into())).unwrap();
    }
    drop(store);
    fs::read(path).unwrap()
});

fuzz_target!(|input: Input| {
    let mut bytes = STORE.clone();
    for (at, edit) in &input.edits {
        let at = usize::from(*at) % bytes.len();
        let end = (at + edit.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&edit[..end - at]);
    }
    bytes.truncate(bytes.len() * (usize::from(input.len) + 1) / 256);
    let bytes = input.whole.unwrap_or(bytes);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    fs::write(&path, &bytes).unwrap();
    if let Some(journal) = input.journal {
        fs::write(dir.path().join("sessions.db-wal"), journal).unwrap();
    }
    let Ok(store) = SqliteStore::open(&path) else {
        assert!(fs::read(&path).unwrap() == bytes, "refused and changed");
        return;
    };
    store.record("new", &Event::Used(&"sql".into())).unwrap();
    let state = store.state("new").unwrap();
    assert!(state.of(&"sql".into()).is_some_and(|skill| skill.uses > 0), "{state:?}");
    for aside in store.set_aside() {
        assert!(aside.is_file());
    }
});
