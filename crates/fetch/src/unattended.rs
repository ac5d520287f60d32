//! Automatic updates that would remove or break a skill are held back for the user.

use std::path::Path;

use super::diff::{ChangeKind, SkillChange};
use repertoire::catalog::{Catalog, CatalogOptions, Source};

/// Returns the reason, as a clause, why an update from the skills in `before` to those in `after` is
/// left to the user. Returns `None` if no skill is lost. `source` turns a directory into a source.
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
    // The file of the skill still exists, but no skill could be read from it.
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
