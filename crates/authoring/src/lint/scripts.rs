//! The rule for declared scripts that do not run, because they belong to a sub-skill.

use std::path::{Path, PathBuf};

use super::{Findings, Linted};
use repertoire::catalog::sub_skill::{Entered, enter};
use repertoire::diagnostic::Code;
use repertoire_system::confined::{self, Dir, Links};

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, linted) in skills.iter().enumerate() {
        let skill = &linted.entry.skill;
        let Some(dir) = skill.dir() else { continue };
        for script in skill.manifest().scripts.iter().flatten() {
            let Some(other) = owner(dir, &script.value) else { continue };
            let message = format!(
                "`scripts` entry `{}` belongs to the skill in `{}`, and does not run through this one",
                script.value,
                other.display()
            );
            let help = "move the file out of that skill, or remove the entry";
            findings.add(place, Code::MissingScript, Some(&script.span), message, help);
        }
    }
}

/// The directory of the sub-skill that has the file that `entry` declares; `None` if the skill itself has
/// it, or if it does not exist.
fn owner(dir: &Path, entry: &str) -> Option<PathBuf> {
    // Another rule reports entries that are not paths of files.
    let plain = confined::plain(entry).ok()?;
    let dir = Dir::open(dir).ok()?;
    let paths = [format!("scripts/{plain}"), plain];
    let path = paths.iter().find(|path| dir.file(path.as_ref(), Links::Never).is_ok())?;
    match enter(dir, Path::new(path).parent()?) {
        Ok(Entered::SubSkill(other)) => Some(other),
        _ => None,
    }
}
