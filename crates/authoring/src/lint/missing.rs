//! The rule for skills that build on skills which do not exist.

use std::path::Path;

use repertoire::catalog::{Catalog, Entry};
use repertoire::diagnostic::{Code, Diagnostic};

/// Reports the skills of a catalog that require skills which neither it has nor, as `is_elsewhere` tells, the
/// user has at another place.
pub fn missing(catalog: &Catalog, mut is_elsewhere: impl FnMut(&str) -> bool) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for entry in catalog.entries().filter(|entry| !entry.is_shadowed()) {
        let path = entry.skill.path().unwrap_or(Path::new(""));
        let mut is_missing = |name: &str| {
            let is_known = catalog.find_any(name).is_ok() || is_beside(path, name);
            !is_known && !is_elsewhere(name)
        };
        let required = entry.skill.manifest().requires_skills.iter();
        let missing: Vec<_> = required.filter(|name| is_missing(&name.value)).collect();
        if missing.is_empty() {
            continue;
        }
        let text = std::fs::read_to_string(path).ok();
        for name in missing {
            let finding = finding(entry, &name.value, path);
            // The file may have changed since it was loaded.
            let text = text.as_deref().filter(|text| text.get(name.span.clone()).is_some());
            findings.push(match text {
                Some(text) => finding.at(text, name.span.clone()),
                None => finding,
            });
        }
    }
    findings
}

/// Tells whether the skill `name` is in the directory beside that of the `SKILL.md` at `path`, if that was checked
/// alone.
fn is_beside(path: &Path, name: &str) -> bool {
    let last = name.rsplit(['/', ':']).next().unwrap_or_default();
    let skills = path.parent().and_then(Path::parent);
    skills.is_some_and(|skills| !last.is_empty() && skills.join(last).join("SKILL.md").is_file())
}

fn finding(entry: &Entry, name: &str, path: &Path) -> Diagnostic {
    let message =
        format!("skill `{}` requires the skill `{name}`: there is no such skill", entry.id);
    let help = "add that skill, or take it out of the requirements";
    Diagnostic::new(Code::MissingSkill, path, message, help)
}
