//! Writers that are killed while other processes read: processes of the library, hooks, and the
//! commands that write trust.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use repertoire::SkillId;
use repertoire::session::SessionStore;
use repertoire::trust::TrustStore;
use repertoire_sessions::SqliteStore;
use serde_json::json;

use crate::binary::Place;
use crate::tally::{Dice, Tally};
use crate::{Run, role};

/// The number of writers that run at the same time.
const AT_ONCE: usize = 3;

fn used(store: &dyn SessionStore, session: &str) -> u64 {
    store.state(session).unwrap().skills.iter().map(|skill| skill.uses).sum()
}

/// Kills processes at random moments that record uses in one store, while two threads read the store.
pub(crate) fn killed(run: Run) -> Vec<Tally> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.db");
    let mut tally = Tally::new("writers killed while others read", "acknowledged writes");
    let store = SqliteStore::open(&path).unwrap();
    let mut acknowledged: BTreeMap<String, u64> = BTreeMap::new();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(|| read(&path, &is_over))).collect();
        let mut dice = run.dice();
        while run.goes_on() {
            for (session, n_written) in kill_some(&path, acknowledged.len(), &mut dice, run) {
                let n_found = used(&store, &session);
                // The last use may have been recorded although the process was killed before it could
                // acknowledge.
                let is_right = (n_written..=n_written + 1).contains(&n_found);
                let wrong = || format!("{session}: {n_found} found of {n_written}");
                tally.fault(if is_right { Ok(()) } else { Err(wrong()) });
                acknowledged.insert(session, n_found);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            if let Err(error) = reader.join().unwrap() {
                tally.fault(Err(error));
            }
        }
    });
    let again = SqliteStore::open(&path).unwrap();
    for (session, n_written) in acknowledged {
        let n_found = used(&again, &session).min(n_written);
        tally.found(n_found, n_written - n_found, || session);
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sound: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    tally.fault(if sound == "ok" { Ok(()) } else { Err(sound) });
    vec![tally]
}

/// Starts writers and kills them. Returns their sessions, each with the number of uses that it
/// acknowledged.
fn kill_some(path: &Path, n_before: usize, dice: &mut Dice, run: Run) -> Vec<(String, u64)> {
    let writers: Vec<(String, Child)> = (0..AT_ONCE)
        .map(|nth| {
            let session = format!("writer-{}", n_before + nth);
            let child = role::start("writer", path, &session, run);
            (session, child)
        })
        .collect();
    // Some are killed while they start or open the store.
    thread::sleep(Duration::from_micros(dice.below(60_000)));
    let killed = writers.into_iter().map(|(session, mut child)| {
        child.kill().unwrap();
        child.wait().unwrap();
        let last = role::heard(&mut child).last();
        (session, last.map_or(0, |last| last.parse().unwrap()))
    });
    killed.collect()
}

/// Reads sessions until the end of the run. Each read must succeed, and counts must not decrease.
fn read(path: &Path, is_over: &AtomicBool) -> Result<(), String> {
    let store = SqliteStore::open(path).map_err(|error| error.to_string())?;
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for nth in (0_usize..).step_by(7) {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let session = format!("writer-{}", nth % 100);
        let state = store.state(&session).map_err(|error| error.to_string())?;
        let n_found = state.skills.iter().map(|skill| skill.uses).sum();
        let n_before = seen.insert(session, n_found).unwrap_or_default();
        if n_found < n_before {
            return Err(format!("a reader saw {n_before} uses, and then {n_found}"));
        }
        thread::sleep(Duration::from_millis(2));
    }
    if store.set_aside().is_empty() { Ok(()) } else { Err("the store was set aside".to_owned()) }
}

/// Kills the real program: hooks that record sessions and write snapshots, and `trust add`.
pub(crate) fn killed_programs(run: Run) -> Vec<Tally> {
    let place = Place::new();
    for name in ["deploy", "review"] {
        let text = format!(
            "---\nname: {name}\ndescription: d\ntriggers: [{name}]\n---\nBody of {name}.\n"
        );
        place.write(&format!("skills/{name}/SKILL.md"), text);
    }
    let mut hooks = Tally::new("hooks killed", "acknowledged answers");
    let mut trust = Tally::new("`trust add` killed", "acknowledged files");
    let mut dice = run.dice();
    let mut trusted = Vec::new();
    for nth in 0_u64.. {
        if !run.goes_on() {
            break;
        }
        let session = format!("chat-{nth}");
        let outcome = kill_hook(&place, &session, &mut dice);
        match outcome {
            Ok(is_acknowledged) => {
                hooks.fault(Ok(()));
                if is_acknowledged {
                    let is_there = knows(&place, &session, "deploy");
                    hooks.holds(is_there, || session);
                }
            }
            Err(wrong) => hooks.fault(Err(wrong)),
        }
        let file = format!("skills/deploy/scripts/{nth}.sh");
        place.write(&file, format!("#!/bin/sh\necho {nth}\n"));
        let mut command = place.command(["trust", "add", "--yes", &file]);
        let is_acknowledged =
            kill_after(&mut command, b"", &mut dice).is_some_and(|(code, _)| code == 0);
        let store = TrustStore::open(place.path().join("home/.local/state/repertoire/trust.json"));
        trust.fault(store.map(drop).map_err(|error| error.to_string()));
        if is_acknowledged {
            trusted.push(place.path().canonicalize().unwrap().join(file));
        }
    }
    let store = TrustStore::open(place.path().join("home/.local/state/repertoire/trust.json"));
    let known = store.unwrap().list();
    for path in trusted {
        let is_there = known.iter().any(|file| file.path == path);
        trust.holds(is_there, || path.display().to_string());
    }
    vec![hooks, trust]
}

/// Runs a hook and kills it at a random moment. Returns whether it had answered by then.
fn kill_hook(place: &Place, session: &str, dice: &mut Dice) -> Result<bool, String> {
    let input = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "deploy it"});
    let args = ["hook", "claude-code", "--deadline", "60", "--source", "skills"];
    let run =
        |dice: &mut Dice| kill_after(&mut place.command(args), input.to_string().as_bytes(), dice);
    let Some((code, stdout)) = run(dice) else { return Ok(false) };
    let is_answer = stdout.contains("Body of deploy.");
    if code == 0 && is_answer { Ok(true) } else { Err(format!("{session}: {code}, {stdout}")) }
}

/// Tells whether the hooks' store knows that a skill was shown in a session.
fn knows(place: &Place, session: &str, skill: &str) -> bool {
    let path = place.path().join("home/.local/state/repertoire/sessions.sqlite");
    let session = format!("claude-code:{session}");
    let state = SqliteStore::open(path).unwrap().state(&session).unwrap();
    state.of(&SkillId::new(skill)).is_some_and(|skill| skill.uses > 0)
}

/// Runs `command`, and kills it after a random time. Returns its exit code and output if it ended
/// before.
fn kill_after(command: &mut Command, input: &[u8], dice: &mut Dice) -> Option<(i32, String)> {
    use std::io::{Read as _, Write as _};
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    // One in four may end by itself, however busy the machine is.
    if dice.below(4) > 0 {
        thread::sleep(Duration::from_micros(dice.below(250_000)));
        let _ = child.kill();
    }
    let code = child.wait().unwrap().code()?;
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    Some((code, stdout))
}
