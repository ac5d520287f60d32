//! Processes that share a store. Each is this test program, started in one of the roles below.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use repertoire::session::{Day, SessionStore};
use repertoire_sessions::SqliteStore;

use super::damage::damaged;
use super::{record_use, stores, used};

const ROLE: &str = "REPERTOIRE_TEST_ROLE";
const STORE: &str = "REPERTOIRE_TEST_STORE";

/// The prefix of each number that a child prints, because the test harness prints other lines.
const MARK: &str = "recorded ";

fn start(role: &str, place: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(STORE, place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    let Ok(place) = std::env::var(STORE) else { return };
    let record = |store: &dyn SessionStore, n| (0..n).for_each(|_| record_use(store, "all", "git"));
    match std::env::var(ROLE).unwrap().as_str() {
        "open and record" => {
            wait();
            record(&*stores::open(&place), 20);
        }
        "record" => {
            let store = stores::open(&place);
            wait();
            record(&*store, 20);
        }
        "endless" => {
            let store = stores::open(&place);
            for n in 1_u64.. {
                record(&*store, 1);
                say(n);
            }
        }
        role => panic!("no role {role}"),
    }
}

/// Tells the parent that this child is ready, and waits for the parent's signal.
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

/// Iterates over the numbers that a child prints, until it ends.
fn heard(child: &mut Child) -> impl Iterator<Item = u64> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The harness prints its own text before the first number, on the same line.
    lines.filter_map(|line| line.unwrap().rsplit_once(MARK)?.1.parse().ok())
}

/// Starts `n` children, calls `meanwhile`, and then releases them all at once; each records 20 uses.
pub(super) fn at_once(n: usize, role: &str, place: &str, meanwhile: impl Fn()) {
    let mut children: Vec<Child> = (0..n).map(|_| start(role, place)).collect();
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
    at_once(100, "open and record", path.to_str().unwrap(), || {});
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(used(&store, "all"), 2000);
    let tallies = store.tallies(Day::default()).unwrap();
    let counted: u64 = tallies.skills.iter().map(|tally| tally.counts.used).sum();
    assert_eq!((tallies.sessions, counted), (1, 2000));
    assert!(damaged(&path).is_empty());
}

#[test]
fn a_killed_process_loses_at_most_the_event_it_was_recording() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    killed_processes_lose_at_most_one_event(path.to_str().unwrap(), || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let sound: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    });
    assert!(damaged(&path).is_empty());
}

/// Kills 20 processes, one after the other, that record in a loop, and calls `check` after each.
pub(super) fn killed_processes_lose_at_most_one_event(place: &str, check: impl Fn()) {
    let (mut acknowledged, mut n_killed) = (0, 0);
    for round in 0_u64..20 {
        let mut child = start("endless", place);
        let mut numbers = heard(&mut child);
        // Every third process may be killed while it opens the store.
        let mut last = if round % 3 == 0 { 0 } else { numbers.next().unwrap() };
        thread::sleep(Duration::from_micros(round * 7919 % 29_000));
        child.kill().unwrap();
        child.wait().unwrap();
        last = numbers.last().unwrap_or(last);
        acknowledged += last;
        n_killed += 1;

        let recorded = used(&*stores::open(place), "all");
        let range = acknowledged..=acknowledged + n_killed;
        assert!(range.contains(&recorded), "{recorded} not in {range:?}, round {round}");
        check();
    }
    assert!(acknowledged > 20, "killed too early to prove anything");
}
