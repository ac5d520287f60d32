//! Confusable ids: a skill whose id looks like that of another one.

use std::collections::BTreeMap;

use repertoire::catalog::{Catalog, Entry};
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::skill::skeleton;

/// Reports the skills whose ids look like that of another skill in the catalog.
pub fn confusable(catalog: &Catalog) -> Vec<Diagnostic> {
    let mut alike: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in catalog.entries().filter(|entry| !entry.is_shadowed()) {
        alike.entry(skeleton(entry.id.as_str())).or_default().push(entry);
    }
    let groups = alike.into_values().filter(|group| group.len() > 1);
    let found = groups.flat_map(|group| {
        let of = |entry: &&Entry| {
            let path = entry.skill.path()?;
            let other = group.iter().find(|other| other.id != entry.id)?;
            let message = format!("the id `{}` looks like that of `{}`", entry.id, other.id);
            let help = "find out which one is meant, and rename the other";
            Some(Diagnostic::new(Code::ConfusableId, path, message, help))
        };
        group.iter().filter_map(of).collect::<Vec<_>>()
    });
    found.collect()
}
