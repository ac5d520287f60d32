//! Catalogs that change constantly: files are written, replaced, broken, truncated, renamed and removed
//! while threads refresh the engine and use its skills.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use repertoire::snapshot::SnapshotCache;
use repertoire::{Engine, ErrorCode, Source};

use crate::Run;
use crate::tally::{Dice, Tally};

const N_SKILLS: u64 = 12;
/// The number of edits in a round. After a round, the engine must agree with a fresh one.
const EDITS: usize = 60;

fn text(nth: u64, version: u64) -> String {
    format!(
        "---\nname: s{nth}\ndescription: Version {version}.\ntriggers: [word{nth}]\n---\n{}",
        body(nth, version)
    )
}

fn body(nth: u64, version: u64) -> String {
    format!("Body of s{nth}, version {version}.\n")
}

fn engine(dir: &Path) -> Engine {
    let cache = SnapshotCache::new(dir.join("cache"));
    Engine::builder().source(Source::user(dir.join("skills"))).cache(cache).build().unwrap()
}

/// Edits skills in rounds while other threads read them.
pub(crate) fn churning(run: Run) -> Vec<Tally> {
    let dir = tempfile::tempdir().unwrap();
    let mut tally =
        Tally::new("catalogs edited while others use them", "bodies of their manifests");
    for nth in 0..N_SKILLS {
        edit(dir.path(), nth, 0, Edit::Write);
    }
    let engine = engine(dir.path());
    let mut dice = run.dice();
    let mut version = 0;
    while run.goes_on() {
        let is_over = AtomicBool::new(false);
        let n_right = AtomicU64::new(0);
        let outcomes: Vec<Result<(), String>> = thread::scope(|scope| {
            let refresher = scope.spawn(|| refresh(&engine, &is_over));
            let users = [(); 2].map(|()| scope.spawn(|| use_all(&engine, &is_over, &n_right)));
            for _ in 0..EDITS {
                version += 1;
                let how = *dice.pick(&Edit::ALL);
                edit(dir.path(), dice.below(N_SKILLS), version, how);
            }
            is_over.store(true, Ordering::Relaxed);
            let users = users.map(|user| user.join().unwrap());
            users.into_iter().chain([refresher.join().unwrap()]).collect()
        });
        tally.found(n_right.into_inner(), 0, String::new);
        let wrong = outcomes.into_iter().find_map(Result::err);
        let settled = settle(&engine, dir.path(), &mut dice, &mut version);
        let outcome = wrong.map_or(settled, Err);
        for _ in 0..EDITS {
            tally.fault(outcome.clone());
        }
    }
    vec![tally]
}

#[derive(Debug, Clone, Copy)]
enum Edit {
    /// Writes in place, so that a reader may find an empty file.
    Write,
    /// Replaces the file by a new one, as editors do.
    Replace,
    /// Writes front matter that does not load.
    Break,
    /// Writes bytes that are not UTF-8.
    Garble,
    /// Keeps only the first part of the file.
    CutOff,
    Remove,
    /// Renames the whole directory for a moment.
    Rename,
}

impl Edit {
    const ALL: [Edit; 7] = [
        Edit::Write,
        Edit::Replace,
        Edit::Break,
        Edit::Garble,
        Edit::CutOff,
        Edit::Remove,
        Edit::Rename,
    ];
}

fn edit(dir: &Path, nth: u64, version: u64, how: Edit) {
    let skill = dir.join(format!("skills/s{nth}"));
    let file = skill.join("SKILL.md");
    fs::create_dir_all(&skill).unwrap();
    let new = text(nth, version);
    match how {
        Edit::Write => fs::write(&file, new).unwrap(),
        Edit::Replace => {
            fs::write(skill.join("new"), new).unwrap();
            fs::rename(skill.join("new"), &file).unwrap();
        }
        Edit::Break => fs::write(&file, new.replace("description:", "no-description:")).unwrap(),
        Edit::Garble => fs::write(&file, [new.as_bytes(), b"\xff\xfe"].concat()).unwrap(),
        Edit::CutOff => fs::write(&file, &new[..new.len() / 4]).unwrap(),
        Edit::Remove => fs::remove_dir_all(&skill).unwrap(),
        Edit::Rename => {
            let away = dir.join("away");
            fs::rename(&skill, &away).unwrap();
            thread::yield_now();
            fs::rename(&away, &skill).unwrap();
        }
    }
}

fn refresh(engine: &Engine, is_over: &AtomicBool) -> Result<(), String> {
    while !is_over.load(Ordering::Relaxed) {
        engine.refresh().map_err(|error| format!("{error:#}"))?;
    }
    Ok(())
}

/// Uses the skills. The instructions of each must belong to its manifest, or be an error that says that
/// they do not.
fn use_all(engine: &Engine, is_over: &AtomicBool, n_right: &AtomicU64) -> Result<(), String> {
    let session = engine.session("user");
    while !is_over.load(Ordering::Relaxed) {
        let catalog = engine.catalog();
        for nth in 0..N_SKILLS {
            let Some(entry) = catalog.get(&format!("s{nth}")) else { continue };
            let description = entry.skill.description();
            let version = description.strip_prefix("Version ").and_then(|v| v.strip_suffix('.'));
            let Some(version) = version.and_then(|version| version.parse().ok()) else { continue };
            match entry.skill.body() {
                Ok(found) if *found == body(nth, version) => {
                    n_right.fetch_add(1, Ordering::Relaxed);
                }
                Ok(found) => return Err(format!("{description} has the body {found}")),
                Err(error) if error.code() == ErrorCode::ExecutionError => {}
                Err(error) => return Err(format!("{error:#}")),
            }
            // By now the skill may have another version, or be gone.
            let activated = engine.activate(&format!("s{nth}"), "", &session);
            if activated.is_ok_and(|activation| activation.content.trim().is_empty()) {
                return Err(format!("s{nth} was activated without instructions"));
            }
        }
        let _ = engine.disclose("word3 and word4");
    }
    Ok(())
}

/// Repairs all files, and checks that the engine then agrees with a fresh one.
fn settle(engine: &Engine, dir: &Path, dice: &mut Dice, version: &mut u64) -> Result<(), String> {
    for nth in 0..N_SKILLS {
        *version += 1;
        let how = if dice.below(2) == 0 { Edit::Write } else { Edit::Replace };
        edit(dir, nth, *version, how);
    }
    engine.refresh().map_err(|error| format!("{error:#}"))?;
    let first = *version - N_SKILLS + 1;
    for (what, engine) in [("refreshed", engine), ("fresh", &self::engine(dir))] {
        for nth in 0..N_SKILLS {
            let activated = engine.activate(&format!("s{nth}"), "", &engine.session("last"));
            let content = activated.map_err(|error| format!("{what}: {error:#}"))?.content;
            if content != body(nth, first + nth) {
                return Err(format!("{what}: s{nth} is not of version {}: {content}", first + nth));
            }
        }
    }
    Ok(())
}
