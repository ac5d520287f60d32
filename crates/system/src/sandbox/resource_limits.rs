//! Resource limits, which the kernel enforces on a process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::OnUnenforced;

/// The most descriptors of a process: the data that waits in its sockets is memory that no limit counts, and those
/// that are passed on and not received are seen nowhere else.
const DESCRIPTORS: u64 = 4096;

/// The most timers and waiting signals of the user with which a process can make another one.
#[cfg(target_os = "linux")]
const PENDING: u64 = 4096;

/// Resource limits of a process. `None` keeps the limit of this process. Core dumps are always off.
#[derive(Debug, Clone, Default)]
pub struct ResourceLimits {
    /// Bytes of address space.
    pub address_space: Option<u64>,
    /// Bytes of private memory that the process can write.
    pub data: Option<u64>,
    /// Seconds of processor time.
    pub cpu_seconds: Option<u64>,
    /// Bytes of any file that the process writes.
    pub file_bytes: Option<u64>,
    /// Processes and threads of the user.
    pub processes: Option<u64>,
}

impl ResourceLimits {
    /// Sets the limits for this process. Returns true if all of them are set.
    pub fn set(&self, complain: OnUnenforced<'_>) -> bool {
        // Set every limit, even after one that could not be set.
        let set = self.each().map(|(resource, limit)| setrlimit(resource, limit));
        set.filter_map(Result::err).inspect(|error| complain("a limit", error)).count() == 0
    }

    /// Sets the limits for this process, up to the first that cannot be set. Allocates nothing.
    #[cfg(target_os = "linux")]
    pub fn apply(&self) -> rustix::io::Result<()> {
        self.each().try_for_each(|(resource, limit)| setrlimit(resource, limit))
    }

    /// The limits, none of them higher than that of this process.
    fn each(&self) -> impl Iterator<Item = (Resource, Rlimit)> {
        let limits = [
            (Resource::As, self.address_space, 0),
            (Resource::Data, self.data, 0),
            // The soft limit ends the process with a signal that says why; the hard limit, a second
            // later, kills it.
            (Resource::Cpu, self.cpu_seconds, 1),
            (Resource::Fsize, self.file_bytes, 0),
            (Resource::Nproc, self.processes, 0),
            (Resource::Core, Some(0), 0),
            // Where the user may, a script must not take a processor from everybody else.
            #[cfg(target_os = "linux")]
            (Resource::Rtprio, Some(0), 0),
            #[cfg(target_os = "linux")]
            (Resource::Nice, Some(0), 0),
            // Timers and signals that wait count for all programs of the user together.
            #[cfg(target_os = "linux")]
            (Resource::Sigpending, Some(PENDING), 0),
        ];
        let limits = limits.into_iter().filter_map(|(resource, limit, more)| {
            let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let soft = limit?.min(most);
            let maximum = Some(soft.saturating_add(more).min(most));
            Some((resource, Rlimit { current: Some(soft), maximum }))
        });
        // The soft limit stays: old programs fail with numbers that are higher than usual.
        let own = getrlimit(Resource::Nofile);
        let at_most = |limit: Option<u64>| Some(limit.unwrap_or(DESCRIPTORS).min(DESCRIPTORS));
        let (current, maximum) = (at_most(own.current), at_most(own.maximum));
        limits.chain([(Resource::Nofile, Rlimit { current, maximum })])
    }
}
