//! Reloading: a refresh reads changed skills and nothing else again, and concurrent readers see either
//! the old or the new state.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broken;
mod edits;
#[path = "../support/reads.rs"]
mod reads;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "these tests need no shared data")]
mod support;
#[cfg(feature = "toolsets")]
mod tools;
#[cfg(feature = "watch")]
mod watching;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use repertoire::catalog::{Environment, Refreshed};
use repertoire::{Allowlist, Code, Diagnostic, Engine, ErrorCode, SkillId, Source};
use tempfile::TempDir;

/// The skill directories of a user and a project, and other files next to them.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { dir: tempfile::tempdir().unwrap() };
        place.skill("user/plain", "Plain one.", "triggers: [plain words]");
        place.skill("user/both", "Of the user.", "name: both\ntriggers: [both words]");
        place.skill("project/both", "Of the project.", "name: both\ntriggers: [both words]");
        place.skill("project/sven", "Sven.", "name: sven");
        place.skill("project/sven/plan", "Plans.", "");
        place.skill("project/hidden", "Nobody sees it.", "name: not-allowed");
        place.skill("elsewhere/one", "One.", "name: linked");
        place.skill("elsewhere/two", "Two.", "name: linked");
        symlink(place.path("elsewhere/one"), place.path("project/link")).unwrap();
        fs::create_dir(place.path("bin")).unwrap();
        place.skill("project/needs", "Needs a program.", "requires_bins: [a-program]");
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, dir: &str, description: &str, fields: &str) {
        let text = format!("---\ndescription: {description}\n{fields}\n---\nThe body.\n");
        self.write(&format!("{dir}/SKILL.md"), text);
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn remove(&self, dir: &str) {
        fs::remove_dir_all(self.path(dir)).unwrap();
    }

    fn engine(&self) -> Engine {
        let vars = [("PATH".into(), self.path("bin").into_os_string())];
        let allowed = "plain both sven sven/plan sven/new linked needs new renamed".split(' ');
        let allowed: Vec<&str> = allowed.collect();
        Engine::builder()
            .source(Source::user(self.path("user")))
            .source(Source::project(self.path("project")).allow_links_outside())
            .source(Source::project(self.path("missing/later/skills")).optional())
            .allow(Allowlist::from_entries(Some(&allowed)))
            .environment(Environment::Fixed(vars.into()))
            .build()
            .unwrap()
    }
}

/// Formats the whole state of an engine's skills, except for earlier versions that it keeps.
fn state(engine: &Engine) -> Vec<String> {
    let catalog = engine.catalog();
    let told = catalog.entries().chain(catalog.filtered()).map(|entry| {
        let (skill, status) = (&entry.skill, &entry.status);
        let (id, scope, path) = (&entry.id, entry.scope, &entry.relative_path);
        let manifest = skill.manifest();
        format!("{id} {scope} {path} {status:?} {:?} {manifest:?}", (skill.path(), skill.body()))
    });
    let mut told: Vec<String> = told.collect();
    told.extend(engine.diagnostics().iter().map(ToString::to_string));
    for query in ["plain words", "both words", "/new", "what can you do?", "use `renamed`"] {
        told.push(format!("{:?} {:?}", engine.explain(query, 9), engine.disclose(query)));
    }
    told.push(engine.prompt().text);
    told
}

fn ids(ids: &[SkillId]) -> Vec<&str> {
    ids.iter().map(SkillId::as_str).collect()
}

/// Formats the added, changed, removed and kept skills, each with a sign.
fn signs(refreshed: &Refreshed) -> String {
    let Refreshed { added, changed, removed, kept, .. } = refreshed;
    let lists = [("+", added), ("~", changed), ("-", removed), ("!", kept)];
    let signs = lists
        .iter()
        .flat_map(|(sign, list)| ids(list).into_iter().map(move |id| format!("{sign}{id}")));
    signs.collect::<Vec<_>>().join(" ")
}

type Edit = fn(&Place);

#[test]
fn only_what_changed_is_read_again() {
    let place = Place::new();
    let reads = reads::count();
    let engine = place.engine();
    let n_files = reads.take().len();
    assert!(n_files >= 8, "{n_files}");
    // As long as a change might not show in the time of a file, the file's content is compared.
    thread::sleep(Duration::from_millis(2100));
    assert!(engine.refresh().unwrap().is_empty());
    reads.take();
    assert!(engine.refresh().unwrap().is_empty());
    assert_eq!(reads.take(), [] as [&Path; 0], "nothing changed");

    place.skill("user/plain", "Another one.", "");
    place.skill("project/new", "New.", "");
    fs::write(place.path("project/sven/notes.txt"), "No skill.").unwrap();
    assert_eq!(signs(&engine.refresh().unwrap()), "+new ~plain");
    let expected = ["project/new/SKILL.md", "user/plain/SKILL.md"].map(|file| place.path(file));
    let mut read = reads.take();
    read.sort();
    assert_eq!(read, expected);
}

#[test]
fn listeners_hear_of_changes_until_their_subscription_ends() {
    let place = Place::new();
    let engine = place.engine();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = Arc::clone(&heard);
    let subscription =
        engine.subscribe(move |refreshed| note.lock().unwrap().push(signs(refreshed)));
    let _panics = engine.clone().subscribe(|_| panic!("a listener's own fault"));
    engine.refresh().unwrap();
    place.skill("project/new", "New.", "");
    engine.clone().refresh().unwrap();
    drop(subscription);
    place.remove("project/new");
    assert_eq!(signs(&engine.refresh().unwrap()), "-new");
    assert_eq!(*heard.lock().unwrap(), ["+new"]);
}

#[test]
fn a_catalog_that_somebody_holds_stays_as_it_is() {
    let place = Place::new();
    let engine = place.engine();
    let before = engine.catalog();
    place.remove("user/plain");
    engine.refresh().unwrap();
    assert!(before.get("plain").is_some());
    assert!(engine.catalog().get("plain").is_none());
}

/// Writes two skills whose triggers and texts match only within one version.
fn write_version(place: &Place, version: usize) {
    // Replace the file atomically, so that readers do not see half of it.
    let fields = format!("name: both\ntriggers: [version {version}]");
    place.skill("new", &format!("Version {version}."), &fields);
    place.rename("new/SKILL.md", "project/both/SKILL.md");
}

/// Queries `engine` in several ways. Panics if the answers contradict each other.
fn ask(engine: &Engine, n_versions: usize) {
    let catalog = engine.catalog();
    let both = catalog.get("both").unwrap();
    let version = both.skill.triggers();
    let text = format!("{:?} {}", version.keywords, both.skill.description());
    let is_of_one = |n: usize| {
        text.contains(&format!("version {n}\"")) && text.contains(&format!("Version {n}."))
    };
    assert!((0..n_versions).any(is_of_one), "{text}");
    // One disclosure must show one state, in which a match is listed with the text that matched.
    let query: Vec<String> = (0..n_versions).map(|n| format!("version {n}")).collect();
    let query = query.join(", ");
    let found = engine.find_skills(query.as_str(), 1);
    assert_eq!(ids(&found.iter().map(|f| f.id.clone()).collect::<Vec<_>>()), ["both"]);
    let n = |text: &str| {
        text.rsplit([' ', '`']).find_map(|w| w.trim_end_matches('.').parse::<usize>().ok())
    };
    assert_eq!(n(&found[0].brief), n(&found[0].why), "{found:?}");
}

#[test]
fn readers_see_one_state_or_the_other() {
    const N_VERSIONS: usize = 10;
    let place = Place::new();
    write_version(&place, 0);
    let engine = place.engine();
    let (stop, n_asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    ask(&engine, N_VERSIONS);
                    n_asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for n in 0..40 {
            write_version(&place, n % N_VERSIONS);
            engine.refresh().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(n_asked.into_inner() > 0);
    assert_eq!(state(&engine), state(&place.engine()));
}
