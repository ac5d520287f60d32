//! Other files of a trusted script's skill: the script runs only with the files that were trusted with
//! it.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use repertoire::trust::{Approval, ChangeKind, ContentHash, SkillFiles, Verdict};
use repertoire::{ErrorCode, Remedy};

use super::*;

/// Reads a file next to `scripts/` in several ways.
const RUN: &str = "#!/bin/sh
. \"$(dirname \"$0\")/../lib/f.sh\"
. lib/f.sh
. \"$SKILL_DIR/lib/f.sh\"
";

/// Creates a project skill with these files, whose only script is trusted.
fn trusted(script: &str, files: &[(&str, &str)]) -> Place {
    let mut place = Place::with(files);
    place.owner.scope = Scope::Project;
    let script = place.write("scripts/a.sh", script);
    place.store.add(&script).unwrap();
    place
}

#[track_caller]
fn assert_refused(place: &Place, why: &str) {
    let error = place.run("a.sh", &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
    let expected = format!("the skill `tried` has changed since its code was trusted: {why}");
    assert_eq!(error.message(), expected);
    assert_eq!(error.remedy(), Some(&Remedy::TrustSkill(place.root().to_owned())));
}

#[test]
fn a_file_that_was_changed_added_or_removed_stops_the_script() {
    for scope in [Scope::Project, Scope::User] {
        let mut place = trusted(RUN, &[("lib/f.sh", "echo one"), ("lib/g.sh", "")]);
        place.owner.scope = scope;
        assert_eq!(place.only(&[]).stdout, "one\none\none\n");

        place.write("lib/f.sh", "echo two");
        assert_refused(&place, "`lib/f.sh` (changed)");
        place.write("lib/f.sh", "echo one");
        place.only(&[]);

        let added = place.write("new/h.sh", "");
        assert_refused(&place, "`new/h.sh` (added)");
        fs::remove_file(added).unwrap();
        place.only(&[]);

        fs::remove_file(place.root().join("lib/g.sh")).unwrap();
        assert_refused(&place, "`lib/g.sh` (removed)");
        symlink("f.sh", place.root().join("lib/g.sh")).unwrap();
        assert_refused(&place, "`lib/g.sh` (changed)");

        // After it is trusted again, the script runs with the current files.
        place.write("lib/f.sh", "echo three");
        place.store.add(&place.root().join("scripts/a.sh")).unwrap();
        assert_eq!(place.only(&[]).stdout, "three\nthree\nthree\n");
    }
}

#[test]
fn many_changes_are_counted_and_a_new_script_is_one() {
    let place = trusted("#!/bin/sh\n", &[]);
    for n in 0..7 {
        place.write(&format!("scripts/{n}.sh"), "");
    }
    let first = [0, 1, 2, 3, 4].map(|n| format!("`scripts/{n}.sh` (added)")).join(", ");
    assert_refused(&place, &format!("{first} and 2 more"));
}

#[test]
fn other_instructions_ask_for_nothing_and_other_code_does() {
    let place = trusted("#!/bin/sh\necho ran", &[("other.sh", "#!/bin/sh\n")]);
    let write = |head: &str, body: &str| {
        place.write("SKILL.md", format!("---\nname: tried\n{head}\n---\n{body}"));
    };
    for (head, body) in [("description: Tried.", "Other."), ("description: Else.", "")] {
        write(head, body);
        assert_eq!(place.only(&[]).stdout, "ran\n");
    }
    for head in ["scripts: [scripts/a.sh, other.sh]", "toolsets: [\"scripts/a.sh:mcp\"]"] {
        write(&format!("description: Tried.\n{head}"), "");
        assert_refused(&place, "`SKILL.md` (changed)");
    }
}

#[test]
fn another_spelling_of_the_skill_file_is_a_file_as_any_other() {
    let place = trusted("#!/bin/sh\n. ./skill.md", &[("skill.md", "echo one")]);
    assert_eq!(place.only(&[]).stdout, "one\n");
    place.write("skill.md", "echo two");
    assert_refused(&place, "`skill.md` (changed)");

    // The target of a link does not belong to the skill.
    let secret = place.dir.path().join("secret");
    fs::write(&secret, "a secret").unwrap();
    let place = trusted("#!/bin/sh\ncat Skill.md", &[]);
    symlink(&secret, place.root().join("Skill.md")).unwrap();
    place.store.add(&place.root().join("scripts/a.sh")).unwrap();
    let output = place.only(&[]);
    assert!(!output.stdout.contains("a secret"), "{output:?}");
}

#[test]
fn sub_skills_are_neither_compared_nor_there() {
    let skill = "---\nname: sub\ndescription: d\n---\n";
    let script = "#!/bin/sh\nls; ls sub";
    let place = trusted(script, &[("sub/SKILL.md", skill), ("sub/f.sh", ""), ("lib/f.sh", "")]);
    place.write("sub/f.sh", "other");
    let output = place.only(&[]);
    assert_eq!(output.stdout, "SKILL.md\nlib\nscripts\n", "{output:?}");
    assert!(output.stderr.contains("sub"), "{output:?}");
    // A file still counts if it becomes part of a sub-skill.
    place.write("lib/SKILL.md", skill);
    assert_refused(&place, "`lib/f.sh` (removed)");
}

#[test]
fn caches_are_neither_compared_nor_there() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    let place = trusted("#!/bin/sh\nls -A . lib", &[("lib/f.sh", "")]);
    place.write("lib/__pycache__/f.cpython-312.pyc", "planted");
    place.write(".git/HEAD", "ref");
    place.write("target/CACHEDIR.TAG", tag);
    place.write("target/debug/build", "");
    let _socket = std::os::unix::net::UnixListener::bind(place.root().join("socket")).unwrap();
    assert_eq!(place.only(&[]).stdout, ".:\nSKILL.md\nlib\nscripts\n\nlib:\nf.sh\n");
    // A trusted directory cannot be turned into a cache.
    place.write("lib/CACHEDIR.TAG", tag);
    assert_refused(&place, "`lib/f.sh` (removed)");
    place.write("lib/CACHEDIR.TAG", "no signature");
    assert_refused(&place, "`lib/CACHEDIR.TAG` (added)");
}

#[test]
fn links_are_followed_inside_only() {
    let place = Place::with(&[("lib/f.sh", "echo inside")]);
    let outside = place.dir.path().join("outside.sh");
    fs::write(&outside, "echo outside").unwrap();
    let link = |to: &Path, name: &str| symlink(to, place.root().join(name)).unwrap();
    link(Path::new("lib/f.sh"), "in.sh");
    link(&outside, "out.sh");
    link(Path::new("../outside.sh"), "up.sh");
    let mut place = place;
    place.owner.scope = Scope::Project;
    let script = place.write("scripts/a.sh", "#!/bin/sh\n. ./in.sh\nls *.sh");
    place.store.add(&script).unwrap();
    assert_eq!(place.only(&[]).stdout, "inside\nin.sh\n");
    fs::write(&outside, "echo changed").unwrap();
    place.only(&[]);
    fs::remove_file(place.root().join("up.sh")).unwrap();
    symlink("../else.sh", place.root().join("up.sh")).unwrap();
    assert_refused(&place, "`up.sh` (changed)");
}

#[test]
fn records_without_other_files_ask_again() {
    let mut place = trusted("#!/bin/sh\necho ran", &[("lib/f.sh", "")]);
    let script = place.root().join("scripts/a.sh");
    let sha256 = ContentHash::of_file(&script).unwrap();
    let file = place.dir.path().join("trust.json");
    let old = serde_json::json!({"version": 1, "trusted": [
        {"path": script, "sha256": sha256, "since": 1_700_000_000},
    ]});
    fs::write(&file, old.to_string()).unwrap();
    place.store = Arc::new(TrustStore::open(&file).unwrap());
    let error = place.run("a.sh", &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    let why = "the code of the skill `tried` was trusted without the other files of the skill";
    assert!(error.message().starts_with(why), "{error}");
    assert_eq!(error.remedy(), Some(&Remedy::TrustSkill(place.root().to_owned())));
    // The user's own skills need no record of trust.
    place.owner.scope = Scope::User;
    place.only(&[]);
    place.owner.scope = Scope::Project;
    place.store.add(&script).unwrap();
    place.only(&[]);
    assert_eq!(TrustStore::open(&file).unwrap().skills()[0].files.len(), 3);
    place.store.remove(&script).unwrap();
    assert_eq!(TrustStore::open(&file).unwrap().skills(), []);
}

#[test]
fn a_host_is_asked_about_the_changes() {
    let mut place = trusted(RUN, &[("lib/f.sh", "echo one")]);
    place.write("lib/f.sh", "echo two");
    let swapped = place.root().join("lib/f.sh");
    let is_swapped = Arc::new(AtomicBool::new(false));
    let swaps = Arc::clone(&is_swapped);
    place.options.approve = Some(Approval::new(move |request| {
        assert!(matches!(request.verdict, Verdict::Changed { .. }));
        let [change] = &*request.changes else { panic!("{request:?}") };
        assert_eq!((&*change.path, change.kind), ("lib/f.sh", ChangeKind::Changed));
        if swaps.load(Ordering::Relaxed) {
            fs::write(&swapped, "echo evil").unwrap();
        }
        true
    }));
    assert!(place.only(&[]).stdout.starts_with("two\n"));
    place.write("lib/f.sh", "echo three");
    is_swapped.store(true, Ordering::Relaxed);
    // Content that the host did not see does not run.
    let error = place.run("a.sh", &[]).unwrap_err();
    assert!(error.message().contains("lib/f.sh has changed meanwhile"), "{error}");
    place.options.approve = None;
    assert_refused(&place, "`lib/f.sh` (changed)");
}

#[test]
fn a_yes_to_a_changed_script_is_one_to_all_that_the_host_was_told() {
    let mut place = trusted("#!/bin/sh\n. lib/f.sh", &[("lib/f.sh", "echo one")]);
    place.write("lib/f.sh", "echo two");
    place.write("scripts/a.sh", "#!/bin/sh\necho a; . lib/f.sh");
    place.options.approve = Some(Approval::new(|request| {
        let changes = request.changes.iter().map(|change| &*change.path).collect::<Vec<_>>();
        assert_eq!(changes, ["lib/f.sh", "scripts/a.sh"]);
        true
    }));
    assert_eq!(place.only(&[]).stdout, "a\ntwo\n");
}

#[test]
fn skills_that_are_too_large_or_hide_names_are_not_trusted() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = trusted("#!/bin/sh\n", &[]);
    let script = place.root().join("scripts/a.sh");
    let assert_fails = |why: &str| {
        for error in [place.store.add(&script).unwrap_err(), place.run("a.sh", &[]).unwrap_err()] {
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
            assert!(error.message().contains(why) && !error.help().is_empty(), "{error:#}");
        }
    };
    let large = place.root().join("large");
    fs::File::create(&large).unwrap().set_len((256 << 20) + 1).unwrap();
    assert_fails("more than 256 MiB");
    fs::remove_file(large).unwrap();
    let name = place.root().join(std::ffi::OsStr::from_bytes(b"\xff.sh"));
    fs::write(&name, "").unwrap();
    assert_fails("is not Unicode");
    fs::remove_file(name).unwrap();
    place.write(&("d/".repeat(40) + "f"), "");
    assert_fails("nested deeper than 32");
    fs::remove_dir_all(place.root().join("d")).unwrap();
    for n in 0..10_001 {
        place.write(&format!("many/{n}"), "");
    }
    assert_fails("more than 10000 files");
    fs::remove_dir_all(place.root().join("many")).unwrap();
    place.only(&[]);
    assert_eq!(SkillFiles::read(place.root()).unwrap().files().len(), 2);
}
