use super::*;

fn skill(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("review");
    for file in files {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("content of {file}")).unwrap();
    }
    fs::create_dir(temp.path().join("task")).unwrap();
    (temp, dir)
}

fn mounted(temp: &tempfile::TempDir, limits: &MountLimits) -> Result<Mounted, Error> {
    mount("team/review", &temp.path().join("review"), &temp.path().join("task"), limits)
}

fn left_out(mounted: &Mounted) -> Vec<(&str, LeftOutReason)> {
    mounted.left_out.iter().map(|left| (left.path.as_str(), left.reason)).collect()
}

/// All files below `dir`.
fn files(dir: &Path) -> Vec<String> {
    let walk = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = walk.filter(|entry| !entry.file_type().is_dir());
    let relative = files.map(|file| file.path().strip_prefix(dir).unwrap().to_owned());
    relative.map(|path| path.to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_mount_has_the_files_of_the_skill_and_tells_what_it_has_not() {
    let all = ["SKILL.md", ".env", "a/b.md", "sub/SKILL.md", "sub/x/y.md"];
    let others = [".git/config", "a/.git", "node_modules/m/index.js"];
    let (temp, _) = skill(&[&all[..], &others].concat());
    let copy = mounted(&temp, &MountLimits::default()).unwrap();
    assert_eq!(copy.dir, temp.path().join("task/review").canonicalize().unwrap());
    assert_eq!(files(&copy.dir), [".env", "SKILL.md", "a/b.md"]);
    assert_eq!(fs::read_to_string(copy.dir.join("a/b.md")).unwrap(), "content of a/b.md");
    let (n_files, n_bytes) = (3, "content of SKILL.mdcontent of .envcontent of a/b.md".len());
    assert_eq!((copy.files, copy.bytes), (n_files, n_bytes as u64));
    let not_of_it = LeftOutReason::NotOfTheSkill;
    let expected = [(".git", not_of_it), ("a/.git", not_of_it), ("node_modules", not_of_it)];
    let expected = [&expected[..], &[("sub", LeftOutReason::SubSkill)]].concat();
    assert_eq!(left_out(&copy), expected);

    fs::remove_dir_all(&copy.dir).unwrap();
    fs::create_dir(&copy.dir).unwrap(); // an empty directory is replaced
    let with_subs = MountLimits { sub_skills: true, ..MountLimits::default() };
    let copy = mounted(&temp, &with_subs).unwrap();
    assert_eq!(files(&copy.dir), [".env", "SKILL.md", "a/b.md", "sub/SKILL.md", "sub/x/y.md"]);
}

#[cfg(unix)]
#[test]
fn links_become_copies_and_modes_lose_what_is_dangerous() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (temp, dir) = skill(&["SKILL.md", "a/b.md", "run.sh", "sub/SKILL.md", ".git/x", "h"]);
    for (link, target) in [
        ("file", "a/b.md"),
        ("a/dir", "../a"),
        ("to_dir", "a/../a"),
        ("root", "."),
        ("self", "self"),
        ("nowhere", "missing"),
        ("out", "../task"),
        ("absolute", "/etc/passwd"),
        ("to_sub", "sub"),
        ("into_sub", "sub/SKILL.md"),
        ("git", ".git/x"),
    ] {
        symlink(target, dir.join(link)).unwrap();
    }
    fs::hard_link(dir.join("h"), temp.path().join("other name")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap());
    fs::set_permissions(dir.join("run.sh"), fs::Permissions::from_mode(0o6755)).unwrap();
    let copy = mounted(&temp, &MountLimits::default()).unwrap();
    assert_eq!(files(&copy.dir), ["SKILL.md", "a/b.md", "file", "run.sh", "to_dir/b.md"]);
    assert_eq!(fs::read_to_string(copy.dir.join("file")).unwrap(), "content of a/b.md");
    for (path, mode) in [("", 0o700), ("a", 0o700), ("run.sh", 0o700), ("file", 0o600)] {
        let found = copy.dir.join(path).symlink_metadata().unwrap().permissions().mode();
        assert_eq!(found & 0o7777, mode, "{path}");
    }
    assert_eq!(
        left_out(&copy),
        [
            (".git", LeftOutReason::NotOfTheSkill),
            ("a/dir", LeftOutReason::LinkBroken),
            ("absolute", LeftOutReason::LinkOutside),
            ("git", LeftOutReason::NotOfTheSkill),
            ("h", LeftOutReason::HardLink),
            ("into_sub", LeftOutReason::SubSkill),
            ("nowhere", LeftOutReason::LinkBroken),
            ("out", LeftOutReason::LinkOutside),
            ("root", LeftOutReason::LinkBroken),
            ("self", LeftOutReason::LinkBroken),
            ("socket", LeftOutReason::NotAFile),
            ("sub", LeftOutReason::SubSkill),
            ("to_dir/dir", LeftOutReason::LinkBroken),
            ("to_sub", LeftOutReason::SubSkill),
        ]
    );
}

#[cfg(unix)]
#[test]
fn directories_that_link_to_each_other_end() {
    use std::os::unix::fs::symlink;
    let (temp, dir) = skill(&["SKILL.md", "a/x", "b/y"]);
    symlink("../b", dir.join("a/b")).unwrap();
    symlink("../a", dir.join("b/a")).unwrap();
    let copy = mounted(&temp, &MountLimits::default()).unwrap();
    assert_eq!(files(&copy.dir), ["SKILL.md", "a/b/y", "a/x", "b/a/x", "b/y"]);
    // Each of 20 directories has two links to the next: a million copies of the last.
    let (temp, dir) = skill(&["SKILL.md"]);
    for n in 0..20 {
        fs::create_dir(dir.join(format!("d{n}"))).unwrap();
        for link in ["l", "r"] {
            symlink(format!("../d{}", n + 1), dir.join(format!("d{n}/{link}"))).unwrap();
        }
    }
    let limits = MountLimits { max_entries: 500, ..MountLimits::default() };
    let error = mounted(&temp, &limits).unwrap_err();
    assert!(error.message().contains("more than 500 files"), "{error}");
    assert!(!temp.path().join("task/review").exists());
}

#[test]
fn past_a_limit_nothing_is_left_behind() {
    let deep = format!("{}x", "d/".repeat(MAX_DEPTH + 1));
    let (temp, dir) = skill(&["SKILL.md", "a/b.md", "a/c.md"]);
    let n_bytes = ["SKILL.md", "a/b.md", "a/c.md"].map(|f| "content of ".len() + f.len());
    let exact = MountLimits {
        max_entries: 4,
        max_bytes: n_bytes.iter().sum::<usize>() as u64,
        ..MountLimits::default()
    };
    fs::remove_dir_all(mounted(&temp, &exact).unwrap().dir).unwrap();
    for (limits, message) in [
        (MountLimits { max_entries: 3, ..exact }, "more than 3 files and directories"),
        (MountLimits { max_bytes: exact.max_bytes - 1, ..exact }, "bytes"),
    ] {
        let error = mounted(&temp, &limits).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError);
        assert!(error.message().contains(message), "{error}");
        assert!(error.message().contains("`team/review`"), "{error}");
        assert!(!temp.path().join("task/review").exists());
    }
    fs::create_dir_all(dir.join(&deep)).unwrap();
    let error = mounted(&temp, &MountLimits::default()).unwrap_err();
    assert!(error.message().contains("more than 64 directories"), "{error}");
    assert!(!temp.path().join("task/review").exists());
}

#[test]
fn a_mount_is_new_outside_the_skill_and_named_plainly() {
    let (temp, dir) = skill(&["SKILL.md", "tasks/x"]);
    let limits = MountLimits::default();
    let task = temp.path().join("task");
    fs::create_dir(task.join("review")).unwrap();
    fs::write(task.join("review/mine"), "x").unwrap();
    for (id, target, message) in [
        ("review", &task, "not an empty directory"),
        ("other", &dir.join("tasks"), "inside the skill"),
        ("other", &dir, "inside the skill"),
        ("other", &temp.path().join("missing"), "missing"),
        ("a/..", &task, "cannot be the name of a directory"),
        ("", &task, "cannot be the name of a directory"),
        (r"a\b", &task, "cannot be the name of a directory"),
    ] {
        let error = mount(id, &dir, target, &limits).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
        assert!(error.message().contains(message), "{error}");
    }
    assert_eq!(files(&task), ["review/mine"]);
    let error = mount("other", &temp.path().join("gone"), &task, &limits).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
}
