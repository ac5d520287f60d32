//! Conversations are remembered alike in memory and in a file, whatever happens to the processes
//! that share the file, and to the file.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use repertoire::session::{
    Event, MemoryStore, Session, SessionState, SessionStore, SkillState, SqliteStore,
};
use repertoire::{ErrorCode, SkillId};

const SESSIONS: [&str; 3] = ["chat-1", "chat-2", "Chat-2\0 ü"];
const SKILLS: [&str; 4] = ["git", "sql", "sven/plan", "使用"];

/// Something that happens to a store; skills are places in [`SKILLS`].
#[derive(Debug, Clone, Copy)]
enum Step {
    Used(usize),
    Shown(usize, u64),
    Activated { skill: usize, by: Option<usize>, shown: Option<u64> },
    Consented(usize),
    ConsentSpent(usize),
    Compacted,
    Restored,
    End,
}

fn take(store: &dyn SessionStore, session: &str, step: Step) {
    let ids = SKILLS.map(SkillId::new);
    let event = match step {
        Step::End => return store.end(session).unwrap(),
        Step::Used(skill) => Event::Used(&ids[skill]),
        Step::Shown(skill, body) => Event::Shown { skill: &ids[skill], body },
        Step::Activated { skill, by, shown } => {
            Event::Activated { skill: &ids[skill], by: by.map(|by| &ids[by]), shown }
        }
        Step::Consented(skill) => Event::Consented(&ids[skill]),
        Step::ConsentSpent(skill) => Event::ConsentSpent(&ids[skill]),
        Step::Compacted => Event::Compacted,
        Step::Restored => Event::Restored,
    };
    store.record(session, &event).unwrap();
}

fn states(store: &dyn SessionStore) -> Vec<SessionState> {
    SESSIONS.iter().map(|session| store.state(session).unwrap()).collect()
}

fn used(store: &SqliteStore, session: &str) -> u64 {
    store.state(session).unwrap().skills.iter().map(|skill| skill.uses).sum()
}

fn record_use(store: &SqliteStore, session: &str, skill: &str) {
    store.record(session, &Event::Used(&skill.into())).unwrap();
}

#[test]
fn each_event_makes_the_same_of_both_stores() {
    let dir = tempfile::tempdir().unwrap();
    let file = SqliteStore::open(dir.path().join("sessions.db")).unwrap();
    let memory = MemoryStore::default();
    for (session, step) in [
        (0, Step::Compacted),
        (0, Step::Consented(3)),
        (0, Step::Used(0)),
        (0, Step::Used(1)),
        (0, Step::Used(0)),
        (0, Step::Shown(1, 7)),
        (1, Step::Shown(2, u64::MAX)),
        (0, Step::ConsentSpent(3)),
        (0, Step::Consented(0)),
        (0, Step::Activated { skill: 2, by: Some(1), shown: Some(9) }),
        (0, Step::Activated { skill: 2, by: None, shown: None }),
        (0, Step::Activated { skill: 3, by: Some(2), shown: None }),
        (0, Step::Compacted),
        (2, Step::Shown(0, 0)),
        (0, Step::Shown(2, 8)),
        (0, Step::Compacted),
        (0, Step::Compacted),
        (1, Step::End),
        (0, Step::Restored),
        (1, Step::Used(3)),
        (0, Step::End),
        (0, Step::Used(2)),
    ] {
        take(&memory, SESSIONS[session], step);
        take(&file, SESSIONS[session], step);
        assert_eq!(states(&file), states(&memory), "after {step:?} in session {session}");
    }
    let uses = states(&file).iter().map(|state| state.recent().count()).collect::<Vec<_>>();
    assert_eq!(uses, [1, 1, 1]);
}

fn step() -> impl Strategy<Value = Step> {
    let skill = || 0..SKILLS.len();
    prop_oneof![
        4 => skill().prop_map(Step::Used),
        4 => (skill(), any::<u64>()).prop_map(|(skill, body)| Step::Shown(skill, body)),
        4 => (skill(), prop::option::of(skill()), any::<Option<u64>>())
            .prop_map(|(skill, by, shown)| Step::Activated { skill, by, shown }),
        2 => skill().prop_map(Step::Consented),
        2 => skill().prop_map(Step::ConsentSpent),
        2 => Just(Step::Compacted),
        2 => Just(Step::Restored),
        1 => Just(Step::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_events_make_the_same_of_both_stores_and_are_kept(
        steps in prop::collection::vec((0..SESSIONS.len(), step()), 1..40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        let file = SqliteStore::open(&path).unwrap();
        let memory = MemoryStore::default();
        for (session, step) in steps {
            take(&memory, SESSIONS[session], step);
            take(&file, SESSIONS[session], step);
        }
        prop_assert_eq!(states(&file), states(&memory));
        drop(file);
        prop_assert_eq!(states(&SqliteStore::open(&path).unwrap()), states(&memory));
    }
}

#[test]
fn a_session_ends_for_itself_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(dir.path().join("sessions.db")).unwrap());
    let [a, b] = ["a", "b"].map(|id| Session::new(id, store.clone()));
    a.consent(&"git".into()).unwrap();
    assert!(b.state().unwrap().skills.is_empty());
    b.record_use(&"git".into()).unwrap();
    assert!(!b.state().unwrap().skills[0].consented);
    a.end().unwrap();
    assert!(a.state().unwrap().skills.is_empty());
    assert_eq!(b.state().unwrap().skills[0].uses, 1);
}

#[test]
fn threads_share_a_store_and_stores_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let stores = [(); 2].map(|()| SqliteStore::open(&path).unwrap());
    thread::scope(|scope| {
        for i in 0..8 {
            let store = &stores[i % 2];
            scope.spawn(move || (0..25).for_each(|_| record_use(store, "s", SKILLS[i % 4])));
        }
    });
    assert_eq!(stores.map(|store| used(&store, "s")), [200, 200]);
}

// Processes: this program, started to do one of the things below.

const ROLE: &str = "REPERTOIRE_TEST_ROLE";
const STORE: &str = "REPERTOIRE_TEST_STORE";
/// Before each number that a child prints, as the test harness prints, too.
const MARK: &str = "recorded ";

fn start(role: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(STORE, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let record = |store: &SqliteStore, n| (0..n).for_each(|_| record_use(store, "all", "git"));
    match std::env::var(ROLE).unwrap().as_str() {
        "open and record" => {
            wait();
            record(&SqliteStore::open(path).unwrap(), 20);
        }
        "record" => {
            let store = SqliteStore::open(path).unwrap();
            wait();
            record(&store, 20);
        }
        "endless" => {
            let store = SqliteStore::open(path).unwrap();
            for n in 1_u64.. {
                record(&store, 1);
                say(n);
            }
        }
        role => panic!("no role {role}"),
    }
}

/// Tells the parent that it may go on, and waits until it does.
fn wait() {
    say(0);
    std::io::stdin().read_to_string(&mut String::new()).unwrap();
}

/// Tells the parent how many events were recorded.
fn say(n: u64) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{MARK}{n}").unwrap();
    stdout.flush().unwrap();
}

/// What a child says, number by number, until it ends.
fn heard(child: &mut Child) -> impl Iterator<Item = u64> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The harness writes its own words before the first, in the same line.
    lines.filter_map(|line| line.unwrap().rsplit_once(MARK)?.1.parse().ok())
}

/// Starts `n` children, and lets them go on at once after `meanwhile`; each records 20 uses.
fn at_once(n: usize, role: &str, path: &Path, meanwhile: impl Fn()) {
    let mut children: Vec<Child> = (0..n).map(|_| start(role, path)).collect();
    let mut numbers: Vec<_> = children.iter_mut().map(heard).collect();
    for numbers in &mut numbers {
        assert_eq!(numbers.next(), Some(0));
    }
    meanwhile();
    for child in &mut children {
        drop(child.stdin.take());
    }
    for (mut child, numbers) in children.into_iter().zip(numbers) {
        assert_eq!(numbers.count(), 0);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_hundred_processes_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/sessions.db");
    at_once(100, "open and record", &path, || {});
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(used(&store, "all"), 2000);
    assert!(damaged(&path).is_empty());
}

#[test]
fn a_killed_process_loses_at_most_the_event_it_was_recording() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let (mut acknowledged, mut n_killed) = (0, 0);
    for round in 0_u64..20 {
        let mut child = start("endless", &path);
        let mut numbers = heard(&mut child);
        // Every third one may be killed while it opens the store.
        let mut last = if round % 3 == 0 { 0 } else { numbers.next().unwrap() };
        thread::sleep(Duration::from_micros(round * 7919 % 29_000));
        child.kill().unwrap();
        child.wait().unwrap();
        last = numbers.last().unwrap_or(last);
        acknowledged += last;
        n_killed += 1;

        let store = SqliteStore::open(&path).unwrap();
        let recorded = used(&store, "all");
        let range = acknowledged..=acknowledged + n_killed;
        assert!(range.contains(&recorded), "{recorded} not in {range:?}, round {round}");
        let connection = rusqlite::Connection::open(&path).unwrap();
        let sound: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }
    assert!(acknowledged > 20, "killed too early to prove anything");
    assert!(damaged(&path).is_empty());
}

/// The files that were set aside from `path`, without their parts.
fn damaged(path: &Path) -> Vec<PathBuf> {
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

#[test]
fn a_store_of_an_earlier_version_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let earlier = "
        PRAGMA application_id = 0x52707274;
        PRAGMA user_version = 1;
        CREATE TABLE session (id TEXT PRIMARY KEY, touched INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX session_touched ON session (touched);
        CREATE TABLE skill (
            session TEXT NOT NULL, id TEXT NOT NULL, place INTEGER NOT NULL, uses INTEGER NOT NULL,
            activations INTEGER NOT NULL, activated_by TEXT, in_context INTEGER NOT NULL,
            lost INTEGER NOT NULL, consented INTEGER NOT NULL, PRIMARY KEY (session, id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO session VALUES ('a', unixepoch());
        INSERT INTO skill VALUES ('a', 'git', 1, 3, 2, 'sql', 1, 0, 1);";
    rusqlite::Connection::open(&path).unwrap().execute_batch(earlier).unwrap();
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
    assert!(store.set_aside().is_empty());
    assert_eq!(store.state("a").unwrap().skills, [known.clone()]);
    store.record("a", &Event::Shown { skill: &"git".into(), body: 7 }).unwrap();
    (known.uses, known.body) = (4, Some(7));
    assert_eq!(SqliteStore::open(&path).unwrap().state("a").unwrap().skills, [known]);
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
    run("newer", "PRAGMA user_version = 3");
    run("foreign", "CREATE TABLE notes (text TEXT)");
    run("versioned", "PRAGMA user_version = 1");
    for (name, wanted) in [
        ("directory", "is not a file"),
        ("text/below", "cannot make the directory"),
        ("newer", "made by a newer Repertoire (its version 3, ours 2)"),
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
