//! Why a skill that has to do with a query is shown less than it might be.

use crate::matcher::Rejection;
use crate::skill::SkillId;

/// It may be missing.
pub(crate) fn untried(id: &SkillId, pattern: &str) -> Rejection {
    let reason = format!(
        "its pattern `{pattern}` was not tried: too many patterns without a literal may match this"
    );
    Rejection { id: id.clone(), reason }
}

/// Nothing but a word of the query that may be its name is found.
pub(super) fn weak(id: &SkillId) -> Rejection {
    let reason = "only a word that may be its name is in the query: shown as a line".to_owned();
    Rejection { id: id.clone(), reason }
}

/// The query vetoes it.
pub(crate) fn veto(id: &SkillId, exclude: &str) -> Rejection {
    Rejection { id: id.clone(), reason: format!("vetoed by its exclude `{exclude}`") }
}

/// Its triggers stand in what the query quotes only.
pub(crate) fn quoted(id: &SkillId, trigger: &str) -> Rejection {
    let reason = format!("its trigger `{trigger}` stands in quoted text only");
    Rejection { id: id.clone(), reason }
}
