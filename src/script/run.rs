//! One run: starts a program in its group, and reads its output until it ends or a limit ends it.

use std::io::{self, PipeReader, Read as _, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use repertoire_system::process::{Exceeded, Measuring};
use repertoire_system::sandbox::{Rules, describe_exit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::group::{Running, restricted};
use super::{Listener, SandboxLevel, ScriptIo, ScriptLimits, ScriptOutput, Stream};
pub(super) use repertoire_system::sandbox::{Reads, Sockets};

/// The interval at which limits are checked, and the host is asked whether it cancels.
const TICK: Duration = Duration::from_millis(20);
/// The interval between two checks of a script that has closed its output.
const CLOSED_OUTPUT_INTERVAL: Duration = Duration::from_millis(2);
/// The most bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// The files that may be read and written, and the sockets that may be used.
pub(super) struct AllowedAccess {
    pub(super) reads: Reads,
    pub(super) write: Vec<PathBuf>,
    pub(super) sockets: Sockets,
    /// The directory whose size is limited.
    pub(super) scratch: Option<PathBuf>,
}

/// The reason why a script was asked to end, or was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    TimedOut,
    Cancelled,
    Exceeded(Exceeded),
}

/// Runs `program`, with the changes of `set_up`, until it ends or a limit ends it. When this returns,
/// no process that it started in its group is alive.
///
/// Fails if the program cannot be started.
pub(super) fn run(
    program: &Path,
    set_up: impl FnOnce(&mut Command),
    access: AllowedAccess,
    limits: &ScriptLimits,
    io: ScriptIo<'_>,
) -> io::Result<ScriptOutput> {
    let mut command = Command::new(program);
    set_up(&mut command);
    let (stdout, stdout_writer) = io::pipe()?;
    let (stderr, stderr_writer) = io::pipe()?;
    for reader in [&stdout, &stderr] {
        rustix::io::ioctl_fionbio(reader, true)?;
    }
    command.stdin(input(io.stdin)?).stdout(stdout_writer).stderr(stderr_writer);
    let rules = Rules { reads: access.reads, write: access.write, sockets: access.sockets };
    let measuring = Measuring::new(limits.totals(access.scratch));
    let began = Instant::now();
    let started = Running::start(&mut command, &rules, limits.resource_limits());
    let (mut script, sandbox) = started.map_err(|error| {
        let message = format!("the system does not start {}: {error}", program.display());
        io::Error::new(error.kind(), message)
    })?;
    // The command holds writing ends of the pipes, which only the script may hold.
    drop(command);
    let mut output = Output {
        pipes: [Some(stdout), Some(stderr)],
        kept: [Vec::new(), Vec::new()],
        left: limits.output_bytes,
        truncated: false,
        listener: io.on_output,
    };
    let is_cancelled = || io.is_cancelled.is_some_and(|is_cancelled| is_cancelled());
    let stop = watch(&script, &mut output, measuring, limits, &is_cancelled);
    let status = script.end()?;
    // All writers are dead, so the rest of the output can be read without waiting for anyone.
    while !output.truncated && output.read() {}
    let duration = began.elapsed();
    Ok(output.finish(limits, stop, status, duration, sandbox))
}

/// The sandbox of a script, without resource limits.
pub(super) fn sandbox() -> io::Result<SandboxLevel> {
    let reads = Reads::All { but: Vec::new() };
    let rules = Rules { reads, write: Vec::new(), sockets: Sockets::Pairs };
    restricted(&rules, |sandbox| sandbox.level)
}

/// Reads until the script ends, or must be ended. Returns the reason for the latter, unless it is too
/// much output, which `output` records.
fn watch(
    script: &Running,
    output: &mut Output<'_>,
    mut measuring: Measuring,
    limits: &ScriptLimits,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Stop> {
    let began = Instant::now();
    let mut stopped: Option<(Stop, Instant)> = None;
    loop {
        output.wait(TICK);
        output.read();
        if output.truncated || script.group.has_exited() {
            break;
        }
        if let Some(exceeded) = measuring.exceeded(script.group) {
            return Some(Stop::Exceeded(exceeded));
        }
        let stop = match stopped {
            Some((_, since)) if since.elapsed() >= limits.grace => break,
            None if is_cancelled() => Stop::Cancelled,
            None if began.elapsed() >= limits.timeout => Stop::TimedOut,
            _ => continue,
        };
        stopped = Some((stop, Instant::now()));
        script.signal(Signal::TERM);
        // A stopped process gets the signal only once it is continued.
        script.signal(Signal::CONT);
    }
    stopped.map(|(stop, _)| stop)
}

/// The output of a script that runs.
struct Output<'a> {
    /// Standard output and standard error, until they are closed.
    pipes: [Option<PipeReader>; 2],
    kept: [Vec<u8>; 2],
    /// The number of bytes that may still be kept.
    left: usize,
    truncated: bool,
    listener: Option<Listener<'a>>,
}

impl Output<'_> {
    /// Waits until there is something to read, at most this long.
    fn wait(&self, at_most: Duration) {
        let mut open: Vec<_> =
            self.pipes.iter().flatten().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        if open.is_empty() {
            std::thread::sleep(CLOSED_OUTPUT_INTERVAL);
            return;
        }
        let at_most = Timespec { tv_sec: 0, tv_nsec: at_most.subsec_nanos().into() };
        // A signal to this process may end the wait early, which does no harm.
        let _ = poll(&mut open, Some(&at_most));
    }

    /// Reads some of the output that is available, without waiting, up to the limit. Returns true if
    /// there was any.
    fn read(&mut self) -> bool {
        let mut chunk = vec![0; CHUNK];
        let mut any = false;
        for (at, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
            let Some(pipe) = &mut self.pipes[at] else { continue };
            match pipe.read(&mut chunk) {
                Ok(0) => self.pipes[at] = None,
                Ok(n) => {
                    any = true;
                    let fitting = &chunk[..n.min(self.left)];
                    self.truncated |= n > self.left;
                    self.left -= fitting.len();
                    self.kept[at].extend_from_slice(fitting);
                    let listener = self.listener.as_mut().filter(|_| !fitting.is_empty());
                    if let Some(listener) = listener {
                        listener(stream, fitting);
                    }
                }
                Err(error) if is_patient(&error) => {}
                Err(_) => self.pipes[at] = None,
            }
        }
        any
    }

    fn finish(
        self,
        limits: &ScriptLimits,
        stop: Option<Stop>,
        status: ExitStatus,
        duration: Duration,
        sandbox: SandboxLevel,
    ) -> ScriptOutput {
        let [stdout, stderr] = self.kept.map(|kept| String::from_utf8_lossy(&kept).into_owned());
        let reason = match stop {
            _ if self.truncated => {
                let most = limits.output_bytes;
                Some(format!("it wrote more than {most} bytes, and was killed"))
            }
            Some(Stop::TimedOut) => {
                let seconds = limits.timeout.as_secs_f64();
                Some(format!("it did not end within {seconds} s, and was stopped"))
            }
            Some(Stop::Cancelled) => Some("it was cancelled".to_owned()),
            Some(Stop::Exceeded(exceeded)) => {
                Some(format!("it {}, and was killed", exceeded.describe()))
            }
            None => status.signal().map(|_| describe_exit(status)),
        };
        ScriptOutput {
            exit_code: status.code(),
            signal: status.signal(),
            stdout,
            stderr,
            truncated: self.truncated,
            timed_out: stop == Some(Stop::TimedOut),
            cancelled: stop == Some(Stop::Cancelled),
            duration_ms: duration.as_millis() as u64,
            sandbox,
            withheld: Vec::new(),
            offline: None,
            reason,
        }
    }
}

fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Standard input that holds `bytes`. It is a file, so that no thread is needed to write it.
fn input(bytes: &[u8]) -> io::Result<Stdio> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
