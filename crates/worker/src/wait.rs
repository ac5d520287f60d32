//! Waits for a call, as long as its host and the limits allow.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use repertoire_plugin::{ErrorCode, Host, LogLevel, ToolError};

use super::call::{Cause, End, Event, Slot, guarded};
use super::error::{WorkerError, seconds};
use super::limits::Limits;
use super::process::Process;
use super::protocol::{CallId, Failure, ToChild};

/// The interval at which the host is asked whether it cancelled the call.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// The longest time to wait for a killed process to end.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The deadline and the cancellation of one call.
pub(super) struct Wait<'a> {
    /// The author's file, for messages.
    file: &'a Path,
    limits: &'a Limits,
    host: &'a dyn Host,
    began: Instant,
    deadline: Instant,
    host_panicked: Cell<bool>,
    /// The step that the library is doing, to follow "it did not"; `None` for a call of a tool.
    opening: Option<String>,
}

/// A host that waits as long as the limits say.
struct Patient;

impl Host for Patient {}

/// The reason why a call should end before it is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Cancelled,
    TimedOut(Duration),
}

impl<'a> Wait<'a> {
    /// Waits for a call of a tool.
    pub(super) fn for_call(file: &'a Path, limits: &'a Limits, host: &'a dyn Host) -> Self {
        Self::new(file, limits, host, limits.call_timeout, None)
    }

    /// Waits while the library does `doing` (such as "open") on behalf of its future callers.
    pub(super) fn for_library(file: &'a Path, limits: &'a Limits, doing: String) -> Self {
        Self::new(file, limits, &Patient, limits.load_timeout, Some(doing))
    }

    /// Waits for another thread to open the library, as long as the host does.
    pub(super) fn for_others(file: &'a Path, limits: &'a Limits, host: &'a dyn Host) -> Self {
        Self::new(file, limits, host, Duration::MAX, None)
    }

    fn new(
        file: &'a Path,
        limits: &'a Limits,
        host: &'a dyn Host,
        limit: Duration,
        opening: Option<String>,
    ) -> Self {
        let began = Instant::now();
        // An `Instant` cannot be infinite, so "no limit" is one year.
        let limit = limit.min(Duration::from_secs(365 * 24 * 60 * 60));
        let deadline = guarded(|| host.deadline()).flatten();
        let deadline = deadline.map_or(began + limit, |deadline| deadline.min(began + limit));
        Self { file, limits, host, began, deadline, host_panicked: Cell::new(false), opening }
    }

    /// The time that is left in milliseconds, rounded up.
    pub(super) fn millis(&self) -> u64 {
        let left = self.deadline.saturating_duration_since(Instant::now());
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Fails if the call should not go on.
    pub(super) fn check(&self) -> Result<(), WorkerError> {
        self.stop(Instant::now()).map_or(Ok(()), |stop| Err(self.error(stop, true)))
    }

    /// Fails if the host no longer waits for a library that another thread opens.
    pub(super) fn check_opening(&self) -> Result<(), WorkerError> {
        match self.stop(Instant::now()) {
            None => Ok(()),
            Some(stop @ Stop::Cancelled) => Err(self.error(stop, true)),
            Some(Stop::TimedOut(after)) => {
                let file = self.file.to_owned();
                Err(WorkerError::NotReady { file, after })
            }
        }
    }

    /// Waits for the end of a call, and passes its reports to the host until then.
    ///
    /// When the time is over or the host cancels, the tool is asked to stop. After the grace period,
    /// its process is killed.
    pub(super) fn end(
        &self,
        process: &Process,
        id: CallId,
        slot: &Slot,
    ) -> Result<End, WorkerError> {
        // A library that is being opened cannot be asked to stop, so it gets no grace period.
        let grace = match self.opening {
            Some(_) => Duration::ZERO,
            None => self.limits.grace,
        };
        let mut stopping: Option<(Stop, Instant)> = None;
        let mut killed = false;
        loop {
            let until = stopping.map_or(self.deadline, |(_, at)| at + grace);
            let left = until.saturating_duration_since(Instant::now());
            match slot.next(if killed { TICK } else { TICK.min(left) }) {
                Some(Event::End(end)) => return self.judge(end, id, stopping),
                Some(event) => self.report(process, id, event),
                None => {}
            }
            process.check();
            let now = Instant::now();
            match stopping {
                None => {
                    stopping = self.stop(now).map(|stop| (stop, now));
                    if stopping.is_some() && self.opening.is_none() {
                        let _ = process.send(&ToChild::Cancel { id });
                    }
                }
                Some((stop, at)) if now >= at + grace => {
                    if now >= at + grace + KILL_TIMEOUT {
                        return Err(self.error(stop, false));
                    }
                    process.kill(self.cause(id, stop));
                    killed = true;
                }
                Some(_) => {}
            }
        }
    }

    fn stop(&self, now: Instant) -> Option<Stop> {
        let cancelled = || guarded(|| self.host.is_cancelled()).unwrap_or(true);
        if self.host_panicked.get() || cancelled() {
            Some(Stop::Cancelled)
        } else if now >= self.deadline {
            Some(Stop::TimedOut(self.deadline.saturating_duration_since(self.began)))
        } else {
            None
        }
    }

    /// The cause of killing the process.
    fn cause(&self, id: CallId, stop: Stop) -> Cause {
        match (stop, &self.opening) {
            (Stop::TimedOut(after), Some(doing)) => Cause::Stuck(stuck(doing, after)),
            (Stop::TimedOut(_), None) => {
                let reason = "its process was ended because another call ran over its time";
                Cause::Call { id, reason }
            }
            (Stop::Cancelled, _) => {
                let reason = "its process was ended because another call was cancelled and did not \
                              stop";
                Cause::Call { id, reason }
            }
        }
    }

    fn error(&self, stop: Stop, stopped: bool) -> WorkerError {
        let file = self.file.to_owned();
        match stop {
            Stop::TimedOut(after) if self.opening.is_some() => {
                let doing = self.opening.as_deref().unwrap_or_default();
                WorkerError::Stuck { file, why: stuck(doing, after), last_output: String::new() }
            }
            Stop::Cancelled => WorkerError::Cancelled { file, stopped },
            Stop::TimedOut(after) => WorkerError::TimedOut { file, after, stopped },
        }
    }

    /// Interprets the end of a call. If a call stops because it was asked to, this is not a failure of
    /// the tool.
    fn judge(
        &self,
        end: End,
        id: CallId,
        stopping: Option<(Stop, Instant)>,
    ) -> Result<End, WorkerError> {
        let code = match &end {
            End::Failed(failure) => Some(ErrorCode::from_number(failure.code)),
            _ => None,
        };
        match (&end, stopping.map(|(stop, _)| stop), code) {
            (End::Died(death), Some(Stop::TimedOut(_)), _)
                if matches!(death.cause, Cause::Stuck(_)) =>
            {
                let (file, why) = (self.file.to_owned(), death.how().to_owned());
                Err(WorkerError::Stuck { file, why, last_output: death.last_output.clone() })
            }
            (End::Died(death), Some(stop), _) if matches!(death.cause, Cause::Call { id: by, .. } if by == id) => {
                Err(self.error(stop, false))
            }
            (_, Some(stop), Some(ErrorCode::Cancelled)) => Err(self.error(stop, true)),
            (_, Some(stop @ Stop::TimedOut(_)), Some(ErrorCode::DeadlineExceeded)) => {
                Err(self.error(stop, true))
            }
            (_, None, Some(ErrorCode::DeadlineExceeded)) if Instant::now() >= self.deadline => {
                let after = self.deadline.saturating_duration_since(self.began);
                Err(self.error(Stop::TimedOut(after), true))
            }
            _ => Ok(end),
        }
    }

    fn report(&self, process: &Process, id: CallId, event: Event) {
        let done = match event {
            Event::Progress { fraction, message } => {
                guarded(|| self.host.progress(fraction, &message))
            }
            Event::Log { level, message } => guarded(|| self.host.log(level_of(level), &message)),
            Event::Request { request, method, params } => {
                let answered = guarded(|| self.host.request(&method, params));
                let result = answered
                    .unwrap_or_else(|| {
                        Err(ToolError::new(format!("the host failed at `{method}`")))
                    })
                    .map_err(|error| Failure::new(error.code(), error.message()));
                let sent = process.send(&ToChild::Answer { id, request, result });
                if let Err(why) = sent {
                    let failure = Failure::new(ErrorCode::Failed, format!("the answer: {why}"));
                    let answer = ToChild::Answer { id, request, result: Err(failure) };
                    let _ = process.send(&answer);
                }
                Some(())
            }
            Event::End(_) => Some(()),
        };
        if done.is_none() {
            self.host_panicked.set(true);
        }
    }
}

/// The message about a library that was not ready in time.
fn stuck(doing: &str, after: Duration) -> String {
    format!("it did not {doing} within {}", seconds(after))
}

fn level_of(number: u8) -> LogLevel {
    match number {
        1 => LogLevel::Error,
        2 => LogLevel::Warn,
        3 => LogLevel::Info,
        4 => LogLevel::Debug,
        _ => LogLevel::Trace,
    }
}
