//! Native skills: those that the host's agent lists and loads by itself.

use std::borrow::Cow;
use std::path::Path;

use super::shorten::one_line;
use crate::catalog::Entry;

/// Skills that the host's agent finds, lists and loads by itself. A disclosure does not list them again.
/// If a message calls for one, its line says to load it the agent's way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NativeSkills {
    /// The directories in which the agent looks for skills, given by the ends of their paths, such as
    /// `.claude/skills`.
    pub roots: Cow<'static, [Cow<'static, str>]>,
    /// True if the agent reads skills at any depth below the `roots`; otherwise it reads only those
    /// directly in one of them.
    pub nested: bool,
    /// True if the agent leaves a skill with `paths` out of its list until a file matches.
    pub hides_paths: bool,
    /// The instruction to load a native skill, in the agent's own words; `{name}` stands for the name of
    /// the skill and `{path}` for the path of its file.
    pub how_to_load: Cow<'static, str>,
}

impl NativeSkills {
    /// The skills directly in directories whose paths end with one of `roots`.
    pub const fn new(
        roots: &'static [Cow<'static, str>],
        how_to_load: &'static str,
    ) -> NativeSkills {
        let (roots, how_to_load) = (Cow::Borrowed(roots), Cow::Borrowed(how_to_load));
        NativeSkills { roots, nested: false, hides_paths: false, how_to_load }
    }

    /// The agent reads skills at any depth; see [`NativeSkills::nested`](Self#structfield.nested).
    #[must_use]
    pub const fn at_any_depth(mut self) -> NativeSkills {
        self.nested = true;
        self
    }

    /// The agent leaves skills with `paths` out of its list until a file matches.
    #[must_use]
    pub const fn hiding_paths(mut self) -> NativeSkills {
        self.hides_paths = true;
        self
    }

    /// Tells whether the agent reads the skill in `dir`. If so, the agent answers the skill's slash
    /// command, and lists the skill unless it [hides](NativeSkills::hides_paths) it.
    pub fn reads(&self, dir: &Path) -> bool {
        let depth = if self.nested { usize::MAX } else { 1 };
        let is_root = |dir: &Path| self.roots.iter().any(|root| dir.ends_with(&**root));
        dir.ancestors().skip(1).take(depth).any(is_root)
    }

    /// Tells whether the agent lists this skill.
    pub fn has(&self, entry: &Entry) -> bool {
        let is_listed = !self.hides_paths || entry.skill.triggers().paths.is_empty();
        is_listed && entry.skill.dir().is_some_and(|dir| self.reads(dir))
    }

    /// The instruction to load a skill, for its line.
    pub(super) fn how_to_load(&self, entry: &Entry) -> String {
        let path = entry.skill.path().unwrap_or(Path::new(""));
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let path = path.display().to_string();
        let (name, path) = (one_line(entry.skill.name()), one_line(&path));
        self.how_to_load.replace("{name}", &name).replace("{path}", &path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_read_at_the_depth_that_the_agent_looks() {
        for (nested, dir, wanted) in [
            (false, "/p/.a/skills/x", true),
            (false, "/p/.a/skills/group/x", false),
            (true, "/p/.a/skills/group/x", true),
            (true, "/p/.a/skills", false),
            (true, "/p/a/skills/x", false),
        ] {
            let roots = vec![Cow::Borrowed(".a/skills")].into();
            let native = NativeSkills { roots, nested, ..NativeSkills::default() };
            assert_eq!(native.reads(Path::new(dir)), wanted, "{nested} {dir}");
        }
    }
}
