//! Pushes to files: archives are reproducible, and invalid addresses are rejected.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::binary::Place;
use crate::repository::skill;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Writes a source with two skills. `is_backwards` reverses the order in which its files are written.
pub(crate) fn write_kit(place: &Place, dir: &str, is_backwards: bool) {
    let mut files = vec![
        ("deploy/SKILL.md", skill("deploy", "", "Deploy it with care.\n")),
        ("deploy/scripts/go.sh", "#!/bin/sh\necho gone\n".to_owned()),
        ("build/SKILL.md", skill("build", "", "Build it.\n")),
        ("README.md", "Of no skill.\n".to_owned()),
    ];
    if is_backwards {
        files.reverse();
    }
    for (name, text) in files {
        place.write(&format!("{dir}/skills/{name}"), text);
    }
    set_mode(&place.path().join(dir).join("skills/deploy/scripts/go.sh"), 0o755);
}

#[test]
fn the_same_tree_is_packed_into_the_same_bytes_and_can_be_added() {
    let place = Place::new();
    let push = |dir: &str, to: &str| place.run(["push", dir, to, "--json"]).exits(0).json();
    write_kit(&place, "one", false);
    let first = push("./one", "one.tar.gz");
    assert_eq!(first["skills"], json!(["build", "deploy"]));
    assert_eq!((&first["files"], &first["digest"]), (&json!(3), &json!(null)));

    // A different order, different times, different read permissions, and additional files that belong
    // to no skill.
    write_kit(&place, "two", true);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for file in walkdir::WalkDir::new(place.path().join("two")).into_iter().map(Result::unwrap) {
        if file.file_type().is_file() {
            let is_script = file.path().extension().is_some_and(|end| end == "sh");
            set_mode(file.path(), if is_script { 0o700 } else { 0o600 });
            fs::File::open(file.path()).unwrap().set_modified(old).unwrap();
        }
    }
    place.write("two/docs/more.md", "More.\n");
    let second = push("./two", "two.tar.gz");
    let read = |name: &str| fs::read(place.path().join(name)).unwrap();
    assert_eq!(read("one.tar.gz"), read("two.tar.gz"));
    assert_eq!(first["sha256"], second["sha256"]);

    // Pushing an archive yields the same archive.
    assert_eq!(push("./one.tar.gz", "three.tgz")["sha256"], first["sha256"]);
    set_mode(&place.path().join("two/skills/deploy/scripts/go.sh"), 0o600);
    assert_ne!(push("./two", "two.tar.gz")["sha256"], first["sha256"], "a mode counts");

    let sha256 = first["sha256"].as_str().unwrap();
    place.run(["add", "one.tar.gz", "--rev", sha256]).exits(0);
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    place.run(["trust", "add", "deploy", "--yes"]).exits(0);
    assert_eq!(place.run(["run", "deploy", "go.sh"]).exits(0).stdout, "gone\n");
}

#[test]
fn one_skill_stays_one_skill() {
    let place = Place::new();
    place.write("deploy/SKILL.md", skill("deploy", "", "Deploy it with care.\n"));
    place.write("deploy/skills/notes.md", "Notes.\n");
    let pushed = place.run(["push", "./deploy", "d.tar.gz", "--json"]).exits(0).json();
    assert_eq!((&pushed["skills"], &pushed["files"]), (&json!([]), &json!(2)));
    let added = place.run(["add", "d.tar.gz", "--json"]).exits(0).json();
    assert_eq!((&added["skills"], &added["files"]), (&json!(["deploy"]), &json!(2)));
    let some = place.run(["push", "./deploy", "d.tar.gz", "--skill", "other"]).exits(1);
    assert!(some.stderr.contains("has no skill `other`"), "{some:?}");
}

#[test]
fn addresses_that_nothing_is_pushed_to_are_refused_before_anything_is_read() {
    let place = Place::new();
    for (to, why) in [
        ("kit", "not the name of a `.tar.gz`"),
        ("kit.tar", "not the name of a `.tar.gz`"),
        ("https://h.org/kit.tar.gz", "nothing is pushed to"),
        ("s3://team/kit", "not the address of a `.tar.gz`"),
        ("s3://key:secret@team/kit.tar.gz", "holds `@`"),
        ("oci://ann:secret@h.org/kit", "does not name an artifact"),
        (&format!("oci://h.org/kit@sha256:{}", "0".repeat(64)), "names a digest"),
    ] {
        let run = place.run(["push", "./nothing", to]).exits(1);
        assert!(run.stderr.contains(why) && !run.stderr.contains("secret"), "{to}: {run:?}");
    }
}

#[cfg(not(any(feature = "object-store", feature = "oci")))]
#[test]
fn a_build_without_a_kind_of_source_says_how_to_get_one_with_it() {
    let place = Place::new();
    write_kit(&place, "kit", false);
    for (address, feature) in
        [("s3://team/kit.tar.gz", "object-store"), ("oci://h.org/kit:v1", "oci")]
    {
        for args in [&["add", address][..], &["push", "./kit", address]] {
            let run = place.run(args).exits(1);
            assert!(run.stderr.contains(&format!("{address} is of a kind")), "{run:?}");
            let help = format!("`cargo install --path crates/cli --features {feature}`");
            assert!(run.stderr.contains(&help), "{run:?}");
        }
    }
    assert!(!place.path().join("home/.repertoire").exists());
}
