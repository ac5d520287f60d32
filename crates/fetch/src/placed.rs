//! Fetched skills in the own directories of agents: a link where the agent follows it, a copy where it does
//! not. The lock file lists them. Whatever it does not list, or was changed since, belongs to the user and
//! stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::agent_place::AgentPlace;
use super::config_file::{change_config, real};
use super::lock_file::{self, LockedFile, Placement, Placements};
use super::objects::io_error;
use super::paths::check_path;
use super::placed_files::{digest_of, digest_of_files, put_copy, put_link, remove};
use super::source_list::SourceList;
use repertoire::Error;
use repertoire::catalog::Scope;
use repertoire::skill::is_identifier;
use repertoire_config::{self as config, FetchSection, PlacedCopy};

/// A skill in the directory of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlacedSkill {
    /// The name of the source.
    pub source: String,
    /// The id of the skill.
    pub skill: String,
    /// The directory of the skill, or the link to it.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub path: PathBuf,
    /// True for a link.
    pub link: bool,
}

/// A skill that could not be put into the directory of an agent, or not be removed from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotPlaced {
    /// The name of the source.
    pub source: String,
    /// The place, or the name of the agent if its place is not known.
    pub at: String,
    /// The reason, as a clause about the place.
    pub reason: String,
}

/// The result of [`SourceList::place`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Placing {
    /// All skills that are in directories of agents now.
    pub placed: Vec<PlacedSkill>,
    /// The places from which skills were removed.
    pub removed: Vec<String>,
    /// The skills that could not be placed, or removed.
    pub refused: Vec<NotPlaced>,
}

impl Placing {
    fn refuse(&mut self, source: &str, at: impl Into<String>, reason: impl Into<String>) {
        let (source, at, reason) = (source.to_owned(), at.into(), reason.into());
        self.refused.push(NotPlaced { source, at, reason });
    }
}

/// A directory that gets skills for one or more agents.
struct Target {
    dir: PathBuf,
    links: bool,
}

/// A skill that belongs into the directory of an agent.
struct Wanted {
    id: String,
    path: PathBuf,
    /// The directory of the skill in the copy of its source.
    original: PathBuf,
    /// The files of the skill, by their paths in its directory.
    files: BTreeMap<String, LockedFile>,
    placement: Placement,
}

/// The content of a place, compared with its entry in the lock file.
#[derive(PartialEq, Eq)]
enum Found {
    Nothing,
    /// The link or copy that the lock file lists.
    Listed,
    /// Something else, which is the user's.
    Other,
}

impl SourceList<'_> {
    /// Puts the skills of each source into the own directories of its `agents`, replaces copies that an
    /// update changed, and removes what was put there for skills or agents that are gone.
    ///
    /// A place with anything that the lock file does not list, or that was changed, is reported and left
    /// alone, and so is a directory that cannot be written. Fails if the lock file is damaged.
    pub fn place(&self) -> Result<Placing, Error> {
        let sections = self.sections();
        let is_wanted = |section: &FetchSection| !section.settings.agents.is_empty();
        // A damaged lock file matters to whoever asks for a place; others hear of it elsewhere.
        let known = lock_file::read_placements(&self.lock).unwrap_or_default();
        // A host that knows no agents leaves those of others alone.
        let is_idle = !sections.iter().any(is_wanted) && known.is_empty();
        if is_idle || self.fetcher.agents.is_empty() {
            return Ok(Placing::default());
        }
        let _guard = self.copies.lock(&self.fetcher.deadline())?;
        let before = lock_file::read_placements(&self.lock)?;
        let (mut known, mut placing) = (before.clone(), Placing::default());
        let mut wanted = BTreeMap::new();
        for section in sections.iter().filter(|section| is_wanted(section)) {
            self.add_wanted(section, &mut wanted, &mut placing)?;
        }
        self.remove_others(&wanted, &mut known, &mut placing);
        for (written, wanted) in &wanted {
            self.put(written, wanted, &mut known, &mut placing);
        }
        self.remove_dirs(&mut known.made);
        if known != before {
            lock_file::write_placements(&self.lock, &known)?;
        }
        Ok(placing)
    }

    /// Adds agents to all sources of the list, or removes them, for [`place`](SourceList::place). Returns the
    /// names of the sources. Fails if `config.toml` cannot be changed.
    pub fn change_agents(&self, agents: &[String], removes: bool) -> Result<Vec<String>, Error> {
        let sections = self.sections();
        change_config(&self.config, self.project(), |before| {
            sections.iter().try_fold(before.to_owned(), |text, section| {
                let mut settings = section.settings.clone();
                settings.agents.retain(|agent| !agents.contains(agent));
                if !removes {
                    settings.agents.extend(agents.iter().cloned());
                }
                let after = config::set_fetch(&text, &section.name, &settings);
                after.map_err(|error| self.of_config(&error))
            })
        })?;
        Ok(sections.into_iter().map(|section| section.name).collect())
    }

    /// The copies of a source's skills in directories of agents, or, with `links`, the targets of the links.
    pub(super) fn placed_copies(&self, name: &str, links: bool) -> Vec<PlacedCopy> {
        let root = self.copies.root(name);
        let placements = lock_file::read_placements(&self.lock).unwrap_or_default();
        let of_source = placements.skills.iter().filter(|(_, placement)| placement.source == name);
        let copies = of_source.filter(|(_, placement)| placement.sha256.is_none() == links);
        let placed = copies.filter_map(|(written, placement)| {
            let path = self.path_of(written)?.canonicalize().ok()?;
            Some(PlacedCopy { original: below(&root, &placement.skill), path })
        });
        placed.collect()
    }

    /// Adds the places of a source's skills.
    fn add_wanted(
        &self,
        section: &FetchSection,
        wanted: &mut BTreeMap<String, Wanted>,
        placing: &mut Placing,
    ) -> Result<(), Error> {
        let source = section.name.as_str();
        let targets = self.targets(section, placing);
        let Some(locked) = self.locked(source)? else { return Ok(()) };
        if let Err(error) = self.signed_by(section) {
            placing.refuse(source, source, format!("is not used: {}", error.message()));
            return Ok(());
        }
        let root = self.copies.root(source);
        for skill in self.installed(source) {
            let last = skill.at.rsplit('/').next().filter(|last| !last.is_empty());
            let is_plain = is_identifier(&skill.name);
            let name = if is_plain { &skill.name } else { last.unwrap_or(source) };
            let prefix = if skill.at.is_empty() { String::new() } else { format!("{}/", skill.at) };
            let files = locked.files.iter().filter_map(|(path, file)| {
                Some((path.strip_prefix(&prefix)?.to_owned(), file.clone()))
            });
            let files: BTreeMap<String, LockedFile> = files.collect();
            for Target { dir, links } in &targets {
                let path = dir.join(name);
                let Some(written) = self.written(&path) else {
                    placing.refuse(source, path.to_string_lossy(), "leaves the project");
                    continue;
                };
                if let Some(other) = wanted.get(&written) {
                    let reason = format!("is for a skill of `{}`", other.placement.source);
                    placing.refuse(source, written, reason);
                    continue;
                }
                let sha256 = (!links).then(|| digest_of_files(&files));
                let (source, at) = (source.to_owned(), skill.at.clone());
                let placement = Placement { source, skill: at, sha256 };
                let (original, id) = (below(&root, &skill.at), skill.id.clone());
                let files = files.clone();
                wanted.insert(written, Wanted { id, path, original, files, placement });
            }
        }
        Ok(())
    }

    /// The directories that get the skills of a source. An agent that reads the directory of another one
    /// gets none of its own, as it would list the skills twice.
    fn targets(&self, section: &FetchSection, placing: &mut Placing) -> Vec<Target> {
        let mut places: Vec<&AgentPlace> = Vec::new();
        for agent in &section.settings.agents {
            match self.fetcher.agents.iter().find(|place| place.agent == *agent) {
                Some(place) => places.push(place),
                None => {
                    placing.refuse(&section.name, agent, "is not an agent with a known directory");
                }
            }
        }
        places.sort_by_key(|place| place.reads.len());
        // A project is shared with others, on whose machines a link leads nowhere.
        let may_link = cfg!(unix) && self.scope == Scope::User;
        let mut targets: Vec<Target> = Vec::new();
        for place in places {
            let links = place.follows_links && may_link;
            let own = match self.scope {
                Scope::Project => Some(self.root().join(&place.project)),
                _ => place.user.clone(),
            };
            // One directory may be a link to another one.
            let is_read = |target: &&mut Target| {
                let is_own = own.as_ref().is_some_and(|own| real(own) == real(&target.dir));
                is_own || place.reads.contains(&target.dir)
            };
            match (targets.iter_mut().find(is_read), own) {
                (Some(target), _) => target.links &= links,
                (None, Some(dir)) => targets.push(Target { dir, links }),
                (None, None) => placing.refuse(&section.name, &place.agent, "has no directory"),
            }
        }
        targets
    }

    /// Removes what is `known` but not `wanted`, unless it was changed.
    fn remove_others(
        &self,
        wanted: &BTreeMap<String, Wanted>,
        known: &mut Placements,
        placing: &mut Placing,
    ) {
        known.skills.retain(|written, placement| {
            if wanted.contains_key(written) {
                return true;
            }
            // A lock file of a project may name any place; it is not believed.
            let Some(path) = self.path_of(written) else { return false };
            match self.found(&path, Some(placement)) {
                Found::Nothing => {}
                Found::Other => {
                    let reason = "was changed, and stays; remove it by hand";
                    placing.refuse(&placement.source, written, reason);
                }
                Found::Listed => match remove(&path) {
                    Ok(()) => placing.removed.push(written.clone()),
                    Err(error) => {
                        let reason = format!("could not be removed: {}", error.message());
                        placing.refuse(&placement.source, written, reason);
                        return true;
                    }
                },
            }
            false
        });
    }

    /// Puts a skill into its place, unless something else is there.
    fn put(&self, written: &str, wanted: &Wanted, known: &mut Placements, placing: &mut Placing) {
        let Wanted { id, path, original, files, placement } = wanted;
        let Placement { source, sha256, .. } = placement;
        if self.found(path, known.skills.get(written)) == Found::Other {
            let reason = "is there already, and is not ours or was changed; move it away";
            return placing.refuse(source, written, reason);
        }
        let dirs = self.make_dirs(path.parent().unwrap_or(path), &mut known.made);
        let put = dirs.and_then(|()| match sha256 {
            None => put_link(path, original),
            Some(sha256) => put_copy(path, original, files, sha256, self.scope == Scope::User),
        });
        if let Err(error) = put {
            let reason = format!("could not be written: {}", error.message());
            return placing.refuse(source, written, reason);
        }
        known.skills.insert(written.to_owned(), placement.clone());
        placing.placed.push(PlacedSkill {
            source: source.clone(),
            skill: id.clone(),
            path: path.clone(),
            link: sha256.is_none(),
        });
    }

    /// Compares a place with its entry in the lock file.
    fn found(&self, path: &Path, listed: Option<&Placement>) -> Found {
        let Ok(metadata) = path.symlink_metadata() else { return Found::Nothing };
        let Some(listed) = listed else { return Found::Other };
        let is_listed = match &listed.sha256 {
            None if metadata.is_symlink() => {
                // The copy may be gone, or lie elsewhere than at the time.
                let root = self.copies.root(&listed.source);
                let target = fs::read_link(path).unwrap_or_default();
                target == below(&root, &listed.skill) || !path.exists()
            }
            Some(sha256) => digest_of(path).as_ref() == Some(sha256),
            _ => false,
        };
        if is_listed { Found::Listed } else { Found::Other }
    }

    /// Creates a directory with those above it, and notes in `made` which were missing.
    fn make_dirs(&self, dir: &Path, made: &mut BTreeSet<String>) -> Result<(), Error> {
        let missing = dir.ancestors().take_while(|above| above.symlink_metadata().is_err());
        made.extend(missing.filter_map(|above| self.written(above)));
        fs::create_dir_all(dir).map_err(|error| io_error("create", dir, &error))
    }

    /// Removes the directories that were created for skills and are empty now, the deepest first.
    fn remove_dirs(&self, made: &mut BTreeSet<String>) {
        for written in made.clone().into_iter().rev() {
            let removed = self.path_of(&written).map(fs::remove_dir);
            let is_there = removed.is_some_and(|removed| {
                removed.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
            });
            if !is_there {
                made.remove(&written);
            }
        }
    }

    /// The root of the project, or the home of the user, as an absolute path.
    fn root(&self) -> PathBuf {
        std::path::absolute(&self.base).unwrap_or_else(|_| self.base.clone())
    }

    /// The form of a path in the lock file; `None` if it leaves the project.
    fn written(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(self.root()).ok().and_then(Path::to_str);
        let written = match below {
            Some(below) => below.replace(std::path::MAIN_SEPARATOR, "/"),
            None => path.to_str()?.to_owned(),
        };
        self.path_of(&written).is_some().then_some(written)
    }

    /// The path that a lock file writes so; `None` if it is not plain or leaves the project, also by a
    /// link.
    fn path_of(&self, written: &str) -> Option<PathBuf> {
        let is_of_user = self.scope == Scope::User;
        let is_plain =
            check_path(written).is_ok() || (is_of_user && Path::new(written).is_absolute());
        let path = self.root().join(written);
        let above = path.parent().unwrap_or(&path);
        let is_inside = is_of_user || real(above).starts_with(real(&self.base));
        (is_plain && is_inside).then_some(path)
    }
}

/// The directory `at` below `root`; `root` itself if `at` is empty.
fn below(root: &Path, at: &str) -> PathBuf {
    if at.is_empty() { root.to_owned() } else { root.join(at) }
}
