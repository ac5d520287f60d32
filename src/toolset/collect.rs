//! Garbage collection in the cache directory of private copies and descriptions.
//!
//! A process that may use copies holds a shared lock as long as a child may run in them. Only a process
//! that gets the exclusive lock collects, and it keeps what was used recently.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The lock file.
const LOCK: &str = ".lock";

/// The suffixes of the names of copies and descriptions.
const ENDS: [&str; 5] = [std::env::consts::DLL_SUFFIX, ".program", ".skill", ".seen", ".tools"];

/// The prefix of the names of unfinished copies and descriptions.
const NEW: &str = ".tmp";

/// The least time between two notes of the use of a file.
const NOTES_USE: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the private copies and the descriptions in a [cache](super::ToolsetOptions::cache) of
/// toolsets that no process used for `time`, and returns the number that were removed. They are made
/// again when they are needed.
///
/// Removes nothing while another process, or an engine in this one, may use some of them.
///
/// ```
/// use std::time::Duration;
/// use repertoire::toolset::collect_cache;
///
/// let cache = tempfile::tempdir()?;
/// assert_eq!(collect_cache(cache.path(), Duration::from_secs(30 * 24 * 60 * 60)), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn collect_cache(dir: &Path, time: Duration) -> u64 {
    // If the directory does not exist, the lock cannot be opened, and nothing is created.
    let Some(_lock) = open_lock(dir).ok().filter(|lock| lock.try_lock().is_ok()) else { return 0 };
    let mut n_removed = 0;
    for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
        let Ok(metadata) = entry.metadata() else { continue };
        let is_old = unused_for(&metadata).is_some_and(|age| age >= time);
        if !is_ours(&entry.file_name().to_string_lossy()) || !is_old {
            continue;
        }
        let path = entry.path();
        let removed =
            if metadata.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Ok(()) => n_removed += 1,
            Err(error) => tracing::debug!(path = %path.display(), %error, "it stays"),
        }
    }
    if n_removed > 0 {
        tracing::info!(n_removed, dir = %dir.display(), "unused copies of toolsets collected");
    }
    n_removed
}

/// The time since the last noted use. `None` if that lies in the future, because the clock was set
/// back: such a file is not old.
fn unused_for(metadata: &Metadata) -> Option<Duration> {
    metadata.modified().ok().and_then(|used| used.elapsed().ok())
}

/// Tells whether a name is that of a copy or a description, which begins with a hash, or of an
/// unfinished one. The host may name a directory that holds other files, too.
fn is_ours(name: &str) -> bool {
    let hash = ENDS.iter().find_map(|end| name.strip_suffix(end));
    let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    hash.is_some_and(is_hash) || name.starts_with(NEW)
}

/// Keeps other processes from collecting until the lock is dropped. Returns `None` if files cannot be
/// locked here; then no process collects, either.
pub(super) fn lock_to_use(dir: &Path) -> Option<File> {
    let lock = open_lock(dir).ok()?;
    lock.lock_shared().is_ok().then_some(lock)
}

fn open_lock(dir: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(dir.join(LOCK))
}

/// Notes the use of a copy or a description in its modification time, unless that was done recently.
pub(super) fn note_use(file: &File) {
    let age = file.metadata().ok().and_then(|metadata| unused_for(&metadata));
    if age.is_none_or(|age| age >= NOTES_USE) {
        // If the time cannot be set, the file may be collected too early, and is then made again.
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn copies_are_collected_once_nobody_used_them_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let hash = "0a".repeat(32);
        let make = |name: &str, n_days: u32| {
            let path = dir.path().join(name);
            if name.ends_with("skill") || name.ends_with("program") {
                fs::create_dir(&path).unwrap();
                fs::write(path.join("file"), "x").unwrap();
            } else {
                fs::write(&path, "x").unwrap();
            }
            File::open(&path).unwrap().set_modified(SystemTime::now() - n_days * DAY).unwrap();
            path
        };
        let ours = ENDS.map(|end| make(&format!("{hash}{end}"), 31));
        let unfinished = make(".tmpAbCdEf", 31);
        let young = make(&format!("{}.seen", "0b".repeat(32)), 29);
        let others = [make("notes.seen", 31), make(&format!("{hash}.txt"), 31)];
        let used = make(&format!("{}.tools", "0c".repeat(32)), 31);
        note_use(&File::open(&used).unwrap());

        let engines = [lock_to_use(dir.path()).unwrap(), lock_to_use(dir.path()).unwrap()];
        assert_eq!(collect_cache(dir.path(), 30 * DAY), 0);
        let [one, other] = engines;
        drop(one);
        assert_eq!(collect_cache(dir.path(), 30 * DAY), 0, "one still runs");
        drop(other);
        assert_eq!(collect_cache(dir.path(), 30 * DAY), 6);
        assert!(ours.iter().chain([&unfinished]).all(|path| !path.exists()));
        assert!(others.iter().chain([&young, &used]).all(|path| path.exists()));

        let missing = dir.path().join("none");
        assert_eq!(collect_cache(&missing, Duration::ZERO), 0);
        assert!(!missing.exists());
    }
}
