//! Files that are swapped while they are read or copied.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::*;

/// Runs `swap` repeatedly on another thread while `work` runs.
fn while_swapping(swap: impl Fn() + Sync, work: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                swap();
            }
        });
        // End the other thread even if `work` panics.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Replaces `path` by `other` for a moment.
fn swap(path: &Path, other: &Path, spare: &Path) {
    // If the system can exchange two files at once, there is always a file, which makes the race harder
    // for the reader.
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

/// Reads `path` `n_times`, and goes on until it has been both read and refused.
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
    while_swapping(|| swap(&dir, &other, &spare), || read_often(&fixture, "a/b/c/deep.md", 5_000));
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
