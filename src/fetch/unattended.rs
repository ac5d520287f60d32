//! Updates that nobody is asked about: those that would take something away are held back.

use std::path::Path;

use super::diff::{ChangeKind, SkillChange};
use crate::catalog::{Catalog, CatalogOptions, Source};

/// The reason, a clause, why only the user takes these changes from the skills in `before` to those
/// in `after`; `None` if no skill gets lost. `source` is the source of a directory.
pub(super) fn reason_to_hold(
    changes: &[SkillChange],
    before: &Path,
    after: &Path,
    source: &dyn Fn(&Path) -> Source,
) -> Option<String> {
    let is_lost = |change: &&SkillChange| change.kind == ChangeKind::Removed;
    let lost: Vec<&str> = changes.iter().filter(is_lost).map(|change| change.id.as_str()).collect();
    if lost.is_empty() {
        return None;
    }
    let load = |root: &Path| Catalog::load(&CatalogOptions::new(vec![source(root)]));
    let (old, new) = (load(before), load(after));
    // The file of the skill is there, and no skill was read from it.
    let is_broken = |id: &&str| {
        let file = old.get(id).and_then(|entry| entry.skill.path()?.strip_prefix(before).ok());
        file.map(|file| after.join(file)).is_some_and(|file| {
            file.is_file() && !new.entries().any(|entry| entry.skill.path() == Some(&*file))
        })
    };
    let (broken, removed): (Vec<&str>, Vec<&str>) = lost.into_iter().partition(is_broken);
    let told = |ids: &[&str], what: &str| {
        (!ids.is_empty()).then(|| format!("{what} `{}`", ids.join("`, `")))
    };
    let parts = [told(&removed, "remove"), told(&broken, "break")];
    Some(format!("it would {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")))
}
