//! Models behind programs: one that takes a prompt and prints a reply, or one that answers lines with lines.

use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use anstream::adapter::strip_str;
use repertoire_authoring::ask::{Model, Reply, Request, calls_in, request_text, without_thoughts};
use repertoire_config::LineProcess;
use repertoire_system::process::Running;
use serde_json::Value;

/// The maximum length of a reply, in bytes.
const LONGEST_REPLY: u64 = 4 << 20;
/// The time between two looks at a program whose output is open.
const STEP: Duration = Duration::from_millis(20);
/// The time in which the rest of a reply is read once the program has ended: what it left behind may keep its output
/// open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
/// The characters of an answer that an error shows.
const SHOWN: usize = 80;

/// The programs that run, to be ended with this one.
static RUNNING: Mutex<Vec<Weak<Running>>> = Mutex::new(Vec::new());

/// Ends all programs that answer, with all that they started.
pub(super) fn end_all() {
    locked(&RUNNING).drain(..).filter_map(|it| it.upgrade()).for_each(|it| it.kill());
}

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
        command.args(args).current_dir(&self.dir).stdin(Stdio::piped());
        let (running, stdin, stdout) =
            Running::start(&mut command).map_err(|error| not_started(program, &error))?;
        let running = Arc::new(running);
        {
            let mut all = locked(&RUNNING);
            all.retain(|it| it.strong_count() > 0);
            all.push(Arc::downgrade(&running));
        }
        // Threads of their own, so that a process that does not read, or that writes much, holds nothing up. A prompt
        // that it does not read to the end is its own choice.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(prompt.as_bytes())));
        let output = self.output(&running, stdout)?;
        let status = running.end().map_err(|error| error.to_string())?;
        let output = strip_str(&output).to_string();
        if !status.success() {
            let said = || output.lines().map(str::trim).rfind(|line| !line.is_empty());
            let reason = running.last_error().or_else(|| said().map(str::to_owned));
            let reason = reason.unwrap_or_else(|| "it said nothing".to_owned());
            return Err(format!("`{program}` failed ({status}): {reason}"));
        }
        match without_thoughts(&output) {
            "" => Err(format!(
                "`{program}` printed no reply{}",
                running.last_error().map(|line| format!(": {line}")).unwrap_or_default()
            )),
            reply => Ok(reply.to_owned()),
        }
    }

    /// Waits until a program closes its output or ends, and returns its output.
    fn output(
        &self,
        running: &Running,
        stdout: impl Read + Send + 'static,
    ) -> Result<String, String> {
        let text = Arc::new(Mutex::new(Vec::new()));
        let is_read = reading(stdout, &text);
        let end = Instant::now() + self.limit;
        while is_read.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
            if running.has_ended() {
                // What it left behind is ended, too.
                running.kill();
                let _ = is_read.recv_timeout(LAST_OUTPUT);
                break;
            }
            if Instant::now() >= end {
                let (name, limit) = (self.command.join(" "), self.limit.as_secs());
                return Err(format!("`{name}` did not answer within {limit} s"));
            }
        }
        // Its output is closed: it ends within a moment, and says how.
        running.ends_within(Duration::from_secs(1));
        Ok(String::from_utf8_lossy(&locked(&text)).into_owned())
    }
}

/// Reads a stream into `text` by a thread of its own; the channel is closed at the end.
fn reading(mut stream: impl Read + Send + 'static, text: &Arc<Mutex<Vec<u8>>>) -> Receiver<()> {
    let (end, is_read) = mpsc::channel();
    let text = Arc::clone(text);
    thread::spawn(move || {
        let _end = end;
        let mut stream = stream.by_ref().take(LONGEST_REPLY);
        let mut buffer = vec![0; 8 << 10];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            locked(&text).extend_from_slice(&buffer[..n]);
        }
    });
    is_read
}

/// A program that reads a request from each line of its standard input, as JSON, and answers with a line of JSON. It
/// is started for each job, and again if it ended.
pub(super) struct LineProgram {
    pub(super) command: Vec<String>,
    pub(super) dir: PathBuf,
    pub(super) limit: Duration,
    /// Those that wait for a request.
    pub(super) idle: Mutex<Vec<LineProcess>>,
}

impl Model for LineProgram {
    fn answer(&self, request: &Request) -> Result<Reply, String> {
        let line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        let name = self.command.join(" ");
        let idle = locked(&self.idle).pop();
        let mut process = match idle {
            Some(idle) => idle,
            None => LineProcess::start(&self.command, &self.dir)
                .map_err(|error| not_started(&name, &error))?,
        };
        let answer =
            process.exchange(line, self.limit).map_err(|fault| format!("`{name}` {fault}"))?;
        let reply = reply_of(&answer).map_err(|problem| format!("`{name}` answers {problem}"))?;
        // One that failed is not asked again: a late answer would be taken for the next.
        locked(&self.idle).push(process);
        Ok(reply)
    }
}

/// Reads an answer of a program; fails with what it is instead.
fn reply_of(answer: &str) -> Result<Reply, String> {
    let shown: String = answer.chars().take(SHOWN).collect();
    let no_reply = |why: &str| {
        format!("`{shown}`, not a line such as {{\"text\": \"…\", \"calls\": []}}{why}")
    };
    let value: Value =
        serde_json::from_str(answer).map_err(|error| no_reply(&format!(": {error}")))?;
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        return Err(format!("with an error: {}", message_of(error)));
    }
    if value.get("text").is_none() && value.get("calls").is_none() {
        return Err(no_reply(""));
    }
    let mut reply: Reply =
        serde_json::from_value(value).map_err(|error| no_reply(&format!(": {error}")))?;
    reply.text = without_thoughts(&reply.text).to_owned();
    if reply.text.is_empty() && reply.calls.is_empty() {
        return Err("with an empty reply".to_owned());
    }
    Ok(reply)
}

/// The text of an error, as programs and servers write it: alone, or as `message`.
pub(super) fn message_of(error: &Value) -> String {
    match error.as_str().or_else(|| error.get("message")?.as_str()) {
        Some(text) => text.to_owned(),
        None => error.to_string(),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
