//! Native skills: those that the host's agent lists and loads by itself.

use std::path::Path;

use super::shorten::one_line;
use crate::catalog::Entry;

/// Skills that the host's agent finds, lists and loads by itself. They are not listed again, and
/// one that a message calls for is a line that says to load it the agent's way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NativeSkills {
    /// The directories of skills that it reads, by the ends of their paths, such as
    /// `.claude/skills`.
    pub roots: Vec<String>,
    /// True if it also reads skills further below; else only those directly in one of the `roots`.
    pub nested: bool,
    /// True if it leaves skills with `paths` out of its list until a file matches.
    pub hides_paths: bool,
    /// The instruction to load one, in the agent's own words; `{name}` stands for the name of the
    /// skill and `{path}` for the path of its file.
    pub how_to_load: String,
}

impl NativeSkills {
    /// Tells whether the agent lists this skill.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        let Some(dir) = entry.skill.dir().and_then(Path::parent) else { return false };
        let depth = if self.nested { usize::MAX } else { 1 };
        let is_root = |dir: &Path| self.roots.iter().any(|root| dir.ends_with(root));
        let is_listed = !self.hides_paths || entry.skill.triggers().paths.is_empty();
        is_listed && dir.ancestors().take(depth).any(is_root)
    }

    /// The instruction to load a skill, for its line.
    pub(super) fn how_to_load(&self, entry: &Entry) -> String {
        let path = entry.skill.path().unwrap_or(Path::new(""));
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (name, path) = (one_line(entry.skill.name()), one_line(&path.display().to_string()));
        self.how_to_load.replace("{name}", &name).replace("{path}", &path)
    }
}
