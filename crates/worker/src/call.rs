//! A call in flight, as the host sees it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire_plugin::{ErrorCode, ToolOutput, ToolsetDescription};
use repertoire_system::sandbox::SandboxLevel;
use serde_json::Value;

use super::protocol::{Failure, Refusal};
use crate::locked;

/// The most reports of a call that wait for its host; further reports are dropped.
const MAX_EVENTS: usize = 1024;

/// An event that a waiting call receives.
pub(super) enum Event {
    Progress { fraction: f64, message: String },
    Log { level: u8, message: String },
    Request { request: u64, method: String, params: Value },
    End(End),
}

/// The end of a call.
pub(super) enum End {
    Ready(SandboxLevel),
    LoadFailed(Refusal),
    Created(ToolsetDescription),
    Done(ToolOutput),
    Failed(Failure),
    /// The arguments do not fit the schema. Lists the problems in one line.
    Unfit(String),
    Died(Arc<Death>),
}

/// The end of a process.
#[derive(Debug)]
pub(super) struct Death {
    pub(super) at: Instant,
    pub(super) cause: Cause,
    /// A phrase such as `killed by signal 11 (SIGSEGV)`.
    pub(super) how: String,
    pub(super) last_output: String,
}

impl Death {
    /// Says how the process ended. For a stuck process, this is the step that it did not do in time.
    pub(super) fn how(&self) -> &str {
        if let Cause::Stuck(why) = &self.cause { why } else { &self.how }
    }
}

/// The cause of a process's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// The process ended by itself.
    Crash,
    /// The host ended it, because it sent an invalid message.
    Protocol(String),
    /// The host ended it, because the library was not opened, or its toolset not made, in time.
    Stuck(String),
    /// The host ended it, because of the call `id`; `reason` is for the other calls.
    Call { id: u64, reason: &'static str },
    /// The host ended it, because it took more than its limits allow; says what.
    Exceeded(String),
    /// The host ended it, because it was no longer needed.
    Closed,
}

/// The queue in which the thread that reads from a process puts the events of a call.
#[derive(Default)]
pub(super) struct Slot {
    events: Mutex<VecDeque<Event>>,
    arrived: Condvar,
}

impl Slot {
    /// Adds an event. A report is dropped if too many are waiting; the end of a call is never dropped.
    pub(super) fn put(&self, event: Event) {
        let mut events = locked(&self.events);
        if events.len() < MAX_EVENTS || matches!(event, Event::End(_)) {
            events.push_back(event);
            drop(events);
            self.arrived.notify_one();
        }
    }

    /// Returns the next event, and waits for it at most this long.
    pub(super) fn next(&self, at_most: Duration) -> Option<Event> {
        let events = locked(&self.events);
        let waited = self.arrived.wait_timeout_while(events, at_most, |events| events.is_empty());
        let (mut events, _) = waited.unwrap_or_else(PoisonError::into_inner);
        events.pop_front()
    }
}

/// Runs a method of the embedder's `Host`; `None` if it panics.
pub(super) fn guarded<R>(run: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(run)).map_err(std::mem::forget).ok()
}

impl Failure {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code.number(), message: message.into(), help: String::new() }
    }
}
