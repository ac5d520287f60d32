//! The callbacks of a host, in the form that a builder takes.

use std::sync::Arc;

use repertoire::disclosure::TokenCounter;
use repertoire::matcher::{Candidate, Levels, Retriever};
use repertoire::session::SessionStore;
use repertoire::toolset::{Approval, HostProgram};
use repertoire::{Error, TaskSpawner};

/// A callback that asks the user for consent.
pub type Ask = Box<dyn Fn(&repertoire::ConsentRequest) -> bool + Send + Sync>;

/// The callbacks of a host, and the facts that only a binding knows.
#[derive(Default)]
pub struct Hosts {
    /// The program to start for each process that runs toolsets.
    pub worker: Option<HostProgram>,
    /// Counts tokens.
    pub tokens: Option<Arc<dyn TokenCounter>>,
    /// Stores sessions, in place of `Settings::sessions`.
    pub sessions: Option<Arc<dyn SessionStore>>,
    /// Asks for consent.
    pub ask: Option<Ask>,
    /// Ranks skills.
    pub retriever: Option<Arc<dyn Retriever>>,
    /// Spawns tasks.
    pub tasks: Option<Arc<dyn TaskSpawner>>,
    /// Decides whether code that is not trusted yet may run.
    pub approve: Option<Approval>,
    /// Receives the progress of building the engine.
    pub progress: Option<Box<dyn Fn(repertoire::Progress) + Send + Sync>>,
}

/// Implements a callback trait for an `Arc`, because a builder takes its callbacks by value.
#[derive(Debug)]
pub(crate) struct Shared<T: ?Sized>(pub(crate) Arc<T>);

impl TokenCounter for Shared<dyn TokenCounter> {
    fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }
}

impl TaskSpawner for Shared<dyn TaskSpawner> {
    fn spawn(&self, task: &repertoire::Task) -> Result<String, Error> {
        self.0.spawn(task)
    }
}

impl Retriever for Shared<dyn Retriever> {
    fn prepare(&self, candidates: &[Candidate]) -> Result<(), Error> {
        self.0.prepare(candidates)
    }

    fn rank(&self, message: &str, candidates: &[Candidate]) -> Result<Vec<f32>, Error> {
        self.0.rank(message, candidates)
    }

    fn levels(&self) -> Option<Levels> {
        self.0.levels()
    }
}
