//! Damaged, foreign and outdated session files.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use repertoire::session::{Day, Event, SessionStore, SkillState};
use repertoire_sessions::SqliteStore;

use super::processes::at_once;
use super::{record_use, used};

/// Returns the files that were set aside from `path`, without `SQLite`'s side files.
pub(super) fn damaged(path: &Path) -> Vec<PathBuf> {
    let start = format!("{}.damaged-", path.file_name().unwrap().to_str().unwrap());
    let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    files
        .filter(|file| {
            let name = name(file);
            name.starts_with(&start) && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .collect()
}

/// Creates a store of many pages, closes it, and returns its bytes.
pub(super) fn filled(path: &Path) -> Vec<u8> {
    let store = SqliteStore::open(path).unwrap();
    for i in 0..150 {
        record_use(&store, &format!("session {i}"), &format!("a skill of a long name {i:0100}"));
    }
    drop(store);
    let bytes = fs::read(path).unwrap();
    assert!(bytes.len() > 8 * PAGE, "{}", bytes.len());
    bytes
}

pub(super) const PAGE: usize = 4096;

pub(super) fn noise(n: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn a_damaged_file_is_set_aside_and_a_new_one_begun() {
    let dir = tempfile::tempdir().unwrap();
    let whole = filled(&dir.path().join("whole.db"));
    let with = |at: usize, bytes: &[u8]| {
        let mut damaged = whole.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        damaged
    };
    let cases: [(&str, Vec<u8>, bool); 7] = [
        ("empty", Vec::new(), false),
        ("truncated", whole[..whole.len() / 2].to_vec(), true),
        ("without its last page", whole[..whole.len() - PAGE].to_vec(), true),
        ("a bad start", with(0, &noise(16)), true),
        ("a bit of the application id", with(68, b"Sprt"), true),
        ("a header that is not ours any more", with(60, &[0; 12]), true),
        // Opening the file does not read this part.
        ("noise after the first page", with(PAGE, &noise(whole.len() - PAGE)), true),
    ];
    for (name, bytes, is_damaged) in cases {
        let path = dir.path().join(name).join("sessions.db");
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes).unwrap();

        let store = SqliteStore::open(&path).unwrap();
        assert!(store.state("session 1").unwrap().skills.is_empty(), "{name}");
        record_use(&store, "a", "git");
        assert_eq!(used(&store, "a"), 1, "{name}");
        let aside = store.set_aside();
        assert_eq!(aside.len(), usize::from(is_damaged), "{name}");
        assert_eq!(aside, damaged(&path), "{name}");
        for file in &aside {
            assert!(fs::read(file).unwrap() == bytes, "{name}: it was changed");
        }
        drop(store);

        let again = SqliteStore::open(&path).unwrap();
        assert_eq!((used(&again, "a"), again.set_aside().len()), (1, 0), "{name}");
        assert!(again.forget_older_than(Duration::ZERO).is_ok());
    }
}

#[test]
fn damage_of_the_same_second_is_set_aside_under_another_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let half = filled(&path)[..2 * PAGE].to_vec();
    for n in 1..=5 {
        fs::write(&path, &half).unwrap();
        SqliteStore::open(&path).unwrap();
        assert_eq!(damaged(&path).len(), n);
    }
}

#[test]
fn a_file_that_is_removed_or_replaced_while_it_is_open_is_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let stores = [(); 2].map(|()| SqliteStore::open(&path).unwrap());
    record_use(&stores[0], "a", "git");
    for part in ["", "-wal", "-shm"] {
        fs::remove_file(dir.path().join(format!("sessions.db{part}"))).unwrap();
    }
    record_use(&stores[1], "a", "sql");
    record_use(&stores[0], "a", "sql");
    let recent = |store: &SqliteStore| {
        store.state("a").unwrap().skills.iter().map(|s| (s.skill.to_string(), s.uses)).collect()
    };
    let states: [Vec<(String, u64)>; 2] = stores.each_ref().map(recent);
    assert_eq!(states, [vec![("sql".to_owned(), 2)], vec![("sql".to_owned(), 2)]]);
}

#[test]
fn processes_that_meet_a_damaged_file_at_once_set_it_aside_once() {
    let dir = tempfile::tempdir().unwrap();
    // First, the file is damaged before the processes open it.
    let path = dir.path().join("sessions.db");
    let half = filled(&path)[..2 * PAGE].to_vec();
    fs::write(&path, half).unwrap();
    at_once(16, "open and record", path.to_str().unwrap(), || {});
    assert_eq!(damaged(&path).len(), 1);
    assert_eq!(used(&SqliteStore::open(&path).unwrap(), "all"), 16 * 20);

    // Then, it is damaged while they have it open.
    let path = dir.path().join("open.db");
    let whole = filled(&path);
    at_once(16, "record", path.to_str().unwrap(), || {
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(&whole[..PAGE]).unwrap();
        file.write_all(&noise(whole.len() - PAGE)).unwrap();
    });
    assert_eq!(damaged(&path).len(), 1);
    assert_eq!(used(&SqliteStore::open(&path).unwrap(), "all"), 16 * 20);
}

#[test]
fn a_file_is_not_made_while_another_process_opens_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let lock = fs::File::create(dir.path().join("sessions.db.lock")).unwrap();
    lock.lock().unwrap();
    thread::scope(|scope| {
        let opening = scope.spawn(|| SqliteStore::open(&path).unwrap());
        thread::sleep(Duration::from_millis(100));
        let exists = path.exists();
        drop(lock);
        record_use(&opening.join().unwrap(), "a", "git");
        assert!(!exists);
    });
}

/// Returns the tables of version `version`, with a session that knows one skill.
fn earlier(version: u32) -> String {
    let (body, listed, joined) = (version > 1, version > 2, version > 3);
    let column = |is_there: bool, column: &'static str| if is_there { column } else { "" };
    format!(
        "PRAGMA application_id = 0x52707274;
        PRAGMA user_version = {version};
        CREATE TABLE session (id TEXT PRIMARY KEY, touched INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX session_touched ON session (touched);
        CREATE TABLE skill (
            session TEXT NOT NULL, id TEXT NOT NULL, place INTEGER NOT NULL, uses INTEGER NOT NULL,
            activations INTEGER NOT NULL, activated_by TEXT, in_context INTEGER NOT NULL, {}
            lost INTEGER NOT NULL, consented INTEGER NOT NULL, {} {} {} PRIMARY KEY (session, id)
        ) STRICT, WITHOUT ROWID;
        {}
        INSERT INTO session VALUES ('a', unixepoch());
        INSERT INTO skill (
            session, id, place, uses, activations, activated_by, in_context, lost, consented
        ) VALUES ('a', 'git', 1, 3, 2, 'sql', 1, 0, 1);",
        column(body, "body INTEGER,"),
        column(listed, "listed INTEGER NOT NULL DEFAULT 0,"),
        column(joined, "joined INTEGER,"),
        column(version > 4, "checksum INTEGER,"),
        column(
            joined,
            "CREATE TABLE tally (
                day INTEGER NOT NULL, skill TEXT NOT NULL, fired INTEGER NOT NULL,
                loaded INTEGER NOT NULL, used INTEGER NOT NULL, listed INTEGER NOT NULL,
                PRIMARY KEY (day, skill)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE tally_sessions (day INTEGER PRIMARY KEY, begun INTEGER NOT NULL)
                STRICT, WITHOUT ROWID;",
        ),
    )
}

#[test]
fn a_store_of_an_earlier_version_goes_on() {
    for version in 1..=5 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(&earlier(version)).unwrap();
        let mut known = SkillState {
            uses: 3,
            activations: 2,
            activated_by: Some("sql".into()),
            in_context: true,
            consented: true,
            ..SkillState::new("git".into())
        };
        at_once(4, "open and record", path.to_str().unwrap(), || {});
        let store = SqliteStore::open(&path).unwrap();
        assert!(store.set_aside().is_empty(), "version {version}");
        assert_eq!(store.state("a").unwrap().skills, [known.clone()], "version {version}");
        // Only events that were recorded since then count, from all four processes.
        let git = || store.tallies(Day::today().before(1)).unwrap().of(&"git".into()).cloned();
        let counts = git().unwrap().counts;
        assert_eq!((counts.fired, counts.used), (0, 80), "version {version}");
        store.record("a", &Event::Shown { skill: &"git".into(), body: 7 }).unwrap();
        (known.uses, known.body, known.joined) = (4, Some(7), Some(1));
        let again = SqliteStore::open(&path).unwrap();
        assert_eq!(again.state("a").unwrap().skills, [known], "version {version}");
        assert_eq!(git().unwrap().counts.fired, 1, "version {version}");
    }
}

#[test]
fn a_database_that_passes_its_checks_and_is_not_as_it_was_written_is_begun_anew() {
    for (name, sql) in [
        ("no column", "ALTER TABLE skill DROP COLUMN lost"),
        ("no table", "DROP TABLE skill"),
        ("no tallies", "DROP TABLE tally"),
        ("a name that is not UTF-8", "UPDATE skill SET activated_by = CAST(x'ff41' AS TEXT)"),
        ("a number", "UPDATE skill SET uses = 77"),
        ("a flag", "UPDATE skill SET consented = 1"),
        ("a key", "UPDATE skill SET id = 'gip' WHERE id = 'git'"),
        ("another version's tables", "PRAGMA user_version = 2"),
        (
            "what is written goes",
            "CREATE TRIGGER gone AFTER INSERT ON skill
            BEGIN DELETE FROM skill; END",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        record_use(&SqliteStore::open(&path).unwrap(), "a", "git");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let store = SqliteStore::open(&path).unwrap();
        store.state("a").unwrap();
        store.record("a", &Event::Used(&"sql".into())).unwrap();
        store.tallies(Day::default()).unwrap();
        // All tables but the tallies have the current form. The record of earlier days may be lost with
        // the tallies.
        record_use(&store, "b", "git");
        assert_eq!(used(&store, "b"), 1, "{name}");
        assert_eq!(store.set_aside().len(), 1, "{name}");
        assert_eq!(damaged(&path), store.set_aside(), "{name}");
        drop(store);
        let again = SqliteStore::open(&path).unwrap();
        assert_eq!((used(&again, "b"), again.set_aside().len()), (1, 0), "{name}");
    }
}

#[test]
fn whatever_bit_tips_over_what_is_recorded_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let whole = filled(&path);
    let (mut refused, mut begun_anew) = (0, 0);
    // Flip some bits in each part of the file, at irregular positions.
    for bit in (0..whole.len() * 8).step_by(1733) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        let Ok(store) = SqliteStore::open(&path) else {
            refused += 1;
            assert_eq!(fs::read(&path).unwrap(), bytes, "bit {bit}: refused and changed");
            continue;
        };
        for session in ["session 7", "new"] {
            store.record(session, &Event::Used(&"git".into())).unwrap();
            let state = store.state(session).unwrap();
            assert!(state.of(&"git".into()).is_some_and(|git| git.uses == 1), "bit {bit}");
        }
        begun_anew += store.set_aside().len();
    }
    assert!(refused < 5 && begun_anew > 0, "{refused} refused, {begun_anew} begun anew");
}
