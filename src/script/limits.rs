//! The limits of a run of a script.

use std::ffi::OsStr;
use std::time::Duration;

use crate::error::{Error, ErrorCode};
#[cfg(unix)]
use crate::sandbox::Numbers;
use crate::skill::SkillId;

/// Limits of one run. Each holds everywhere but those of the system (processor, memory, file size,
/// processes), which are enforced on Linux;
/// [`SandboxLevel::rlimits`](super::SandboxLevel::rlimits) says whether they are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptLimits {
    /// Time for the run, 60 s by default. Then the script is asked to end (`SIGTERM`).
    pub timeout: Duration,
    /// Time that a script which was asked to end has before all of its group is killed, 500 ms by
    /// default: a run ends at most this much after its `timeout` or its cancellation.
    pub grace: Duration,
    /// Bytes of standard output and standard error together, 1 MiB by default. A script that
    /// writes more is killed; what it wrote up to the limit is kept.
    pub output_bytes: usize,
    /// The most arguments it may get, 100 by default.
    pub args: usize,
    /// Bytes of all arguments together, 4096 by default.
    pub arg_bytes: usize,
    /// Processor time in seconds of each process, 600 by default: a last net.
    pub cpu_seconds: Option<u64>,
    /// Bytes of private memory that each process may write, 4 GiB by default (`RLIMIT_DATA`).
    /// Memory that is only reserved does not count, as runtimes reserve a lot.
    pub memory: Option<u64>,
    /// Bytes of address space of each process (`RLIMIT_AS`), unlimited by default: Node.js, Bun and
    /// the JVM reserve far more than they use.
    pub address_space: Option<u64>,
    /// Bytes of any file it writes, 1 GiB by default.
    pub file_bytes: Option<u64>,
    /// Bytes that all files in its scratch directory take up, 4 GiB by default. Looked at about four
    /// times a second; a script that takes more is killed.
    pub scratch_bytes: Option<u64>,
    /// Processes that a script may have started and that still run, 1,000 by default. Looked at
    /// about four times a second; a script that has more is killed.
    pub group_processes: Option<u64>,
    /// Processes and threads **of the user**, those outside of the script included; unlimited by
    /// default. The system does not enforce it for the superuser.
    pub processes: Option<u64>,
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
    /// The limits that the kernel enforces.
    #[cfg(unix)]
    pub(super) fn numbers(&self) -> Numbers {
        Numbers {
            address_space: self.address_space,
            data: self.memory,
            cpu_seconds: self.cpu_seconds,
            file_bytes: self.file_bytes,
            processes: self.processes,
        }
    }

    /// Refuses arguments that are too many, too long, or cannot be passed on.
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
