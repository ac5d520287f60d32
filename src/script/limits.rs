//! The limits of a run of a script.

use std::ffi::OsStr;
#[cfg(unix)]
use std::path::PathBuf;
use std::time::Duration;

#[cfg(unix)]
use repertoire_system::process::{Totals, tasks};
#[cfg(unix)]
use repertoire_system::sandbox::ResourceLimits;

use crate::error::{Error, ErrorCode};
use crate::skill::SkillId;

/// Limits of one run. Those on processor time, memory, file size and processes are enforced on Linux
/// only; [`SandboxLevel::rlimits`](super::SandboxLevel::rlimits) says whether they are. The others hold
/// everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptLimits {
    /// Time for the run, 60 s by default. When it is over, the script is asked to end (`SIGTERM`).
    pub timeout: Duration,
    /// Time between asking a script to end and killing its whole process group, 500 ms by default. A
    /// run ends at most this much after its `timeout` or its cancellation.
    pub grace: Duration,
    /// Bytes of standard output and standard error together, 1 MiB by default. A script that
    /// writes more is killed; what it wrote up to the limit is kept.
    pub output_bytes: usize,
    /// The most arguments that a script may get, 100 by default.
    pub args: usize,
    /// Bytes of all arguments together, 4096 by default.
    pub arg_bytes: usize,
    /// Processor time in seconds of each process, 600 by default. It is a last resort behind `timeout`.
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory, 4 GiB by default: of what each process may write (`RLIMIT_DATA`), and of the
    /// script with all that it started, shared memory included. Memory that is only reserved does not
    /// count, because language runtimes reserve a lot. The sum is measured about twenty times a second;
    /// a script that takes more is killed.
    pub memory: Option<u64>,
    /// Bytes of address space of each process (`RLIMIT_AS`), unlimited by default: Node.js, Bun and
    /// the JVM reserve far more than they use.
    pub address_space: Option<u64>,
    /// Size in bytes of any file that the script writes, 1 GiB by default.
    pub file_bytes: Option<u64>,
    /// Disk space in bytes of all files in the scratch directory, 4 GiB by default. It is measured
    /// about twenty times a second; a script that takes more is killed.
    pub scratch_bytes: Option<u64>,
    /// Number of running processes of a script, including those it started and all threads, 1,000 by
    /// default. It is counted about twenty times a second; a script that has more is killed.
    pub group_processes: Option<u64>,
    /// Processes and threads **of the user**, including those outside of the script. By default,
    /// `group_processes` more than the whole system runs when the script starts. The system does not
    /// enforce it for root.
    pub processes: Option<u64>,
}

/// The limits and the network that the settings of a project leave to its own scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectScripts {
    /// The limits of a run.
    pub limits: ScriptLimits,
    /// False if they never use the network.
    pub network: bool,
}

impl Default for ScriptLimits {
    fn default() -> ScriptLimits {
        ScriptLimits {
            timeout: Duration::from_secs(60),
            grace: Duration::from_millis(500),
            output_bytes: 1 << 20,
            args: 100,
            arg_bytes: 4096,
            cpu_seconds: Some(600),
            memory: Some(4 << 30),
            address_space: None,
            file_bytes: Some(1 << 30),
            scratch_bytes: Some(4 << 30),
            group_processes: Some(1000),
            processes: None,
        }
    }
}

impl ScriptLimits {
    /// The limits on a script together with all that it started.
    #[cfg(unix)]
    pub(super) fn totals(&self, scratch: Option<PathBuf>) -> Totals {
        let space = scratch.zip(self.scratch_bytes);
        Totals { memory: self.memory, processes: self.group_processes, space }
    }

    /// The limits that the kernel enforces. It counts the processes of the user, so that those that run
    /// now are added to those that a script may have.
    #[cfg(unix)]
    pub(super) fn resource_limits(&self) -> ResourceLimits {
        let and_more = || Some(self.group_processes?.saturating_add(tasks()?));
        ResourceLimits {
            address_space: self.address_space,
            data: self.memory,
            cpu_seconds: self.cpu_seconds,
            file_bytes: self.file_bytes,
            processes: self.processes.or_else(and_more),
        }
    }

    /// Refuses arguments that are too many, too long, or hold a NUL byte.
    pub(super) fn check_args<S: AsRef<OsStr>>(
        &self,
        skill: &SkillId,
        script: &str,
        args: &[S],
    ) -> Result<(), Error> {
        let refuse = |why: String, help: &str| {
            let message = format!("cannot run the script `{script}` of the skill `{skill}`: {why}");
            Err(Error::new(ErrorCode::InvalidParam, message, help))
        };
        if args.len() > self.args {
            let why = format!("{} arguments, where {} are allowed", args.len(), self.args);
            return refuse(why, "pass fewer, or a file that lists them");
        }
        let bytes: usize = args.iter().map(|arg| arg.as_ref().len()).sum();
        if bytes > self.arg_bytes {
            let allowed = self.arg_bytes;
            let why = format!("its arguments have {bytes} bytes, where {allowed} are allowed");
            return refuse(why, "pass long texts as a file, or on standard input");
        }
        if let Some(at) = args.iter().position(|arg| arg.as_ref().as_encoded_bytes().contains(&0)) {
            return refuse(format!("argument {} has a NUL byte", at + 1), "leave it out");
        }
        Ok(())
    }
}
