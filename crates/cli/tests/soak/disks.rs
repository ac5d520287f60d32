//! Disks that become full: a small file system if this process may mount one, and the limit on the size
//! of files (`RLIMIT_FSIZE`) everywhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use repertoire::session::{Event, SessionStore as _};
use repertoire::snapshot::SnapshotCache;
use repertoire::trust::{ContentHash, TrustStore};
use repertoire::{Engine, Source};
use repertoire_sessions::SqliteStore;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::tally::{Dice, Tally};
use crate::{Run, role};

/// The size of the file system, in KiB.
const SIZE: u64 = 4_096;

/// The length of the longest session name, in bytes: each event of such a session takes several pages.
const LONGEST_NAME: u64 = 20_000;

/// The name of a kind of fault, the role of its process, and a function that builds the command to
/// start it.
type Way = (&'static str, &'static str, fn(&Path) -> Command);

/// Fills disks in two processes at the same time, one in each way.
pub(crate) fn full(run: Run) -> Vec<Tally> {
    let ways: [Way; 2] = [
        ("disks filled", "full disk", in_small_file_system),
        ("files at their limit", "limit of files", without_signal),
    ];
    thread::scope(|scope| {
        let ways =
            ways.map(|(name, role, start)| scope.spawn(move || supervise(name, role, start, run)));
        ways.map(|way| way.join().unwrap()).into()
    })
}

/// Returns a command that runs its arguments with its own file system at `place`, which disappears with
/// the process.
fn in_small_file_system(place: &Path) -> Command {
    let script = format!("mount -t tmpfs -o size={SIZE}k tmpfs \"$0\" && exec \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]).arg(place);
    command
}

/// Returns a command that runs its arguments without `SIGXFSZ`, so that exceeding the limit on the size
/// of files is an error, as in the binary.
fn without_signal(place: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$@\""]).arg(place);
    command
}

fn supervise(name: &str, role: &str, start: fn(&Path) -> Command, run: Run) -> Tally {
    let dir = tempfile::tempdir().unwrap();
    let mut tally = Tally::new(name, "acknowledged writes");
    let probe = start(dir.path()).arg("true").stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        return tally.skip("no file system can be mounted here");
    }
    let mut command = start(dir.path());
    command.args(role::arguments());
    role::cast(&mut command, role, dir.path(), "", run);
    let mut child = command.spawn().unwrap();
    let told = role::heard(&mut child).last();
    child.wait().unwrap();
    match told.and_then(|told| serde_json::from_str(&told).ok()) {
        Some(counts) => tally.add(counts),
        None => tally.fault(Err("the process that filled the disk is gone".to_owned())),
    }
    tally
}

/// Plays the role of a process whose file system is full at times.
pub(crate) fn fill(place: &Path, run: Run) {
    let ballast = place.join("ballast");
    let squeeze = |n_free: u64| {
        let _ = fs::remove_file(&ballast);
        // Take all space, and then give some back.
        let _ = fs::write(&ballast, vec![1; (SIZE << 10) as usize]);
        let n_taken = ballast.metadata().map_or(0, |metadata| metadata.len());
        let file = fs::File::options().write(true).open(&ballast).unwrap();
        file.set_len(n_taken.saturating_sub(n_free)).unwrap();
    };
    let relieve = || drop(fs::remove_file(&ballast));
    tell(&squeezed(place, run, &squeeze, &relieve));
}

/// Plays the role of a process whose files cannot grow at times.
pub(crate) fn limit(place: &Path, run: Run) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let set = |current| setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
    let squeeze = |n_free: u64| {
        let parts = ["sessions.db", "sessions.db-wal", "trust.json"];
        let longest = parts.map(|name| place.join(name).metadata().map_or(0, |file| file.len()));
        set(Some(longest.into_iter().max().unwrap_or_default().saturating_sub(1 << 16) + n_free));
    };
    tell(&squeezed(place, run, &squeeze, &|| set(None)));
}

fn tell(tally: &Tally) {
    role::tell(&serde_json::to_string(tally).unwrap());
}

/// The writes that were acknowledged.
struct Acknowledged {
    /// The names of sessions, each with one use.
    sessions: Vec<String>,
    trusted: Vec<ContentHash>,
}

/// Records with and without free space. A write that fails must return an error, and have no other
/// effect.
fn squeezed(place: &Path, run: Run, squeeze: &dyn Fn(u64), relieve: &dyn Fn()) -> Tally {
    let mut tally = Tally::default();
    let mut dice = run.dice();
    let path = place.join("sessions.db");
    place_skill(place);
    let mut store = SqliteStore::open(&path).unwrap();
    let trust = TrustStore::open(place.join("trust.json")).unwrap();
    let mut known = Acknowledged { sessions: Vec::new(), trusted: Vec::new() };
    while run.goes_on() {
        squeeze(dice.below(1 << 17));
        for nth in 0..dice.below(12) {
            tally.fault(try_write(&store, &trust, &mut known, &mut dice, nth));
        }
        tally.fault(answers(place));
        if dice.below(3) == 0 {
            // Opening on a full disk must give an error or the same store.
            if let Ok(opened) = SqliteStore::open(&path) {
                store = opened;
            }
        }
        relieve();
        let again = try_write(&store, &trust, &mut known, &mut dice, 1);
        tally.fault(again);
        check(&mut tally, &store, place, &mut known);
    }
    tally
}

fn place_skill(place: &Path) {
    fs::create_dir_all(place.join("skills/deploy")).unwrap();
    let text = "---\nname: deploy\ndescription: d\ntriggers: [deploy]\n---\nRun it.\n";
    fs::write(place.join("skills/deploy/SKILL.md"), text).unwrap();
}

/// Writes something. An error must name its file.
fn try_write(
    store: &SqliteStore,
    trust: &TrustStore,
    known: &mut Acknowledged,
    dice: &mut Dice,
    nth: u64,
) -> Result<(), String> {
    let n_known = known.sessions.len() + known.trusted.len();
    let failed = |error: repertoire::Error| {
        let is_told = error.message().contains("sessions.db") || error.message().contains("trust.");
        if is_told && !error.help().is_empty() { Ok(()) } else { Err(format!("{error:#}")) }
    };
    if nth % 6 == 5 {
        let hash = ContentHash::of(&n_known.to_le_bytes());
        return match trust.add_content(Path::new(&format!("/nowhere/{hash}")), hash.clone()) {
            Ok(_) => {
                known.trusted.push(hash);
                Ok(())
            }
            Err(error) => failed(error),
        };
    }
    let session = format!("{n_known}-{}", "x".repeat(dice.below(LONGEST_NAME) as usize));
    match store.record(&session, &Event::Used(&"git".into())) {
        Ok(_) => {
            known.sessions.push(session);
            Ok(())
        }
        Err(error) => failed(error),
    }
}

/// Checks that an engine answers although its snapshots and sessions are on a full disk.
fn answers(place: &Path) -> Result<(), String> {
    let builder = Engine::builder()
        .source(Source::user(place.join("skills")))
        .cache(SnapshotCache::new(place.join("cache")));
    let engine = builder.build().map_err(|error| format!("{error:#}"))?;
    let disclosed = engine.disclose("deploy it");
    if disclosed.full == ["deploy"] { Ok(()) } else { Err(format!("{disclosed:?}")) }
}

/// Checks, with space again, that everything acknowledged is there. Ends sessions at times, to free
/// space.
fn check(tally: &mut Tally, store: &SqliteStore, place: &Path, known: &mut Acknowledged) {
    let aside = store.set_aside();
    tally.found(0, aside.len() as u64, || format!("{aside:?} set aside"));
    for session in &known.sessions {
        let is_there = store.state(session).is_ok_and(|state| state.skills.len() == 1);
        tally.holds(is_there, || format!("session {}", &session[..session.len().min(12)]));
    }
    let list = TrustStore::open(place.join("trust.json")).unwrap().list();
    for hash in &known.trusted {
        tally.holds(list.iter().any(|file| file.sha256 == *hash), || format!("trust in {hash}"));
    }
    if known.sessions.len() > 60 {
        // If the disk was full when an item was removed, try again later.
        known.sessions.retain(|session| store.end(session).is_err());
        let trust = TrustStore::open(place.join("trust.json")).unwrap();
        let remove = |hash: &ContentHash| trust.remove(Path::new(&format!("/nowhere/{hash}")));
        known.trusted.retain(|hash| remove(hash).is_err());
    }
}
