//! Tasks: skills with `context: fork`, which run apart from the conversation.

use std::fmt::Debug;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::skill::SkillId;

/// A task for a host to spawn: an agent of its own with these instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The skill.
    pub skill: SkillId,
    /// The session that wants it.
    pub session: String,
    /// Its instructions, with arguments, as [`Activation::to_text`](super::Activation::to_text)
    /// writes them.
    pub prompt: String,
    /// The directory of the skill, if it has one.
    pub base_dir: Option<PathBuf>,
    /// The kind of agent its author wants.
    pub agent: Option<String>,
    /// The model its author wants.
    pub model: Option<String>,
    /// Tools its author wants to be allowed; `None` stands for all.
    pub allowed_tools: Option<Vec<String>>,
}

/// A task that was spawned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpawnedTask {
    /// The host's name for it.
    pub task_id: String,
    /// `spawned`.
    pub status: &'static str,
}

impl SpawnedTask {
    /// The task that the host named `task_id`.
    pub fn new(task_id: impl Into<String>) -> SpawnedTask {
        SpawnedTask { task_id: task_id.into(), status: "spawned" }
    }
}

/// A host that can run tasks beside the conversation.
pub trait TaskSpawner: Debug + Send + Sync {
    /// Starts `task` and gives back the host's name for it, without waiting for its end.
    fn spawn(&self, task: &Task) -> Result<String, Error>;
}
