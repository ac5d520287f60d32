//! Native skills: those that the host's agent lists and loads by itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf, absolute};

use super::shorten::one_line;
use crate::catalog::Entry;
use crate::diagnostic::Code;

/// Skills that the host's agent finds, lists and loads by itself. A disclosure does not list them again.
/// If a message calls for one, its line says to load it the agent's way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NativeSkills {
    /// The directories in which the agent looks for skills, given by the ends of their paths, such as
    /// `.claude/skills`, or by whole absolute paths.
    pub roots: Cow<'static, [Cow<'static, str>]>,
    /// True if the agent reads skills at any depth below the `roots`; otherwise it reads only those
    /// directly in one of them.
    pub nested: bool,
    /// True if the agent leaves a skill with `paths` out of its list until a file matches.
    pub hides_paths: bool,
    /// The instruction to load a native skill, in the agent's own words; `{name}` stands for the name by
    /// which the agent calls the skill and `{path}` for the path of its file.
    pub how_to_load: Cow<'static, str>,
    /// True if the agent calls a skill by the name of its directory; otherwise by its `name`.
    pub named_by_directory: bool,
    /// The namespaces of plugins, by the directories of their skills: the agent calls a skill
    /// `NAMESPACE:NAME`.
    pub namespaces: BTreeMap<PathBuf, String>,
    /// The real paths of the directories outside of `roots` to which links in them lead, each with the
    /// name of its link.
    pub linked: BTreeMap<PathBuf, String>,
    /// The needs of a skill for the agent to find it.
    pub needs: SkillNeeds,
}

/// The needs of a skill for an agent to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SkillNeeds {
    /// True for a file whose name is `SKILL.md` in exactly this letter case.
    pub exact_file: bool,
    /// True for a file that is not a link itself.
    pub unlinked_file: bool,
    /// The `name` in its front matter.
    pub name: NeededName,
    /// True for a `description`.
    pub description: bool,
    /// The form of its front matter.
    pub front_matter: NeededFrontMatter,
}

/// The form of the front matter without which an agent does not list a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NeededFrontMatter {
    /// Any form, or none.
    #[default]
    Any,
    /// It begins on the first line, and ends.
    Fenced,
    /// It is valid YAML as well: the agent repairs nothing.
    Valid,
}

impl NeededFrontMatter {
    fn allows(self, entry: &Entry) -> bool {
        let is_fault = |code: Code| match code {
            Code::LateFrontMatter | Code::NoFrontMatter | Code::UnclosedFrontMatter => {
                self != NeededFrontMatter::Any
            }
            Code::RepairedYaml => self == NeededFrontMatter::Valid,
            _ => false,
        };
        !entry.skill.diagnostics().iter().any(|diagnostic| is_fault(diagnostic.code))
    }
}

/// The `name` in the front matter without which an agent does not list a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NeededName {
    /// None: the agent takes the name of the directory instead.
    #[default]
    None,
    /// Any text.
    Any,
    /// A text of letters, digits and `_:.-`.
    Identifier,
    /// An identifier without upper-case letters.
    LowerCase,
}

impl SkillNeeds {
    fn allow(self, entry: &Entry) -> bool {
        let path = entry.skill.path();
        let is_exact = || path.and_then(Path::file_name) == Some("SKILL.md".as_ref());
        let is_link = || path.is_some_and(Path::is_symlink);
        (!self.exact_file || is_exact())
            && (!self.unlinked_file || !is_link())
            && (!self.description || entry.skill.manifest().description.is_some())
            && self.name.allows(entry)
            && self.front_matter.allows(entry)
    }
}

impl NeededName {
    fn allows(self, entry: &Entry) -> bool {
        let name = entry.skill.manifest().name.as_ref().map(|name| name.value.as_str());
        let is_identifier =
            |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_:.-".contains(c));
        match self {
            NeededName::None => true,
            NeededName::Any => name.is_some(),
            NeededName::Identifier => name.is_some_and(is_identifier),
            NeededName::LowerCase => {
                name.is_some_and(|name| is_identifier(name) && !name.contains(char::is_uppercase))
            }
        }
    }
}

impl NativeSkills {
    /// The skills directly in directories whose paths end with one of `roots`.
    pub const fn new(
        roots: &'static [Cow<'static, str>],
        how_to_load: &'static str,
    ) -> NativeSkills {
        let (roots, how_to_load) = (Cow::Borrowed(roots), Cow::Borrowed(how_to_load));
        NativeSkills {
            roots,
            nested: false,
            hides_paths: false,
            how_to_load,
            named_by_directory: false,
            namespaces: BTreeMap::new(),
            linked: BTreeMap::new(),
            needs: SkillNeeds {
                exact_file: false,
                unlinked_file: false,
                name: NeededName::None,
                description: false,
                front_matter: NeededFrontMatter::Any,
            },
        }
    }

    /// The agent finds only files that are named `SKILL.md` in exactly this letter case.
    #[must_use]
    pub const fn in_exact_files(mut self) -> NativeSkills {
        self.needs.exact_file = true;
        self
    }

    /// The agent finds no file that is a link.
    #[must_use]
    pub const fn in_unlinked_files(mut self) -> NativeSkills {
        self.needs.unlinked_file = true;
        self
    }

    /// The agent lists no skill without a description.
    #[must_use]
    pub const fn needing_description(mut self) -> NativeSkills {
        self.needs.description = true;
        self
    }

    /// The agent lists no skill whose front matter has another form.
    #[must_use]
    pub const fn needing_front_matter(mut self, form: NeededFrontMatter) -> NativeSkills {
        self.needs.front_matter = form;
        self
    }

    /// The agent lists no skill without this name.
    #[must_use]
    pub const fn needing_name(mut self, name: NeededName) -> NativeSkills {
        self.needs.name = name;
        self
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

    /// The agent calls a skill by the name of its directory.
    #[must_use]
    pub const fn named_by_directory(mut self) -> NativeSkills {
        self.named_by_directory = true;
        self
    }

    /// Tells whether the agent reads the skills in `dir`, or a link to it.
    pub fn reads(&self, dir: &Path) -> bool {
        let is_root = |dir: &Path| self.roots.iter().any(|root| dir.ends_with(&**root));
        let dir = absolute(dir).unwrap_or_else(|_| dir.to_owned());
        dir.ancestors().skip(1).take(self.depth()).any(is_root) || self.link_to(&dir).is_some()
    }

    /// The number of levels below a root at which the agent finds skills.
    fn depth(&self) -> usize {
        if self.nested { usize::MAX } else { 1 }
    }

    /// Returns the name of the link through which the agent reads `dir`.
    fn link_to(&self, dir: &Path) -> Option<&str> {
        if self.linked.is_empty() {
            return None;
        }
        let real = dir.canonicalize().ok()?;
        real.ancestors().take(self.depth()).find_map(|dir| self.linked.get(dir).map(String::as_str))
    }

    /// Tells whether the agent finds this skill. If so, the agent answers the skill's slash command, and
    /// lists the skill unless it [hides](NativeSkills::hides_paths) it.
    pub fn finds(&self, entry: &Entry) -> bool {
        entry.skill.dir().is_some_and(|dir| self.reads(dir)) && self.needs.allow(entry)
    }

    /// Tells whether the agent lists this skill.
    pub fn has(&self, entry: &Entry) -> bool {
        let is_listed = !self.hides_paths || entry.skill.triggers().paths.is_empty();
        is_listed && self.finds(entry)
    }

    /// The name by which the agent calls this skill.
    pub fn name_of(&self, entry: &Entry) -> String {
        let name = entry.skill.name();
        let Some(dir) = entry.skill.dir() else { return name.to_owned() };
        let link = self.link_to(dir).map(str::to_owned);
        let directory = || link.or_else(|| Some(dir.file_name()?.to_string_lossy().into_owned()));
        let by_directory = self.named_by_directory.then(directory).flatten();
        let name = by_directory.unwrap_or_else(|| name.to_owned());
        let namespace = dir.ancestors().find_map(|above| self.namespaces.get(above));
        namespace.map_or(name.clone(), |namespace| format!("{namespace}:{name}"))
    }

    /// The instruction to load a skill, for its line.
    pub(super) fn how_to_load(&self, entry: &Entry) -> String {
        let path = entry.skill.path().unwrap_or(Path::new(""));
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let (name, path) = (self.name_of(entry), path.display().to_string());
        let (name, path) = (one_line(&name), one_line(&path));
        self.how_to_load.replace("{name}", &name).replace("{path}", &path)
    }
}
