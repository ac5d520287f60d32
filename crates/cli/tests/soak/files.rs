//! Stores that are opened on damaged files, on files of other programs, and with such files around
//! them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use repertoire::session::{Event, SessionStore as _};
use repertoire_sessions::SqliteStore;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::Run;
use crate::tally::{Dice, Tally};

/// The kinds of files at the path of a store.
const KINDS: [Kind; 11] = [
    Kind::Text,
    Kind::Noise,
    Kind::ForeignDatabase,
    Kind::DamagedForeignDatabase,
    Kind::Directory,
    Kind::Fifo,
    Kind::Link,
    Kind::Truncated,
    Kind::BitsFlipped,
    Kind::Overwritten,
    Kind::Journal,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Noise,
    ForeignDatabase,
    DamagedForeignDatabase,
    Directory,
    Fifo,
    /// A link to a file of another program in another directory.
    Link,
    Truncated,
    BitsFlipped,
    Overwritten,
    /// An intact store next to a journal of noise.
    Journal,
}

impl Kind {
    /// Tells whether the file belongs to another program, and so must not be touched.
    fn is_of_others(self) -> bool {
        !matches!(self, Kind::Truncated | Kind::BitsFlipped | Kind::Overwritten | Kind::Journal)
    }
}

/// Opens stores on such files until the deadline.
pub(crate) fn damaged_and_foreign(run: Run) -> Vec<Tally> {
    let mut tally =
        Tally::new("stores opened on damaged files and on those of others", "files of others");
    let mut dice = run.dice();
    let home = tempfile::tempdir().unwrap();
    let (store, foreign) = (a_store(home.path()), a_foreign_database(home.path()));
    while run.goes_on() {
        let kind = *dice.pick(&KINDS);
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("state");
        fs::create_dir(&place).unwrap();
        for (name, text) in
            [("notes.md", "mine"), ("sessions.db.bak", "mine"), ("other.db", "mine")]
        {
            fs::write(place.join(name), text).unwrap();
        }
        fs::write(dir.path().join("diary.txt"), "dear diary").unwrap();
        let path = place.join("sessions.db");
        put(kind, &path, &store, &foreign, &mut dice);
        let before = everything(dir.path());
        let opened = opened(kind, &path);
        tally.fault(opened.map_err(|what| format!("{kind:?}: {what}")));
        let after = everything(dir.path());
        for (file, content) in &before {
            if is_ours(file) && !kind.is_of_others() {
                continue;
            }
            tally.holds(after.get(file) == Some(content), || {
                format!("{kind:?}: {}", file.display())
            });
        }
        // A damaged store must be kept unchanged, under another name.
        let aside = after.iter().filter(|(file, _)| file.to_string_lossy().contains(".damaged-"));
        for (file, content) in
            aside.filter(|(file, _)| file.extension().is_none_or(|e| !is_part(e)))
        {
            let is_whole = before.get(&path) == Some(content) && !kind.is_of_others();
            tally.holds(is_whole, || format!("{kind:?}: {} was changed", file.display()));
        }
    }
    vec![tally]
}

/// Returns the bytes of a store with sessions.
fn a_store(dir: &Path) -> Vec<u8> {
    let path = dir.join("whole.db");
    let store = SqliteStore::open(&path).unwrap();
    for nth in 0..80 {
        store.record(&format!("session {nth}"), &Event::Used(&"git".into())).unwrap();
    }
    drop(store);
    fs::read(path).unwrap()
}

fn a_foreign_database(dir: &Path) -> Vec<u8> {
    let path = dir.join("foreign.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('dear diary')")
        .unwrap();
    drop(connection);
    fs::read(path).unwrap()
}

fn put(kind: Kind, path: &Path, store: &[u8], foreign: &[u8], dice: &mut Dice) {
    let mut bytes = store.to_vec();
    match kind {
        Kind::Text => bytes = "# Notes\n".repeat(1 + dice.position(2000)).into_bytes(),
        Kind::Noise => {
            let len = 1 + dice.position(20_000);
            bytes = dice.noise(len);
        }
        Kind::ForeignDatabase => bytes = foreign.to_vec(),
        Kind::DamagedForeignDatabase => {
            bytes = foreign[..200 + dice.position(foreign.len() - 200)].to_vec();
        }
        Kind::Directory => return fs::create_dir(path).unwrap(),
        Kind::Fifo => return mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
        Kind::Link => {
            let diary = path.parent().unwrap().parent().unwrap().join("diary.txt");
            return symlink(diary, path).unwrap();
        }
        Kind::Truncated => bytes.truncate(200 + dice.position(store.len() - 200)),
        Kind::BitsFlipped => {
            for _ in 0..=dice.below(40) {
                // The header says which program the file belongs to, so leave it intact.
                bytes[100 + dice.position(store.len() - 100)] ^= 1 << dice.below(8);
            }
        }
        Kind::Overwritten => {
            let at = 100 + dice.position(store.len() - 100);
            let noise = dice.noise((store.len() - at).min(9_000));
            bytes[at..at + noise.len()].copy_from_slice(&noise);
        }
        Kind::Journal => {
            let len = dice.position(30_000);
            let noise = dice.noise(len);
            fs::write(path.with_extension("db-wal"), noise).unwrap();
        }
    }
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Opens a store. For a file of another program this must be an error that names it; any other store
/// must work afterwards.
fn opened(kind: Kind, path: &Path) -> Result<(), String> {
    let store = match SqliteStore::open(path) {
        Err(error) if kind.is_of_others() => {
            let is_told = error.message().contains("sessions.db") && !error.help().is_empty();
            return if is_told { Ok(()) } else { Err(format!("{error:#}")) };
        }
        // A flipped bit in the version number makes the store look like that of a newer program.
        Err(error) if error.message().contains("newer") => return Ok(()),
        Err(error) => return Err(format!("{error:#}")),
        Ok(_) if kind.is_of_others() => return Err("it was opened".to_owned()),
        Ok(store) => store,
    };
    for session in ["session 7", "new"] {
        let uses = || {
            let state = store.state(session).map_err(|error| format!("{error:#}"))?;
            Ok(state.skills.iter().map(|skill| skill.uses).sum::<u64>())
        };
        let before: Result<u64, String> = uses();
        store.record(session, &Event::Used(&"git".into())).map_err(|error| format!("{error:#}"))?;
        let (before, after) = (before?, uses()?);
        // If damage is found in between, a new store is started.
        if after != before + 1 && after != 1 {
            return Err(format!("{session}: {before} uses, and then {after}"));
        }
    }
    Ok(())
}

fn is_part(extension: &std::ffi::OsStr) -> bool {
    let extension = extension.to_string_lossy();
    extension.ends_with("-wal") || extension.ends_with("-shm")
}

/// Tells whether a path is that of the store, or of one of its side files.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    ["sessions.db", "sessions.db-wal", "sessions.db-shm", "sessions.db.lock"].contains(&&*name)
}

/// Returns the kind and content of everything below `dir`.
fn everything(dir: &Path) -> BTreeMap<PathBuf, String> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let told = entries.map(|entry| {
        let kind = entry.file_type();
        let content = if kind.is_file() {
            format!("{:?}", fs::read(entry.path()).unwrap())
        } else {
            format!("{kind:?} {:?}", fs::read_link(entry.path()).ok())
        };
        (entry.into_path(), content)
    });
    told.collect()
}
