//! `repertoire update`, `outdated` and `remove`, after real changes in a repository.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::repository::{Daemon, Repository, skill};

/// Creates a place with the source `team`, which provides `deploy` from a repository.
fn with_team() -> (Place, Repository) {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    place.run(["add", &repository.url(), "--name", "team"]).exits(0);
    (place, repository)
}

/// Returns what `update` reports about its only source.
fn update(place: &Place, args: &[&str], code: i32) -> Value {
    let args = ["update", "--json"].into_iter().chain(args.iter().copied());
    place.run(args).exits(code).json()["sources"][0].clone()
}

fn lock(place: &Place) -> String {
    fs::read_to_string(place.path().join("home/.repertoire/skills.lock")).unwrap()
}

/// Replaces the skill file of `deploy`, and commits it.
fn change(repository: &Repository, fields: &str, body: &str) -> String {
    repository.write("skills/deploy/SKILL.md", &skill("deploy", fields, body));
    repository.commit()
}

#[test]
fn instructions_triggers_and_rights_are_shown_before_they_change() {
    let (place, repository) = with_team();
    assert_eq!(update(&place, &[], 0)["status"], "unchanged");
    place.run(["outdated"]).exits(0);

    let fields = "allowed-tools: [Bash]\nrights: {network: true}\ntrigger_phrases: [ship it]\n";
    let newest = change(&repository, fields, "Deploy it with great care.\nThen rest.\n");
    let outdated = place.run(["outdated", "--json"]).exits(1).json();
    assert_eq!(outdated["sources"][0]["newest"], newest);

    let before = lock(&place);
    let would = update(&place, &["--dry-run"], 0);
    let change = &would["changes"][0];
    assert_eq!((&would["to"], &change["id"]), (&json!(newest), &json!("deploy")));
    let instructions = change["instructions"].as_str().unwrap();
    assert!(instructions.contains("-Deploy it with care.\n+Deploy it with great care."));
    assert_eq!(change["triggers"]["added"], json!(["phrase: ship it"]));
    let rights =
        json!({"added": ["tool: Bash", "scripts use the network"], "removed": ["all tools"]});
    assert_eq!(change["rights"], rights);
    assert_eq!(change["files"], json!([]));

    let text = place.run(["update", "--dry-run"]).exits(0).stdout;
    for part in ["would update team", "+Deploy it with great care.", "+scripts use the network"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(lock(&place), before, "nothing is changed by it");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("with care"));

    assert_eq!(update(&place, &[], 0)["status"], "updated");
    assert_ne!(lock(&place), before);
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("great care"));
    assert_eq!(update(&place, &[], 0)["status"], "unchanged");
}

#[test]
fn code_that_changed_asks_for_trust_anew_and_code_that_did_not_stays_trusted() {
    let (place, repository) = with_team();
    repository.skill("skills/review", "review", "Review it.\n");
    repository.write("skills/review/scripts/same.sh", "echo same\n");
    repository.commit();
    place.run(["update"]).exits(0);
    place.run(["trust", "add", "deploy", "review", "--yes"]).exits(0);
    place.run(["run", "deploy", "go.sh"]).exits(0);

    repository.write("skills/deploy/scripts/go.sh", "echo changed\n");
    repository.write("skills/deploy/scripts/new.sh", "echo new\n");
    repository.skill("skills/review", "review", "Review it well.\n");
    repository.commit();
    let files = update(&place, &["--dry-run"], 0)["changes"][0]["files"].clone();
    let [go, new] = [&files[0], &files[1]];
    assert_eq!(
        (&go["path"], &go["kind"], &go["code"]),
        (&json!("scripts/go.sh"), &json!("changed"), &json!(true))
    );
    assert!(go["diff"].as_str().unwrap().contains("-echo gone\n+echo changed"), "{go}");
    assert_eq!((&new["path"], &new["kind"]), (&json!("scripts/new.sh"), &json!("added")));

    place.run(["update"]).exits(0);
    assert_eq!(place.run(["run", "review", "same.sh"]).exits(0).stdout, "same\n");
    let changed = place.run(["run", "deploy", "go.sh"]).exits(1).stderr;
    assert!(changed.contains("has changed since it was trusted"), "{changed}");
    // A script may start its neighbours, so a change of one stops all scripts of the skill.
    place.run(["run", "deploy", "new.sh"]).exits(1);
    place.run(["trust", "add", "deploy", "--yes"]).exits(0);
    assert_eq!(place.run(["run", "deploy", "go.sh"]).exits(0).stdout, "changed\n");
}

#[test]
fn a_source_that_vanishes_keeps_its_last_good_state_and_the_others_update() {
    let (place, repository) = with_team();
    let other = Repository::new();
    other.skill("skills/review", "review", "Review it.\n");
    other.commit();
    place.run(["add", &other.url(), "--name", "other"]).exits(0);
    other.skill("skills/review", "review", "Review it well.\n");
    other.commit();
    fs::rename(repository.path(), repository.path().with_extension("gone")).unwrap();

    let run = place.run(["update"]).exits(1);
    assert!(run.stderr.contains("the source `team`"), "{run:?}");
    assert!(run.stdout.contains("updated other"), "{run:?}");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    assert!(place.run(["use", "review"]).exits(0).stdout.contains("Review it well."));
    let listed = place.run(["list", "--json"]).exits(0).json();
    let findings = listed["diagnostics"].as_array().unwrap();
    let stale = findings.iter().find(|finding| finding["code"] == "source-stale").unwrap();
    assert!(stale["message"].as_str().unwrap().contains("`team`"), "{stale}");
    let doctor = place.run(["doctor"]);
    assert!(doctor.stdout.contains("as it was fetched last: cannot fetch file://"), "{doctor:?}");

    fs::rename(repository.path().with_extension("gone"), repository.path()).unwrap();
    place.run(["update"]).exits(0);
    let listed = place.run(["list", "--json"]).exits(0).stdout;
    assert!(!listed.contains("source-stale"), "{listed}");
}

#[test]
fn once_fetched_everything_works_without_git_and_without_a_network() {
    let (place, repository) = with_team();
    fs::remove_dir_all(repository.path()).unwrap();
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("PATH", "/nowhere");
        crate::binary::finish(command, b"")
    };
    assert!(run(&["disclose", "deploy it"]).exits(0).stdout.contains("with care"));
    // A copy that was removed is restored from the kept contents.
    fs::remove_dir_all(place.path().join("home/.local/share/repertoire/skills")).unwrap();
    let listed = run(&["list", "--json"]).exits(0).json();
    assert_eq!(listed["diagnostics"][0]["code"], "source-not-fetched", "{listed}");
    let doctor = run(&["doctor"]);
    assert!(doctor.stdout.contains("it was not fetched on this machine"), "{doctor:?}");
    assert!(doctor.stdout.contains("`repertoire update team --frozen`"), "{doctor:?}");
    run(&["update", "--frozen"]).exits(0);
    assert!(run(&["disclose", "deploy it"]).exits(0).stdout.contains("with care"));
}

#[test]
fn frozen_takes_exactly_what_is_pinned_or_fails() {
    let place = Place::new();
    let repository = Repository::with_deploy();
    let daemon = Daemon::start(repository.path().parent().unwrap());
    let url = daemon.remote_url(&place, "repo");
    place.run(["add", &url, "--project", "--name", "team"]).exits(0);
    change(&repository, "", "Deploy it with great care.\n");
    let files = |from: &Place, to: &Place| {
        for name in [".repertoire/config.toml", ".repertoire/skills.lock"] {
            to.write(name, fs::read(from.path().join(name)).unwrap());
        }
    };

    // Another machine has the files of the project, and gets the pinned state.
    let second = Place::new();
    daemon.remote_url(&second, "repo");
    files(&place, &second);
    let frozen = update(&second, &["--frozen"], 0);
    assert_eq!(frozen["status"], "installed", "{frozen}");
    assert!(second.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    assert_eq!(update(&second, &["--frozen"], 0)["status"], "unchanged");

    // A lock file that does not match the source or its settings is rejected.
    let lock = second.path().join(".repertoire/skills.lock");
    let text = fs::read_to_string(&lock).unwrap();
    let hash = text.split("\"sha256\": \"").nth(1).unwrap()[..64].to_owned();
    for (text, code) in [
        (text.replace(&hash, &"0".repeat(64)), "PERMISSION_DENIED"),
        (text.replace("\"team\"", "\"other\""), "INVALID_PARAM"),
        (text.replace("\"team\"", "\"../x\""), "INVALID_PARAM"),
        (text.replace("deploy/SKILL.md", "../SKILL.md"), "INVALID_PARAM"),
        (text.replace("git://", "ssh://"), "INVALID_PARAM"),
        ("{".to_owned(), "INVALID_PARAM"),
    ] {
        fs::write(&lock, &text).unwrap();
        let failed = update(&second, &["--frozen"], 1);
        assert_eq!(failed["error"]["code"], code, "{failed}");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains("skills.lock"), "{message}");
        assert_eq!(fs::read_to_string(&lock).unwrap(), text, "it is never written");
        assert!(second.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    }
    drop(daemon);
    files(&place, &second);
    assert_eq!(update(&second, &["--frozen"], 0)["status"], "unchanged", "without the server");
}

#[test]
fn a_revision_means_the_same_to_add_outdated_and_update() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    for tag in ["v1", "both", "v1.2.0+5"] {
        repository.git(&["tag", "-a", tag, "-m", "tagged"]);
    }
    repository.commit();
    for branch in ["both", "a+b", "c{d}"] {
        repository.git(&["branch", branch]);
    }
    for rev in [
        "main", "heads/main", "refs/heads/main", "v1", "tags/v1", "refs/tags/v1", "both",
        "heads/both", "v1.2.0+5", "a+b", "c{d}",
    ] {
        let added = place.run(["add", &repository.url(), "--name", "it", "--rev", rev, "--json"]);
        let commit = repository.git(&["rev-parse", &format!("{rev}^{{commit}}")]);
        assert_eq!(added.exits(0).json()["revision"], commit.trim(), "{rev}");
        let outdated = place.run(["outdated", "--json"]).exits(0).json();
        assert_eq!(outdated["sources"][0]["newest"], commit.trim(), "{rev}");
        assert_eq!(update(&place, &[], 0)["status"], "unchanged", "{rev}");
        place.run(["remove", "it"]).exits(0);
    }
}

#[test]
fn a_repository_with_sha_256_is_fetched_like_any_other() {
    let (place, repository) = (Place::new(), Repository::new());
    fs::remove_dir_all(repository.path().join(".git")).unwrap();
    repository.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    repository.skill("skills/deploy", "deploy", "Deploy it with care.\n");
    let first = repository.commit();
    let url = repository.url();
    for args in [&["--name", "team"][..], &["--name", "part", "--rev", &first[..10]]] {
        let added = place.run(["add", &url, "--json"].iter().chain(args)).exits(0).json();
        assert_eq!(added["revision"], first);
    }
    place.run(["remove", "part"]).exits(0);
    // Now the pinned commit is fetched by its hash.
    for dir in [".cache/repertoire/fetch", ".local/share/repertoire/skills"] {
        fs::remove_dir_all(place.path().join("home").join(dir)).unwrap();
    }
    assert_eq!(update(&place, &["--frozen"], 0)["status"], "installed");
    change(&repository, "", "Deploy it with great care.\n");
    assert_eq!(update(&place, &[], 0)["status"], "updated");
    let other = Repository::with_deploy();
    let run = place.run(["add", &other.url(), "--name", "other", "--rev", &first]).exits(1);
    assert!(run.stderr.contains(&format!("no branch, tag or commit `{first}`")), "{run:?}");
}

#[test]
fn damaged_contents_are_all_replaced_by_one_run() {
    let (place, repository) = with_team();
    let cache = place.path().join("home/.cache/repertoire/fetch");
    let add = ["add", &repository.url(), "--name", "team"];
    for args in [&["update", "--frozen"][..], &add] {
        let objects = walkdir::WalkDir::new(cache.join("objects")).into_iter().map(Result::unwrap);
        let is_content = |file: &walkdir::DirEntry| file.depth() == 2;
        let contents: Vec<_> = objects.filter(is_content).collect();
        assert!(contents.len() > 1, "{contents:?}");
        for (nth, file) in contents.iter().enumerate() {
            let length = file.metadata().unwrap().len() as usize;
            fs::write(file.path(), "x".repeat(if nth == 0 { 0 } else { length })).unwrap();
        }
        fs::remove_dir_all(place.path().join("home/.local/share/repertoire/skills")).unwrap();
        place.run(args).exits(0);
        assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    }
}

#[test]
fn files_of_a_copy_that_were_changed_removed_or_added_are_found_and_restored() {
    let (place, _repository) = with_team();
    let listed = place.run(["list", "--json"]).exits(0).json();
    let skills = listed["skills"].as_array().unwrap();
    let deploy = skills.iter().find(|skill| skill["id"] == "deploy").unwrap();
    let copy = Path::new(deploy["path"].as_str().unwrap()).ancestors().nth(2).unwrap();
    let write = |name: &str| {
        fs::create_dir_all(copy.join(name).parent().unwrap()).unwrap();
        fs::write(copy.join(name), skill("other", "", "Changed.\n")).unwrap();
    };
    for (name, change) in [
        ("deploy/scripts/go.sh", &write as &dyn Fn(&str)),
        ("deploy/scripts/go.sh", &|name| fs::remove_file(copy.join(name)).unwrap()),
        ("deploy/scripts/new.sh", &write),
        ("other/SKILL.md", &write),
    ] {
        change(name);
        let doctor = place.run(["doctor"]).stdout;
        let finding = format!("{name} was changed, removed or added after the fetch");
        assert!(doctor.contains(&finding), "{name}: {doctor}");
        assert_eq!(update(&place, &["--frozen"], 0)["status"], "installed", "{name}");
        assert_eq!(update(&place, &["--frozen"], 0)["status"], "unchanged", "{name}");
    }
    write("deploy/scripts/__pycache__/go.pyc");
    assert_eq!(update(&place, &["--frozen"], 0)["status"], "unchanged");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_lock_file_is_an_error_and_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (place, _repository) = with_team();
    let path = place.path().join("home/.repertoire/skills.lock");
    fs::remove_file(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let run = place.run(["update"]).exits(1);
    assert!(run.stderr.contains("skills.lock is not a file"), "{run:?}");
}

#[test]
fn a_directory_and_settings_that_change_are_updated() {
    let place = Place::new();
    for name in ["alpha", "beta"] {
        place.write(&format!("kit/{name}/SKILL.md"), skill(name, "", "Do it.\n"));
    }
    place.run(["add", "./kit"]).exits(0);
    assert_eq!(update(&place, &[], 0)["status"], "unchanged");
    place.write("kit/alpha/SKILL.md", skill("alpha", "", "Do it anew.\n"));
    place.run(["outdated"]).exits(1);
    assert_eq!(update(&place, &[], 0)["changes"][0]["id"], "alpha");

    let config = place.path().join("home/.repertoire/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text + "skills = [\"beta\"]\n").unwrap();
    let frozen = update(&place, &["--frozen"], 1);
    assert!(
        frozen["error"]["help"].as_str().unwrap().contains("repertoire update kit"),
        "{frozen}"
    );
    let removed = update(&place, &[], 0);
    assert_eq!(removed["changes"][0]["kind"], "removed", "{removed}");
    place.run(["use", "alpha"]).exits(1);
    place.run(["use", "beta"]).exits(0);
}

#[test]
fn what_is_removed_is_gone_and_nothing_else_is() {
    let (place, _repository) = with_team();
    let config = place.path().join("home/.repertoire/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("# mine\n[limits]\nmax_skills = 2 # two\n\n{text}")).unwrap();
    place.run(["remove", "other"]).exits(1);
    let elsewhere = place.run(["remove", "team", "--project"]).exits(1);
    assert!(elsewhere.stderr.contains("home/.repertoire"), "{elsewhere:?}");
    place.run(["remove", "team"]).exits(0);
    assert_eq!(fs::read_to_string(&config).unwrap(), "# mine\n[limits]\nmax_skills = 2 # two\n");
    assert!(!place.path().join("home/.repertoire/skills.lock").exists());
    place.run(["use", "deploy"]).exits(1);
}

#[test]
fn a_setting_with_an_invalid_value_is_told_of() {
    let (place, _repository) = with_team();
    let config = place.path().join("home/.repertoire/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text + "refresh = \"5s\"\n").unwrap();
    for command in ["update", "outdated"] {
        let run = place.run([command]).exits(0);
        assert!(run.stderr.contains("config.toml:3:11: warning[invalid-value]"), "{run:?}");
    }
}
