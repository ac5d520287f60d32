//! Reloading: changed skills are refreshed, nothing else is read again, and concurrent readers see
//! one state or the other.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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

/// The directories of skills of a user and a project, and the files beside them.
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

/// Formats the whole state of an engine's skills, except for kept earlier versions.
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

/// Formats the added, changed, removed and kept skills, with signs.
fn signs(refreshed: &Refreshed) -> String {
    let Refreshed { added, changed, removed, kept } = refreshed;
    let lists = [("+", added), ("~", changed), ("-", removed), ("!", kept)];
    let signs = lists
        .iter()
        .flat_map(|(sign, list)| ids(list).into_iter().map(move |id| format!("{sign}{id}")));
    signs.collect::<Vec<_>>().join(" ")
}

type Edit = fn(&Place);

/// An edit, and the result of a refresh after it.
const EDITS: &[(&str, &str, Edit)] = &[
    ("nothing", "", |_| {}),
    ("content", "~plain", |place| place.skill("user/plain", "Another one.", "")),
    ("content of the same length and time, by renaming", "~plain", |place| {
        let file = place.path("user/plain/SKILL.md");
        let time = file.metadata().unwrap().modified().unwrap();
        let text = fs::read_to_string(&file).unwrap().replace("Plain one.", "Plain two.");
        place.write("user/plain/new", text);
        let new = place.path("user/plain/new");
        File::options().write(true).open(&new).unwrap().set_modified(time).unwrap();
        fs::rename(new, file).unwrap();
    }),
    ("content of the same length, with the time set back", "~plain", |place| {
        let file = place.path("user/plain/SKILL.md");
        let time = file.metadata().unwrap().modified().unwrap();
        let text = fs::read_to_string(&file).unwrap().replace("Plain one.", "Plain two.");
        fs::write(&file, text).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    }),
    ("content of a time long past", "~plain", |place| {
        place.skill("user/plain", "Of old.", "");
        let file = File::options().write(true).open(place.path("user/plain/SKILL.md")).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    }),
    ("the same content written again", "", |place| {
        place.skill("user/plain", "Plain one.", "triggers: [plain words]");
    }),
    ("other permissions, but readable", "", |place| {
        let mode = Permissions::from_mode(0o600);
        fs::set_permissions(place.path("user/plain/SKILL.md"), mode).unwrap();
    }),
    ("a file deleted", "-plain", |place| {
        fs::remove_file(place.path("user/plain/SKILL.md")).unwrap();
    }),
    ("a directory deleted", "-sven -sven/plan", |place| place.remove("project/sven")),
    ("a directory renamed, of a skill without a name", "+renamed -plain", |place| {
        place.rename("user/plain", "user/renamed");
    }),
    ("a directory renamed, of a skill with a name", "~both", |place| {
        place.rename("project/both", "project/other");
    }),
    ("a new skill", "+new", |place| place.skill("project/a/b/new", "New.", "name: new")),
    ("a new sub-skill", "+sven/new", |place| place.skill("project/sven/new", "New.", "")),
    ("a skill below which there are others goes", "+new -sven -sven/plan", |place| {
        place.skill("project/sven/plan", "Plans.", "name: new");
        fs::remove_file(place.path("project/sven/SKILL.md")).unwrap();
    }),
    ("a skill that others are below", "-plain", |place| {
        place.skill("user", "Above all.", "name: not-allowed-either");
        place.rename("user/plain", "user/x-plain");
    }),
    ("a file in another letter case", "~plain", |place| {
        place.rename("user/plain/SKILL.md", "user/plain/skill.md");
    }),
    ("a file that others hold, too", "", |place| {
        fs::hard_link(place.path("user/plain/SKILL.md"), place.path("elsewhere/hard")).unwrap();
    }),
    ("a link that leads elsewhere", "~linked", |place| {
        fs::remove_file(place.path("project/link")).unwrap();
        symlink(place.path("elsewhere/two"), place.path("project/link")).unwrap();
    }),
    ("what a link leads to", "~linked", |place| {
        place.skill("elsewhere/one", "Edited.", "name: linked");
    }),
    ("what a link leads to goes", "-linked", |place| place.remove("elsewhere/one")),
    ("a missing root is made", "+new", |place| {
        place.skill("missing/later/skills/new", "Late.", "");
    }),
    ("a root is deleted", "~both -plain", |place| {
        place.remove("user");
        // Another skill changes as well, which is not a part of this edit.
        place.skill("project/both", "Edited.", "name: both");
    }),
    ("a root is deleted and made again", "~both ~plain", |place| {
        place.remove("user");
        place.skill("user/plain", "Made again.", "");
        place.skill("project/both", "Edited.", "name: both");
    }),
    ("what shadowed is gone", "~both", |place| place.remove("project/both")),
    ("what shadowed has another name", "+new ~both", |place| {
        place.skill("project/both", "Of the project.", "name: new");
    }),
    ("a shadow falls", "~plain", |place| place.skill("project/late", "Higher.", "name: plain")),
    ("a skill that is not allowed", "", |place| {
        place.skill("project/hidden", "Still nobody sees it.", "name: not-allowed");
        place.skill("project/another", "Nor this one.", "name: another");
    }),
    ("a program that is required", "~needs", |place| {
        place.write("bin/a-program", "#!/bin/sh\n");
        let mode = Permissions::from_mode(0o755);
        fs::set_permissions(place.path("bin/a-program"), mode).unwrap();
    }),
];

#[test]
fn after_any_edit_a_refresh_is_as_a_fresh_load() {
    let places: Vec<_> = EDITS
        .iter()
        .map(|(what, expected, edit)| {
            let place = Place::new();
            let engine = place.engine();
            (what, expected, edit, place, engine)
        })
        .collect();
    for settled in [false, true] {
        if settled {
            // From now on the times of files show every change.
            thread::sleep(Duration::from_millis(2100));
        }
        for (what, expected, edit, place, old) in &places {
            let fresh;
            let (place, engine) = if settled {
                (place, old)
            } else {
                fresh = Place::new();
                (&fresh, &fresh.engine())
            };
            engine.refresh().unwrap();
            let before = state(engine);
            edit(place);
            let what = format!("{what}, settled: {settled}");
            assert_eq!(signs(&engine.refresh().unwrap()), **expected, "{what}");
            assert_eq!(state(engine), state(&place.engine()), "{what}");
            assert_eq!(engine.refresh().unwrap(), Refreshed::default(), "{what}, again");
            if expected.is_empty() && !what.starts_with("a skill that is not allowed") {
                assert_eq!(state(engine), before, "{what}");
            }
        }
    }
}

/// An edit that breaks the skill `plain`.
const BREAKS: &[(&str, Code, Edit)] = &[
    ("not UTF-8", Code::NotUtf8, |place| {
        place.write("user/plain/SKILL.md", b"---\ndescription: \xff\n---\n");
    }),
    ("half written", Code::EmptyFile, |place| place.write("user/plain/SKILL.md", "")),
    ("without a description", Code::NoDescription, |place| {
        place.write("user/plain/SKILL.md", "---\nname: plain\n---\n");
    }),
    ("no mapping", Code::NotAMapping, |place| {
        place.write("user/plain/SKILL.md", "---\n- a\n---\n");
    }),
];

fn found(engine: &Engine, code: Code) -> Option<Diagnostic> {
    engine.diagnostics().iter().find(|finding| finding.code == code).cloned()
}

#[test]
fn a_broken_edit_keeps_the_skill_as_it_was_until_it_is_mended() {
    for (what, code, edit) in BREAKS {
        let place = Place::new();
        let engine = place.engine();
        let disclosed = engine.disclose("plain words");
        assert_eq!(ids(&disclosed.full), ["plain"]);
        edit(&place);
        assert_eq!(signs(&engine.refresh().unwrap()), "!plain", "{what}");
        assert_eq!(engine.disclose("plain words"), disclosed, "{what}: what was read before");
        let file = place.path("user/plain/SKILL.md");
        assert_eq!(found(&engine, *code).unwrap().path, file, "{what}");
        let kept = found(&engine, Code::KeptBefore).unwrap();
        assert_eq!(kept.path, file);
        assert!(kept.message.contains("stays as it was"), "{kept}");
        // It is reported once, and known as long as it lasts.
        assert!(engine.refresh().unwrap().is_empty(), "{what}");
        place.skill("project/new", "New.", "");
        assert_eq!(signs(&engine.refresh().unwrap()), "+new", "{what}");
        assert!(found(&engine, Code::KeptBefore).is_some(), "{what}");
        // A program that starts now has no earlier version to keep.
        assert!(place.engine().catalog().get("plain").is_none(), "{what}");

        place.skill("user/plain", "Plain one.", "triggers: [plain words]");
        assert_eq!(signs(&engine.refresh().unwrap()), "", "{what}: mended");
        assert_eq!(found(&engine, *code), None, "{what}: mended");
        assert_eq!(state(&engine), state(&place.engine()), "{what}: mended");
        edit(&place);
        engine.refresh().unwrap();
        place.skill("user/plain", "Mended in another way.", "");
        assert_eq!(signs(&engine.refresh().unwrap()), "~plain", "{what}: mended in another way");
        edit(&place);
        engine.refresh().unwrap();
        place.remove("user/plain");
        assert_eq!(signs(&engine.refresh().unwrap()), "-plain", "{what}: gone");
        assert_eq!(state(&engine), state(&place.engine()), "{what}: gone");
    }
}

#[test]
fn a_kept_skill_has_its_own_instructions_or_says_that_they_are_gone() {
    for (what, code, edit) in BREAKS {
        for was_read in [false, true] {
            let what = format!("{what}, read before: {was_read}");
            let place = Place::new();
            let engine = place.engine();
            let session = engine.session("chat");
            if was_read {
                engine.activate("plain", "", &session).unwrap();
            }
            edit(&place);
            assert_eq!(signs(&engine.refresh().unwrap()), "!plain", "{what}");
            match engine.activate("plain", "", &session) {
                Ok(activation) => assert_eq!(activation.content, "The body.\n", "{what}"),
                Err(error) => {
                    assert!(!was_read, "{what}: {error:#}");
                    assert_eq!(error.code(), ErrorCode::ExecutionError, "{what}");
                    let says_why = error.message().contains("changed since the skill was loaded")
                        || *code == Code::NotUtf8 && error.message().contains("not UTF-8");
                    assert!(says_why && !error.help().is_empty(), "{what}: {error:#}");
                }
            }
            let disclosed = engine.disclose("plain words");
            assert_eq!(disclosed.full.is_empty(), !was_read, "{what}");
            assert!(disclosed.text.contains("plain"), "{what}: {}", disclosed.text);
        }
    }
}

#[test]
fn wherever_a_file_is_cut_off_its_instructions_are_whole_or_an_error() {
    let whole = "---\nname: plain\ndescription: Plain.\n---\nThe body.\n";
    for end in 0..whole.len() {
        for refreshes in [false, true] {
            let place = Place::new();
            place.write("user/plain/SKILL.md", whole);
            let engine = place.engine();
            place.write("user/plain/SKILL.md", &whole[..end]);
            let is_kept = !refreshes || signs(&engine.refresh().unwrap()) == "!plain";
            let activated = engine.activate("plain", "", &engine.session("chat"));
            match activated {
                Ok(activation) if is_kept => {
                    assert!(whole[..end].ends_with(&activation.content), "cut at {end}");
                    assert!(!activation.content.trim().is_empty(), "cut at {end}: nothing");
                }
                Ok(_) => {}
                Err(error) => assert_eq!(error.code(), ErrorCode::ExecutionError, "{error:#}"),
            }
        }
    }
}

#[test]
fn a_broken_head_above_the_same_body_costs_nothing() {
    let place = Place::new();
    let engine = place.engine();
    let too_deep = format!("---\na: {}\n---\nThe body.\n", "[".repeat(500));
    place.write("user/plain/SKILL.md", too_deep);
    assert_eq!(signs(&engine.refresh().unwrap()), "!plain");
    let activation = engine.activate("plain", "", &engine.session("chat")).unwrap();
    assert_eq!(activation.content, "The body.\n");
}

#[test]
fn instructions_are_of_the_version_of_the_manifest() {
    let write = |place: &Place, version: usize| {
        let text = format!("---\ndescription: Version {version}.\n---\nDo version {version}.\n");
        place.write("user/plain/SKILL.md", text);
    };
    let place = Place::new();
    write(&place, 1);
    let engine = place.engine();
    write(&place, 2);
    let session = engine.session("chat");
    let error = engine.activate("plain", "", &session).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError, "{error:#}");
    assert_eq!(session.state().unwrap().skills.len(), 0, "a failure is not noted");
    engine.refresh().unwrap();
    let activation = engine.activate("plain", "", &session).unwrap();
    assert_eq!(activation.content, "Do version 2.\n");
}

#[test]
fn only_what_changed_is_read_again() {
    let place = Place::new();
    let reads = reads::count();
    let engine = place.engine();
    let n_files = reads.take().len();
    assert!(n_files >= 8, "{n_files}");
    // Until a change would show in the time of a file, its content is compared.
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

/// Two skills whose triggers and texts only fit together in one version.
fn write_version(place: &Place, version: usize) {
    // Replaced as a whole, so that no reader of the file sees half of it.
    let fields = format!("name: both\ntriggers: [version {version}]");
    place.skill("new", &format!("Version {version}."), &fields);
    place.rename("new/SKILL.md", "project/both/SKILL.md");
}

/// Asks `engine` in several ways; panics if the answers do not fit together.
fn ask(engine: &Engine, n_versions: usize) {
    let catalog = engine.catalog();
    let both = catalog.get("both").unwrap();
    let version = both.skill.triggers();
    let text = format!("{:?} {}", version.keywords, both.skill.description());
    let is_of_one = |n: usize| {
        text.contains(&format!("version {n}\"")) && text.contains(&format!("Version {n}."))
    };
    assert!((0..n_versions).any(is_of_one), "{text}");
    // One disclosure shows one state: a match is listed with the text that matched.
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
