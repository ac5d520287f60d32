//! Triggers that nothing reads, as their author wrote them in another place or under another name.

use repertoire::catalog::Entry;
use repertoire::skill::Quirk;

/// The field of triggers, and the kinds in it.
const NAMES: [&str; 4] = ["triggers", "keywords", "verbs", "patterns"];

/// The minimum similarity at which a key counts as a misspelling of another.
const SIMILAR: f64 = 0.9;

/// Returns the reason why the triggers of a skill without any are not read, and the remedy; `None` if its author
/// wrote none.
pub(super) fn unread_triggers(entry: &Entry) -> Option<(String, String)> {
    let skill = &entry.skill;
    if skill.quirks().iter().any(|quirk| quirk == Quirk::UnclosedFrontMatter) {
        let reason = "its front matter is never closed, so its triggers are not read";
        return Some((
            reason.to_owned(),
            "write a line `---` between the last key and the body".to_owned(),
        ));
    }
    let manifest = skill.manifest();
    for key in manifest.extra.keys().chain(manifest.metadata.keys()) {
        if NAMES[1..].contains(&key.as_str()) {
            let reason =
                format!("it declares no triggers: its key `{key}` is read only below `triggers`");
            return Some((reason, format!("write `triggers:`, and indented below it `{key}`")));
        }
        let similar = NAMES.into_iter().find(|name| strsim::jaro_winkler(key, name) >= SIMILAR);
        if let Some(name) = similar.filter(|name| name != key) {
            let reason = format!("it declares no triggers: nothing reads its key `{key}`");
            return Some((reason, format!("write `{name}` in place of `{key}`")));
        }
    }
    None
}
