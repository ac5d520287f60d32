//! A program that works for this process, such as `git` or an MCP server: it has a session of its own, and
//! all that it started ends with it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

#[cfg(unix)]
use super::{Group, session};

/// The time between two looks at a process, or at the thread that reads its standard error.
const STEP: Duration = Duration::from_millis(2);

/// The time in which the end of standard error is read once the program and its group have ended: another
/// process may keep it open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// The bytes of standard error that are kept: the last ones.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A running program. Dropping it ends it.
#[derive(Debug)]
pub struct Running {
    child: Mutex<Ended>,
    #[cfg(unix)]
    group: Option<Group>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    reader: Mutex<Option<JoinHandle<()>>>,
}

/// A child, and its exit status once it was reaped: from then on, another process may have its number.
#[derive(Debug)]
struct Ended {
    child: Child,
    status: Option<ExitStatus>,
}

impl Running {
    /// Starts `command`. Its standard output is returned, and its standard input if it is a pipe; the end of
    /// its standard error is kept. Fails with the error of the system.
    pub fn start(command: &mut Command) -> io::Result<(Running, Option<ChildStdin>, ChildStdout)> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        let mut child = session::start(command, || Ok(()))?;
        #[cfg(not(unix))]
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let errors = Arc::default();
        let kept = Arc::clone(&errors);
        let read = move || stderr.into_iter().for_each(|stderr| keep_end(stderr, &kept));
        let running = Running {
            #[cfg(unix)]
            group: Group::of(&child),
            child: Mutex::new(Ended { child, status: None }),
            errors,
            reader: Mutex::default(),
        };
        let builder = thread::Builder::new().name("repertoire-stderr".to_owned());
        *locked(&running.reader) = Some(builder.spawn(read)?);
        let stdout = stdout.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((running, stdin, stdout))
    }

    /// Tells whether the program has ended. What it started may still run.
    pub fn has_ended(&self) -> bool {
        let mut ended = locked(&self.child);
        #[cfg(unix)]
        if let Some(group) = self.group {
            // The process is not reaped, so that its number stays taken.
            return ended.status.is_some() || group.has_exited();
        }
        let Ended { child, status } = &mut *ended;
        *status = status.or_else(|| child.try_wait().ok().flatten());
        status.is_some()
    }

    /// Waits until the program has ended by itself, at most for `patience`, and tells whether it has.
    pub fn ends_within(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while !self.has_ended() && Instant::now() < end {
            thread::sleep(STEP);
        }
        self.has_ended()
    }

    /// Kills the program and all of its group. May be called while another thread waits for it.
    pub fn kill(&self) {
        let mut ended = locked(&self.child);
        if ended.status.is_some() {
            return;
        }
        #[cfg(unix)]
        if let Some(group) = self.group {
            group.signal(rustix::process::Signal::KILL);
        }
        let _ = ended.child.kill();
    }

    /// Waits until the program has ended by itself or was killed, kills what is left of its group, and returns
    /// its exit status.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        while !self.has_ended() {
            thread::sleep(STEP);
        }
        self.end()
    }

    /// Kills the program and all of its group, and returns its exit status.
    pub fn end(&self) -> io::Result<ExitStatus> {
        self.kill();
        let Ended { child, status } = &mut *locked(&self.child);
        let reaped = match *status {
            Some(status) => status,
            None => *status.insert(child.wait()?),
        };
        let end = Instant::now() + LAST_OUTPUT;
        let is_read = || locked(&self.reader).as_ref().is_none_or(JoinHandle::is_finished);
        while !is_read() && Instant::now() < end {
            thread::sleep(STEP);
        }
        Ok(reaped)
    }

    /// The end of its standard error, as far as it was read.
    pub fn errors(&self) -> String {
        let bytes: Vec<u8> = locked(&self.errors).iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The last line of its standard error that is not blank, as far as it was read.
    pub fn last_error(&self) -> Option<String> {
        self.errors().lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Reads a stream, and keeps its last bytes.
fn keep_end(mut stream: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = vec![0; 4096];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 {
            return;
        }
        let mut kept = locked(kept);
        kept.extend(&buffer[..n]);
        let surplus = kept.len().saturating_sub(MAX_ERROR_BYTES);
        kept.drain(..surplus);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Running, ChildStdout) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null());
        let (running, _, stdout) = Running::start(&mut command).unwrap();
        (running, stdout)
    }

    fn read(mut stdout: ChildStdout) -> String {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_program_says_how_it_ended_and_why() {
        let (running, stdout) = shell("echo out; echo why >&2; exit 3");
        assert_eq!(read(stdout), "out\n");
        assert_eq!(running.wait().unwrap().code(), Some(3));
        assert_eq!(running.errors(), "why\n");
        assert_eq!(running.last_error().as_deref(), Some("why"));
        assert!(running.has_ended() && running.ends_within(Duration::ZERO));
        assert_eq!(running.end().unwrap().code(), Some(3));
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        for script in ["sleep 60 & echo $!; exit 0", "sleep 60 & echo $!; sleep 60"] {
            let (running, mut stdout) = shell(script);
            let mut number = [0; 16];
            let n = stdout.read(&mut number).unwrap();
            let number: i32 = String::from_utf8_lossy(&number[..n]).trim().parse().unwrap();
            let number = rustix::process::Pid::from_raw(number).unwrap();
            assert!(rustix::process::test_kill_process(number).is_ok());
            let begun = Instant::now();
            drop(running);
            // The output is closed once no process has it any more.
            assert_eq!(read(stdout), "", "{script}");
            assert!(begun.elapsed() < Duration::from_secs(30), "{script}");
        }
    }

    #[test]
    fn only_the_end_of_long_errors_is_kept_and_one_that_stays_open_delays_nothing() {
        let (running, _stdout) = shell("head -c 300000 /dev/zero | tr '\\0' x >&2; echo end >&2");
        running.wait().unwrap();
        assert_eq!(running.errors().len(), MAX_ERROR_BYTES);
        assert!(running.errors().ends_with("xend\n"));
        let (running, _stdout) = shell("setsid sleep 60 & sleep 0.2; exit 0");
        let begun = Instant::now();
        running.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
