//! The choice among the skills of a source with many, at a terminal.

use repertoire_fetch::{Opened, PreviewedSkill};

use crate::args::{AddArgs, Common};
use crate::output::Output;
use crate::picker::{self, Item};

/// With more skills than this, the user is asked which to take.
const MANY: usize = 5;

/// Returns the source with the skills that the user chooses, if it has many and nothing says which to take;
/// unchanged where nobody can be asked. `None` if the user gave up, or chose none.
pub(super) fn chosen<'l>(
    opened: Opened<'l>,
    args: &AddArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<Option<Opened<'l>>> {
    if args.all || args.yes || opened.names_skills() || !picker::can_choose(out) {
        return Ok(Some(opened));
    }
    let skills = opened.preview()?.skills(&common.brand);
    if skills.len() <= MANY {
        return Ok(Some(opened));
    }
    let item = |PreviewedSkill { id, description, always_tokens, .. }: &PreviewedSkill| Item {
        text: format!("{id} ({always_tokens} tokens): {description}"),
        is_chosen: false,
    };
    let items: Vec<Item> = skills.iter().map(item).collect();
    let question = format!("Which of {} skills?", skills.len());
    let chosen = picker::choose(&question, &items, out)?.unwrap_or_default();
    Ok(match chosen.len() {
        0 => None,
        n if n == skills.len() => Some(opened),
        _ => Some(opened.choose(chosen.iter().map(|at| skills[*at].id.clone()).collect())?),
    })
}
