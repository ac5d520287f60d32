//! Resource limits, which the kernel enforces on a process.

use rustix::process::{Resource, Rlimit, getrlimit};

use super::OnUnenforced;

/// Resource limits of a process. `None` keeps the limit of this process. Core dumps are always off.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResourceLimits {
    /// Bytes of address space.
    pub(crate) address_space: Option<u64>,
    /// Bytes of private memory that the process can write.
    pub(crate) data: Option<u64>,
    /// Seconds of processor time.
    pub(crate) cpu_seconds: Option<u64>,
    /// Bytes of any file that the process writes.
    pub(crate) file_bytes: Option<u64>,
    /// Processes and threads of the user.
    pub(crate) processes: Option<u64>,
}

impl ResourceLimits {
    /// Sets the limits for this process. Returns true if all of them are set.
    #[cfg(feature = "toolsets")]
    pub(crate) fn set(&self, complain: OnUnenforced<'_>) -> bool {
        self.set_with(complain, rustix::process::setrlimit)
    }

    /// Sets the limits for another process of this user. Returns true if all of them are set.
    #[cfg(all(target_os = "linux", feature = "scripts"))]
    pub(crate) fn set_of(&self, process: rustix::process::Pid, complain: OnUnenforced<'_>) -> bool {
        self.set_with(complain, |resource, limit| {
            match rustix::process::prlimit(Some(process), resource, limit) {
                // The process has ended, and can exceed nothing any more.
                Ok(_) | Err(rustix::io::Errno::SRCH) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn set_with(
        &self,
        complain: OnUnenforced<'_>,
        set: impl Fn(Resource, Rlimit) -> rustix::io::Result<()>,
    ) -> bool {
        let limits = [
            (Resource::As, self.address_space, 0),
            (Resource::Data, self.data, 0),
            // The soft limit ends the process with a signal that says why; the hard limit, a second
            // later, kills it.
            (Resource::Cpu, self.cpu_seconds, 1),
            (Resource::Fsize, self.file_bytes, 0),
            (Resource::Nproc, self.processes, 0),
            (Resource::Core, Some(0), 0),
        ];
        let set = limits.iter().filter_map(|(resource, limit, more)| {
            let most = getrlimit(*resource).maximum.unwrap_or(u64::MAX);
            let soft = (*limit)?.min(most);
            let maximum = Some(soft.saturating_add(*more).min(most));
            Some(set(*resource, Rlimit { current: Some(soft), maximum }))
        });
        // Set every limit, even after one that could not be set.
        let failed = set.filter_map(Result::err).inspect(|error| complain("a limit", error));
        failed.count() == 0
    }
}
