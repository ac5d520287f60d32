//! Cursor. From `cursor.com/docs/context/skills`; it was not observed.

use super::{AgentState, SkillRoot, Start};

/// The directories in which Cursor looks, in the project and in the home directory.
const DIRS: [&str; 4] = [".codex/skills", ".claude/skills", ".agents/skills", ".cursor/skills"];

pub(super) fn state(start: &Start) -> AgentState {
    let user = DIRS.iter().filter_map(|dir| start.in_home(dir)).map(SkillRoot::user);
    let levels = start.levels().into_iter();
    let project = levels.flat_map(|above| DIRS.map(|dir| SkillRoot::project(above.join(dir))));
    AgentState {
        roots: user.chain(project).collect(),
        settings_dirs: start.levels(),
        ..AgentState::default()
    }
}
