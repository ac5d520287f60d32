//! The real hook, with one process for each message, and with its cache and state.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use repertoire::SnapshotCache;
use repertoire::session::SessionStore as _;
use repertoire_sessions::SqliteStore;
use serde_json::json;

use crate::SETTLED;
use crate::binary::{Place, Run, finish};
use crate::support::say;

const HOOK: [&str; 6] = ["hook", "claude-code", "--deadline", "60", "--source", "skills"];

/// Creates a project with a few skills that have not changed recently.
fn place() -> Place {
    let place = Place::new();
    for n in 0..20 {
        let text = format!(
            "---\nname: skill-{n}\ndescription: Does it.\ntriggers: [word{n}, deploy]\n---\n{}",
            "So it is done.\n".repeat(40)
        );
        place.write(&format!("skills/skill-{n}/SKILL.md"), text);
    }
    std::thread::sleep(SETTLED);
    place
}

fn command(place: &Place, options: &[&str]) -> Command {
    place.command(HOOK.iter().chain(options))
}

fn prompt(session: &str) -> Vec<u8> {
    let text = "deploy word7";
    json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text})
        .to_string()
        .into_bytes()
}

fn run(command: Command) -> Run {
    finish(command, &prompt("s")).exits(0)
}

fn is_answer(run: &Run) -> bool {
    run.stdout.contains("## Skill: skill-7") && run.stdout.contains("So it is done.")
}

fn cache(place: &Place) -> SnapshotCache {
    SnapshotCache::new(place.path().join("home/.cache/repertoire/snapshots"))
}

fn log(place: &Place) -> String {
    fs::read_to_string(place.path().join("home/.local/state/repertoire/hook.log"))
        .unwrap_or_default()
}

fn doctor(place: &Place) -> serde_json::Value {
    place.run(["doctor", "--json", "--source", "skills"]).exits(0).json()
}

#[test]
fn thirty_two_hooks_at_once_share_a_cache_and_a_state() {
    let place = place();
    let wanted = run(command(&place, &["--no-cache"])).stdout;
    assert!(wanted.contains("## Skill: skill-7"), "{wanted}");
    // In the first round there is no snapshot; in the second, all processes read the same one.
    for round in ["cold", "warm"] {
        let answers: Vec<Run> = std::thread::scope(|scope| {
            let start = |n| {
                let place = &place;
                scope.spawn(move || finish(command(place, &[]), &prompt(&format!("{round}{n}"))))
            };
            let hooks: Vec<_> = (0..32).map(start).collect();
            hooks.into_iter().map(|hook| hook.join().unwrap()).collect()
        });
        for Run { code, stdout, stderr } in &answers {
            assert_eq!((*code, stderr.as_str(), stdout), (0, "", &wanted), "{round}");
        }
        let store =
            SqliteStore::open(place.path().join("home/.local/state/repertoire/sessions.sqlite"));
        let store = store.unwrap();
        for n in 0..32 {
            let known = store.state(&format!("claude-code:{round}{n}")).unwrap().skills;
            let in_full = known.iter().filter(|skill| skill.uses == 1).count();
            assert_eq!(in_full, 3, "session {n}: {known:?}");
        }
    }
    assert_eq!(log(&place), "");
    let files = cache(&place).files().unwrap();
    assert!(files.len() == 1 && files[0].problem.is_none(), "{files:?}");
    assert_eq!(fs::read_dir(cache(&place).dir()).unwrap().count(), 1, "nothing unfinished");
    let snapshots = &doctor(&place)["state"]["snapshots"];
    assert_eq!((&snapshots["files"], &snapshots["problems"]), (&json!(1), &json!([])));
}

#[test]
fn a_damaged_snapshot_is_noted_and_made_anew() {
    let place = place();
    let wanted = run(command(&place, &[])).stdout;
    let path = cache(&place).files().unwrap().remove(0).path;
    fs::write(&path, "noise").unwrap();
    let problems = doctor(&place)["state"]["snapshots"]["problems"].clone();
    assert!(problems[0].as_str().unwrap().contains("it is not a snapshot"), "{problems}");
    let answer = place.run_with(HOOK, &prompt("another")).exits(0).stdout;
    assert_eq!(answer, wanted);
    let log = log(&place);
    assert!(log.contains("it is not a snapshot") && log.lines().count() == 1, "{log}");
    assert_eq!(cache(&place).files().unwrap()[0].problem, None);
    assert_eq!(doctor(&place)["state"]["snapshots"]["problems"], json!([]));
}

#[test]
fn a_cache_can_be_declined() {
    let place = place();
    let mut by_variable = command(&place, &[]);
    by_variable.env("REPERTOIRE_NO_CACHE", "1");
    for (session, declined) in [("a", command(&place, &["--no-cache"])), ("b", by_variable)] {
        assert!(is_answer(&finish(declined, &prompt(session)).exits(0)));
        assert!(!place.path().join("home/.cache").exists());
    }
    let mut accepted = command(&place, &[]);
    accepted.env("REPERTOIRE_NO_CACHE", "0");
    run(accepted);
    assert_eq!(cache(&place).files().unwrap().len(), 1);
}

#[test]
fn directories_that_cannot_be_written_cost_no_answer() {
    let place = place();
    place.write("file", "in the way");
    let in_the_way = |directory: &str| {
        let mut command = command(&place, &[]);
        command.env(directory, place.path().join("file"));
        run(command)
    };
    let answer = in_the_way("XDG_CACHE_HOME");
    assert!(is_answer(&answer), "{answer:?}");
    assert!(log(&place).contains("cannot write the snapshot"), "{}", log(&place));
    let answer = in_the_way("XDG_STATE_HOME");
    assert!(is_answer(&answer), "{answer:?}");
    assert!(answer.stderr.contains("hook.log"), "{answer:?}");
}

#[test]
fn files_that_cannot_grow_cost_no_answer() {
    let place = place();
    let hook = command(&place, &[]);
    // Limit files to 1 KiB, so that longer writes fail as on a full disk.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]);
    limited.arg(hook.get_program()).args(hook.get_args()).current_dir(place.path());
    for (name, value) in hook.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let answer = run(limited);
    assert!(is_answer(&answer), "{answer:?}");
    let log = log(&place);
    assert!(log.contains("the snapshot") && log.contains("session store"), "{log}");
    let cache = cache(&place);
    assert_eq!(fs::read_dir(cache.dir()).unwrap().count(), 0, "nothing unfinished is left");
    assert!(is_answer(&run(command(&place, &[]))), "all is well with more room");
    assert_eq!(cache.files().unwrap().len(), 1);
}

/// A full file system, which is unmounted on drop.
struct Full(PathBuf);

impl Full {
    /// Mounts the file system. Returns `None` if this user may not.
    fn mount(at: &Path) -> Option<Full> {
        fs::create_dir_all(at).unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).output();
        if !mount.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let full = Full(at.to_owned());
        let n_bytes = 1 << 20;
        assert!(fs::write(at.join("filler"), vec![0; n_bytes]).is_err(), "it is not full");
        Some(full)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_costs_no_answer() {
    let place = place();
    let Some(full) = Full::mount(&place.path().join("full")) else {
        say("SKIPPED: no file system can be mounted here; a full disk was not tested");
        return;
    };
    let on_it = |directory: &str| {
        let mut command = command(&place, &[]);
        command.env(directory, &full.0);
        run(command)
    };
    let answer = on_it("XDG_CACHE_HOME");
    assert!(is_answer(&answer), "{answer:?}");
    assert!(log(&place).contains("cannot write the snapshot"), "{}", log(&place));
    assert!(is_answer(&on_it("XDG_STATE_HOME")));
}

#[test]
fn what_a_hook_has_no_time_for_is_done_in_the_background() {
    let place = Place::new();
    for n in 0..1000 {
        let text =
            format!("---\ndescription: Does it.\ntriggers: [word{n}, deploy{n}]\n---\nSo.\n");
        place.write(&format!("skills/skill-{n}/SKILL.md"), text);
    }
    let late = |session: &str, deadline: Duration| {
        let deadline = deadline.as_secs_f64().to_string();
        let command = ["hook", "claude-code", "--deadline", &deadline, "--source", "skills"];
        place.run_with(command, &prompt(session)).exits(0)
    };
    let cache = cache(&place);
    let lock = place.path().join("home/.local/state/repertoire/prepare.lock");
    // Even if the session store does not open in time, the next attempt must begin.
    let began = Instant::now();
    let mut deadline = Duration::from_millis(100);
    let mut told = Vec::new();
    loop {
        told.push(format!("no answer within {} s", deadline.as_secs_f64()));
        assert!(began.elapsed() < Duration::from_secs(120), "{}", log(&place));
        // A fast machine may be in time after all, because another process has just done the work. The
        // session then knows the shown text, so use another session each time.
        let session = format!("{:?}", began.elapsed());
        let run = late(&session, deadline);
        assert!(run.stdout.is_empty() || run.stdout.contains("## Skill: skill-7"), "{run:?}");
        std::thread::sleep(Duration::from_millis(500));
        let files = cache.files().unwrap();
        let Some(kept) = files.iter().find(|file| file.problem.is_none()) else { continue };
        if lock.exists() {
            break;
        }
        // No background process has run, so a hook had time to write the snapshot. Start again with
        // less time.
        fs::remove_file(&kept.path).unwrap();
        deadline /= 2;
    }
    let log = log(&place);
    assert!(log.lines().all(|line| told.iter().any(|told| line.contains(told))), "{log}");
    // Take the lock, because the last process may still be working.
    fs::File::open(lock).unwrap().lock().unwrap();
    let modified = || {
        let files = cache.files().unwrap();
        assert_eq!(files.len(), 1, "for the same skills");
        fs::metadata(&files[0].path).unwrap().modified().unwrap()
    };
    let before = modified();
    let answer = run(command(&place, &[])).stdout;
    assert!(answer.contains("## Skill: skill-7"), "{answer}");
    assert_eq!(modified(), before, "it is used");
    // A hook may run out of time while it writes; the next one that writes removes the incomplete
    // files.
    for file in fs::read_dir(cache.dir()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "snapshot") {
            fs::remove_file(path).unwrap();
        } else {
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        }
    }
    run(command(&place, &[]));
    assert_eq!(fs::read_dir(cache.dir()).unwrap().count(), 1, "nothing unfinished");
}

#[test]
fn what_came_too_late_is_not_taken_for_shown() {
    let place = place();
    let [mut too_short, mut enough] = [Duration::ZERO, Duration::from_secs(60)];
    for attempt in 0..32 {
        let middle = (too_short + enough) / 2;
        let (session, time) = (attempt.to_string(), middle.as_secs_f64().to_string());
        let command = ["hook", "claude-code", "--deadline", &time, "--source", "skills"];
        let first = place.run_with(command, &prompt(&session)).exits(0);
        let second = finish(self::command(&place, &[]), &prompt(&session)).exits(0);
        assert!(first.stdout.is_empty() || is_answer(&first), "{first:?}");
        assert_ne!(is_answer(&first), is_answer(&second), "{middle:?}: {first:?}, {second:?}");
        // Approach the deadline at which the hook is just in time, which varies.
        if is_answer(&first) {
            [too_short, enough] = [too_short.mul_f64(0.9), middle];
        } else {
            [too_short, enough] = [middle, enough.mul_f64(1.1)];
        }
    }
}

#[test]
fn a_server_begins_with_the_same_snapshot() {
    let place = place();
    place.run_with(["mcp", "--source", "skills"], b"").exits(0);
    let path = cache(&place).files().unwrap().remove(0).path;
    let modified = || fs::metadata(&path).unwrap().modified().unwrap();
    let before = modified();
    assert!(is_answer(&run(command(&place, &[]))));
    place.run_with(["mcp", "--source", "skills"], b"").exits(0);
    assert_eq!((cache(&place).files().unwrap().len(), modified()), (1, before));
}
