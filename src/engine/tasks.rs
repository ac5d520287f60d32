//! The tasks that a host spawned for skills with `context: fork`, and their ends.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::SessionTools;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::session::Session;
use crate::skill::SkillId;

/// The maximum number of running tasks that are known. Of more, those that were spawned first are forgotten:
/// a host that never tells the end of its tasks must not fill the memory.
const MAX_RUNNING: usize = 4096;

/// The tasks that were spawned and have not ended.
#[derive(Debug, Default)]
pub(super) struct RunningTasks(Mutex<VecDeque<Running>>);

#[derive(Debug)]
struct Running {
    task_id: String,
    session: String,
    skill: SkillId,
}

impl RunningTasks {
    pub(super) fn begin(&self, task_id: &str, session: &Session, skill: &SkillId) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() == MAX_RUNNING {
            running.pop_front();
        }
        let (task_id, session) = (task_id.to_owned(), session.id().to_owned());
        running.push_back(Running { task_id, session, skill: skill.clone() });
    }

    /// Ends a task of a session, and returns its skill; `None` if no such task is running.
    fn end(&self, task_id: &str, session: &Session) -> Option<SkillId> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |task: &Running| task.task_id == task_id && task.session == session.id();
        let place = running.iter().position(is_meant)?;
        running.remove(place).map(|task| task.skill)
    }
}

impl SessionTools {
    /// Tells that a task of this session has ended, and how: with its result, or with the reason why it failed.
    /// Returns the answer to put into the conversation, which names the skill. Of a result that is longer than
    /// [`output_bytes`](super::SessionToolsOptions::output_bytes), it has the first lines and says how to read on.
    ///
    /// Fails with `NOT_FOUND` if no task with this name, which the host's
    /// [`TaskSpawner`](crate::TaskSpawner) gave it, is running in this session.
    pub fn finish(&self, task_id: &str, result: Result<&str, &str>) -> Result<Envelope, Error> {
        let Some(skill) = self.engine.0.running.end(task_id, &self.session) else {
            let message = format!("no task `{task_id}` is running in this session");
            let help = "give the name that spawning the task returned, and the session that asked for it; a \
                        task ends once";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        };
        self.session.note_use(&skill);
        let told = format!("The task `{task_id}` of the skill `{skill}`");
        Ok(match result {
            Ok(result) => {
                let result = self.paged(skill.as_str(), result.to_owned());
                let text = format!("{told} has ended. Its result:\n\n{result}");
                let data = json!({
                    "task_id": task_id, "skill": skill, "status": "finished", "result": result,
                });
                Envelope::success(&data, text)
            }
            Err(why) => {
                let message = format!("{told} failed: {why}");
                let help = "go on without its result, or load the skill again";
                Envelope::from(&Error::new(ErrorCode::ExecutionError, message, help))
            }
        })
    }
}
