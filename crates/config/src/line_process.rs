//! A child process that answers lines with lines, within a time limit.
//!
//! Threads of their own read and write its pipes, so that neither a process that does not read nor one that does
//! not write can stop its caller for longer.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use repertoire_system::process::Running;

/// The maximum length of an answer, in bytes: the scores of a million skills.
const LONGEST_ANSWER: u64 = 16 << 20;
/// The time in which a process that closed its output ends, and says why.
const ENDING: Duration = Duration::from_millis(200);

/// A running process. It is ended when dropped.
#[derive(Debug)]
pub struct LineProcess {
    running: Running,
    requests: Sender<String>,
    answers: Receiver<String>,
}

/// The reason why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum LineFault {
    /// The process ended, or closed its output: its exit status and the last line of its standard error, if
    /// known, in the form `: …`.
    Ended(String),
    /// There was no answer within this time.
    Late(Duration),
}

impl LineProcess {
    /// Starts a command, a program with its arguments, in a directory.
    ///
    /// # Errors
    ///
    /// Those of the system, if the program cannot be started.
    pub fn start(command: &[String], dir: &Path) -> io::Result<LineProcess> {
        let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(args).current_dir(dir).stdin(Stdio::piped());
        let (running, stdin, stdout) = Running::start(&mut command)?;
        let stdin = stdin.ok_or(io::ErrorKind::BrokenPipe)?;
        let (requests, asked) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        thread::Builder::new().spawn(move || write_lines(stdin, &asked))?;
        thread::Builder::new().spawn(move || read_lines(stdout, &answer))?;
        Ok(LineProcess { running, requests, answers })
    }

    /// Sends a line, and returns the next one that the process writes.
    ///
    /// # Errors
    ///
    /// The reason why there is none within `limit`.
    pub fn exchange(&mut self, line: String, limit: Duration) -> Result<String, LineFault> {
        // If this fails, the process has ended, which receiving reports.
        let _ = self.requests.send(line);
        match self.answers.recv_timeout(limit) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => Err(LineFault::Late(limit)),
            Err(RecvTimeoutError::Disconnected) => Err(LineFault::Ended(self.last_words())),
        }
    }

    /// The exit status of a process that ends, and the last line of its standard error.
    fn last_words(&self) -> String {
        let has_ended = self.running.ends_within(ENDING);
        let status = has_ended.then(|| self.running.end().ok()).flatten();
        let line = self.running.last_error();
        // The first part is empty, so that the text begins with a colon if anything is known.
        let told = [Some(String::new()), status.map(|status| status.to_string()), line];
        told.into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for mut line in lines {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Sends each line. A line that is too long or not UTF-8 is sent as far as it can be read: it is not an answer,
/// and ends the conversation.
fn read_lines(stdout: impl Read, lines: &Sender<String>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line) {
            Ok(n) if n > 0 => {}
            _ => return,
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if lines.send(line).is_err() {
            return;
        }
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineFault::Ended(told) => write!(f, "ended without an answer{told}"),
            LineFault::Late(time) => write!(f, "did not answer within {} ms", time.as_millis()),
        }
    }
}
