//! Tasks: skills with `context: fork`, which run apart from the conversation.

use std::fmt::Debug;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::skill::SkillId;

/// A task for the host to spawn: a separate agent with these instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// The id of the skill.
    pub skill: SkillId,
    /// The session that requested the task.
    pub session: String,
    /// The instructions of the skill with arguments, as
    /// [`Activation::to_text`](super::Activation::to_text) writes them.
    pub prompt: String,
    /// The directory of the skill, if it has one.
    pub base_dir: Option<PathBuf>,
    /// The kind of agent that the skill's author wants.
    pub agent: Option<String>,
    /// The model that the skill's author wants.
    pub model: Option<String>,
    /// The tools that the skill's author wants to be allowed; `None` means all tools.
    pub allowed_tools: Option<Vec<String>>,
}

/// A task that was spawned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SpawnedTask {
    /// The host's name for the task.
    pub task_id: String,
    /// Always `spawned`.
    pub status: &'static str,
}

impl SpawnedTask {
    /// Creates the record of a task that the host named `task_id`.
    pub fn new(task_id: impl Into<String>) -> SpawnedTask {
        SpawnedTask { task_id: task_id.into(), status: "spawned" }
    }
}

/// A host that can run tasks in parallel to the conversation.
pub trait TaskSpawner: Debug + Send + Sync {
    /// Starts `task` and returns the host's name for it, without waiting for the task to end.
    fn spawn(&self, task: &Task) -> Result<String, Error>;
}
