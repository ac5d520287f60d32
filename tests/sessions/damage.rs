//! Files that are no store, no longer one, or one of an earlier version.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use repertoire::ErrorCode;
use repertoire::session::{Day, Event, SessionStore, SkillState, SqliteStore};

use super::processes::at_once;
use super::{record_use, used};

/// The files that were set aside from `path`, without their parts.
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

/// A store of many pages, closed.
fn filled(path: &Path) -> Vec<u8> {
    let store = SqliteStore::open(path).unwrap();
    for i in 0..150 {
        record_use(&store, &format!("session {i}"), &format!("a skill of a long name {i:0100}"));
    }
    drop(store);
    let bytes = fs::read(path).unwrap();
    assert!(bytes.len() > 8 * PAGE, "{}", bytes.len());
    bytes
}

const PAGE: usize = 4096;

fn noise(n: usize) -> Vec<u8> {
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
    let cases: [(&str, Vec<u8>, bool); 8] = [
        ("empty", Vec::new(), false),
        ("two bytes", b"no".to_vec(), true),
        ("noise", noise(3 * PAGE), true),
        ("text", b"# Sessions\n\nNone so far.\n".repeat(200), true),
        ("truncated", whole[..whole.len() / 2].to_vec(), true),
        ("without its last page", whole[..whole.len() - PAGE].to_vec(), true),
        ("a bad header", with(0, &noise(100)), true),
        // Nothing of it is needed to open the file.
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
    for n in 1..=5 {
        fs::write(&path, noise(PAGE)).unwrap();
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
    // Before they open it.
    let path = dir.path().join("sessions.db");
    fs::write(&path, noise(2 * PAGE)).unwrap();
    at_once(16, "open and record", &path, || {});
    assert_eq!(damaged(&path).len(), 1);
    assert_eq!(used(&SqliteStore::open(&path).unwrap(), "all"), 16 * 20);

    // While they have it open.
    let path = dir.path().join("open.db");
    let whole = filled(&path);
    at_once(16, "record", &path, || {
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

/// The tables of version `version`, with a session that knows one skill.
fn earlier(version: u32) -> String {
    let (body, listed) = (version > 1, version > 2);
    let column = |is_there: bool, column: &'static str| if is_there { column } else { "" };
    format!(
        "PRAGMA application_id = 0x52707274;
        PRAGMA user_version = {version};
        CREATE TABLE session (id TEXT PRIMARY KEY, touched INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX session_touched ON session (touched);
        CREATE TABLE skill (
            session TEXT NOT NULL, id TEXT NOT NULL, place INTEGER NOT NULL, uses INTEGER NOT NULL,
            activations INTEGER NOT NULL, activated_by TEXT, in_context INTEGER NOT NULL, {}
            lost INTEGER NOT NULL, consented INTEGER NOT NULL, {} PRIMARY KEY (session, id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO session VALUES ('a', unixepoch());
        INSERT INTO skill (
            session, id, place, uses, activations, activated_by, in_context, lost, consented
        ) VALUES ('a', 'git', 1, 3, 2, 'sql', 1, 0, 1);",
        column(body, "body INTEGER,"),
        column(listed, "listed INTEGER NOT NULL DEFAULT 0,"),
    )
}

#[test]
fn a_store_of_an_earlier_version_goes_on() {
    for version in 1..=3 {
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
        at_once(4, "open and record", &path, || {});
        let store = SqliteStore::open(&path).unwrap();
        assert!(store.set_aside().is_empty(), "version {version}");
        assert_eq!(store.state("a").unwrap().skills, [known.clone()], "version {version}");
        // Only what was recorded since is counted, of all four processes.
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
fn what_cannot_be_a_store_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("directory")).unwrap();
    fs::write(at("text"), "a file").unwrap();
    filled(&at("newer"));
    let run = |name: &str, sql: &str| {
        rusqlite::Connection::open(at(name)).unwrap().execute_batch(sql).unwrap();
    };
    run("newer", "PRAGMA user_version = 5");
    run("foreign", "CREATE TABLE notes (text TEXT)");
    run("versioned", "PRAGMA user_version = 1");
    for (name, wanted) in [
        ("directory", "is not a file"),
        ("text/below", "cannot make the directory"),
        ("newer", "made by a newer Repertoire (its version 5, ours 4)"),
        ("foreign", "is a database of another program"),
        ("versioned", "is a database of another program"),
    ] {
        let before = fs::read(at(name)).ok();
        let error = SqliteStore::open(at(name)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError, "{name}");
        assert!(error.message().contains(wanted), "{error}");
        assert!(error.message().contains(name.split('/').next().unwrap()), "{error}");
        assert!(!error.help().is_empty());
        assert_eq!(fs::read(at(name)).ok(), before, "{name} was changed");
    }
}
