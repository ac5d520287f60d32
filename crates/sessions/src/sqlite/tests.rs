//! Tests of the `SQLite` store: sessions, tallies and damage.

use std::fs;

use super::*;
use repertoire::ErrorCode;
use repertoire::skill::SkillId;

fn with_connection<T>(store: &SqliteStore, work: impl Fn(&Connection) -> T) -> T {
    store.run("test", |connection| Ok(work(connection))).unwrap()
}

fn use_git(store: &SqliteStore, session: &str) -> Result<(), Error> {
    store.record(session, &Event::Used(&SkillId::new("git"))).map(drop)
}

fn n_rows(store: &SqliteStore) -> (i64, i64) {
    let sql = "SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM skill)";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    with_connection(store, |connection| connection.query_row(sql, [], read).unwrap())
}

#[test]
fn a_session_is_forgotten_when_it_is_ended_or_nothing_happened_for_long() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let store = SqliteStore::open(&path).unwrap();
    let age = |session: &str, days: i64| {
        let sql = "UPDATE session SET touched = touched - ?2 WHERE id = ?1";
        let parameters = rusqlite::params![session, days * 24 * 60 * 60];
        with_connection(&store, |connection| connection.execute(sql, parameters).unwrap());
    };
    for session in ["old", "kept", "touched", "ended"] {
        use_git(&store, session).unwrap();
    }
    age("old", 31);
    age("kept", 29);
    age("touched", 31);
    store.record("touched", &Event::Compacted).unwrap();
    store.end("ended").unwrap();
    assert_eq!(n_rows(&store), (3, 3));

    let again = SqliteStore::open(&path).unwrap();
    assert!(again.state("old").unwrap().skills.is_empty());
    assert_eq!(n_rows(&again), (2, 2));
    assert_eq!(again.forget_older_than(Duration::from_secs(28 * 24 * 60 * 60)).unwrap(), 1);
    assert_eq!(again.state("touched").unwrap().skills.len(), 1);
    assert_eq!(again.forget_older_than(Duration::MAX).unwrap(), 0);
}

#[test]
fn a_clock_that_is_behind_or_ahead_makes_no_session_idle_and_none_eternal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let store = SqliteStore::open(&path).unwrap();
    use_git(&store, "right").unwrap();
    // Clocks that were never set, of a machine that has just started.
    for session in ["right", "behind"] {
        with_connection(&store, |connection| rows::touch(connection, session, 77).unwrap());
    }
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(n_rows(&again).0, 2, "a session looked idle");
    // The first sessions of a store, before the clock was set.
    let sql = "UPDATE session SET touched = 77";
    with_connection(&store, |connection| connection.execute(sql, []).unwrap());
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(n_rows(&again).0, 2, "a session looked idle");
    let ten_years = 3_653 * 24 * 60 * 60;
    with_connection(&store, |connection| {
        rows::touch(connection, "ahead", now() + ten_years).unwrap()
    });
    let again = SqliteStore::open(&path).unwrap();
    let newest = "SELECT max(touched) FROM session";
    let newest = with_connection(&again, |connection| {
        connection.query_row(newest, [], |row| row.get::<_, i64>(0)).unwrap()
    });
    assert!((now() - 60..=now()).contains(&newest), "{newest}");
}

/// Tells whether any file of the store at `path` contains `text`.
fn holds(path: &Path, text: &str) -> bool {
    let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    files.into_iter().any(|file| has(&fs::read(file).unwrap()))
}

#[test]
fn a_kept_text_is_in_no_file_after_its_session_ended_or_expired() {
    const TEXT: &str = "the plan for the merger";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let store = SqliteStore::open(&path).unwrap();
    let keep = |session: &str| {
        // Enough for pages of its own, which are freed as a whole.
        let lines = vec![TEXT.repeat(40); 30];
        use_git(&store, session).unwrap();
        store.extend_trail(session, &lines).unwrap();
    };
    keep("ended");
    assert!(holds(&path, TEXT));
    store.end("ended").unwrap();
    assert!(!holds(&path, TEXT), "after the end");
    for days in [-31, 31] {
        keep("old");
        let sql = "UPDATE trail SET touched = touched + ?1";
        let seconds = days * 24 * 60 * 60;
        with_connection(&store, |connection| connection.execute(sql, [seconds]).unwrap());
        assert!(holds(&path, TEXT));
        drop(SqliteStore::open(&path).unwrap());
        assert_eq!(store.trails().unwrap(), [[""; 0]; 0]);
        // The other connection keeps the journal in use.
        with_connection(&store, file::empty_journal);
        assert!(!holds(&path, TEXT), "after {days} days");
    }
}

#[test]
fn tallies_outlive_their_sessions_and_are_forgotten_after_a_year() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let store = SqliteStore::open(&path).unwrap();
    let age = |days: i64| {
        let sql = format!(
            "UPDATE tally SET day = day - {days}; UPDATE tally_sessions SET day = day - {days};
            UPDATE session SET touched = touched - {days} * 86400"
        );
        with_connection(&store, |connection| connection.execute_batch(&sql).unwrap());
    };
    let told = |store: &SqliteStore, days: u32| {
        let tallies = store.tallies(Day::today().before(days)).unwrap();
        let git = tallies.of(&SkillId::new("git")).cloned();
        (tallies.sessions, git.map_or(0, |git| git.counts.used))
    };
    use_git(&store, "oldest").unwrap();
    age(1);
    use_git(&store, "old").unwrap();
    use_git(&store, "oldest").unwrap();
    age(363);
    use_git(&store, "new").unwrap();
    store.end("new").unwrap();
    assert_eq!([told(&store, 364), told(&store, 363), told(&store, 0)], [(3, 4), (2, 3), (1, 1)]);
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(n_rows(&again), (0, 0), "all sessions are ended or forgotten");
    assert_eq!(told(&again, 9999), (3, 4));
    age(1);
    assert_eq!(told(&SqliteStore::open(&path).unwrap(), 9999), (2, 3));
}

#[test]
fn an_event_that_is_not_taken_in_is_not_counted() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    use_git(&store, "a").unwrap();
    with_connection(&store, |connection| {
        let sql = "CREATE TRIGGER refuse BEFORE INSERT ON skill WHEN NEW.id = 'bad'
            BEGIN SELECT RAISE(ABORT, 'refused'); END";
        connection.execute_batch(sql).unwrap();
    });
    let [git, bad] = ["git", "bad"].map(SkillId::new);
    store.record_all("b", &[Event::Used(&git), Event::Used(&bad)]).unwrap_err();
    let tallies = store.tallies(Day::default()).unwrap();
    assert_eq!((tallies.sessions, tallies.of(&git).unwrap().counts.used), (1, 1));
    assert!(tallies.of(&bad).is_none());
}

#[test]
fn the_journal_of_processes_that_do_not_close_it_stays_short() {
    let dir = tempfile::tempdir().unwrap();
    let path = |n: usize, part: &str| dir.path().join(format!("{n}/sessions.db{part}"));
    let mut lengths = Vec::new();
    for n in 0..100 {
        let store = SqliteStore::open(path(n, "")).unwrap();
        use_git(&store, &format!("chat-{n}")).unwrap();
        lengths.push(path(n, "-wal").metadata().unwrap().len());
        // The files on disk are what the next process finds if this one is killed.
        fs::create_dir(dir.path().join((n + 1).to_string())).unwrap();
        for part in ["", "-wal"] {
            fs::copy(path(n, part), path(n + 1, part)).unwrap();
        }
    }
    assert!(lengths.iter().all(|len| *len < 600 << 10), "{lengths:?}");
    assert!(lengths.is_sorted_by(|a, b| a != b), "each writes to it: {lengths:?}");
    let n_emptied = lengths.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((1..=3).contains(&n_emptied), "{lengths:?}");
    let store = SqliteStore::open(path(100, "")).unwrap();
    assert_eq!(n_rows(&store), (100, 100));
}

#[test]
fn several_events_are_taken_in_together_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    let (git, sql) = (SkillId::new("git"), SkillId::new("sql"));
    let shown = Event::Shown { skill: &git, body: 7 };
    store.record_all("a", &[Event::Listed(&sql), shown, Event::Compacted]).unwrap();
    let state = store.state("a").unwrap();
    assert!(state.of(&git).is_some_and(|git| git.lost && git.uses == 1), "{state:?}");
    assert!(state.of(&sql).is_some_and(|sql| !sql.listed), "{state:?}");
    with_connection(&store, |connection| {
        let sql = "CREATE TRIGGER refuse BEFORE INSERT ON skill WHEN NEW.id = 'bad'
            BEGIN SELECT RAISE(ABORT, 'refused'); END";
        connection.execute_batch(sql).unwrap();
    });
    let bad = SkillId::new("bad");
    store.record_all("b", &[Event::Used(&git), Event::Used(&bad)]).unwrap_err();
    assert!(store.state("b").unwrap().skills.is_empty());
}

#[test]
fn a_full_disk_is_an_error_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    use_git(&store, "a").unwrap();
    let limit = |n: i64| {
        with_connection(&store, |connection| {
            connection.pragma_update(None, "max_page_count", n).unwrap();
        });
    };
    limit(1);
    let long = "x".repeat(100_000);
    let error = use_git(&store, &long).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
    assert!(error.message().contains("sessions.db: database or disk is full"), "{error}");
    assert_eq!(error.help(), "make room on its disk");
    assert_eq!(n_rows(&store), (1, 1));
    limit(10_000);
    use_git(&store, &long).unwrap();
    assert!(store.set_aside().is_empty());
}

#[test]
fn damage_that_only_a_read_finds_is_set_aside_too() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    use_git(&store, "a").unwrap();
    with_connection(&store, |connection| {
        let sql = "UPDATE sqlite_schema SET rootpage = (
            SELECT rootpage FROM sqlite_schema WHERE name = 'session'
        ) WHERE name = 'skill'";
        connection.pragma_update(None, "writable_schema", true).unwrap();
        connection.execute(sql, []).unwrap();
        connection.pragma_update(None, "writable_schema", false).unwrap();
    });
    drop(store);
    let store = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    assert!(store.set_aside().is_empty());
    assert!(store.state("a").unwrap().skills.is_empty());
    assert_eq!(store.set_aside().len(), 1);
    use_git(&store, "a").unwrap();
    assert_eq!(store.state("a").unwrap().skills[0].uses, 1);
}

#[test]
fn a_file_that_was_replaced_since_damage_was_noticed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    use_git(&store, "a").unwrap();
    // Simulates that this thread noticed damage before another process replaced the file.
    let mut noticed = Err(Problem::Damaged("noise".to_owned()));
    store.run("test", |_| std::mem::replace(&mut noticed, Ok(()))).unwrap();
    assert!(store.set_aside().is_empty());
    assert_eq!(n_rows(&store), (1, 1));
}

#[cfg(unix)]
#[test]
fn the_files_are_for_the_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("new/sessions.db")).unwrap();
    use_git(&store, "a").unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(dir.path().join("new")), 0o700);
    for part in ["", "-wal", "-shm", ".lock"] {
        assert_eq!(mode(dir.path().join(format!("new/sessions.db{part}"))), 0o600, "{part}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_within_its_directory_and_the_file_it_names_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let (link, real) = (dir.path().join("link.db"), dir.path().join("real.db"));
    use_git(&SqliteStore::open(&real).unwrap(), "a").unwrap();
    let half = fs::read(&real).unwrap()[..6000].to_vec();
    fs::write(&real, half).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let store = SqliteStore::open(&link).unwrap();
    let aside = store.set_aside();
    assert!(aside[0].to_str().unwrap().contains("real.db.damaged-"), "{aside:?}");
    use_git(&store, "a").unwrap();
    assert_eq!(SqliteStore::open(&real).unwrap().state("a").unwrap().skills[0].uses, 1);
}

#[test]
fn a_store_that_cannot_be_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    assert!(SqliteStore::open_read_only(&path).is_err(), "there is none");
    let store = SqliteStore::open(&path).unwrap();
    use_git(&store, "s").unwrap();
    // With the journal of a process that was killed, and without one.
    for closes in [false, true] {
        let open = store.inner.lock().unwrap().opened.take();
        match open {
            Some(open) if closes => drop(open),
            open => std::mem::forget(open),
        }
        let lock = dir.path().join("sessions.db.lock");
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        assert!(SqliteStore::open(&path).is_err(), "its lock cannot be taken");
        let read = SqliteStore::open_read_only(&path).unwrap();
        assert_eq!(read.state("s").unwrap().skills.len(), 1);
        assert_eq!(read.tallies(Day::today()).unwrap().sessions, 1);
        assert_eq!(use_git(&read, "s").unwrap_err().code(), ErrorCode::ExecutionError);
        fs::remove_dir(&lock).unwrap();
        use_git(&store, "s").unwrap();
    }
    fs::write(dir.path().join("other.db"), "SQLite format 3").unwrap();
    assert!(SqliteStore::open_read_only(dir.path().join("other.db")).is_err(), "not ours");
}
