//! Limits on a process together with all that it started. The system has such limits only where it
//! delegates a control group, so they are measured here.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::group::{Group, Member};
use super::open_files::{BLOCK, MAX_LOCKS, MAX_WATCHES, Open};

/// The interval between two measurements.
const INTERVAL: Duration = Duration::from_millis(50);
/// Measurements take at most one part of this many of the time, unless processes multiply.
const PART_OF_TIME: u32 = 20;
/// The longest time between two measurements: code that has much to be measured is not left alone for it.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);
/// The bytes of disk space for which each file counts at least: an empty one takes memory of the kernel, and time of
/// whoever counts it.
const LEAST_OF_A_FILE: u64 = 4096;

/// The most that a group may take. `None` does not limit it.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Bytes of memory, shared memory included; what several processes share counts once.
    pub memory: Option<u64>,
    /// Processes that are alive, each of their threads counted.
    pub processes: Option<u64>,
    /// A directory, and the bytes of disk space that the files below it may take.
    pub space: Option<(PathBuf, u64)>,
}

/// The limit that a group exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Bytes of memory, of which it may take this many.
    Memory(u64),
    /// Processes and threads, of which it may run this many.
    Processes(u64),
    /// Bytes of temporary files, of which it may take this many.
    Space(u64),
    /// Locks on files, of which it may hold this many.
    Locks(u64),
    /// Files that it watches by `epoll`, which may be this many.
    Watches(u64),
}

impl Exceeded {
    /// Describes what it did, in a phrase that follows "it".
    pub fn describe(self) -> String {
        match self {
            Exceeded::Memory(most) => format!("took more than {most} bytes of memory altogether"),
            Exceeded::Processes(most) => {
                format!("ran more than {most} processes and threads at once")
            }
            Exceeded::Space(most) => format!("took more than {most} bytes for temporary files"),
            Exceeded::Watches(most) => format!("watched more than {most} files at once"),
            Exceeded::Locks(most) => format!("held more than {most} locks on files"),
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
    /// The bytes that were free in the directory's file system at first.
    free: u64,
}

impl Measuring {
    /// Begins to measure a group.
    pub fn new(totals: Totals) -> Measuring {
        let free = totals.space.as_ref().and_then(|(dir, _)| free(dir)).unwrap_or(0);
        let next = Instant::now() + INTERVAL;
        Measuring { totals, next, tasks: tasks().unwrap_or(0), free }
    }

    /// Returns the limit that is exceeded, if a measurement is due and there is one. It is due earlier
    /// if processes multiply: soon after, they would leave no time for it.
    pub fn exceeded(&mut self, group: Group) -> Option<Exceeded> {
        let began = Instant::now();
        let multiply = |most: u64| tasks().is_some_and(|now| now > self.tasks + most / 2);
        if began < self.next && !self.totals.processes.is_some_and(multiply) {
            return None;
        }
        let exceeded = self.totals.exceeded(group, self.free);
        self.tasks = tasks().unwrap_or(0);
        let pause = (began.elapsed() * PART_OF_TIME).min(LONGEST_INTERVAL);
        self.next = Instant::now() + INTERVAL.max(pause);
        exceeded
    }
}

impl Totals {
    fn exceeded(&self, group: Group, free_at_first: u64) -> Option<Exceeded> {
        let members: Vec<_> = group.members().into_iter().filter(Member::is_alive).collect();
        let threads: u64 = members.iter().map(|member| member.threads).sum();
        if let Some(most) = self.processes.filter(|most| threads > *most) {
            return Some(Exceeded::Processes(most));
        }
        // What takes little time comes first: the rest takes longer, the more there is.
        let own = self.memory.map_or(0, |most| memory(&members, most));
        if let Some(most) = self.memory.filter(|most| own > *most) {
            return Some(Exceeded::Memory(most));
        }
        let open = Open::of(&members, self.memory.unwrap_or(u64::MAX));
        let with_own = own.saturating_add(open.bytes_of_the_kernel());
        let all = |most: u64| with_own.saturating_add(tables(&members, most));
        if let Some(most) = self.memory.filter(|most| all(*most) > *most) {
            return Some(Exceeded::Memory(most));
        }
        if open.watches > MAX_WATCHES {
            return Some(Exceeded::Watches(MAX_WATCHES));
        }
        if open.has_too_many_locks(&members) {
            return Some(Exceeded::Locks(MAX_LOCKS));
        }
        let (dir, most) = self.space.as_ref()?;
        let (below, is_all) = bytes_below(dir, *most);
        let space = below + open.bytes_without_a_name;
        // Others write there, too, so what is missing counts only if the group can be the reason.
        let missing = || free_at_first.saturating_sub(free(dir).unwrap_or(u64::MAX));
        let may_be_more = || !is_all || open.may_keep_more_files(&members);
        let is_hidden = || missing() > space.saturating_add(*most) && may_be_more();
        (space > *most || is_hidden()).then_some(Exceeded::Space(*most))
    }
}

/// The bytes that are free in the file system of a directory.
fn free(dir: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(dir).ok()?;
    Some(system.f_bfree.saturating_mul(system.f_frsize))
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
    let path = format!("/proc/{}/smaps_rollup", member.speaker.as_raw_nonzero());
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
        let path = format!("/proc/{}/status", member.speaker.as_raw_nonzero());
        let status = std::fs::read_to_string(path).ok()?;
        let rest = status.lines().find_map(|line| line.strip_prefix("VmPTE:"))?;
        rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    members.iter().filter_map(of).sum::<u64>() << 10
}

/// The disk space that the files below `dir` take up, in bytes, a block at least for each; and false if a directory
/// among them cannot be read. Counting ends once it is more than `most`.
fn bytes_below(dir: &Path, most: u64) -> (u64, bool) {
    use std::os::unix::fs::MetadataExt as _;
    let (mut bytes, mut is_all) = (0, true);
    for entry in walkdir::WalkDir::new(dir) {
        let Ok(entry) = entry else {
            is_all = false;
            continue;
        };
        let blocks = entry.metadata().map_or(0, |metadata| metadata.blocks() * BLOCK);
        bytes += blocks.max(LEAST_OF_A_FILE);
        if bytes > most {
            break;
        }
    }
    (bytes, is_all)
}
