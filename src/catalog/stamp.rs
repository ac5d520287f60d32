//! Stamps: metadata that tells whether a file or directory is unchanged, without reading it.
//!
//! Stamps compare size, times, inode and device, as git does for its index. Times cannot tell two
//! changes within one tick of the file system's clock apart. Git calls a file that was checked in the
//! tick of its last change *racily clean*, and compares its content
//! (`Documentation/technical/racy-git.txt`). Here the stamp of such a file is not *settled*: a
//! comparison with it reads the file again. The time that decides this is the inode's change time.
//! Programs cannot set it, so a change is noticed even if the file's modification time was set back.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The longest tick of any file system in use (two seconds on FAT). It also allows for a network file
/// system whose clock differs slightly from ours.
const TICK: Duration = Duration::from_secs(2);

/// The state of a path when it was checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// The file, directory or link itself; `None` if it did not exist, or its metadata could not be
    /// read.
    here: Option<Facts>,
    /// The target of the link; `None` if the path is not a link.
    link: Option<Link>,
    /// True if any later change will change the stamp.
    settled: bool,
}

/// The final target of a link, through any further links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Link {
    /// The path of the target without links; `None` if the link is broken.
    real: Option<PathBuf>,
    target: Option<Facts>,
}

/// The metadata of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Facts {
    len: u64,
    modified: Time,
    /// The last change of content, permissions, name or links; where the system does not record it, that
    /// of the content.
    changed: Time,
    inode: u64,
    device: u64,
    is_dir: bool,
    /// The file type and the permissions.
    mode: u32,
}

/// Nanoseconds since 1970.
type Time = i128;

/// The number of bytes of a plain stamp.
#[cfg(feature = "snapshot")]
pub(crate) const PLAIN_LEN: usize = 61;

impl Stamp {
    /// The stamp of `path`, following links, for a load that began at `start`. It is not settled if the
    /// file changed after `start` or just before it. So it may be taken after the content was read: a
    /// change in between leaves it unsettled.
    pub(crate) fn take(path: &Path, start: SystemTime) -> Stamp {
        let Ok(metadata) = path.symlink_metadata() else {
            return Stamp { here: None, link: None, settled: true };
        };
        let here = Facts::of(&metadata);
        let link = metadata.is_symlink().then(|| Link {
            real: path.canonicalize().ok(),
            target: fs::metadata(path).ok().map(|target| Facts::of(&target)),
        });
        let target = link.as_ref().and_then(|link| link.target);
        let settled = here.is_older_than(start) && target.is_none_or(|to| to.is_older_than(start));
        Stamp { here: Some(here), link, settled }
    }

    /// The stamp of an open file, for a check that began at `start`.
    #[cfg(feature = "toolsets")]
    pub(crate) fn of(metadata: &Metadata, start: SystemTime) -> Stamp {
        let here = Facts::of(metadata);
        Stamp { here: Some(here), link: None, settled: here.is_older_than(start) }
    }

    /// Tells whether any later change will change the stamp.
    #[cfg(feature = "snapshot")]
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// The metadata as bytes, which are equal if and only if the metadata is; `None` for a link or a
    /// missing file.
    #[cfg(feature = "snapshot")]
    pub(super) fn plain(&self) -> Option<[u8; PLAIN_LEN]> {
        let facts = self.here.filter(|_| self.link.is_none())?;
        let Facts { len, modified, changed, inode, device, is_dir, mode } = facts;
        let mut plain = [0; PLAIN_LEN];
        plain[..16].copy_from_slice(&modified.to_le_bytes());
        plain[16..32].copy_from_slice(&changed.to_le_bytes());
        plain[32..40].copy_from_slice(&len.to_le_bytes());
        plain[40..48].copy_from_slice(&inode.to_le_bytes());
        plain[48..56].copy_from_slice(&device.to_le_bytes());
        plain[56..60].copy_from_slice(&mode.to_le_bytes());
        plain[60] = u8::from(is_dir);
        Some(plain)
    }

    /// The settled stamp with the metadata in `plain`.
    #[cfg(feature = "snapshot")]
    pub(super) fn of_plain(plain: &[u8; PLAIN_LEN]) -> Stamp {
        let (modified, rest) = take(plain);
        let (changed, rest) = take(rest);
        let (len, rest) = take(rest);
        let (inode, rest) = take(rest);
        let (device, rest) = take(rest);
        let (mode, rest) = take(rest);
        let here = Facts {
            len: u64::from_le_bytes(len),
            modified: Time::from_le_bytes(modified),
            changed: Time::from_le_bytes(changed),
            inode: u64::from_le_bytes(inode),
            device: u64::from_le_bytes(device),
            is_dir: rest == [1],
            mode: u32::from_le_bytes(mode),
        };
        Stamp { here: Some(here), link: None, settled: true }
    }

    /// Tells whether the path is a directory, or a link to one.
    #[cfg(feature = "watch")]
    pub(super) fn is_dir(&self) -> bool {
        let facts = self.link.as_ref().map_or(self.here, |link| link.target);
        facts.is_some_and(|facts| facts.is_dir)
    }

    #[cfg(feature = "watch")]
    pub(super) fn is_link(&self) -> bool {
        self.link.is_some()
    }

    /// Tells whether `now`, a later stamp of the same path, proves that nothing changed in between.
    pub(crate) fn proves_unchanged(&self, now: &Stamp) -> bool {
        self.settled && self.here == now.here && self.link == now.link
    }

    /// Tells whether `path` is unchanged since the stamp was taken.
    pub(crate) fn is_current(&self, path: &Path) -> bool {
        self.settled && self.proves_unchanged(&Stamp::take(path, UNIX_EPOCH))
    }
}

impl Facts {
    fn of(metadata: &Metadata) -> Facts {
        let modified = metadata.modified().map_or(0, nanoseconds);
        let (len, is_dir) = (metadata.len(), metadata.is_dir());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let changed =
                i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
            let (inode, device, mode) = (metadata.ino(), metadata.dev(), metadata.mode());
            Facts { len, modified, changed, inode, device, is_dir, mode }
        }
        #[cfg(not(unix))]
        {
            let mode = u32::from(metadata.permissions().readonly());
            Facts { len, modified, changed: modified, inode: 0, device: 0, is_dir, mode }
        }
    }

    /// Tells whether the last change was so long before `start` that any later change has a different
    /// time.
    fn is_older_than(&self, start: SystemTime) -> bool {
        self.changed + TICK.as_nanos().cast_signed() < nanoseconds(start)
    }
}

/// Splits the first `N` bytes off a plain stamp; zeros if there are too few.
#[cfg(feature = "snapshot")]
fn take<const N: usize>(bytes: &[u8]) -> ([u8; N], &[u8]) {
    bytes.split_first_chunk().map_or(([0; N], bytes), |(first, rest)| (*first, rest))
}

fn nanoseconds(time: SystemTime) -> Time {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos().cast_signed(),
        Err(before) => -before.duration().as_nanos().cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

    /// A time at which the stamps of all files that the tests make are settled.
    fn later() -> SystemTime {
        SystemTime::now() + 10 * TICK
    }

    fn set_modified(path: &Path, time: SystemTime) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn what_is_left_alone_is_current() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "one").unwrap();
        for path in [dir.path(), &file, &dir.path().join("missing")] {
            let stamp = Stamp::take(path, later());
            assert!(stamp.is_current(path), "{stamp:?}");
        }
    }

    #[test]
    fn what_changed_within_a_tick_is_not_settled_and_what_is_missing_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "one").unwrap();
        // The modification time that a program sets does not matter.
        set_modified(&file, UNIX_EPOCH + Duration::from_secs(1));
        let now = SystemTime::now();
        for (path, is_settled) in [(dir.path(), false), (&file, false), (&file.join("x"), true)] {
            let stamp = Stamp::take(path, now);
            assert_eq!(stamp.is_current(path), is_settled, "{stamp:?}");
            assert_eq!(stamp.proves_unchanged(&stamp), is_settled);
        }
    }

    /// Each change leaves some of the metadata unchanged.
    #[test]
    #[cfg(unix)]
    fn every_change_shows() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        type Change = fn(&Path);
        let changes: [(&str, Change); 9] = [
            ("content", |dir| fs::write(dir.join("a"), "two").unwrap()),
            ("content, with the time set back", |dir| {
                let time = dir.join("a").metadata().unwrap().modified().unwrap();
                fs::write(dir.join("a"), "two").unwrap();
                set_modified(&dir.join("a"), time);
            }),
            ("length, with the time set back", |dir| {
                let time = dir.join("a").metadata().unwrap().modified().unwrap();
                File::options().append(true).open(dir.join("a")).unwrap().write_all(b"!").unwrap();
                set_modified(&dir.join("a"), time);
            }),
            ("another file of the same time and length", |dir| {
                let time = dir.join("a").metadata().unwrap().modified().unwrap();
                fs::write(dir.join("new"), "two").unwrap();
                set_modified(&dir.join("new"), time);
                fs::rename(dir.join("new"), dir.join("a")).unwrap();
            }),
            ("permissions", |dir| {
                fs::set_permissions(dir.join("a"), fs::Permissions::from_mode(0o600)).unwrap();
            }),
            ("removed", |dir| fs::remove_file(dir.join("a")).unwrap()),
            ("a directory instead", |dir| {
                fs::remove_file(dir.join("a")).unwrap();
                fs::create_dir(dir.join("a")).unwrap();
            }),
            ("a link to the same instead", |dir| {
                fs::rename(dir.join("a"), dir.join("b")).unwrap();
                symlink("b", dir.join("a")).unwrap();
            }),
            ("another place of the same", |dir| {
                fs::copy(dir.join("a"), dir.join("b")).unwrap();
                fs::rename(dir.join("b"), dir.join("a")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("a");
            fs::write(&file, "one").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            let stamp = Stamp::take(&file, later());
            // The clock of file times moves only every few milliseconds.
            std::thread::sleep(Duration::from_millis(30));
            change(dir.path());
            assert!(!stamp.is_current(&file), "{what}: {stamp:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_where_it_leads_to() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in ["one", "two"] {
            fs::create_dir(path(name)).unwrap();
        }
        symlink("one", path("middle")).unwrap();
        symlink("middle", path("link")).unwrap();
        symlink("nowhere", path("broken")).unwrap();
        let (link, broken) =
            (Stamp::take(&path("link"), later()), Stamp::take(&path("broken"), later()));
        assert!(link.is_current(&path("link")) && broken.is_current(&path("broken")));

        fs::remove_file(path("middle")).unwrap();
        symlink("two", path("middle")).unwrap();
        assert!(!link.is_current(&path("link")), "a link on the way leads elsewhere");
        fs::create_dir(path("nowhere")).unwrap();
        assert!(!broken.is_current(&path("broken")), "what it leads to is there now");
    }

    #[test]
    #[cfg(feature = "snapshot")]
    fn a_plain_stamp_is_the_same_after_it_was_made_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "one").unwrap();
        let (dir_stamp, stamp) = (Stamp::take(dir.path(), later()), Stamp::take(&file, later()));
        assert_ne!(dir_stamp.plain(), stamp.plain());
        for stamp in [dir_stamp, stamp] {
            assert_eq!(Stamp::of_plain(&stamp.plain().unwrap()), stamp);
        }
        assert_eq!(Stamp::take(&dir.path().join("missing"), later()).plain(), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
            assert_eq!(Stamp::take(&dir.path().join("link"), later()).plain(), None);
        }
    }

    #[test]
    fn stamps_are_the_same_after_they_were_written_down() {
        let dir = tempfile::tempdir().unwrap();
        let stamp = Stamp::take(dir.path(), later());
        let written = serde_json::to_string(&stamp).unwrap();
        assert_eq!(serde_json::from_str::<Stamp>(&written).unwrap(), stamp);
    }
}
