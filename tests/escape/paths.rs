//! Paths and ids that point outside, or would for some programs.

use super::*;

/// Returns paths that stand for something other than a file of the skill, or would for some
/// programs.
fn paths(fixture: &Fixture) -> Vec<(String, ErrorCode)> {
    use ErrorCode::{InvalidParam, NotFound, PermissionDenied};
    let canary = fixture.temp.path().join("canary.txt");
    let absolute = canary.to_str().unwrap();
    let mut paths: Vec<(String, ErrorCode)> = [
        // Upwards, in every position.
        ("..", InvalidParam),
        ("../", InvalidParam),
        ("../canary.txt", InvalidParam),
        ("../../canary.txt", InvalidParam),
        ("../review-two/canary.txt", InvalidParam),
        ("../review/references/one.md", InvalidParam),
        ("./../canary.txt", InvalidParam),
        (".//..//canary.txt", InvalidParam),
        ("references/../../canary.txt", InvalidParam),
        ("references/..", InvalidParam),
        ("references/../references/one.md", InvalidParam),
        ("references/one.md/../../../canary.txt", InvalidParam),
        ("missing/../../canary.txt", InvalidParam),
        ("SKILL.md/../../canary.txt", InvalidParam),
        // Encoded, for readers that decode.
        ("%2e%2e/canary.txt", NotFound),
        ("%2e%2e%2fcanary.txt", NotFound),
        ("%2E%2E%2Fcanary.txt", NotFound),
        ("..%2fcanary.txt", NotFound),
        ("references/%2e%2e/%2e%2e/canary.txt", NotFound),
        ("references/..%2f..%2fcanary.txt", NotFound),
        ("%252e%252e%252fcanary.txt", NotFound),
        ("..%c0%afcanary.txt", NotFound),
        ("..%00/canary.txt", NotFound),
        ("&#46;&#46;/canary.txt", NotFound),
        // Look-alikes, which normalisation would turn into `..` and `/`.
        ("\u{2025}/canary.txt", NotFound),
        ("\u{2024}\u{2024}/canary.txt", NotFound),
        ("\u{ff0e}\u{ff0e}/canary.txt", NotFound),
        ("..\u{2215}canary.txt", NotFound),
        ("..\u{2044}canary.txt", NotFound),
        ("..\u{ff0f}canary.txt", NotFound),
        ("..\u{ff3c}canary.txt", NotFound),
        (".\u{200b}./canary.txt", NotFound),
        ("\u{feff}../canary.txt", NotFound),
        // Absolute, for one system or another.
        ("/etc/passwd", InvalidParam),
        ("//etc/passwd", InvalidParam),
        ("/proc/self/environ", InvalidParam),
        ("/dev/stdin", InvalidParam),
        ("~/canary.txt", NotFound),
        ("~root/canary.txt", NotFound),
        ("$HOME/canary.txt", NotFound),
        ("${PWD}/../canary.txt", InvalidParam),
        ("file:///etc/passwd", InvalidParam),
        ("file:/etc/passwd", NotFound),
        ("http://127.0.0.1/canary.txt", InvalidParam),
        ("C:/canary.txt", InvalidParam),
        ("c:canary.txt", InvalidParam),
        ("C:\\canary.txt", InvalidParam),
        ("..\\canary.txt", InvalidParam),
        ("references\\..\\..\\canary.txt", InvalidParam),
        ("\\\\host\\share\\canary.txt", InvalidParam),
        ("\\\\?\\C:\\canary.txt", InvalidParam),
        ("//?/C:/canary.txt", InvalidParam),
        // Truncated or misread by a careless reader.
        ("references/one.md\0/../../../canary.txt", InvalidParam),
        ("../canary.txt\0.md", InvalidParam),
        ("references/one.md\0", InvalidParam),
        ("references/one.md\n", InvalidParam),
        ("\n../canary.txt", InvalidParam),
        ("references/one.md\r\n../canary.txt", InvalidParam),
        ("references/one.md/", InvalidParam),
        ("references/one.md/.", InvalidParam),
        ("references/one.md/x", NotFound),
        ("references/one.md ", NotFound),
        (" references/one.md", NotFound),
        ("references/one.md.", NotFound),
        ("references/one.md::$DATA", NotFound),
        ("references/*.md", NotFound),
        ("`cat canary.txt`", NotFound),
        ("$(cat canary.txt)", NotFound),
        // Not files.
        ("", InvalidParam),
        (".", InvalidParam),
        ("./", InvalidParam),
        ("references", InvalidParam),
        ("references/.", InvalidParam),
        ("a/b", InvalidParam),
        // Beneath, but not the skill's.
        ("SKILL.md", InvalidParam),
        ("skill.md", InvalidParam),
        ("./SKILL.MD", InvalidParam),
        ("sub/SKILL.md", NotFound),
        ("sub/canary.txt", NotFound),
        ("./sub//canary.txt", NotFound),
        ("sub/missing.md", NotFound),
        ("group/sub/deep/canary.txt", NotFound),
        (".git/config", PermissionDenied),
        // Hidden, and listed nowhere.
        (".env.example", PermissionDenied),
        ("..almost/...", PermissionDenied),
        (".env", NotFound),
        (".GIT/config", PermissionDenied),
        ("./.git/./config", PermissionDenied),
    ]
    .map(|(path, code)| (path.to_owned(), code))
    .into();
    paths.extend([
        (absolute.to_owned(), InvalidParam),
        (format!("/{absolute}"), InvalidParam),
        (format!("references/{}etc/passwd", "../".repeat(40)), InvalidParam),
        (format!("{}etc/passwd", "../".repeat(10_000)), InvalidParam),
        (format!("{}one.md", "./".repeat(5_000)), InvalidParam),
        ("x".repeat(256), InvalidParam),
        ("x/".repeat(2_047) + "x", NotFound),
        ("使".repeat(100_000), InvalidParam),
    ]);
    paths
}

#[test]
fn no_path_means_anything_outside() {
    let fixture = Fixture::new();
    let paths = paths(&fixture);
    assert!(paths.len() >= 40, "{} attempts", paths.len());
    for (path, code) in paths {
        let error = refusal(&fixture, &path);
        assert_eq!(error.code(), code, "{error:#}");
    }
}

#[test]
fn other_letter_cases_are_other_files_or_the_same_inside() {
    // The file system decides if `REFERENCES` is `references`.
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
    // In an id with `..` in front, the last part is a name like any other.
    let mounted = mount("../up", &fixture.skill(), &fixture.tasks(), &MountLimits::default());
    assert_eq!(mounted.unwrap().dir, fixture.tasks().canonicalize().unwrap().join("up"));
}
