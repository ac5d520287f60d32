//! Skills that run as tasks (`context: fork`), in lists.

use std::path::absolute;

use super::shorten::path_line;
use crate::catalog::Entry;
use crate::skill::Context;

/// The party that runs skills with `context: fork` as tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TaskRunner {
    /// The host, when such a skill is activated. If the host cannot spawn tasks
    /// ([`EngineBuilder::task_spawner`](crate::EngineBuilder::task_spawner)), the instructions join the conversation.
    #[default]
    Host,
    /// The model, which has subagents: the line of such a skill says to give one of them its file.
    Model,
}

impl TaskRunner {
    /// Tells whether the model must hand the skill to a subagent. A skill without a file cannot be handed over.
    pub fn is_model_for(self, entry: &Entry) -> bool {
        let asks = entry.skill.manifest().context == Context::Fork;
        self == TaskRunner::Model && asks && entry.skill.path().is_some()
    }

    /// The phrase, for a line of a list, that says that a skill runs as a task.
    pub(super) fn phrase(self, entry: &Entry) -> String {
        match entry.skill.path().filter(|_| self.is_model_for(entry)) {
            Some(path) => {
                let path = absolute(path).unwrap_or_else(|_| path.to_owned());
                let path = path_line(&path.display().to_string());
                format!("runs as a task: let a subagent follow the instructions in {path}")
            }
            None => "runs as a task".to_owned(),
        }
    }
}
