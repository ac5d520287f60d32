//! The host of a call that runs in the child process, at the other end of its socket.

use std::io::Write as _;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use repertoire_plugin::{ErrorCode, Host, LogLevel, ToolError, ToolResult};
use serde_json::Value;

use super::call::locked;
use super::child::{Child, Job, leave};
use super::protocol::{Failure, ToHost, frame};

/// The host, as the toolset that runs `job` knows it.
pub(super) struct Caller<'a> {
    pub(super) child: &'a Child,
    pub(super) job: &'a Job,
}

impl Host for Caller<'_> {
    fn is_cancelled(&self) -> bool {
        self.job.call.cancelled.load(Ordering::Relaxed)
    }

    fn progress(&self, fraction: f64, message: &str) {
        let fraction = if fraction.is_finite() { fraction } else { 0.0 };
        let message = message.to_owned();
        self.child.send(&ToHost::Progress { id: self.job.id, fraction, message });
    }

    fn log(&self, level: LogLevel, message: &str) {
        let message = message.to_owned();
        self.child.send(&ToHost::Log { id: self.job.id, level: level as u8, message });
    }

    fn deadline(&self) -> Option<Instant> {
        self.job.deadline
    }

    fn skill_dir(&self) -> Option<&Path> {
        Some(&self.child.skill_dir)
    }

    fn request(&self, method: &str, params: Value) -> ToolResult<Value> {
        let request = self.child.next_request.fetch_add(1, Ordering::Relaxed);
        let message =
            ToHost::Request { id: self.job.id, request, method: method.to_owned(), params };
        // Not through `send`: a request that cannot be sent is not answered.
        let bytes = frame(&message).map_err(ToolError::new)?;
        if locked(&self.child.socket).write_all(&bytes).is_err() {
            leave();
        }
        let mut answers = locked(&self.job.call.answers);
        loop {
            if let Some(answer) = answers.remove(&request) {
                return answer.map_err(|Failure { code, message, .. }| {
                    ToolError::with_code(ErrorCode::from_number(code), message)
                });
            }
            answers = self.job.call.answered.wait(answers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
