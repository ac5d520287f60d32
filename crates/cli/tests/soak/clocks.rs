//! Clocks that jump forwards and backwards, during a process and between two processes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use repertoire::session::{Day, Event, SessionStore as _};
use repertoire::snapshot::SnapshotCache;
use repertoire::{Engine, Source};
use repertoire_sessions::SqliteStore;

use crate::tally::Tally;
use crate::{Run, role};

const CLOCK: &str = "REPERTOIRE_SOAK_CLOCK";
const DAY: i64 = 24 * 60 * 60;

/// Builds the clock, and runs a process with it.
pub(crate) fn jumping(run: Run) -> Vec<Tally> {
    let dir = tempfile::tempdir().unwrap();
    let mut tally = Tally::new("clocks that jump", "acknowledged writes");
    let (library, file) = (dir.path().join("clock.so"), dir.path().join("clock"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/soak/clock.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return vec![tally.skip("no C compiler")];
    }
    fs::write(&file, 0_i64.to_ne_bytes()).unwrap();
    let arguments = role::arguments();
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]).env("LD_PRELOAD", &library).env(CLOCK, &file);
    role::cast(&mut command, "clock", dir.path(), "", run);
    let mut child = command.spawn().unwrap();
    let told = role::heard(&mut child).last();
    child.wait().unwrap();
    match told.and_then(|told| serde_json::from_str(&told).ok()) {
        Some(counts) => tally.add(counts),
        None => tally.fault(Err("the process whose clock jumps is gone".to_owned())),
    }
    vec![tally]
}

/// Plays the role of the process whose clock jumps.
pub(crate) fn jump(place: &Path, run: Run) {
    let clock = fs::File::options().write(true).open(std::env::var_os(CLOCK).unwrap()).unwrap();
    let start = now();
    let set = |offset: i64| clock.write_all_at(&offset.to_ne_bytes(), 0).unwrap();
    set(1_000_000);
    let mut tally = Tally::default();
    if now() - start < 1_000_000 {
        tally = tally.skip("the clock of this program cannot be moved");
        return role::tell(&serde_json::to_string(&tally).unwrap());
    }
    let path = place.join("sessions.db");
    let skills = place.join("skills/deploy");
    fs::create_dir_all(&skills).unwrap();
    let mut dice = run.dice();
    let mut store = SqliteStore::open(&path).unwrap();
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    for nth in 0_u64.. {
        if !run.goes_on() {
            break;
        }
        // Jump within the time for which sessions are kept, or to a clock that was never set.
        let offset = match dice.below(4) {
            0 => -now() + dice.below(90).cast_signed(),
            1 => 0,
            _ => (dice.below(28).cast_signed() - 14) * DAY + dice.below(100_000).cast_signed(),
        };
        set(offset);
        if dice.below(4) == 0 {
            store = SqliteStore::open(&path).unwrap();
        }
        let session = format!("chat-{}", dice.below(200));
        let recorded = store.record(&session, &Event::Used(&"git".into()));
        tally.fault(
            recorded.map(|_| *known.entry(session).or_default() += 1).map_err(|e| e.to_string()),
        );
        tally.fault(store.tallies(Day::today()).map(drop).map_err(|error| error.to_string()));
        tally.fault(edited(&skills, place, nth));
        // With a clock that is ahead, two edits within one tick of the file system look the same.
        thread::sleep(Duration::from_millis(10));
    }
    set(0);
    store = SqliteStore::open(&path).unwrap();
    for (session, n_written) in known {
        let n_found =
            store.state(&session).unwrap().skills.iter().map(|skill| skill.uses).sum::<u64>();
        tally.found(n_found.min(n_written), n_written.saturating_sub(n_found), || session);
    }
    role::tell(&serde_json::to_string(&tally).unwrap());
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}

/// Edits a skill under this clock. An engine with an older snapshot must see the edit.
fn edited(skill: &Path, place: &Path, nth: u64) -> Result<(), String> {
    // All versions have the same length.
    let body = format!("Edit {nth:09}.\n");
    let text = format!("---\nname: deploy\ndescription: d\n---\n{body}");
    fs::write(skill.join("SKILL.md"), text).map_err(|error| error.to_string())?;
    let builder = Engine::builder()
        .source(Source::user(place.join("skills")))
        .cache(SnapshotCache::new(place.join("cache")));
    let engine = builder.build().map_err(|error| error.to_string())?;
    let activation =
        engine.activate("deploy", "", &engine.session("s")).map_err(|error| error.to_string())?;
    if activation.content == body { Ok(()) } else { Err(format!("{body}: {}", activation.content)) }
}
