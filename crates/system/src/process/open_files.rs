//! The files, sockets and pipes that processes have open: files without a name take disk space, and the kernel keeps
//! memory for each descriptor, which no process counts as its own.

use std::collections::BTreeSet;

use super::group::Member;

/// The unit in which the system counts disk space, in bytes.
pub(super) const BLOCK: u64 = 512;

/// The most locks on files that a group may hold. Each takes memory of the kernel, and makes each of the next on its
/// file slower; databases hold some hundred.
pub(super) const MAX_LOCKS: u64 = 100_000;
/// The memory that the kernel takes for a descriptor, what is behind it included, at most; not for sockets and pipes.
const DESCRIPTOR: u64 = 1024;
/// The memory of what was written to a pipe and not read. A longer pipe is possible, but of those the system lets a
/// user have 64 MiB altogether.
const PIPE: u64 = 64 << 10;
/// The most files that a group may watch by `epoll`: the system lets all programs of a user together watch some
/// million.
pub(super) const MAX_WATCHES: u64 = 100_000;
/// The most bytes that are read about a descriptor: enough for the watches of all files that a process can have open.
#[cfg(target_os = "linux")]
const MOST_DESCRIBED: u64 = 1 << 20;

/// The files, sockets and pipes that processes have open, each once.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// The disk space of files that are removed, in bytes.
    pub(super) bytes_without_a_name: u64,
    descriptors: u64,
    sockets: u64,
    pipes: u64,
    /// Descriptors of which the file is unknown.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux lists descriptors"))]
    hidden: u64,
    /// The files that `epoll` watches.
    pub(super) watches: u64,
    /// The inodes of files that may be locked.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "Linux lists locks"))]
    files: BTreeSet<u64>,
}

impl Open {
    /// Looks at all descriptors, until they take more than `most` bytes of the kernel.
    #[cfg(target_os = "linux")]
    pub(super) fn of(members: &[Member], most: u64) -> Open {
        let mut open = Open::default();
        let mut known = BTreeSet::new();
        for member in members {
            let process = format!("/proc/{}", member.speaker.as_raw_nonzero());
            match std::fs::read_dir(format!("{process}/fd")) {
                Ok(entries) => {
                    for entry in entries.flatten() {
                        open.count(&process, &entry, &mut known);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    open.count_hidden(&process);
                }
                // It is gone.
                Err(_) => {}
            }
            if open.bytes_of_the_kernel() > most {
                break;
            }
        }
        open
    }

    #[cfg(target_os = "linux")]
    fn count(
        &mut self,
        process: &str,
        entry: &std::fs::DirEntry,
        known: &mut BTreeSet<(u64, u64)>,
    ) {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        self.descriptors += 1;
        // The metadata of the file, not of the link that stands for it here.
        let Ok(file) = std::fs::metadata(entry.path()) else { return };
        let kind = file.file_type();
        if kind.is_char_device() || kind.is_dir() {
            return;
        }
        let is_new = known.insert((file.dev(), file.ino()));
        if kind.is_socket() {
            self.sockets += u64::from(is_new);
            // Descriptors that were passed on and not received are nowhere else.
            let passed_on = if is_new { passed_on(process, entry) } else { 0 };
            self.sockets += passed_on;
            self.hidden += passed_on;
        } else if kind.is_fifo() {
            self.pipes += u64::from(is_new);
        } else if kind.is_file() {
            self.files.insert(file.ino());
            let is_removed = is_new && file.nlink() == 0;
            self.bytes_without_a_name += if is_removed { file.blocks() * BLOCK } else { 0 };
        } else {
            // Those of `epoll`, timers and signals share one inode.
            self.watches += watches(process, entry);
        }
    }

    /// Counts the descriptors of a process that hides them, such as a program that its user cannot read: each of them
    /// may be a socket.
    #[cfg(target_os = "linux")]
    fn count_hidden(&mut self, process: &str) {
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
        let size = size.and_then(|size| size.trim().parse::<u64>().ok()).unwrap_or(0);
        self.descriptors += size;
        self.sockets += size;
        self.hidden += size;
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(_: &[Member], _: u64) -> Open {
        Open::default()
    }

    /// The most memory that the kernel may keep for all that is open, in bytes.
    pub(super) fn bytes_of_the_kernel(&self) -> u64 {
        let parts = [
            (self.sockets, most_of_a_socket()),
            (self.pipes, PIPE),
            (self.descriptors, DESCRIPTOR),
        ];
        parts.iter().map(|(n, bytes)| n.saturating_mul(*bytes)).sum()
    }

    /// Tells whether the group may keep removed files that are not counted: behind a descriptor that is on its way or
    /// hidden, or as a mapping alone.
    #[cfg(target_os = "linux")]
    pub(super) fn may_keep_more_files(&self, members: &[Member]) -> bool {
        let maps_removed = |member: &Member| {
            let maps = std::fs::read(format!("/proc/{}/maps", member.speaker.as_raw_nonzero()));
            let maps = maps.unwrap_or_default();
            maps.split(|byte| *byte == b'\n').any(|line| line.ends_with(b" (deleted)"))
        };
        self.hidden > 0 || members.iter().any(maps_removed)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn may_keep_more_files(&self, _: &[Member]) -> bool {
        false
    }

    /// Tells whether the files are locked more often than a group may lock files. The system lists all locks; those
    /// that belong to an open file have no process.
    #[cfg(target_os = "linux")]
    pub(super) fn has_too_many_locks(&self, members: &[Member]) -> bool {
        use std::io::BufRead as _;
        let Ok(list) = std::fs::File::open("/proc/locks") else { return false };
        let is_own = |line: &str| {
            // `1: POSIX  ADVISORY  WRITE 42 fd:00:1234 0 EOF`, with `->` before the kind of one that waits.
            let mut words = line.split_ascii_whitespace().skip(1).filter(|word| *word != "->");
            let process = words.nth(3).and_then(|word| word.parse::<i32>().ok());
            let inode = words.next().and_then(|word| word.rsplit(':').next()?.parse().ok());
            inode.is_some_and(|inode: u64| self.files.contains(&inode))
                || members.iter().any(|it| Some(it.pid.as_raw_nonzero().get()) == process)
        };
        let lines = std::io::BufReader::with_capacity(1 << 16, list).lines();
        let own = lines.map_while(Result::ok).filter(|line| is_own(line));
        own.take(MAX_LOCKS as usize + 1).count() as u64 > MAX_LOCKS
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn has_too_many_locks(&self, _: &[Member]) -> bool {
        false
    }
}

/// The number of descriptors that were sent to a socket and not received.
#[cfg(target_os = "linux")]
fn passed_on(process: &str, socket: &std::fs::DirEntry) -> u64 {
    let text = described(process, socket);
    let number = text.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The number of files that a descriptor watches, if it is one of `epoll`; more than allowed if there are more than a
/// process can have open, which takes a trick.
#[cfg(target_os = "linux")]
fn watches(process: &str, entry: &std::fs::DirEntry) -> u64 {
    let text = described(process, entry);
    if text.len() as u64 >= MOST_DESCRIBED {
        return MAX_WATCHES + 1;
    }
    text.lines().filter(|line| line.starts_with("tfd:")).count() as u64
}

/// Returns what the system tells of a descriptor.
#[cfg(target_os = "linux")]
fn described(process: &str, entry: &std::fs::DirEntry) -> String {
    use std::io::Read as _;
    let mut text = String::new();
    let path = format!("{process}/fdinfo/{}", entry.file_name().to_string_lossy());
    if let Ok(file) = std::fs::File::open(path) {
        let _ = file.take(MOST_DESCRIBED).read_to_string(&mut text);
    }
    text
}

/// The most memory that the data takes which was sent to a socket and not received, in bytes. The system takes data
/// until its limit is reached, and so the last message on top of that.
fn most_of_a_socket() -> u64 {
    static MOST: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *MOST.get_or_init(|| {
        const USUAL: u64 = 212_992;
        let limit = std::fs::read_to_string("/proc/sys/net/core/wmem_default");
        2 * limit.ok().and_then(|limit| limit.trim().parse().ok()).unwrap_or(USUAL)
    })
}
