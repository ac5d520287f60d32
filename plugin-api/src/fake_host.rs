//! A host for unit tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Host, LogLevel, ToolContext, ToolError, ToolResult, Toolset};

/// A host for unit tests: records progress and logs, and can be cancelled.
///
/// ```
/// use repertoire_plugin::prelude::*;
/// # #[derive(Default)]
/// # struct Hello;
/// # /// Greetings.
/// # #[toolset]
/// # impl Hello {
/// #     /// Greets.
/// #     pub fn greet(&self, name: String) -> ToolResult { Ok(format!("Hello, {name}!").into()) }
/// # }
///
/// let host = FakeHost::new().with_skill_dir("/skills/hello");
/// let output = host.call(&Hello, "greet", json!({"name": "Ada"})).unwrap();
/// assert_eq!(output.output, "Hello, Ada!");
/// ```
#[derive(Debug, Default)]
pub struct FakeHost {
    cancelled: AtomicBool,
    cancel_after: Option<usize>,
    checks: AtomicUsize,
    deadline: Option<Instant>,
    skill_dir: Option<PathBuf>,
    answers: Vec<(String, Value)>,
    progress: Mutex<Vec<(f64, String)>>,
    logs: Mutex<Vec<(LogLevel, String)>>,
}

impl FakeHost {
    /// Creates a host that never times out and has no skill directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the skill directory of the calls.
    #[must_use]
    pub fn with_skill_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.skill_dir = Some(dir.into());
        self
    }

    /// Sets the deadline of the calls to `time` from now.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.deadline = Instant::now().checked_add(time);
        self
    }

    /// Answers the request `method` with `value`.
    #[must_use]
    pub fn with_answer(mut self, method: impl Into<String>, value: Value) -> Self {
        self.answers.push((method.into(), value));
        self
    }

    /// Cancels once the tool has checked `checks` times whether it is cancelled. This tests
    /// cancellation without threads.
    #[must_use]
    pub fn cancelled_after(mut self, checks: usize) -> Self {
        self.cancel_after = Some(checks);
        self
    }

    /// Cancels now.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Returns the context to pass to a tool.
    pub fn context(&self) -> ToolContext<'_> {
        ToolContext::new(self)
    }

    /// Calls a tool by name with JSON arguments, as a host does, except that panics are not caught.
    #[expect(clippy::needless_pass_by_value, reason = "the caller writes `json!(…)`")]
    pub fn call<T: Toolset>(&self, toolset: &T, tool: &str, arguments: Value) -> ToolResult {
        crate::tools::tools_of::<T>().call(toolset, tool, &arguments.to_string(), &self.context())
    }

    /// Returns the progress reported so far, oldest first.
    pub fn progress_reports(&self) -> Vec<(f64, String)> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the lines logged so far, oldest first.
    pub fn logs(&self) -> Vec<(LogLevel, String)> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Host for FakeHost {
    fn is_cancelled(&self) -> bool {
        let checks = self.checks.fetch_add(1, Ordering::SeqCst);
        self.cancelled.load(Ordering::SeqCst)
            || self.cancel_after.is_some_and(|limit| checks >= limit)
    }

    fn progress(&self, fraction: f64, message: &str) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.push((fraction, message.to_owned()));
    }

    fn log(&self, level: LogLevel, message: &str) {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        logs.push((level, message.to_owned()));
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn skill_dir(&self) -> Option<&Path> {
        self.skill_dir.as_deref()
    }

    fn request(&self, method: &str, _params: Value) -> ToolResult<Value> {
        let answer = self.answers.iter().find(|(name, _)| name == method);
        answer
            .map(|(_, value)| value.clone())
            .ok_or_else(|| ToolError::new(format!("the fake host has no answer to `{method}`")))
    }
}
