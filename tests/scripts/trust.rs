//! Scripts that do not run: untrusted, changed, writable by others, or not part of the skill.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use repertoire::skill::ToolsetRights;
use repertoire::trust::{Approval, ContentHash, Verdict};
use repertoire::{ErrorCode, Remedy};

use super::*;

const HELLO: &str = "#!/bin/sh\necho hello";

/// Creates a project's skill with these files.
fn project(files: &[(&str, &str)]) -> Place {
    let mut place = Place::with(files);
    place.owner.scope = Scope::Project;
    place
}

#[track_caller]
fn assert_refused(place: &Place, script: &str, code: ErrorCode, why: &str) {
    let error = place.run(script, &[]).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.message().contains(why), "{error}");
}

#[test]
fn a_script_of_a_project_runs_once_it_is_trusted() {
    let place = project(&[("scripts/a.sh", HELLO)]);
    let path = place.root().join("scripts/a.sh");
    let error = place.run("a.sh", &[]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    let hash = ContentHash::of(HELLO.as_bytes());
    let expected =
        format!("{} of the project skill `tried` is not trusted (sha256 {hash})", path.display());
    assert_eq!(error.message(), expected);
    assert_eq!(error.help(), "the user has to approve it first");
    assert_eq!(error.remedy(), Some(&Remedy::Trust(path.clone())));
    place.store.add(&path).unwrap();
    assert_eq!(place.only(&[]).stdout, "hello\n");
}

#[test]
fn a_change_stops_every_script_of_the_skill() {
    for scope in [Scope::Project, Scope::User] {
        let mut place = project(&[("scripts/a.sh", HELLO), ("scripts/lib/b.sh", "echo b")]);
        place.owner.scope = scope;
        for name in ["scripts/a.sh", "scripts/lib/b.sh"] {
            place.store.add(&place.root().join(name)).unwrap();
        }
        assert!(place.only(&[]).is_success());
        let changed = place.write("scripts/lib/b.sh", "echo c");
        let error = place.run("a.sh", &[]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied);
        let (then, now) = (ContentHash::of(b"echo b"), ContentHash::of(b"echo c"));
        let expected = format!(
            "{} has changed since it was trusted: sha256 {then} then, {now} now",
            changed.display()
        );
        assert_eq!(error.message(), expected);
        let root = place.root().canonicalize().unwrap();
        let remedy = Remedy::TrustSkill(root);
        assert_eq!(error.remedy(), Some(&remedy), "it shows the change");
        // Whoever trusts the script would trust this file as well.
        place.write("data.txt", "x");
        let error = place.run("a.sh", &[]).unwrap_err();
        let expected =
            format!("{expected}; other files of the skill have changed: `data.txt` (added)");
        assert_eq!(error.message(), expected);
        assert_eq!(error.remedy(), Some(&remedy));
        std::fs::remove_file(place.root().join("data.txt")).unwrap();
        place.write("scripts/lib/b.sh", "echo b");
        assert!(place.only(&[]).is_success());
    }
}

#[test]
fn what_is_not_trusted_is_not_there_for_what_is() {
    let text = "#!/bin/sh\nls \"$(dirname \"$0\")\" \"$(dirname \"$0\")/more\"";
    let place = project(&[("scripts/a.sh", text), ("scripts/more/b.sh", ""), ("scripts/c.sh", "")]);
    symlink("../SKILL.md", place.root().join("scripts/link.sh")).unwrap();
    for name in ["scripts/a.sh", "scripts/more/b.sh"] {
        place.store.add(&place.root().join(name)).unwrap();
    }
    let output = place.only(&[]);
    assert_eq!(output.withheld, ["scripts/c.sh"]);
    let answer = serde_json::to_value(output.to_envelope("tried", "a.sh")).unwrap();
    let told = answer["text"].as_str().unwrap();
    assert!(told.contains("`scripts/c.sh`") && !told.contains("trust add"), "{told}");
    assert!(output.stdout.contains("b.sh") && output.stdout.contains("a.sh"), "{output:?}");
    assert!(!output.stdout.contains("c.sh") && !output.stdout.contains("link"), "{output:?}");
    if has("python3") {
        // A module that shadows one of the standard library.
        let place = project(&[("scripts/a.py", "import json\nprint(json.dumps(1))")]);
        place.write("scripts/json.py", "print('evil')");
        let evil = place.root().join("evil.py");
        std::fs::write(&evil, "print('evil')").unwrap();
        symlink(&evil, place.root().join("scripts/json.pyc")).unwrap();
        place.store.add(&place.root().join("scripts/a.py")).unwrap();
        assert_eq!(place.only(&[]).stdout, "1\n");
    }
}

#[test]
fn a_host_can_be_asked() {
    let mut place = project(&[("scripts/a.sh", HELLO)]);
    place.options.approve = Some(Approval::new(|request| {
        assert_eq!((request.skill.as_str(), &request.verdict), ("tried", &Verdict::Untrusted));
        assert!(request.path.ends_with("scripts/a.sh") && request.classes.is_empty());
        false
    }));
    assert_refused(&place, "a.sh", ErrorCode::PermissionDenied, "the answer was no");
    place.options.approve = Some(Approval::new(|_| true));
    assert_refused(&place, "a.sh", ErrorCode::PermissionDenied, "it is not asked again");
    let [refusal] = &*place.store.refusals() else { panic!("a no is listed once") };
    place.store.forget_refusals([&refusal.path]).unwrap();
    assert!(place.only(&[]).is_success());
    place.options.approve = None;
    assert!(place.only(&[]).is_success(), "it is remembered");
}

/// A host is shown the rights once; a link that leads elsewhere before its yes changes nothing.
#[test]
fn the_rights_that_were_approved_are_those_that_are_stored() {
    let mut place = Place::sh("cat \"$1\"/f");
    let link = place.dir.path().join("link");
    let [open, secret] = ["open", "secret"].map(|name| place.dir.path().join(name));
    for dir in [&open, &secret] {
        std::fs::create_dir(dir).unwrap();
        std::fs::write(dir.join("f"), format!("{}\n", dir.display())).unwrap();
    }
    symlink(&open, &link).unwrap();
    place.owner.scope = Scope::Project;
    let read = vec![link.display().to_string()];
    place.owner.script_rights = ToolsetRights { read, ..ToolsetRights::default() };
    let (noted, to) = (Arc::new(Mutex::new(None)), secret.clone());
    let shown = Arc::clone(&noted);
    place.options.approve = Some(Approval::new(move |request| {
        std::fs::remove_file(&link).unwrap();
        symlink(&to, &link).unwrap();
        *shown.lock().unwrap() = Some((request.rights.clone(), request.abilities.to_string()));
        true
    }));
    let output = place.only(&[secret.to_str().unwrap()]);
    assert!(!output.stdout.contains("secret"), "{output:?}");
    let (rights, may) = noted.lock().unwrap().take().unwrap();
    let open = open.canonicalize().unwrap().display().to_string();
    assert!(may.contains(&format!("`{open}`")), "{may}");
    assert_eq!(rights.read, [open]);
    assert_eq!(place.store.script_rights(&place.root().join("scripts/a.sh")), rights);
}

#[test]
fn what_was_approved_is_what_runs() {
    let mut place = project(&[("scripts/a.sh", HELLO)]);
    let path = place.root().join("scripts/a.sh");
    let swapped = path.clone();
    place.options.approve = Some(Approval::new(move |_| {
        std::fs::write(&swapped, "#!/bin/sh\necho evil").unwrap();
        true
    }));
    assert_eq!(place.only(&[]).stdout, "hello\n");
    place.options.approve = None;
    assert_refused(&place, "a.sh", ErrorCode::PermissionDenied, "has changed");
}

#[test]
fn what_others_can_change_is_not_run() {
    let place = Place::with(&[("scripts/a.sh", HELLO), ("scripts/lib/b.sh", "")]);
    for (name, mode, normal) in [
        ("scripts/a.sh", 0o646, 0o644),
        ("scripts/lib/b.sh", 0o666, 0o644),
        ("scripts/lib", 0o777, 0o755),
        ("scripts", 0o757, 0o755),
        ("", 0o777, 0o755),
    ] {
        let path = place.root().join(name);
        let set = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(mode);
        assert_refused(&place, "a.sh", ErrorCode::PermissionDenied, "can be written by everybody");
        set(normal);
        assert!(place.only(&[]).is_success());
    }
    if !is_superuser() {
        support::say("SKIPPED: only root can give files to somebody else");
        return;
    }
    for name in ["scripts/a.sh", "scripts/lib/b.sh", "scripts"] {
        let path = place.root().join(name);
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        assert_refused(&place, "a.sh", ErrorCode::PermissionDenied, "belongs to user 12345");
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
}

#[test]
fn links_are_not_run() {
    let place = Place::with(&[("scripts/a.sh", HELLO)]);
    let outside = place.dir.path().join("outside.sh");
    std::fs::write(&outside, "#!/bin/sh\necho outside").unwrap();
    symlink(&outside, place.root().join("scripts/out.sh")).unwrap();
    symlink("a.sh", place.root().join("scripts/in.sh")).unwrap();
    symlink(place.dir.path(), place.root().join("scripts/dir")).unwrap();
    for name in ["out.sh", "in.sh", "dir/outside.sh"] {
        assert_refused(&place, name, ErrorCode::NotFound, "has no script");
    }
    let mut declared = Place::with(&[]);
    symlink(&outside, declared.root().join("out.sh")).unwrap();
    declared.owner.scripts = Some(vec!["out.sh".to_owned()]);
    assert_refused(&declared, "out.sh", ErrorCode::PermissionDenied, "symbolic link");

    let linked = Place::with(&[]);
    symlink(place.root().join("scripts"), linked.root().join("scripts")).unwrap();
    assert_eq!(
        linked.scripts().list(&linked.owner).unwrap_err().code(),
        ErrorCode::PermissionDenied
    );
    assert_refused(&linked, "a.sh", ErrorCode::PermissionDenied, "symbolic link");
}

#[test]
fn files_with_other_names_are_not_run() {
    let place = Place::with(&[("scripts/a.sh", HELLO)]);
    let other = place.dir.path().join("other");
    std::fs::hard_link(place.root().join("scripts/a.sh"), &other).unwrap();
    assert_refused(&place, "a.sh", ErrorCode::PermissionDenied, "has 2 names");
    std::fs::remove_file(&other).unwrap();
    assert!(place.only(&[]).is_success());
}

#[test]
fn names_do_not_lead_outside() {
    let place =
        Place::with(&[("scripts/a.sh", HELLO), ("scripts/deep/b.sh", HELLO), ("c.sh", HELLO)]);
    std::fs::write(place.dir.path().join("outside.sh"), HELLO).unwrap();
    let outside = place.dir.path().join("outside.sh");
    let long = "x".repeat(5000);
    for name in [
        "",
        outside.to_str().unwrap(),
        "..",
        "../outside.sh",
        "../../outside.sh",
        "scripts/../../outside.sh",
        "scripts/../scripts/a.sh",
        "deep/../a.sh",
        "/bin/sh",
        "a.sh\0",
        "\0",
        "C:a.sh",
        "deep/",
        &long,
    ] {
        assert_refused(
            &place,
            name,
            ErrorCode::InvalidParam,
            "is not a script of the skill `tried`",
        );
    }
    for name in ["deep", "scripts", "c.sh", "SKILL.md", "b.sh", "A.SH", "sh", "a.sh ", "*.sh", "$0"]
    {
        assert_refused(&place, name, ErrorCode::NotFound, "the skill `tried` has no script");
    }
    // The path that a model reads in the instructions, and one as Windows writes it, are the same file.
    let absolute = place.root().join("scripts/a.sh");
    let absolute = absolute.to_str().unwrap();
    for name in
        ["a.sh", "scripts/a.sh", "./a.sh", "scripts//a.sh", "deep/b.sh", "scripts\\a.sh", absolute]
    {
        assert!(place.run(name, &[]).unwrap().is_success(), "{name}");
    }
}

#[test]
fn a_pipe_in_place_of_a_script_does_not_hang() {
    let mut place = Place::with(&[("scripts/a.sh", HELLO)]);
    let pipe = place.root().join("scripts/pipe.sh");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert_refused(&place, "pipe.sh", ErrorCode::NotFound, "has no script");
    assert!(place.only(&[]).is_success());
    place.owner.scripts = Some(vec!["scripts/pipe.sh".to_owned()]);
    assert_refused(&place, "pipe.sh", ErrorCode::ExecutionError, "not a regular file");
}

/// Signals the end of a test, even if it fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_directory_that_is_swapped_for_a_link_gives_nothing_from_outside() {
    let place = Place::with(&[
        ("scripts/a.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/b.sh\""),
        ("scripts/b.sh", "echo inside"),
    ]);
    let evil = place.dir.path().join("evil");
    std::fs::create_dir(&evil).unwrap();
    for name in ["a.sh", "b.sh"] {
        std::fs::write(evil.join(name), "#!/bin/sh\necho outside").unwrap();
    }
    let (real, kept) = (place.root().join("scripts"), place.root().join("kept"));
    let is_over = AtomicBool::new(false);
    let (mut n_tries, mut n_ran) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A busy machine takes longer to read a script, so the pause grows.
            let mut pause = Duration::from_micros(500);
            while !is_over.load(Ordering::Relaxed) {
                std::fs::rename(&real, &kept).unwrap();
                symlink(&evil, &real).unwrap();
                std::thread::yield_now();
                std::fs::remove_file(&real).unwrap();
                std::fs::rename(&kept, &real).unwrap();
                std::thread::sleep(pause);
                pause += Duration::from_micros(5);
            }
        });
        let _end = End(&is_over);
        let scripts = place.scripts();
        while n_tries < 200 || (n_ran == 0 && n_tries < 20_000) {
            n_tries += 1;
            match scripts.run::<&str>(&place.owner, "a.sh", &[], ScriptIo::default()) {
                Ok(output) => {
                    assert_eq!(output.stdout, "inside\n", "{output:?}");
                    n_ran += 1;
                }
                Err(error) => assert!(
                    matches!(error.code(), ErrorCode::NotFound | ErrorCode::PermissionDenied),
                    "{error}"
                ),
            }
        }
    });
    assert!(n_ran > 0, "the script lost all {n_tries} races");
    assert_eq!(place.alive(), Vec::<String>::new());
}
