//! Native skills: those that the host's agent lists and loads by itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, absolute};

use super::shorten::one_line;
use crate::catalog::Entry;
use crate::skill::{Quirk, Quirks, SkillId};

/// Skills that the host's agent finds, lists and loads by itself. A disclosure lists only those again that the agent
/// lists without a description. If a message calls for one, its line says to load it the agent's way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct NativeSkills {
    /// The directories in which the agent looks for skills, given by the ends of their paths, such as
    /// `.claude/skills`, or by whole absolute paths.
    pub roots: Cow<'static, [Cow<'static, str>]>,
    /// True if the agent reads skills at any depth below the `roots`; otherwise it reads only those
    /// directly in one of them.
    pub nested: bool,
    /// True if the agent leaves a skill with `paths` out of its list until a file matches.
    pub hides_paths: bool,
    /// The order to load a native skill, in the agent's own words, such as "call the `skill` tool with `{name}`":
    /// `{name}` stands for the name by which the agent calls the skill and `{path}` for the path of its file. "use
    /// this skill: " or "to use it, " comes before it.
    pub how_to_load: Cow<'static, str>,
    /// True if the agent calls a skill by the name of its directory; otherwise by its `name`.
    pub named_by_directory: bool,
    /// The characters of a name for which the agent writes `-`.
    pub replaced_in_names: &'static str,
    /// The namespaces of plugins, by the directories of their skills: the agent calls a skill
    /// `NAMESPACE:NAME`.
    pub namespaces: BTreeMap<PathBuf, String>,
    /// The real paths of the directories outside of `roots` to which links in them lead, each with the
    /// name of its link.
    pub linked: BTreeMap<PathBuf, String>,
    /// The skills that the agent's list only names, as it has no room for their descriptions. A message that one
    /// of them is relevant to gets its line, with its description.
    pub undescribed: BTreeSet<SkillId>,
    /// True if the conversation names all skills of the catalog already, so that a disclosure need not say how many
    /// more there are.
    pub names_all: bool,
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
    /// True for a directory that is not below that of another skill.
    pub no_skill_above: bool,
    /// The number of directories below a root, at most.
    pub depth: Option<usize>,
    /// The properties of a file for which the agent refuses it.
    pub refused: Quirks,
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
            undescribed: BTreeSet::new(),
            names_all: false,
            replaced_in_names: "",
            needs: SkillNeeds {
                exact_file: false,
                unlinked_file: false,
                no_skill_above: false,
                depth: None,
                refused: Quirks::of(&[]),
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

    /// The agent finds no skill below the directory of another one.
    #[must_use]
    pub const fn never_below_skills(mut self) -> NativeSkills {
        self.needs.no_skill_above = true;
        self
    }

    /// The agent looks no deeper than `depth` directories below a root.
    #[must_use]
    pub const fn down_to(mut self, depth: usize) -> NativeSkills {
        self.nested = true;
        self.needs.depth = Some(depth);
        self
    }

    /// The agent lists no skill whose file has one of these quirks.
    #[must_use]
    pub const fn refusing(mut self, quirks: &[Quirk]) -> NativeSkills {
        self.needs.refused = Quirks::of(quirks);
        self
    }

    /// The agent writes `-` for each of these characters of a name.
    #[must_use]
    pub const fn replacing_in_names(mut self, signs: &'static str) -> NativeSkills {
        self.replaced_in_names = signs;
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
        let dir = absolute(dir).unwrap_or_else(|_| dir.to_owned());
        dir.ancestors().skip(1).take(self.depth()).any(|dir| self.is_root(dir))
            || self.link_to(&dir).is_some()
    }

    fn is_root(&self, dir: &Path) -> bool {
        self.roots.iter().any(|root| dir.ends_with(&**root))
    }

    /// The number of levels below a root at which the agent finds skills.
    fn depth(&self) -> usize {
        if self.nested { self.needs.depth.unwrap_or(usize::MAX) } else { 1 }
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
        entry.skill.dir().is_some_and(|dir| self.reads(dir)) && self.fault(entry).is_none()
    }

    /// Returns the reason why the agent does not list a skill although it is where the agent looks, as a
    /// clause: `its file is a link`. `None` if the agent finds the skill, or does not look there.
    pub fn refusal(&self, entry: &Entry) -> Option<String> {
        entry.skill.dir().filter(|dir| self.reads(dir)).and_then(|_| self.fault(entry))
    }

    /// Returns the need of the agent that this skill does not meet, as a clause.
    fn fault(&self, entry: &Entry) -> Option<String> {
        let path = entry.skill.path()?;
        let quirks = entry.skill.quirks().intersection(self.needs.refused);
        if let Some(quirk) = quirks.iter().next() {
            return Some(quirk.as_str().to_owned());
        }
        let file = path.file_name().unwrap_or_default();
        if self.needs.exact_file && file != "SKILL.md" {
            return Some(format!("its file is `{}`, not `SKILL.md`", file.to_string_lossy()));
        }
        if self.needs.unlinked_file && path.is_symlink() {
            return Some("its file is a link".to_owned());
        }
        let above = path.parent().filter(|_| self.needs.no_skill_above);
        let above = above.and_then(|dir| self.skill_above(dir));
        above.map(|above| format!("it is below the skill in {}", above.display()))
    }

    /// Returns the directory of a skill between `dir` and the root that holds it.
    fn skill_above(&self, dir: &Path) -> Option<PathBuf> {
        let dir = absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let between = || dir.ancestors().skip(1).take_while(|dir| !self.is_root(dir));
        // Without a root above, `dir` was found behind a link.
        dir.ancestors().skip(1).find(|dir| self.is_root(dir))?;
        between().find(|dir| dir.join("SKILL.md").is_file()).map(Path::to_owned)
    }

    /// Tells whether the agent lists this skill.
    pub fn has(&self, entry: &Entry) -> bool {
        let is_listed = !self.hides_paths || entry.skill.triggers().paths.is_empty();
        is_listed && self.finds(entry)
    }

    /// Tells whether the agent lists this skill with a description.
    pub fn describes(&self, entry: &Entry) -> bool {
        self.has(entry) && !self.undescribed.contains(&entry.id)
    }

    /// The name by which the agent calls this skill.
    pub fn name_of(&self, entry: &Entry) -> String {
        let name = entry.skill.name();
        let Some(dir) = entry.skill.dir() else { return name.to_owned() };
        let link = self.link_to(dir).map(str::to_owned);
        let directory = || link.or_else(|| Some(dir.file_name()?.to_string_lossy().into_owned()));
        let by_directory = self.named_by_directory.then(directory).flatten();
        let name = by_directory.unwrap_or_else(|| name.to_owned());
        let name = name.replace(|c| self.replaced_in_names.contains(c), "-");
        let namespace = dir.ancestors().find_map(|above| self.namespaces.get(above));
        namespace.map_or(name.clone(), |namespace| format!("{namespace}:{name}"))
    }

    /// The order to load a skill, for its line.
    pub(super) fn how_to_load(&self, entry: &Entry) -> String {
        let path = entry.skill.path().unwrap_or(Path::new(""));
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let (name, path) = (self.name_of(entry), path.display().to_string());
        let (name, path) = (one_line(&name), one_line(&path));
        self.how_to_load.replace("{name}", &name).replace("{path}", &path)
    }
}
