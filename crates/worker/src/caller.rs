//! The host of a call, as the child process sees it: at the other end of a socket.

use std::collections::HashMap;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use repertoire_plugin::{ErrorCode, Host, LogLevel, ToolError, ToolResult};
use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
use serde_json::Value;

use super::protocol::{CallId, Failure, ToHost, frame};
use crate::locked;

/// The socket to the host, to which all threads write.
pub(super) struct Connection {
    socket: Mutex<UnixStream>,
    next_request: AtomicU64,
}

/// The state of a call that runs or waits for a thread. Messages of the host change it.
#[derive(Default)]
pub(super) struct Call {
    pub(super) cancelled: AtomicBool,
    pub(super) answers: Mutex<HashMap<u64, Result<Value, Failure>>>,
    pub(super) answered: Condvar,
}

/// The host of one call, as its toolset sees it.
pub(super) struct Caller<'a> {
    pub(super) connection: &'a Connection,
    pub(super) skill_dir: &'a Path,
    pub(super) id: CallId,
    pub(super) call: &'a Call,
    pub(super) deadline: Option<Instant>,
}

impl Connection {
    pub(super) fn new(socket: UnixStream) -> Connection {
        Connection { socket: Mutex::new(socket), next_request: AtomicU64::new(0) }
    }

    /// Sends a message. If the result of a call cannot be framed, the call fails.
    pub(super) fn send(&self, message: &ToHost) {
        let bytes = frame(message).or_else(|why| {
            let failure = Failure::new(ErrorCode::Failed, format!("cannot be sent: {why}"));
            match message {
                ToHost::Created { id, .. } | ToHost::Done { id, .. } => {
                    frame(&ToHost::Failed { id: *id, failure })
                }
                _ => Err(why),
            }
        });
        if let Ok(bytes) = bytes {
            self.write(&bytes);
        }
    }

    fn write(&self, bytes: &[u8]) {
        if locked(&self.socket).write_all(bytes).is_err() {
            leave();
        }
    }
}

impl Host for Caller<'_> {
    fn is_cancelled(&self) -> bool {
        self.call.cancelled.load(Ordering::Relaxed)
    }

    fn progress(&self, fraction: f64, message: &str) {
        let fraction = if fraction.is_finite() { fraction } else { 0.0 };
        let message = message.to_owned();
        self.connection.send(&ToHost::Progress { id: self.id, fraction, message });
    }

    fn log(&self, level: LogLevel, message: &str) {
        let message = message.to_owned();
        self.connection.send(&ToHost::Log { id: self.id, level: level as u8, message });
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn skill_dir(&self) -> Option<&Path> {
        Some(self.skill_dir)
    }

    fn request(&self, method: &str, params: Value) -> ToolResult<Value> {
        let request = self.connection.next_request.fetch_add(1, Ordering::Relaxed);
        let message = ToHost::Request { id: self.id, request, method: method.to_owned(), params };
        // Do not use `send`: the toolset must learn that its request was not sent, since no answer will
        // come.
        let bytes = frame(&message).map_err(ToolError::new)?;
        self.connection.write(&bytes);
        let mut answers = locked(&self.call.answers);
        loop {
            if let Some(answer) = answers.remove(&request) {
                return answer.map_err(|Failure { code, message, .. }| {
                    ToolError::with_code(ErrorCode::from_number(code), message)
                });
            }
            answers = self.call.answered.wait(answers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Kills this process and all that it started. Used when the host is gone or sends invalid messages.
pub(super) fn leave() -> ! {
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    std::process::abort()
}
