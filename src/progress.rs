//! Progress reports of long work.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of steps between two reports. Reading a file takes some 50 µs.
const EACH: usize = 64;

/// The progress of building an engine; see
/// [`EngineBuilder::progress`](crate::EngineBuilder::progress).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// The number of finished steps of the phase. It grows with each report, and is `total` in the last
    /// one.
    pub done: usize,
    /// The number of steps of the phase.
    pub total: usize,
}

/// The phases of building an engine, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// Skill files are read, a step for each file.
    Reading,
    /// Triggers are compiled: a step for each skill and each pattern.
    Compiling,
    /// Texts are indexed for relevance, a step for each skill.
    Indexing,
}

/// The receiver of progress reports, if any.
#[derive(Default)]
pub(crate) struct Reporter(Option<Box<dyn Fn(Progress) + Send + Sync>>);

/// The progress of the current phase.
pub(crate) struct Steps<'r> {
    reporter: &'r Reporter,
    phase: Phase,
    total: usize,
    done: AtomicUsize,
    told: Mutex<usize>,
}

impl Reporter {
    pub(crate) fn new(report: impl Fn(Progress) + Send + Sync + 'static) -> Reporter {
        Reporter(Some(Box::new(report)))
    }

    /// Begins a phase of `total` steps.
    pub(crate) fn begin(&self, phase: Phase, total: usize) -> Steps<'_> {
        let (done, told) = (AtomicUsize::new(0), Mutex::new(0));
        let steps = Steps { reporter: self, phase, total, done, told };
        steps.report(0);
        steps
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reporter").field(&self.0.is_some()).finish()
    }
}

impl Steps<'_> {
    /// Counts one finished step. Any thread may call it.
    pub(crate) fn add(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(EACH) && done < self.total {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have reported a later step already.
            if *told < done {
                *told = done;
                self.report(done);
            }
        }
    }

    /// Ends the phase: all steps are done, or turned out not to be needed.
    pub(crate) fn end(self) {
        if self.total > 0 {
            self.report(self.total);
        }
    }

    fn report(&self, done: usize) {
        if let Some(report) = &self.reporter.0 {
            report(Progress { phase: self.phase, done, total: self.total });
        }
    }
}
