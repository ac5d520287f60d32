//! Rules about skills in `permissions.deny`, which Claude Code and Qwen Code have in the same form.

use std::path::Path;

use super::{AgentState, Obstacle};
use repertoire::catalog::RuleTarget;

/// Adds the skills that a rule in `permissions.deny` denies: `Skill(name)`, also of plugins, and
/// `Skill(name:*)` or `Skill(name *)` for all whose names begin so. `Skill`, `Skill(*)` and `*` take away the
/// whole tool.
pub(super) fn deny(rule: &str, file: &Path, state: &mut AgentState) {
    let by = Obstacle::new(format!("permissions.deny: [\"{rule}\"]"), file);
    let Some(named) = rule.strip_prefix("Skill(").and_then(|rest| rest.strip_suffix(')')) else {
        if rule == "*" || rule == "Skill" {
            state.turn_all_off(&by);
        }
        return;
    };
    let named = named.strip_prefix('/').unwrap_or(named);
    if named == "*" {
        return state.turn_all_off(&by);
    }
    let start = named.strip_suffix(":*").or_else(|| named.strip_suffix(" *"));
    // Elsewhere, a star is an ordinary character, which no name has.
    if start.unwrap_or(named).contains('*') {
        return;
    }
    let (name, pattern) = match start {
        Some(start) => (RuleTarget::Name(format!("{start}*")), format!("*:{start}*")),
        None => (RuleTarget::Exact(named.to_owned()), format!("*:{named}")),
    };
    state.switch(name, true, by.clone());
    state.switch(RuleTarget::Name(pattern), true, by);
}
