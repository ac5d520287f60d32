//! Traps that an author can plant in a skill.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use repertoire::activation::{LeftOutReason, TreeLimits, bundled_files, folder_tree};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use super::*;

/// A trap, put into the skill's directory as `bait`.
struct Plant {
    name: &'static str,
    /// Plants the trap; returns false if this user may not.
    put: fn(&Fixture, &Path) -> bool,
    /// The path that is then requested.
    path: &'static str,
    code: ErrorCode,
    /// The reason why the trap is left out of a mount; `None` if the mount has it, as a copy of
    /// something inside the skill.
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
        // That a file has a second name is not a secret.
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
    // A mount must not end up inside of the skill either, even through another path to the skill.
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
