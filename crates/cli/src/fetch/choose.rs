//! The choice among the skills of a source with many, at a terminal.

use repertoire_config::FetchSettings;
use repertoire_fetch::{Fetcher, PreviewedSkill};

use super::waiting;
use crate::args::{AddArgs, Common};
use crate::output::Output;
use crate::picker::{self, Item};

/// With more skills than this, the user is asked which to take.
const MANY: usize = 5;

/// Returns `settings` with the skills that the user chooses, if the source has many and nothing says which
/// to take; unchanged where nobody can be asked. `None` if the user gave up, or chose none.
pub(super) fn chosen(
    settings: &FetchSettings,
    args: &AddArgs,
    fetcher: &Fetcher,
    common: &Common,
    out: Output,
) -> anyhow::Result<Option<FetchSettings>> {
    let mut settings = settings.clone();
    if args.all || !settings.skills.is_empty() || !picker::can_choose(out) {
        return Ok(Some(settings));
    }
    let here = std::env::current_dir().unwrap_or_default();
    let preview = waiting(&settings.source, || fetcher.preview_of(&settings, &here))?;
    let skills = preview.skills(&common.brand);
    // The address itself may name a skill.
    if skills.len() <= MANY || !preview.settings.skills.is_empty() {
        return Ok(Some(settings));
    }
    let item = |PreviewedSkill { id, description, always_tokens, .. }: &PreviewedSkill| Item {
        text: format!("{id} ({always_tokens} tokens): {description}"),
        is_chosen: false,
    };
    let items: Vec<Item> = skills.iter().map(item).collect();
    let question = format!("Which of {} skills?", skills.len());
    let Some(chosen) = picker::choose(&question, &items, out)? else { return Ok(None) };
    if chosen.len() < skills.len() {
        settings.skills = chosen.iter().map(|at| skills[*at].id.clone()).collect();
    }
    Ok((!chosen.is_empty()).then_some(settings))
}
