//! Collection of contents that nothing uses; contents that a lock file pins must stay.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use repertoire_fetch::Fetcher;
use serde_json::json;

use crate::binary::Place;
use crate::repository::Repository;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the directory of everything that was fetched at a place.
fn cache(place: &Place) -> PathBuf {
    place.path().join("home/.cache/repertoire/fetch")
}

/// Returns the kept contents, as texts.
fn contents(place: &Place) -> Vec<String> {
    let files = walkdir::WalkDir::new(cache(place).join("objects")).into_iter();
    let files = files.map(Result::unwrap).filter(|file| file.file_type().is_file());
    let files = files.filter(|file| file.file_name() != ".lock");
    let mut texts: Vec<String> =
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    texts.sort();
    texts
}

/// Makes all contents look as if they were last used this many days ago.
fn age(place: &Place, n_days: u32) {
    age_below(&cache(place).join("objects"), n_days);
}

/// Makes a file, or everything below a directory, look as if it was last changed this many days ago.
fn age_below(path: &Path, n_days: u32) {
    for entry in walkdir::WalkDir::new(path).contents_first(true) {
        let file = File::open(entry.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - n_days * DAY).unwrap();
    }
}

/// Creates a repository whose skill has a note with this text.
fn repository(name: &str, note: &str) -> Repository {
    let repository = Repository::new();
    repository.skill(&format!("skills/{name}"), name, "Do.\n");
    repository.write(&format!("skills/{name}/note.md"), note);
    repository.commit();
    repository
}

#[test]
fn contents_are_collected_once_nothing_pins_or_uses_them() {
    let (place, one) = (Place::new(), repository("one", "first\n"));
    place.run(["add", &one.url(), "--name", "one"]).exits(0);
    one.write("skills/one/note.md", "second\n");
    one.commit();
    let updated = place.run(["update", "--json"]).exits(0).json();
    assert_eq!(updated["collected"], 0, "it was used a moment ago");
    assert!(contents(&place).contains(&"first\n".to_owned()));

    age(&place, 29);
    assert_eq!(place.run(["update", "--json"]).exits(0).json()["collected"], 0);
    age(&place, 31);
    let cache = place.run(["doctor", "--json"]).json()["fetch_cache"].clone();
    assert_eq!((&cache["files"], &cache["unused"]), (&json!(3), &json!(1)), "{cache}");
    let text = place.run(["doctor"]).stdout;
    assert!(text.contains("cache: 3 files") && text.contains("1 unused for 30 days"), "{text}");
    assert_eq!(place.run(["update", "--dry-run", "--json"]).exits(0).json()["collected"], 0);
    let update = place.run(["update"]).exits(0);
    assert!(update.stderr.contains("1 unused file of 1 KiB removed"), "{update:?}");
    let left = contents(&place);
    assert!(!left.contains(&"first\n".to_owned()) && left.contains(&"second\n".to_owned()));

    // A pinned content is installed again without the repository, however old it is.
    age(&place, 400);
    fs::remove_dir_all(one.path()).unwrap();
    fs::remove_dir_all(place.path().join("home/.local/share/repertoire/skills")).unwrap();
    place.run(["update", "--frozen"]).exits(0);
    assert!(place.run(["use", "one"]).exits(0).stdout.contains("Do."));

    age(&place, 31);
    let removed = place.run(["remove", "one", "--json"]).exits(0).json();
    assert_eq!(removed["collected"], 2, "{removed}");
    assert_eq!(contents(&place), Vec::<String>::new());
}

#[test]
fn contents_that_another_project_pins_stay() {
    let (place, one, two) = (Place::new(), repository("one", "1\n"), repository("two", "2\n"));
    let project = place.path().join("elsewhere");
    fs::create_dir_all(project.join("kit/skills")).unwrap();
    crate::repository::copy(&two.path().join("skills"), &project.join("kit/skills"));
    let project = project.to_str().unwrap();
    let kit = format!("{project}/kit");
    place.run(["add", &kit, "--name", "two", "--project", project]).exits(0);
    place.run(["add", &one.url(), "--name", "one"]).exits(0);
    age(&place, 31);
    let removed = place.run(["remove", "one", "--json"]).exits(0).json();
    assert_eq!(removed["collected"], 2, "{removed}");
    assert!(contents(&place).contains(&"2\n".to_owned()), "{:?}", contents(&place));

    // If it cannot be determined what is pinned, nothing is collected.
    place.run(["add", &one.url(), "--name", "one"]).exits(0);
    let lock = format!("{project}/.repertoire/skills.lock");
    let pinned = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, "damaged").unwrap();
    age(&place, 31);
    let n_before = contents(&place).len();
    assert_eq!(place.run(["remove", "one", "--json"]).exits(0).json()["collected"], 0);
    assert_eq!(contents(&place).len(), n_before);
    let installed = place.path().join("home/.local/share/repertoire");
    let fetcher = Fetcher::new(cache(&place)).installed_in(installed);
    assert!(fetcher.collect(Duration::ZERO).unwrap_err().message().contains("skills.lock"));

    fs::write(&lock, pinned).unwrap();
    let kept = fetcher.kept(Duration::ZERO).unwrap();
    assert_eq!((kept.files, kept.unused), (4, 2));
    assert_eq!(fetcher.collect(Duration::ZERO).unwrap(), kept);
    assert_eq!(fetcher.kept(Duration::ZERO).unwrap().files, 2);
}

#[test]
fn copies_of_a_project_that_is_gone_are_collected_and_no_others() {
    let (place, one) = (Place::new(), repository("one", "1\n"));
    let projects = ["gone", "young", "there"].map(|name| place.path().join(name));
    for project in &projects {
        fs::create_dir_all(project.join("kit")).unwrap();
        crate::repository::copy(&one.path().join("skills"), &project.join("kit/skills"));
        let kit = project.join("kit");
        let add = ["add", kit.to_str().unwrap(), "--project", project.to_str().unwrap()];
        place.run(add).exits(0);
    }
    place.run(["add", &one.url(), "--name", "one"]).exits(0);
    let copies_of = |project: &Path| {
        let projects = place.path().join("home/.local/share/repertoire/projects");
        let dirs = fs::read_dir(projects).unwrap();
        let is_of = |dir: &PathBuf| {
            let of = fs::read_to_string(dir.join(".config-dir")).unwrap();
            Path::new(&of).starts_with(project.canonicalize().unwrap_or(project.to_owned()))
        };
        dirs.map(|dir| dir.unwrap().path()).find(is_of)
    };
    for project in &projects {
        age_below(&copies_of(project).unwrap(), 31);
    }
    let [gone, young, there] = &projects;
    // Pretend that this source was asked for updates a moment ago.
    let state = copies_of(young).unwrap().join("kit.json");
    File::open(state).unwrap().set_modified(SystemTime::now()).unwrap();
    let kept = copies_of(gone).unwrap();
    fs::remove_dir_all(gone).unwrap();
    fs::remove_dir_all(young).unwrap();
    // Another process is working on these copies.
    let lock = File::open(kept.join(".lock")).unwrap();
    lock.lock().unwrap();
    place.run(["update"]).exits(0);
    assert!(kept.exists());
    drop(lock);
    place.run(["update"]).exits(0);
    assert!(!kept.exists());
    assert!(copies_of(young).is_some() && copies_of(there).is_some());
    assert!(place.run(["use", "one"]).exits(0).stdout.contains("Do."));
}

#[test]
fn answers_that_were_not_used_for_long_are_collected() {
    let (place, one) = (Place::new(), repository("one", "1\n"));
    place.run(["add", &one.url(), "--name", "one"]).exits(0);
    let answers = cache(&place).join("answers");
    fs::create_dir_all(&answers).unwrap();
    for (name, n_days) in [("old.json", 31), (".repertoire-killed", 31), ("young.json", 29)] {
        fs::write(answers.join(name), "{}").unwrap();
        age_below(&answers.join(name), n_days);
    }
    place.run(["update"]).exits(0);
    let left = fs::read_dir(&answers).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.eq(["young.json"]));
}

#[test]
fn copies_of_toolsets_that_were_not_used_for_long_are_collected() {
    let (place, one) = (Place::new(), repository("one", "1\n"));
    place.run(["add", &one.url(), "--name", "one"]).exits(0);
    let plugins = place.path().join("home/.cache/repertoire/plugins");
    let names = [format!("{}.skill", "0a".repeat(32)), format!("{}.tools", "0b".repeat(32))];
    for name in &names {
        fs::create_dir_all(plugins.join(name)).unwrap();
        fs::write(plugins.join(name).join("SKILL.md"), "x").unwrap();
        age_below(&plugins.join(name), 31);
    }
    // An engine is running code in one of the directories.
    let lock = File::create(plugins.join(".lock")).unwrap();
    lock.lock_shared().unwrap();
    place.run(["update"]).exits(0);
    assert!(names.iter().all(|name| plugins.join(name).exists()));
    drop(lock);
    place.run(["remove", "one"]).exits(0);
    assert!(names.iter().all(|name| !plugins.join(name).exists()));
}
