//! Snapshots of skills and their index. Whatever happens to the skills, the snapshots and the disk, the
//! answers must be the same, only faster.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "so does what runs the binary")]

#[path = "../support/binary.rs"]
mod binary;
mod damage;
#[cfg(unix)]
mod hook;
#[cfg(feature = "transformer")]
mod hurry;
#[path = "../../../../tests/support/reads.rs"]
mod reads;
#[path = "../../../../tests/support/mod.rs"]
mod support;
#[cfg(feature = "transformer")]
#[path = "../support/transformer.rs"]
mod transformer;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use repertoire::catalog::Environment;
use repertoire::{Allowlist, Engine, EngineBuilder, SnapshotCache, Source};
use tempfile::TempDir;

/// The age at which a changed file counts as settled. Until all files are, no snapshot is kept.
const SETTLED: Duration = Duration::from_millis(2200);

type Build<'a> = &'a dyn Fn() -> EngineBuilder;

/// Builds an engine that uses `cache`. The second value is true if the engine came from a snapshot.
fn cached(build: Build<'_>, cache: &SnapshotCache) -> (Engine, bool) {
    let engine = build().cache(cache.clone()).build().unwrap();
    let cache_use = engine.cache_use();
    assert_eq!(cache_use.problems, [""; 0]);
    let used = cache_use.used;
    (engine, used)
}

/// Returns everything that an engine answers, as text.
fn answers(engine: &Engine) -> String {
    // Print the catalog before any body is read, because bodies are not part of it.
    let mut answers = format!("{:#?}", engine.catalog());
    let catalog = engine.catalog();
    let mut queries = vec!["what can you do?".to_owned(), "show all skills".to_owned()];
    for entry in catalog.entries() {
        let triggers = entry.skill.triggers();
        let texts = [&triggers.keywords, &triggers.verbs, &triggers.patterns, &triggers.exclude];
        queries.extend(texts.into_iter().flatten().map(|text| format!("x {}, y", text.value)));
        queries.push(format!("use the skill {}", entry.id));
        queries.push(entry.skill.brief().to_owned());
    }
    // Take a sample of the queries, whatever the number of skills.
    let some = |n_queries: usize| queries.iter().step_by(queries.len().div_ceil(n_queries));
    for query in some(100) {
        let explained = engine.explain(query, 5);
        let _ = write!(answers, "\n{query}: {explained:?}");
    }
    for query in some(20) {
        let _ = write!(answers, "\n{query}: {:?}", engine.disclose(query));
    }
    let _ = write!(answers, "\n{:?}", engine.prompt());
    answers
}

/// Asserts that both engines answer the same, without printing all answers.
fn assert_same(what: &str, one: &Engine, other: &Engine) {
    assert_answers(what, &answers(one), other);
}

fn assert_answers(what: &str, one: &str, other: &Engine) {
    let other = answers(other);
    let differs = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    assert!(one == other, "{what}: {differs:?}");
}

#[test]
fn a_snapshot_answers_as_the_skills_do() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut sources = vec![root.join("skills")];
    sources.extend(support::shared("conformance"));
    sources.extend(support::shared("corpus/skills"));
    for source in &sources {
        let build = || Engine::builder().source(Source::bundled(source));
        let dir = TempDir::new().unwrap();
        let cache = SnapshotCache::new(dir.path());
        let (fresh, was_kept) = (build().build().unwrap(), cached(&build, &cache).1);
        assert!(!was_kept);
        // The files of a fresh checkout may not be settled yet.
        if cache.files().unwrap().is_empty() {
            std::thread::sleep(SETTLED);
            assert!(!cached(&build, &cache).1);
        }
        let (kept, used) = cached(&build, &cache);
        assert!(used, "{}", source.display());
        assert_same(&source.display().to_string(), &fresh, &kept);
    }
}

/// Skills, and the settings that affect them.
struct Scene {
    dir: TempDir,
    variables: BTreeMap<&'static str, String>,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { dir: TempDir::new().unwrap(), variables: BTreeMap::new() };
        scene.skill("skills/deploy", "triggers: [deploy]");
        scene.skill("skills/team/review", "triggers: {patterns: ['look (at|over) it']}");
        scene.skill("skills/token", "triggers: [token]\nrequires_env: [TOKEN]");
        scene.skill("skills/tool", "triggers: [tool]\nrequires_bins: [tool]");
        scene.skill("skills/optional", "triggers: [optional]\ndefault_enabled: false");
        scene.skill("elsewhere/deploy", "triggers: [elsewhere]");
        scene.write("skills/broken/SKILL.md", "");
        for dir in ["skills/empty", "bin"] {
            fs::create_dir_all(scene.path(dir)).unwrap();
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, name: &str, keys: &str) {
        let text = format!("---\ndescription: Does it.\n{keys}\nmetadata: {{x: 1.5}}\n---\nSo.\n");
        self.write(&format!("{name}/SKILL.md"), &text);
    }

    fn build(&self) -> EngineBuilder {
        let mut variables = self.variables.clone();
        variables.insert("PATH", self.path("bin").display().to_string());
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Engine::builder()
            .source(Source::bundled(self.path("skills")))
            .source(Source::user(self.path("later")).optional())
            .environment(Environment::Fixed(variables.collect()))
    }

    fn cache(&self) -> SnapshotCache {
        SnapshotCache::new(self.path("cache"))
    }
}

type Change = fn(&mut Scene);

/// Changes, each of which some cheaper check would miss.
const CHANGES: &[(&str, Change)] = &[
    ("content", |scene| scene.skill("skills/deploy", "triggers: [release]")),
    ("content of the same length, with the time set back", |scene| {
        let path = scene.path("skills/deploy/SKILL.md");
        let time = path.metadata().unwrap().modified().unwrap();
        scene.skill("skills/deploy", "triggers: [beploy]");
        fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }),
    ("another file renamed to it", |scene| {
        scene.skill("new", "triggers: [renamed]");
        fs::rename(scene.path("new/SKILL.md"), scene.path("skills/deploy/SKILL.md")).unwrap();
    }),
    ("a new skill", |scene| scene.skill("skills/new", "triggers: [new]")),
    ("a new skill in a directory that was there", |scene| {
        scene.skill("skills/empty", "triggers: [empty]");
    }),
    ("a new skill above another", |scene| scene.skill("skills/team", "triggers: [team]")),
    ("a skill that went", |scene| fs::remove_dir_all(scene.path("skills/deploy")).unwrap()),
    ("a file that went", |scene| fs::remove_file(scene.path("skills/deploy/SKILL.md")).unwrap()),
    ("a renamed directory", |scene| {
        fs::rename(scene.path("skills/deploy"), scene.path("skills/ship")).unwrap();
    }),
    ("a better spelling of the name", |scene| {
        fs::rename(scene.path("skills/deploy/SKILL.md"), scene.path("skills/deploy/skill.md"))
            .unwrap();
    }),
    ("a file that was broken", |scene| scene.skill("skills/broken", "triggers: [mended]")),
    ("a file that breaks", |scene| scene.write("skills/deploy/SKILL.md", "")),
    ("a source that comes", |scene| scene.skill("later/deploy", "triggers: [later]")),
    ("a source that goes", |scene| fs::remove_dir_all(scene.path("skills")).unwrap()),
    ("a variable that is set", |scene| {
        scene.variables.insert("TOKEN", "1".to_owned());
    }),
    #[cfg(unix)]
    ("a program that comes", |scene| {
        use std::os::unix::fs::PermissionsExt as _;
        scene.write("bin/tool", "#!/bin/sh\n");
        fs::set_permissions(scene.path("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    }),
    #[cfg(unix)]
    ("a source that is a link to another place now", |scene| {
        fs::rename(scene.path("skills"), scene.path("was")).unwrap();
        std::os::unix::fs::symlink("elsewhere", scene.path("skills")).unwrap();
    }),
    #[cfg(unix)]
    ("a link that leads elsewhere", |scene| {
        fs::remove_dir_all(scene.path("skills/deploy")).unwrap();
        std::os::unix::fs::symlink("team/review", scene.path("skills/deploy")).unwrap();
    }),
];

#[test]
fn no_change_goes_unseen() {
    let mut scenes: Vec<Scene> = CHANGES.iter().map(|_| Scene::new()).collect();
    std::thread::sleep(SETTLED);
    for (scene, (what, change)) in scenes.iter_mut().zip(CHANGES) {
        let cache = scene.cache();
        assert!(!cached(&|| scene.build(), &cache).1);
        assert!(cached(&|| scene.build(), &cache).1, "{what}: it is used while nothing changes");
        change(scene);
        let (now, used) = cached(&|| scene.build(), &cache);
        assert!(!used, "{what}");
        assert_same(what, &scene.build().build().unwrap(), &now);
    }
    // Once everything has settled, snapshots are written again.
    std::thread::sleep(SETTLED);
    for (scene, (what, _)) in scenes.iter().zip(CHANGES) {
        let cache = scene.cache();
        cached(&|| scene.build(), &cache);
        let (now, used) = cached(&|| scene.build(), &cache);
        assert!(used, "{what}");
        assert_same(what, &scene.build().build().unwrap(), &now);
    }
}

#[test]
fn what_is_asked_for_otherwise_has_a_snapshot_of_its_own() {
    let scene = Scene::new();
    std::thread::sleep(SETTLED);
    let cache = scene.cache();
    let only = |names: &[&str]| Allowlist::from_entries(Some(names));
    let builds: [(&str, Build<'_>); 9] = [
        ("plain", &|| scene.build()),
        ("an allowlist", &|| scene.build().allow(only(&["deploy"]))),
        ("another allowlist", &|| scene.build().allow(only(&["tool"]))),
        ("an allowlist of nothing", &|| scene.build().allow(only(&[]))),
        ("another brand", &|| scene.build().brand("acme")),
        ("a skill that is on", &|| scene.build().enable("optional")),
        ("inflections", &|| scene.build().inflect(true)),
        ("a source more", &|| scene.build().source(Source::user(scene.path("elsewhere")))),
        ("the same of another scope", &|| {
            scene.build().source(Source::project(scene.path("elsewhere")))
        }),
    ];
    for (what, build) in builds {
        assert!(!cached(build, &cache).1, "{what}");
    }
    assert_eq!(cache.files().unwrap().len(), builds.len());
    for (what, build) in builds {
        let (kept, used) = cached(build, &cache);
        assert!(used, "{what}");
        assert_same(what, &build().build().unwrap(), &kept);
    }
}

#[test]
fn skills_in_memory_and_what_just_changed_are_not_kept() {
    let scene = Scene::new();
    let cache = scene.cache();
    assert!(!cached(&|| scene.build(), &cache).1);
    assert_eq!(cache.files().unwrap(), [], "it may change again and look the same");
    std::thread::sleep(SETTLED);
    let skill = "---\nname: made\ndescription: d\ntriggers: [made]\n---\n";
    let build = || scene.build().skill(skill.parse().unwrap());
    for _ in 0..2 {
        let (engine, used) = cached(&build, &cache);
        assert!(!used && engine.disclose("made").full == ["made"]);
    }
    assert_eq!(cache.files().unwrap(), []);
}

#[test]
fn an_engine_of_a_snapshot_is_refreshed_like_any_other() {
    let scene = Scene::new();
    std::thread::sleep(SETTLED);
    cached(&|| scene.build(), &scene.cache());
    let (engine, used) = cached(&|| scene.build(), &scene.cache());
    assert!(used && engine.refresh().unwrap().is_empty());
    scene.skill("skills/new", "triggers: [new]");
    scene.skill("skills/deploy", "triggers: [release]");
    let refreshed = engine.refresh().unwrap();
    assert_eq!((refreshed.added, refreshed.removed.len()), (vec!["new".into()], 0));
    assert!(refreshed.changed.contains(&"deploy".into()));
    assert_same("refreshed", &scene.build().build().unwrap(), &engine);
}

#[test]
fn an_engine_of_a_snapshot_remembers_as_if_it_had_read_the_skills() {
    let scene = Scene::new();
    std::thread::sleep(SETTLED);
    cached(&|| scene.build(), &scene.cache());
    let (engine, used) = cached(&|| scene.build(), &scene.cache());
    let read = scene.build().build().unwrap();
    assert!(used);
    let reads = reads::count();
    let deploy = scene.path("skills/deploy/SKILL.md");
    let text = fs::read_to_string(&deploy).unwrap();
    for (what, text) in [("touched", text.as_str()), ("broken", ""), ("mended", text.as_str())] {
        fs::write(&deploy, text).unwrap();
        let refreshed = engine.refresh().unwrap();
        assert_eq!(reads.take(), std::slice::from_ref(&deploy), "{what}");
        assert_eq!(refreshed, read.refresh().unwrap(), "{what}");
        assert_eq!(refreshed.kept.contains(&"deploy".into()), what == "broken", "{what}");
        for engine in [&engine, &read] {
            assert_eq!(engine.disclose("deploy").full, ["deploy"], "{what}");
        }
        reads.take();
    }
    assert_same("in the end", &read, &engine);
}

#[test]
fn after_a_change_only_what_changed_is_read_again() {
    let scene = Scene { dir: TempDir::new().unwrap(), variables: BTreeMap::new() };
    let skill = |n: usize, word: &str| {
        scene.skill(&format!("skills/s{n}"), &format!("triggers: [{word}, 'all of it', w{n}]"));
    };
    (0..60).for_each(|n| skill(n, "first"));
    std::thread::sleep(SETTLED);
    let cache = scene.cache();
    assert!(!cached(&|| scene.build(), &cache).1);
    let file = |n: usize| scene.path(&format!("skills/s{n}/SKILL.md"));
    let size = || cache.files().unwrap()[0].size;
    let size_of_first = size();
    // In the last round so much has changed that everything is compiled again.
    for round in 1..4 {
        let changed: Vec<usize> = (round..60).step_by(20 / round).collect();
        for &n in &changed {
            skill(n, &format!("round{round}"));
        }
        skill(100 + round, "first");
        fs::remove_dir_all(scene.path(&format!("skills/s{}", 10 + round))).unwrap();
        let there = changed.iter().copied().filter(|n| !(11..=10 + round).contains(n));
        let mut wanted: Vec<_> = there.chain([100 + round]).map(file).collect();
        wanted.sort();
        for settled in [false, true] {
            let reads = reads::count();
            let (engine, used) = cached(&|| scene.build(), &cache);
            let mut read = reads.take();
            drop(reads);
            read.sort();
            assert!(!used && read == wanted, "round {round}, used {used}: {read:?}");
            assert_same(&format!("round {round}"), &scene.build().build().unwrap(), &engine);
            if !settled {
                std::thread::sleep(SETTLED);
            }
        }
        let reads = reads::count();
        let (engine, used) = cached(&|| scene.build(), &cache);
        assert!(used && reads.take().is_empty(), "round {round}");
        drop(reads);
        assert_same(&format!("round {round}, kept"), &scene.build().build().unwrap(), &engine);
    }
    assert!(size() < 2 * size_of_first);
}

#[test]
fn changes_that_take_too_long_to_compile_are_left_to_a_refresh() {
    let dir = TempDir::new().unwrap();
    let cache = SnapshotCache::new(dir.path().join("cache"));
    let skills = dir.path().join("skills");
    let write = |word: &str| {
        let text = format!(
            "---\nname: one\ndescription: d\ntriggers: [{{keywords: [{word}]}}]\n---\nB.\n"
        );
        fs::create_dir_all(skills.join("one")).unwrap();
        fs::write(skills.join("one/SKILL.md"), text).unwrap();
    };
    let build = || Engine::builder().source(Source::user(&skills)).cache(cache.clone());
    write("before");
    std::thread::sleep(SETTLED);
    assert!(build().max_compile_time(Duration::ZERO).build().unwrap().cache_use().written);
    write("afterwards");

    let patient = Duration::from_secs(60);
    for (limit, is_stale) in [(Duration::ZERO, true), (patient, false)] {
        let engine = build().max_compile_time(limit).build().unwrap();
        assert_eq!(engine.cache_use().stale, is_stale, "{limit:?}");
        assert_eq!(engine.matches("before").len(), usize::from(is_stale));
        assert_eq!(engine.matches("afterwards").len(), usize::from(!is_stale));
        engine.refresh().unwrap();
        assert_eq!(engine.matches("afterwards").len(), 1, "a refresh takes the change up");
    }
}
