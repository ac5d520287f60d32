//! Faults at each point of a save: every system call that a save makes fails in turn, and every allocation. After
//! each, the store opens again and holds the state from before or the new one; if the save said that it had
//! succeeded, the new one.
//!
//! A save runs in a process of its own, which is this test program. `REPERTOIRE_FAULTS=all` fails every allocation;
//! by default, some of each save fail, spread over all. `docs/reliability.md` shows the counts of a whole run.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    feature = "sqlite"
))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod allocator;
mod calls;
mod saves;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use calls::{Fate, Watched};
use rustix::io::Errno;
use saves::{SAVES, Save, State};

const SAVE: &str = "REPERTOIRE_FAULTS_SAVE";
const PLACE: &str = "REPERTOIRE_FAULTS_PLACE";
/// The number of the allocation that fails, or a text that is not a number if system calls are to fail.
const POINT: &str = "REPERTOIRE_FAULTS_POINT";
/// Precedes the number of allocations in the output of a process.
const MARK: &str = "allocations: ";
/// Set to let every allocation fail.
const ALL: &str = "REPERTOIRE_FAULTS";
/// About as many allocations of a save fail, unless all do.
const FEW: usize = 50;

/// The code with which a process ends whose save failed.
const FAILED: i32 = 3;
/// The signal of a process that had no memory: Rust ends it.
const SIGABRT: i32 = 6;

/// Not a test: the process of a save.
#[test]
#[ignore = "the process of the other tests"]
fn child() {
    let (Ok(name), Ok(place)) = (std::env::var(SAVE), std::env::var(PLACE)) else { return };
    let save = SAVES.iter().find(|save| save.name == name).unwrap();
    let saved = match std::env::var(POINT).unwrap().parse() {
        Ok(point) => {
            let (saved, n) = allocator::failing(point, || (save.make)(Path::new(&place)));
            println!("{MARK}{n}");
            saved
        }
        Err(_) => calls::watched(|| (save.make)(Path::new(&place))),
    };
    if let Err(error) = &saved {
        assert!(!error.help().is_empty() && !error.message().is_empty());
    }
    // Nothing else runs, or writes, after the save.
    std::process::exit(if saved.is_ok() { 0 } else { FAILED })
}

fn start(save: &Save, place: &Path, point: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(SAVE, save.name).env(PLACE, place).env(POINT, point).env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// A fault: its name, whether a call can have it, and the fate of the call.
struct Fault {
    name: &'static str,
    can_have: fn(u32) -> bool,
    fate: Fate,
    /// True if all later calls of that kind have it, too, as those on a disk that stays full.
    lasts: bool,
}

const FAULTS: [Fault; 6] = [
    Fault { name: "EIO", can_have: |_| true, fate: Fate::Fail(Errno::IO), lasts: false },
    Fault {
        name: "EIO from then on",
        can_have: |_| true,
        fate: Fate::Fail(Errno::IO),
        lasts: true,
    },
    Fault {
        name: "ENOSPC",
        can_have: calls::takes_space,
        fate: Fate::Fail(Errno::NOSPC),
        lasts: false,
    },
    Fault {
        name: "ENOSPC from then on",
        can_have: calls::takes_space,
        fate: Fate::Fail(Errno::NOSPC),
        lasts: true,
    },
    Fault { name: "EMFILE", can_have: calls::opens, fate: Fate::Fail(Errno::MFILE), lasts: false },
    Fault { name: "a short write", can_have: calls::writes, fate: Fate::Short, lasts: false },
];

/// Lets a save run with this fate of its calls. Returns the calls that it made.
fn run(save: &Save, place: &Path, fate: &dyn Fn(u32) -> Fate) -> (Vec<u32>, ExitStatus) {
    Watched::take(start(save, place, "calls")).run(fate)
}

/// Does `work` for every `step`th of `n` points, in several threads. Returns their number.
fn at_points(n: usize, step: usize, work: &(dyn Fn(usize) + Sync)) -> usize {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let point = next.fetch_add(1, Ordering::Relaxed) * step;
                    if point >= n {
                        break;
                    }
                    work(point);
                }
            });
        }
    });
    n.div_ceil(step)
}

/// Asserts that the store is sound, whatever became of the save, and tells what it holds.
fn check(save: &Save, place: &Path, status: ExitStatus, fault: &str) -> State {
    let state = save.state(place);
    let is_right = match status.code() {
        Some(0) => state == State::New,
        // Whoever sees an error may try again: a save that had got through all the same does no harm.
        _ => matches!(state, State::Old | State::New),
    };
    assert!(is_right, "{}, {fault}: {status}, and the store is {state:?}", save.name);
    (save.make)(place).unwrap_or_else(|error| panic!("{}, {fault}: {error:#}", save.name));
    state
}

#[test]
fn each_system_call_of_a_save_may_fail() {
    for save in &SAVES {
        let dir = tempfile::tempdir().unwrap();
        save.prepare(dir.path());
        assert_eq!(save.state(dir.path()), State::Old, "{}", save.name);
        let (all, status) = run(save, dir.path(), &|_| Fate::Pass);
        assert!(status.success(), "{}: {status}", save.name);
        assert_eq!(save.state(dir.path()), State::New, "{}", save.name);
        let mut told = Vec::new();
        for fault in &FAULTS {
            let n = all.iter().filter(|call| (fault.can_have)(**call)).count();
            let outcomes = [const { AtomicUsize::new(0) }; 2];
            let tried = at_points(n, 1, &|point| {
                let dir = tempfile::tempdir().unwrap();
                save.prepare(dir.path());
                let passed = AtomicUsize::new(0);
                let fate = |call: u32| {
                    if !(fault.can_have)(call) {
                        return Fate::Pass;
                    }
                    let at = passed.fetch_add(1, Ordering::Relaxed);
                    let is_met = at == point || fault.lasts && at > point;
                    if is_met { fault.fate } else { Fate::Pass }
                };
                let (_, status) = run(save, dir.path(), &fate);
                assert!(status.code().is_some_and(|code| [0, FAILED].contains(&code)), "{status}");
                let what = format!("{} at call {point} of {n}", fault.name);
                let state = check(save, dir.path(), status, &what);
                outcomes[usize::from(state == State::New)].fetch_add(1, Ordering::Relaxed);
            });
            let [old, new] = outcomes.map(AtomicUsize::into_inner);
            told.push(format!("{}: {tried} (old {old}, new {new})", fault.name));
        }
        println!("{}: {} calls; {}", save.name, all.len(), told.join("; "));
    }
}

#[test]
fn each_allocation_of_a_save_may_fail() {
    for save in &SAVES {
        let run = |point: usize| {
            let dir = tempfile::tempdir().unwrap();
            save.prepare(dir.path());
            let output = start(save, dir.path(), &point.to_string()).wait_with_output().unwrap();
            (dir, output)
        };
        let (dir, output) = run(usize::MAX);
        assert_eq!((output.status.code(), save.state(dir.path())), (Some(0), State::New));
        let text = String::from_utf8(output.stdout).unwrap();
        let n: Option<usize> = text.lines().find_map(|line| line.split_once(MARK)?.1.parse().ok());
        let n = n.unwrap();
        let ends = std::sync::Mutex::new(BTreeMap::<&str, usize>::new());
        let step = if std::env::var_os(ALL).is_some() { 1 } else { n.div_ceil(FEW) };
        let tried = at_points(n, step, &|point| {
            let (dir, output) = run(point);
            let status = output.status;
            let end = match (status.code(), std::os::unix::process::ExitStatusExt::signal(&status))
            {
                (Some(0), _) => "saved",
                (Some(FAILED), _) => "an error",
                (_, Some(SIGABRT)) => "ended",
                _ => panic!("{}, allocation {point} of {n}: {status}", save.name),
            };
            check(save, dir.path(), status, &format!("allocation {point} of {n}"));
            *ends.lock().unwrap().entry(end).or_default() += 1;
        });
        println!(
            "{}: {n} allocations, {tried} failed: {:?}",
            save.name,
            ends.into_inner().unwrap()
        );
    }
}
