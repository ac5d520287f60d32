//! Limits on a process together with all that it started. The system has such limits only where it
//! delegates a control group, so they are measured here.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::group::{Group, Member};

/// The interval between two measurements.
const INTERVAL: Duration = Duration::from_millis(50);
/// Measurements take at most one part of this many of the time, unless processes multiply.
const PART_OF_TIME: u32 = 20;

/// The unit in which the system counts disk space, in bytes.
const BLOCK: u64 = 512;

/// The most that a group may take. `None` does not limit it.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Bytes of memory, shared memory included; what several processes share counts once.
    pub memory: Option<u64>,
    /// Processes that are alive.
    pub processes: Option<u64>,
    /// A directory, and the bytes of disk space that the files below it may take.
    pub space: Option<(PathBuf, u64)>,
}

/// The limit that a group exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Bytes of memory, of which it may take this many.
    Memory(u64),
    /// Processes, of which it may run this many.
    Processes(u64),
    /// Bytes of temporary files, of which it may take this many.
    Space(u64),
}

impl Exceeded {
    /// Describes what it did, in a phrase that follows "it".
    pub fn describe(self) -> String {
        match self {
            Exceeded::Memory(most) => format!("took more than {most} bytes of memory altogether"),
            Exceeded::Processes(most) => format!("ran more than {most} processes at once"),
            Exceeded::Space(most) => format!("took more than {most} bytes for temporary files"),
        }
    }
}

/// Measures a group from time to time.
#[derive(Debug)]
pub struct Measuring {
    totals: Totals,
    next: Instant,
    /// Tasks of the whole system at the last measurement.
    tasks: u64,
}

impl Measuring {
    /// Begins to measure a group.
    pub fn new(totals: Totals) -> Measuring {
        Measuring { totals, next: Instant::now() + INTERVAL, tasks: tasks().unwrap_or(0) }
    }

    /// Returns the limit that is exceeded, if a measurement is due and there is one. It is due earlier
    /// if processes multiply: soon after, they would leave no time for it.
    pub fn exceeded(&mut self, group: Group) -> Option<Exceeded> {
        let began = Instant::now();
        let multiply = |most: u64| tasks().is_some_and(|now| now > self.tasks + most / 2);
        if began < self.next && !self.totals.processes.is_some_and(multiply) {
            return None;
        }
        let exceeded = self.totals.exceeded(group);
        self.tasks = tasks().unwrap_or(0);
        self.next = Instant::now() + INTERVAL.max(began.elapsed() * PART_OF_TIME);
        exceeded
    }
}

impl Totals {
    fn exceeded(&self, group: Group) -> Option<Exceeded> {
        let members: Vec<_> = group.members().into_iter().filter(Member::is_alive).collect();
        if let Some(most) = self.processes.filter(|most| members.len() as u64 > *most) {
            return Some(Exceeded::Processes(most));
        }
        let open = Open::of(&members);
        let of_the_kernel = |most: u64| {
            open.sockets.saturating_mul(most_of_a_socket()).saturating_add(tables(&members, most))
        };
        let is_exceeded = |most: &u64| memory(&members, *most) + of_the_kernel(*most) > *most;
        if let Some(most) = self.memory.filter(is_exceeded) {
            return Some(Exceeded::Memory(most));
        }
        let (dir, most) = self.space.as_ref()?;
        let space = bytes_below(dir, *most) + open.bytes_without_a_name;
        (space > *most).then_some(Exceeded::Space(*most))
    }
}

/// The number of tasks that the system runs, of all users.
pub fn tasks() -> Option<u64> {
    // In `0.42 0.40 0.41 2/1234 5678`, 1234 counts them.
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}

/// The memory that processes take together, in bytes. It is measured exactly only if it may be more
/// than `most`: the number that the system keeps counts programs, libraries and what is shared for
/// each process again.
fn memory(members: &[Member], most: u64) -> u64 {
    let pages: u64 = members.iter().map(|member| member.resident_pages).sum();
    let at_most = pages.saturating_mul(rustix::param::page_size() as u64);
    if at_most <= most {
        return at_most;
    }
    // A process that hides its memory counts with all of it.
    let own = |member: &Member| {
        own_memory(member).unwrap_or(member.resident_pages * rustix::param::page_size() as u64)
    };
    members.iter().map(own).sum()
}

/// The bytes of memory of a process that no file holds; of what it shares with others, its part. `None`
/// if it cannot be read.
fn own_memory(member: &Member) -> Option<u64> {
    let path = format!("/proc/{}/smaps_rollup", member.pid.as_raw_nonzero());
    let rollup = std::fs::read_to_string(path).ok()?;
    let kilobytes = |name: &str| {
        let rest = rollup.lines().find_map(|line| line.strip_prefix(name))?;
        rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    let swapped = kilobytes("SwapPss:").unwrap_or(0);
    Some((kilobytes("Pss_Anon:")? + kilobytes("Pss_Shmem:")? + swapped) << 10)
}

/// The memory of page tables, in bytes: reading one byte of each two mebibytes that are only mapped takes a page for a
/// table, and nothing else that is counted. They are not looked at if they cannot be an eighth of `most`.
fn tables(members: &[Member], most: u64) -> u64 {
    const BYTES_OF_AN_ENTRY: u64 = 8;
    let mapped = members.iter().fold(0_u64, |sum, member| sum.saturating_add(member.virtual_bytes));
    if mapped / rustix::param::page_size() as u64 * BYTES_OF_AN_ENTRY <= most / 8 {
        return 0;
    }
    let of = |member: &Member| {
        let path = format!("/proc/{}/status", member.pid.as_raw_nonzero());
        let status = std::fs::read_to_string(path).ok()?;
        let rest = status.lines().find_map(|line| line.strip_prefix("VmPTE:"))?;
        rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    members.iter().filter_map(of).sum::<u64>() << 10
}

/// The files and sockets that processes have open, each once.
#[derive(Default)]
struct Open {
    /// The disk space of files that are removed, in bytes.
    bytes_without_a_name: u64,
    sockets: u64,
}

impl Open {
    #[cfg(target_os = "linux")]
    fn of(members: &[Member]) -> Open {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        let mut found = std::collections::BTreeSet::new();
        let mut all = Open::default();
        for member in members {
            let open = std::fs::read_dir(format!("/proc/{}/fd", member.pid.as_raw_nonzero()));
            let open = open.into_iter().flatten().flatten();
            // The metadata of the file, not of the link that stands for it here.
            for file in open.filter_map(|entry| std::fs::metadata(entry.path()).ok()) {
                let is_socket = file.file_type().is_socket();
                let is_removed = file.is_file() && file.nlink() == 0;
                if (is_socket || is_removed) && found.insert((file.dev(), file.ino())) {
                    all.sockets += u64::from(is_socket);
                    all.bytes_without_a_name += if is_removed { file.blocks() * BLOCK } else { 0 };
                }
            }
        }
        all
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &[Member]) -> Open {
        Open::default()
    }
}

/// The most memory that the data takes which was sent to a socket and not received, in bytes. It is the kernel's, and
/// no process counts it. The system takes data until its limit is reached, and so the last message on top of that.
fn most_of_a_socket() -> u64 {
    static MOST: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *MOST.get_or_init(|| {
        const USUAL: u64 = 212_992;
        let limit = std::fs::read_to_string("/proc/sys/net/core/wmem_default");
        2 * limit.ok().and_then(|limit| limit.trim().parse().ok()).unwrap_or(USUAL)
    })
}

/// The disk space that the files below `dir` take up, in bytes. Counting ends once it is more than
/// `most`.
fn bytes_below(dir: &Path, most: u64) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let mut bytes = 0;
    for entry in walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok) {
        bytes += entry.metadata().map_or(0, |metadata| metadata.blocks() * BLOCK);
        if bytes > most {
            break;
        }
    }
    bytes
}
