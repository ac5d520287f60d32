//! Nothing outside a skill is read or copied through it, whatever is asked for, planted in it, or
//! swapped under the reader's feet.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use repertoire::activation::{
    Content, MountLimits, Mounted, ReadOptions, Resource, mount, read_resource,
};
use repertoire::{Error, ErrorCode};
use walkdir::WalkDir;

/// What stands in every file that must not be read.
const CANARY: &str = "canary 7f3d1c, never to be seen";

/// What stands in the files that may be.
const INSIDE: &str = "inside the skill";

/// A skill `review` in a source, and around it what is none of its business.
struct Fixture {
    temp: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture { temp: tempfile::tempdir().unwrap() };
        for file in [
            "canary.txt",
            "outside/canary.txt",
            "outside/one.md",
            "outside/references/one.md",
            "skills/canary.txt",
            "skills/review-two/canary.txt",
            "skills/other/SKILL.md",
            "skills/review/sub/SKILL.md",
            "skills/review/sub/canary.txt",
            "skills/review/group/sub/skill.md",
            "skills/review/group/sub/deep/canary.txt",
            "skills/review/.git/config",
        ] {
            fixture.write(file, CANARY);
        }
        for file in [
            "SKILL.md",
            "references/one.md",
            "references/two.md",
            "a/b/c/deep.md",
            "..almost/...",
            "~/home.md",
            "%2e%2e/100%.md",
            ".env.example",
            "group/own.md",
            "ünïcode/使用.md",
        ] {
            fixture.write(&format!("skills/review/{file}"), INSIDE);
        }
        fixture.write("tasks/.keep", "");
        fixture
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn outside(&self) -> PathBuf {
        self.temp.path().join("outside")
    }

    fn skill(&self) -> PathBuf {
        self.temp.path().join("skills/review")
    }

    fn tasks(&self) -> PathBuf {
        self.temp.path().join("tasks")
    }

    fn read(&self, path: &str) -> Result<Resource, Error> {
        read_resource("review", &self.skill(), path, &ReadOptions::default())
    }

    fn mount(&self) -> Result<Mounted, Error> {
        mount("review", &self.skill(), &self.tasks(), &MountLimits::default())
    }
}

/// What `work` gives; a failed test if it waits for something that never comes.
fn without_waiting<T: Send>(what: &str, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| {
            // The scope would wait for the thread that hangs.
            let _ = writeln!(std::io::stderr(), "{what} hangs");
            std::process::abort()
        })
    })
}

/// The error of reading `path`: one that names the file and the skill, and tells nothing.
fn refusal(fixture: &Fixture, path: &str) -> Error {
    let read = without_waiting(path, || fixture.read(path));
    let error = read.expect_err(path);
    let name: String = path.chars().take(100).flat_map(char::escape_debug).collect();
    assert!(error.message().starts_with(&format!("file `{name}")), "{error}");
    assert!(error.message().contains("of skill `review`"), "{error}");
    assert!(!error.help().is_empty(), "{error}");
    assert!(!format!("{error:#} {error:?}").contains(CANARY), "{error:#}");
    error
}

fn text(resource: &Resource) -> &str {
    match &resource.content {
        Content::Text { text, .. } => text,
        Content::Base64(content) => content,
    }
}

/// Fails if anything of a mount is not its own, or could lead out of it.
fn assert_sealed(copy: &Path) {
    for entry in WalkDir::new(copy) {
        let entry = entry.unwrap();
        let kind = entry.file_type();
        assert!(kind.is_file() || kind.is_dir(), "{}", entry.path().display());
        if kind.is_file() {
            let content = fs::read(entry.path()).unwrap();
            assert_eq!(content, INSIDE.as_bytes(), "{}", entry.path().display());
        }
    }
}

#[test]
fn what_belongs_to_the_skill_is_read_and_copied() {
    let fixture = Fixture::new();
    for path in [
        "references/one.md",
        "./references/./one.md",
        "references//one.md",
        "a/b/c/deep.md",
        "..almost/...",
        "~/home.md",
        "%2e%2e/100%.md",
        ".env.example",
        "group/own.md",
        "ünïcode/使用.md",
    ] {
        let resource = fixture.read(path).unwrap_or_else(|error| panic!("{error:#}"));
        assert_eq!((text(&resource), resource.size), (INSIDE, INSIDE.len() as u64), "{path}");
        let listed = fixture.skill().join(&resource.path);
        assert!(listed.is_file(), "{path} is answered as {}", resource.path);
    }
    let mounted = fixture.mount().unwrap();
    assert_sealed(&mounted.dir);
    assert_eq!(mounted.files, 10);
    assert!(mounted.dir.join("a/b/c/deep.md").is_file());
}

/// Paths that mean, or would mean to some program, something else than a file of the skill.
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
        // Look-alikes, which normalisation would make `..` and `/` of.
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
        // Cut short or broken by a careless reader.
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
        // No files.
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
    // Whether `REFERENCES` is `references` is the file system's affair.
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
    // Of an id with `..` in front, the last part is a name like any other.
    let mounted = mount("../up", &fixture.skill(), &fixture.tasks(), &MountLimits::default());
    assert_eq!(mounted.unwrap().dir, fixture.tasks().canonicalize().unwrap().join("up"));
}

#[cfg(unix)]
mod planted {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use repertoire::activation::{LeftOutReason, TreeLimits, bundled_files, folder_tree};
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

    use super::*;

    /// Something put into the skill's directory as `bait`.
    struct Plant {
        name: &'static str,
        /// Puts it there; `false` if this user may not.
        put: fn(&Fixture, &Path) -> bool,
        /// What is asked for then.
        path: &'static str,
        code: ErrorCode,
        /// Why it is not in a mount; `None` if it is there, as a copy of something inside.
        reason: Option<LeftOutReason>,
    }

    fn link(target: impl AsRef<Path>, bait: &Path) -> bool {
        symlink(target, bait).unwrap();
        true
    }

    fn special(bait: &Path, kind: FileType, device: u64) -> bool {
        mknodat(CWD, bait, kind, Mode::RUSR | Mode::WUSR, device).is_ok()
    }

    const PLANTS: &[Plant] = &[
        Plant {
            name: "a link to an absolute file",
            put: |fixture, bait| link(fixture.outside().join("canary.txt"), bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a relative link to a file",
            put: |_, bait| link("../../outside/canary.txt", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to an absolute directory",
            put: |fixture, bait| link(fixture.outside(), bait),
            path: "bait/canary.txt",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a relative link to a directory",
            put: |_, bait| link("../../outside", bait),
            path: "bait/references/one.md",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to the root",
            put: |_, bait| link("/", bait),
            path: "bait/etc/passwd",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to the directory above",
            put: |_, bait| link("..", bait),
            path: "bait/canary.txt",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link out and in again",
            put: |_, bait| link("../review/references/one.md", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a chain of links",
            put: |_, bait| {
                link("a/b/next", bait)
                    && link("../last", &bait.with_file_name("a/b/next"))
                    && link("../../../outside/canary.txt", &bait.with_file_name("a/last"))
            },
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link whose directory is a link",
            put: |_, bait| {
                link("a/d/../../canary.txt", bait) && link("../..", &bait.with_file_name("a/d"))
            },
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link below a directory",
            put: |_, bait| {
                fs::create_dir(bait).unwrap();
                link("../../../outside", &bait.join("out"))
            },
            path: "bait/out/canary.txt",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to itself",
            put: |_, bait| link("bait", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkBroken),
        },
        Plant {
            name: "a loop of links",
            put: |_, bait| link("tiab", bait) && link("bait", &bait.with_file_name("tiab")),
            path: "bait/one.md",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkBroken),
        },
        Plant {
            name: "a link to nothing",
            put: |_, bait| link("nothing", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkBroken),
        },
        Plant {
            name: "a link to the skill itself",
            put: |_, bait| link(".", bait),
            path: "bait/SKILL.md",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkBroken),
        },
        Plant {
            name: "a link to the root of the process",
            put: |_, bait| link("/proc/self/root", bait),
            path: "bait/etc/passwd",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to the environment of the process",
            put: |_, bait| link("/proc/self/environ", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to the working directory",
            put: |_, bait| link("/proc/self/cwd", bait),
            path: "bait/Cargo.toml",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to standard input",
            put: |_, bait| link("/dev/stdin", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a link to an endless device",
            put: |_, bait| link("/dev/zero", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::LinkOutside),
        },
        Plant {
            name: "a device",
            put: |_, bait| special(bait, FileType::CharacterDevice, makedev(1, 5)),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::NotAFile),
        },
        Plant {
            name: "a pipe that nobody writes into",
            put: |_, bait| special(bait, FileType::Fifo, 0),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::NotAFile),
        },
        Plant {
            name: "a link to a pipe inside",
            put: |_, bait| {
                link("pipe", bait) && special(&bait.with_file_name("pipe"), FileType::Fifo, 0)
            },
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::NotAFile),
        },
        Plant {
            name: "a socket",
            put: |_, bait| UnixListener::bind(bait).is_ok(),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::NotAFile),
        },
        Plant {
            name: "a hard link to a file outside",
            put: |fixture, bait| fs::hard_link(fixture.outside().join("canary.txt"), bait).is_ok(),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::HardLink),
        },
        Plant {
            name: "a link to a hard link",
            put: |fixture, bait| {
                let hard = bait.with_file_name("hard");
                link("hard", bait) && fs::hard_link(fixture.outside().join("one.md"), hard).is_ok()
            },
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::HardLink),
        },
        Plant {
            name: "a link to a sub-skill",
            put: |_, bait| link("sub", bait),
            path: "bait/canary.txt",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::SubSkill),
        },
        Plant {
            name: "a link into a sub-skill",
            put: |_, bait| link("group/sub/deep", bait),
            path: "bait/canary.txt",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::SubSkill),
        },
        Plant {
            name: "a link into the repository",
            put: |_, bait| link(".git/config", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: Some(LeftOutReason::NotOfTheSkill),
        },
        Plant {
            name: "a sub-skill whose file is a link",
            put: |fixture, bait| {
                fs::create_dir(bait).unwrap();
                fs::write(bait.join("canary.txt"), CANARY).unwrap();
                link(fixture.outside().join("canary.txt"), &bait.join("SKILL.md"))
            },
            path: "bait/canary.txt",
            code: ErrorCode::NotFound,
            reason: Some(LeftOutReason::SubSkill),
        },
        Plant {
            name: "a link from inside to a file inside",
            put: |_, bait| link("references/one.md", bait),
            path: "bait",
            code: ErrorCode::PermissionDenied,
            reason: None,
        },
        Plant {
            name: "a link from inside to a directory inside",
            put: |_, bait| link("a/../references", bait),
            path: "bait/one.md",
            code: ErrorCode::PermissionDenied,
            reason: None,
        },
    ];

    #[test]
    fn nothing_planted_in_a_skill_leads_out_of_it() {
        for Plant { name, put, path, code, reason } in PLANTS {
            let fixture = Fixture::new();
            let bait = fixture.skill().join("bait");
            if !put(&fixture, &bait) {
                assert_eq!(*name, "a device", "only the administrator makes these");
                continue;
            }
            let error = refusal(&fixture, path);
            assert_eq!(error.code(), *code, "{name}: {error:#}");
            // That there is a file with a second name is no secret.
            if *reason != Some(LeftOutReason::HardLink) {
                let listed = bundled_files(&fixture.skill(), 100).unwrap().files;
                assert!(!listed.iter().any(|file| file.starts_with("bait")), "{name}: {listed:?}");
            }
            let tree = folder_tree(&fixture.skill(), &TreeLimits::default()).unwrap();
            assert!(!tree.contains("canary") && !tree.contains("passwd"), "{name}:\n{tree}");

            let mounted = without_waiting(name, || fixture.mount()).unwrap();
            assert_sealed(&mounted.dir);
            let left_out = mounted.left_out.iter().find(|left| left.path.starts_with("bait"));
            assert_eq!(left_out.map(|left| left.reason), *reason, "{name}");
            let at = left_out.map_or("bait", |left| left.path.as_str());
            assert_eq!(mounted.dir.join(at).exists(), reason.is_none(), "{name}");
        }
    }

    #[test]
    fn a_mount_writes_through_no_link() {
        let fixture = Fixture::new();
        symlink(fixture.outside(), fixture.tasks().join("review")).unwrap();
        let before: Vec<_> = WalkDir::new(fixture.outside()).into_iter().collect();
        let error = fixture.mount().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
        assert_eq!(WalkDir::new(fixture.outside()).into_iter().count(), before.len());
        // Nor into the skill by another of its names.
        symlink(fixture.skill(), fixture.temp.path().join("alias")).unwrap();
        let limits = MountLimits::default();
        let inside = fixture.temp.path().join("alias/references");
        let error = mount("review", &fixture.skill(), &inside, &limits).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
    }

    #[test]
    fn a_file_replaced_after_it_was_listed_is_not_read() {
        let fixture = Fixture::new();
        let listed = bundled_files(&fixture.skill(), 100).unwrap().files;
        assert!(listed.len() > 5, "{listed:?}");
        for file in listed {
            let path = fixture.skill().join(&file);
            fs::remove_file(&path).unwrap();
            symlink(fixture.outside().join("canary.txt"), &path).unwrap();
            assert_eq!(refusal(&fixture, &file).code(), ErrorCode::PermissionDenied);
        }
    }
}

#[cfg(unix)]
mod races {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    /// Does `swap` again and again on another thread while `work` runs.
    fn while_swapping(swap: impl Fn() + Sync, work: impl FnOnce()) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    swap();
                }
            });
            // The other thread has to end when the work panics, too.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            is_over.store(true, Ordering::Relaxed);
            if let Err(panic) = outcome {
                std::panic::resume_unwind(panic);
            }
        });
    }

    /// Puts `other` in the place of `path` for a moment.
    fn swap(path: &Path, other: &Path, spare: &Path) {
        // Where both can be renamed at once, there is no moment without a file, and the race is
        // the harder to win for the reader.
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let exchange = || renameat_with(CWD, path, CWD, other, RenameFlags::EXCHANGE);
            if exchange().is_ok() {
                exchange().unwrap();
                return;
            }
        }
        fs::rename(path, spare).unwrap();
        fs::rename(other, path).unwrap();
        fs::rename(path, other).unwrap();
        fs::rename(spare, path).unwrap();
    }

    /// Reads `path` `n_times`, and until it was both read and refused.
    fn read_often(fixture: &Fixture, path: &str, n_times: usize) {
        let start = Instant::now();
        let (mut n_read, mut n_refused) = (0, 0);
        while n_read + n_refused < n_times || n_read == 0 || n_refused == 0 {
            match fixture.read(path) {
                Ok(resource) => {
                    assert_eq!(text(&resource), INSIDE);
                    n_read += 1;
                }
                Err(error) => {
                    assert!(!format!("{error:#} {error:?}").contains(CANARY), "{error:#}");
                    n_refused += 1;
                }
            }
            let is_late = start.elapsed() > Duration::from_secs(60);
            assert!(!is_late, "{n_read} reads and {n_refused} refusals in a minute: no race");
        }
    }

    #[test]
    fn a_directory_swapped_for_a_link_is_never_read_through() {
        let fixture = Fixture::new();
        let (dir, other) = (fixture.skill().join("references"), fixture.temp.path().join("other"));
        symlink(fixture.outside(), &other).unwrap();
        let spare = fixture.temp.path().join("spare");
        while_swapping(
            || swap(&dir, &other, &spare),
            || read_often(&fixture, "references/one.md", 5_000),
        );
    }

    #[test]
    fn a_directory_in_the_middle_swapped_for_a_link_is_never_read_through() {
        let fixture = Fixture::new();
        fixture.write("outside/c/deep.md", CANARY);
        let (dir, other) = (fixture.skill().join("a/b"), fixture.temp.path().join("other"));
        symlink(fixture.outside(), &other).unwrap();
        let spare = fixture.temp.path().join("spare");
        while_swapping(
            || swap(&dir, &other, &spare),
            || read_often(&fixture, "a/b/c/deep.md", 5_000),
        );
    }

    #[test]
    fn a_file_swapped_for_a_link_or_a_second_name_is_never_read() {
        for is_hard in [false, true] {
            let fixture = Fixture::new();
            let file = fixture.skill().join("references/one.md");
            let (other, spare) = (fixture.skill().join("other"), fixture.skill().join("spare"));
            let canary = fixture.outside().join("canary.txt");
            if is_hard { fs::hard_link(canary, &other) } else { symlink(canary, &other) }.unwrap();
            while_swapping(
                || swap(&file, &other, &spare),
                || read_often(&fixture, "references/one.md", 20_000),
            );
        }
    }

    #[test]
    fn a_skill_that_is_renamed_is_read_or_not_found() {
        let fixture = Fixture::new();
        let (skill, spare) = (fixture.skill(), fixture.temp.path().join("spare"));
        let rename = || {
            fs::rename(&skill, &spare).unwrap();
            thread::yield_now();
            fs::rename(&spare, &skill).unwrap();
            thread::yield_now();
        };
        while_swapping(rename, || read_often(&fixture, "a/b/c/deep.md", 3_000));
    }

    #[test]
    fn directories_and_files_swapped_during_mounts_are_never_copied_from_outside() {
        let fixture = Fixture::new();
        for n in 0..20 {
            fixture.write(&format!("skills/review/references/{n}.md"), INSIDE);
            fixture.write(&format!("outside/{n}.md"), CANARY);
        }
        let swaps: [(PathBuf, PathBuf); 2] = [
            (fixture.skill().join("references"), fixture.outside()),
            (fixture.skill().join("group/own.md"), fixture.outside().join("canary.txt")),
        ];
        let (other, spare) = (fixture.temp.path().join("other"), fixture.temp.path().join("spare"));
        for (path, target) in swaps {
            symlink(&target, &other).unwrap();
            let is_copied = |mounted: &Mounted| {
                let relative = path.strip_prefix(fixture.skill()).unwrap();
                mounted.dir.join(relative).exists()
            };
            let work = || {
                let start = Instant::now();
                let (mut n_whole, mut n_partial) = (0, 0);
                while n_whole + n_partial < 300 || n_whole == 0 || n_partial == 0 {
                    let mounted = fixture.mount().unwrap();
                    assert_sealed(&mounted.dir);
                    if is_copied(&mounted) {
                        n_whole += 1;
                    } else {
                        n_partial += 1;
                    }
                    fs::remove_dir_all(&mounted.dir).unwrap();
                    let is_late = start.elapsed() > Duration::from_secs(60);
                    assert!(!is_late, "{n_whole} whole and {n_partial} partial: no race");
                }
            };
            while_swapping(|| swap(&path, &other, &spare), work);
            fs::remove_file(&other).unwrap();
        }
    }
}
