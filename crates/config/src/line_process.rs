//! A child process that answers lines with lines, within a time limit.
//!
//! Threads of their own read and write its pipes, so that neither a process that does not read nor one that does
//! not write can stop its caller for longer.
//!
//! Lines have no numbers: the first one after a request is its answer. A process that writes a line more has lost the
//! order, so every later exchange fails, and the caller ends it.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_system::process::Running;

/// The maximum length of an answer, in bytes: the scores of a million skills.
const LONGEST_ANSWER: u64 = 16 << 20;
/// The part of a wrong line that an error shows, in characters.
const SHOWN: usize = 80;
/// The time in which a process that closed its output ends, and says why.
const ENDING: Duration = Duration::from_millis(200);
/// The time after each of the first [`WATCHED`] answers in which a further line is awaited: a process that answers
/// twice does so from the start. After later answers, a further line is found if it is there before the next request.
const SETTLING: Duration = Duration::from_millis(20);
const WATCHED: u32 = 2;

/// A running process. It is ended when dropped.
#[derive(Debug)]
pub struct LineProcess {
    running: Running,
    requests: Sender<String>,
    answers: Receiver<String>,
    n_answers: u32,
    answered: Instant,
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
    /// There was this line before the request was sent: the next answers would be those to earlier requests.
    Unasked(String),
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
        Ok(LineProcess { running, requests, answers, n_answers: 0, answered: Instant::now() })
    }

    /// Sends a line, and returns the next one that the process writes.
    ///
    /// # Errors
    ///
    /// The reason why there is none within `limit`. After any of them, and after an answer that is not valid, the
    /// process must not be asked again: what it writes next may be an answer to this request.
    pub fn exchange(&mut self, line: String, limit: Duration) -> Result<String, LineFault> {
        let is_watched = (1..=WATCHED).contains(&self.n_answers);
        let patience = if is_watched { SETTLING.min(limit) } else { Duration::ZERO };
        let patience = patience.saturating_sub(self.answered.elapsed());
        if let Ok(line) = self.answers.recv_timeout(patience) {
            return Err(LineFault::Unasked(line));
        }
        // If this fails, the process has ended, which receiving reports.
        let _ = self.requests.send(line);
        match self.answers.recv_timeout(limit) {
            Ok(answer) => {
                self.n_answers = self.n_answers.saturating_add(1);
                self.answered = Instant::now();
                Ok(answer)
            }
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

/// The start of a line, for a message.
pub(crate) fn shown(line: &str) -> String {
    let mut shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineFault::Ended(told) => write!(f, "ended without an answer{told}"),
            LineFault::Late(time) => write!(f, "did not answer within {} ms", time.as_millis()),
            LineFault::Unasked(line) => {
                write!(f, "wrote a line that nothing asked for: {}", shown(line))
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_nothing_asked_for_is_never_an_answer() {
        let limit = Duration::from_secs(30);
        // Each script is asked for `1`, `2` and so on. It is given with the number of right answers before the fault.
        for (script, n_right, fault) in [
            ("while read n; do echo $n; done", 9, ""),
            ("while read n; do echo $n; echo $n; done", 1, "a line that nothing asked for: 1"),
            ("while read n; do echo $n; echo \"rated $n\"; done", 1, "nothing asked for: rated 1"),
            (
                "read n; echo $n; read n; echo $n; echo $n; cat",
                2,
                "a line that nothing asked for: 2",
            ),
            ("read n; echo $n; exit 3", 1, "ended without an answer: exit status: 3"),
        ] {
            let command = ["sh", "-c", script].map(str::to_owned);
            let mut process = LineProcess::start(&command, Path::new(".")).unwrap();
            let mut told = String::new();
            let mut n_answers = 0;
            for number in 1..=9 {
                match process.exchange(number.to_string(), limit) {
                    Ok(answer) => assert_eq!(answer, number.to_string(), "{script}"),
                    Err(failure) => {
                        told = failure.to_string();
                        break;
                    }
                }
                n_answers = number;
            }
            assert_eq!(n_answers, n_right, "{script}: {told}");
            assert!(told.contains(fault), "{script}: {told}");
        }
    }
}
