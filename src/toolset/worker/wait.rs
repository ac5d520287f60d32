//! Waiting for a call, as long as its host and the limits allow.

use std::cell::Cell;
use std::time::{Duration, Instant};

use repertoire_plugin::{ErrorCode, Host, LogLevel, ToolError};

use super::call::{Cause, End, Event, Slot, guarded};
use super::error::WorkerError;
use super::process::Process;
use super::protocol::{CallId, Failure, ToChild};
use super::worker::Worker;

/// The interval at which the host is asked whether it cancels.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// The time that a killed process may take to be gone.
const HOPELESS: Duration = Duration::from_secs(5);

/// The deadline and the cancellation of one call.
pub(super) struct Wait<'a> {
    worker: &'a Worker,
    host: &'a dyn Host,
    began: Instant,
    deadline: Instant,
    host_panicked: Cell<bool>,
}

/// The reason why a call should end before it is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Cancelled,
    TimedOut(Duration),
}

impl<'a> Wait<'a> {
    pub(super) fn new(worker: &'a Worker, host: &'a dyn Host) -> Self {
        let began = Instant::now();
        // No limit means a year: an `Instant` cannot be infinite.
        let limit = worker.limits.call_timeout.min(Duration::from_secs(365 * 24 * 60 * 60));
        let deadline = guarded(|| host.deadline()).flatten();
        let deadline = deadline.map_or(began + limit, |deadline| deadline.min(began + limit));
        Self { worker, host, began, deadline, host_panicked: Cell::new(false) }
    }

    /// The time that is left, rounded up.
    pub(super) fn millis(&self) -> u64 {
        let left = self.deadline.saturating_duration_since(Instant::now());
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// An error if the call should not go on.
    pub(super) fn check(&self) -> Result<(), WorkerError> {
        self.stop(Instant::now()).map_or(Ok(()), |stop| Err(self.error(stop, true)))
    }

    /// Waits for the end of a call, and hands its reports to the host meanwhile.
    ///
    /// When the time is over or the host cancels, the tool is asked to stop, and after the time of
    /// grace its process is killed.
    pub(super) fn end(
        &self,
        process: &Process,
        id: CallId,
        slot: &Slot,
    ) -> Result<End, WorkerError> {
        let grace = self.worker.limits.grace;
        let mut stopping: Option<(Stop, Instant)> = None;
        let mut killed = false;
        loop {
            let until = stopping.map_or(self.deadline, |(_, at)| at + grace);
            let left = until.saturating_duration_since(Instant::now());
            match slot.next(if killed { TICK } else { TICK.min(left) }) {
                Some(Event::End(end)) => return self.judge(end, id, stopping),
                Some(event) => self.report(process, id, event),
                None => process.notice_exit(),
            }
            let now = Instant::now();
            match stopping {
                None => {
                    stopping = self.stop(now).map(|stop| (stop, now));
                    if stopping.is_some() {
                        let _ = process.send(&ToChild::Cancel { id });
                    }
                }
                Some((stop, at)) if now >= at + grace => {
                    if now >= at + grace + HOPELESS {
                        return Err(self.error(stop, false));
                    }
                    let reason = match stop {
                        Stop::TimedOut(_) => {
                            "its process was ended because another call ran over its time"
                        }
                        Stop::Cancelled => {
                            "its process was ended because another call was cancelled and did not \
                             stop"
                        }
                    };
                    process.kill(Cause::Call { id, reason });
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

    fn error(&self, stop: Stop, stopped: bool) -> WorkerError {
        let file = self.worker.shown_as.clone();
        match stop {
            Stop::Cancelled => WorkerError::Cancelled { file, stopped },
            Stop::TimedOut(after) => WorkerError::TimedOut { file, after, stopped },
        }
    }

    /// Interprets the end: a call that stops when asked to is not a failure of the tool.
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

fn level_of(number: u8) -> LogLevel {
    match number {
        1 => LogLevel::Error,
        2 => LogLevel::Warn,
        3 => LogLevel::Info,
        4 => LogLevel::Debug,
        _ => LogLevel::Trace,
    }
}
