//! Paths and ids that point outside of a skill, or that some programs would read as such.

use super::*;

#[test]
fn no_path_means_anything_outside() {
    let fixture = Fixture::new();
    let canary = fixture.temp.path().join("canary.txt");
    let paths = escapes::paths(canary.to_str().unwrap());
    assert!(paths.len() >= 40, "{} attempts", paths.len());
    for (path, code) in paths {
        let error = refusal(&fixture, &path);
        assert_eq!(error.code(), code, "{error:#}");
    }
}

#[test]
fn other_letter_cases_are_other_files_or_the_same_inside() {
    // The file system decides whether `REFERENCES` is the same as `references`.
    let fixture = Fixture::new();
    for path in ["REFERENCES/ONE.MD", "References/one.md", "SUB/canary.txt", "Sub/CANARY.TXT"] {
        match fixture.read(path) {
            Ok(resource) => assert!(!format!("{resource:?}").contains(CANARY), "{path}"),
            Err(error) => assert_eq!(error.code(), ErrorCode::NotFound, "{error}"),
        }
    }
}

#[test]
fn no_id_makes_a_mount_outside_its_target() {
    let fixture = Fixture::new();
    let before = WalkDir::new(fixture.temp.path()).into_iter().count();
    for id in [
        "",
        ".",
        "..",
        "/",
        "a/",
        "a/..",
        "a/.",
        "../..",
        "..\\x",
        "C:",
        "C:x",
        "a\0",
        "a\nb",
        &"x".repeat(300),
    ] {
        let mounted = mount(id, &fixture.skill(), &fixture.tasks(), &MountLimits::default());
        assert_eq!(mounted.unwrap_err().code(), ErrorCode::InvalidParam, "{id:?}");
    }
    assert_eq!(WalkDir::new(fixture.temp.path()).into_iter().count(), before);
    // In an id that begins with `..`, the last part is a name like any other.
    let mounted = mount("../up", &fixture.skill(), &fixture.tasks(), &MountLimits::default());
    assert_eq!(mounted.unwrap().dir, fixture.tasks().canonicalize().unwrap().join("up"));
}
