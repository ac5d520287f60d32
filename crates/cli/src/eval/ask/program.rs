//! Models behind programs: one that takes a prompt and prints a reply, or one that answers lines with lines.

use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use repertoire_authoring::ask::{Model, Reply, Request, calls_in, request_text};
use repertoire_config::LineProcess;

/// The maximum length of a reply, in bytes.
const LONGEST_REPLY: u64 = 4 << 20;

/// A program that reads a prompt from its standard input to the end, and prints its reply. It is started for each
/// request.
pub(super) struct TextProgram {
    pub(super) command: Vec<String>,
    pub(super) dir: PathBuf,
    pub(super) limit: Duration,
}

impl Model for TextProgram {
    fn answer(&self, request: &Request) -> Result<Reply, String> {
        let text = self.reply_to(request_text(request))?;
        let calls = if request.tools.is_empty() { Vec::new() } else { calls_in(&text) };
        Ok(Reply { text, calls, tokens: None })
    }
}

impl TextProgram {
    fn reply_to(&self, prompt: String) -> Result<String, String> {
        let (program, args) = self.command.split_first().ok_or("no program is named")?;
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| not_started(program, &error))?;
        let told = self.talk(&mut child, prompt);
        // It has ended, or had its time.
        let _ = child.kill();
        let status = child.wait().map_err(|error| error.to_string())?;
        let (output, complaint) = told?;
        if status.success() {
            return Ok(output.trim().to_owned());
        }
        let complaint =
            complaint.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        Err(format!("`{program}` failed ({status}): {complaint}"))
    }

    /// Sends the prompt to a process, waits until it closes its output, and returns its output and its errors.
    fn talk(&self, child: &mut Child, prompt: String) -> Result<(String, String), String> {
        let (sender, texts) = mpsc::channel();
        if let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            // Threads of their own, so that a process that does not read, or that writes much, holds nothing up.
            // A prompt that it does not read to the end is its own choice.
            thread::spawn(move || stdin.write_all(prompt.as_bytes()));
            thread::spawn(move || sender.send((text_of(stdout), text_of(stderr))));
        }
        match texts.recv_timeout(self.limit) {
            Ok((output, complaint)) => {
                // Its output is closed: it ends within a moment, and says how.
                await_end(child);
                let output = output.map_err(|error| error.to_string())?;
                Ok((output, complaint.unwrap_or_default()))
            }
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "`{}` did not answer within {} s",
                self.command.join(" "),
                self.limit.as_secs()
            )),
            Err(RecvTimeoutError::Disconnected) => Err("its output cannot be read".to_owned()),
        }
    }
}

/// Waits up to a second for a process that has closed its output.
fn await_end(child: &mut Child) {
    for _ in 0..100 {
        match child.try_wait() {
            Ok(None) => thread::sleep(Duration::from_millis(10)),
            _ => return,
        }
    }
}

fn text_of(stream: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.take(LONGEST_REPLY).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A program that reads a request from each line of its standard input, as JSON, and answers with a line of JSON. It
/// is started once, and again if it ended.
pub(super) struct LineProgram {
    pub(super) command: Vec<String>,
    pub(super) dir: PathBuf,
    pub(super) limit: Duration,
    pub(super) process: Mutex<Option<LineProcess>>,
}

impl Model for LineProgram {
    fn answer(&self, request: &Request) -> Result<Reply, String> {
        let line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        let mut place = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.command.join(" ");
        let mut process = match place.take() {
            Some(running) => running,
            None => LineProcess::start(&self.command, &self.dir)
                .map_err(|error| not_started(&name, &error))?,
        };
        let answer =
            process.exchange(line, self.limit).map_err(|fault| format!("`{name}` {fault}"))?;
        // One that failed is not asked again: a late answer would be taken for the next.
        *place = Some(process);
        serde_json::from_str(&answer).map_err(|error| {
            let shown: String = answer.chars().take(80).collect();
            format!("`{name}` answers `{shown}`, not a line such as {{\"text\": \"…\", \"calls\": []}}: {error}")
        })
    }
}

/// The fault of a program that does not start.
fn not_started(program: &str, error: &io::Error) -> String {
    let remedy = if error.kind() == io::ErrorKind::NotFound {
        "; install it, or write its path"
    } else {
        ""
    };
    format!("cannot start `{program}`: {error}{remedy}")
}
