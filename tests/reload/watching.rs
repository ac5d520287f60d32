//! Watching: changed skills are refreshed automatically.

use std::time::Instant;

use repertoire::{Watch, WatchOptions};

use super::edits::EDITS;
use super::*;

/// A time far longer than a refresh takes, but shorter than the interval between checks without events.
const LONG: Duration = Duration::from_secs(20);

fn watch(engine: &Engine, events: bool) -> Watch {
    let poll = if events { Duration::from_secs(3600) } else { Duration::from_millis(50) };
    let mut options = WatchOptions::default();
    (options.quiet, options.events, options.poll) = (Duration::from_millis(20), events, poll);
    engine.watch(options).unwrap()
}

/// Waits until the engine has the same state as one that was just loaded.
fn eventually_fresh(place: &Place, engine: &Engine, what: &str) {
    let start = Instant::now();
    let fresh = state(&place.engine());
    while state(engine) != fresh {
        if start.elapsed() > LONG {
            assert_eq!(state(engine), fresh, "{what}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn any_edit_is_taken_up_by_events_and_by_looking() {
    for events in [true, false] {
        for (what, _, edit) in EDITS {
            // No event reports a change of a program; the watch notices it at the next check.
            if events && *what == "a program that is required" {
                continue;
            }
            let place = Place::new();
            let engine = place.engine();
            let _watch = watch(&engine, events);
            edit(&place);
            let what = format!("{what}, with events: {events}");
            eventually_fresh(&place, &engine, &what);
            // New directories are watched, too.
            place.skill("project/a/b/new", "Newer.", "name: new");
            eventually_fresh(&place, &engine, &what);
            place.skill("project/a/b/new", "Newest.", "name: new");
            eventually_fresh(&place, &engine, &what);
        }
    }
}

#[test]
fn links_on_the_way_and_files_behind_links_are_watched() {
    let place = Place::new();
    place.write("files/a.md", "---\ndescription: A file elsewhere.\n---\n");
    fs::create_dir(place.path("project/renamed")).unwrap();
    symlink(place.path("middle"), place.path("project/renamed/SKILL.md")).unwrap();
    symlink(place.path("files/a.md"), place.path("middle")).unwrap();
    let engine = place.engine();
    let _watch = watch(&engine, true);
    assert!(engine.catalog().get("renamed").is_some());
    place.write("files/a.md", "---\ndescription: Edited elsewhere.\n---\n");
    eventually_fresh(&place, &engine, "a file behind links");
    place.write("files/b.md", "---\ndescription: Another file.\n---\n");
    fs::remove_file(place.path("middle")).unwrap();
    symlink(place.path("files/b.md"), place.path("middle")).unwrap();
    eventually_fresh(&place, &engine, "a link on the way");
}

#[test]
fn it_goes_on_after_faults_and_ends_with_its_guard() {
    let place = Place::new();
    let engine = place.engine();
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    let _subscription = engine.subscribe(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        panic!("a listener's own fault");
    });
    let watch = watch(&engine, true);
    for n in 0..3 {
        place.skill("project/new", &format!("Edit {n}."), "");
        eventually_fresh(&place, &engine, "an edit after a panic");
    }
    drop(watch);
    // Reports of earlier refreshes may still arrive.
    thread::sleep(Duration::from_millis(300));
    let n_heard = heard.load(Ordering::Relaxed);
    assert!(n_heard > 0);
    place.skill("project/new", "After the end.", "");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(heard.load(Ordering::Relaxed), n_heard);
}

#[test]
fn a_guard_may_outlive_its_engine_and_be_dropped_by_a_listener() {
    let place = Place::new();
    let engine = place.engine();
    let guard: Arc<Mutex<Option<Watch>>> = Arc::default();
    *guard.lock().unwrap() = Some(watch(&engine, true));
    let (dropped, taken) = (Arc::clone(&guard), Arc::new(AtomicBool::new(false)));
    let done = Arc::clone(&taken);
    let _subscription = engine.subscribe(move |_| {
        drop(dropped.lock().unwrap().take());
        done.store(true, Ordering::Relaxed);
    });
    place.skill("project/new", "New.", "");
    let start = Instant::now();
    while !taken.load(Ordering::Relaxed) {
        assert!(start.elapsed() < LONG);
        thread::sleep(Duration::from_millis(5));
    }
    let watch = watch(&engine, true);
    drop(engine);
    drop(watch);
}

/// A random number generator whose sequence is the same in each run.
struct Random(u64);

impl Random {
    /// Returns a number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

const N_SKILLS: u64 = 30;

/// Returns a version of a skill whose trigger and text match only within one version.
fn text_of(skill: u64, version: u64) -> String {
    format!(
        "---\nname: skill-{skill}\ndescription: Skill {skill} in v{version}x.\n\
         triggers: [\"subject {skill}\", v{version}x]\n---\nThe body of v{version}x.\n"
    )
}

fn version_in(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_alphanumeric())
        .find(|word| word.starts_with('v') && word.ends_with('x'))
}

/// Makes one random edit below `root`.
fn edit(root: &Path, random: &mut Random, version: u64) {
    let skill = random.below(N_SKILLS);
    let place = ["", "group/", "group/skill-0/"][random.below(3) as usize];
    let dir = root.join(format!("{place}skill-{skill}"));
    let file = dir.join("SKILL.md");
    // Editing a missing file fails, which is not a fault.
    let _ = match random.below(18) {
        0..=6 => fs::create_dir_all(&dir).and_then(|()| fs::write(file, text_of(skill, version))),
        7..=11 => {
            let new = dir.join("new");
            fs::create_dir_all(&dir)
                .and_then(|()| fs::write(&new, text_of(skill, version)))
                .and_then(|()| fs::rename(new, file))
        }
        12 => fs::write(file, b"---\ndescription: \xff\n---\n"),
        13 => fs::write(file, ""),
        14 => fs::remove_dir_all(&dir),
        15 => fs::remove_file(file),
        16 => fs::rename(&dir, root.join(format!("moved-{skill}"))),
        _ if random.below(20) == 0 => fs::remove_dir_all(root),
        _ => fs::remove_file(root.join("link"))
            .or(Ok(()))
            .and_then(|()| symlink(root.join(format!("group/skill-{skill}")), root.join("link"))),
    };
}

/// Reads as a user of the engine would. Panics if the answers contradict each other.
fn read(engine: &Engine, random: &mut Random) {
    let catalog = engine.catalog();
    for entry in catalog.entries() {
        let triggers =
            entry.skill.triggers().keywords.iter().find_map(|word| version_in(&word.value));
        assert_eq!(triggers, version_in(entry.skill.description()), "{}", entry.id);
    }
    for entry in catalog.entries().filter(|entry| entry.is_available()) {
        assert!(catalog.get(entry.id.as_str()).is_some_and(|e| std::ptr::eq(e, entry)));
    }
    let subject =
        format!("subject {} and skill-{}", random.below(N_SKILLS), random.below(N_SKILLS));
    let disclosed = engine.disclose(subject.as_str());
    for id in &disclosed.full {
        assert!(disclosed.text.contains(&format!("## Skill: {id}\n")), "{}", disclosed.text);
    }
    let explained = engine.explain(subject.as_str(), 3);
    assert!(explained.matches.len() <= 3);
    for found in engine.find_skills(subject.as_str(), 2) {
        assert!(version_in(&found.brief).is_some(), "{found:?}");
    }
    let prompt = engine.prompt();
    for id in &prompt.included {
        assert!(prompt.text.contains(&format!("- {id}")), "{id}: {}", prompt.text);
    }
}

/// Edits skills for `duration` while eight threads query them.
fn soak(duration: Duration) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("skills");
    let build = || Engine::builder().source(Source::user(&root)).build().unwrap();
    let engine = build();
    let (n_refreshed, n_kept) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (refreshed, kept) = (Arc::clone(&n_refreshed), Arc::clone(&n_kept));
    let _subscription = engine.subscribe(move |what| {
        refreshed.fetch_add(1, Ordering::Relaxed);
        kept.fetch_add(what.kept.len(), Ordering::Relaxed);
    });
    let watch = watch(&engine, true);
    let (stop, n_read, n_edits) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let slowest = Mutex::new(Duration::ZERO);
    thread::scope(|scope| {
        let spawn = |reader: u64| {
            let (engine, stop, n_read, slowest) = (&engine, &stop, &n_read, &slowest);
            scope.spawn(move || {
                let mut random = Random(reader + 77);
                while !stop.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    read(engine, &mut random);
                    n_read.fetch_add(1, Ordering::Relaxed);
                    let mut slowest = slowest.lock().unwrap();
                    *slowest = start.elapsed().max(*slowest);
                }
            })
        };
        let readers: Vec<_> = (0..8).map(spawn).collect();
        let mut random = Random(4711);
        let start = Instant::now();
        // A reader ends early only if it panicked.
        while start.elapsed() < duration
            && !readers.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            edit(&root, &mut random, n_edits.fetch_add(1, Ordering::Relaxed) as u64);
            thread::sleep(Duration::from_millis(random.below(20)));
        }
        stop.store(true, Ordering::Relaxed);
    });
    // A fresh engine has no earlier versions to keep, so skills that are broken at the end disappear.
    let broken = build().diagnostics();
    for finding in broken.iter().filter(|f| matches!(f.code, Code::NotUtf8 | Code::EmptyFile)) {
        fs::remove_file(&finding.path).unwrap();
    }
    let start = Instant::now();
    while state(&engine) != state(&build()) {
        assert!(start.elapsed() < LONG, "{:#?}\n{:#?}", state(&engine), state(&build()));
        thread::sleep(Duration::from_millis(20));
    }
    drop(watch);
    support::say(&format!(
        "{} s: {} edits, {} refreshes with changes, {} broken edits kept, {} reads, the slowest {:?}; \
         at the end {} skills, as a fresh load",
        duration.as_secs(),
        n_edits.into_inner(),
        n_refreshed.load(Ordering::Relaxed),
        n_kept.load(Ordering::Relaxed),
        n_read.load(Ordering::Relaxed),
        slowest.into_inner().unwrap(),
        engine.catalog().entries().count(),
    ));
    assert!(n_refreshed.load(Ordering::Relaxed) > 0 && n_read.into_inner() > 0);
}

#[test]
fn readers_are_served_while_skills_are_edited() {
    soak(Duration::from_secs(5));
}

/// Runs for `$REPERTOIRE_SOAK_SECONDS`, ten minutes by default.
#[test]
#[ignore = "takes ten minutes"]
fn readers_are_served_for_long_while_skills_are_edited() {
    let named = std::env::var("REPERTOIRE_SOAK_SECONDS").ok();
    let seconds = named.map_or(600, |seconds| seconds.parse().unwrap());
    soak(Duration::from_secs(seconds));
}
