//! The files of a skill that a provider serves, chosen by the same rules as those in a directory.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::passed_over::is_hidden;
use super::scan::is_skill_file;
use crate::error::Error;
use crate::provider::{Listing, Provided};
use crate::skill::Skill;

/// The files of one skill, by their paths below its directory.
pub(crate) struct ProvidedFiles<'s> {
    provided: &'s Provided,
    listing: Arc<Listing>,
    /// The path of the skill's directory followed by `/`; empty for a skill at the root.
    prefix: String,
}

/// The reason why a path is not that of a file of the skill.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotHere {
    Missing,
    Directory,
    /// The file belongs to the sub-skill at this path.
    SubSkill(String),
}

impl ProvidedFiles<'_> {
    /// The files of `skill`; `None` if no provider serves it.
    pub(crate) fn of(skill: &Skill) -> Option<ProvidedFiles<'_>> {
        let (provided, dir) = skill.provided()?;
        let prefix = if dir.is_empty() { dir } else { dir + "/" };
        Some(ProvidedFiles { provided, listing: provided.listing(), prefix })
    }

    /// The paths of all files that come with the skill, those of lower depth first.
    pub(crate) fn list(&self) -> Vec<String> {
        let sub_skills = self.sub_skills();
        let is_shown = |path: &&str| {
            !path.split('/').any(is_hidden)
                && !is_skill_file(path.as_ref())
                && first_above(path, &sub_skills).is_none()
        };
        let mut files: Vec<String> = self.below().filter(is_shown).map(str::to_owned).collect();
        files.sort_by_key(|path| path.matches('/').count());
        files
    }

    /// Returns the content of the file at the normalised `path`.
    pub(crate) fn read(&self, path: &str) -> Result<Result<Vec<u8>, Error>, NotHere> {
        if let Some(dir) = first_above(path, &self.sub_skills()) {
            return Err(NotHere::SubSkill(dir.to_owned()));
        }
        let full = format!("{}{path}", self.prefix);
        if self.listing.files.contains_key(&full) {
            return Ok(self.provided.read(&full));
        }
        let is_directory = self
            .below()
            .any(|file| file.strip_prefix(path).is_some_and(|below| below.starts_with('/')));
        Err(if is_directory { NotHere::Directory } else { NotHere::Missing })
    }

    /// The directories of the sub-skills.
    fn sub_skills(&self) -> BTreeSet<&str> {
        self.below().filter_map(directory_of_skill).collect()
    }

    /// The paths of all listed files below the skill's directory, in byte order.
    fn below(&self) -> impl Iterator<Item = &str> {
        let from_prefix = self.listing.files.range(self.prefix.clone()..);
        from_prefix.map_while(|(path, _)| path.strip_prefix(&self.prefix))
    }
}

/// Returns the outermost of `dirs` that is above `path`.
fn first_above<'p>(path: &'p str, dirs: &BTreeSet<&str>) -> Option<&'p str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).find(|dir| dirs.contains(dir))
}

/// The directory of the sub-skill whose file `path` is, if it is one.
fn directory_of_skill(path: &str) -> Option<&str> {
    let (dir, name) = path.rsplit_once('/')?;
    is_skill_file(name.as_ref()).then_some(dir)
}
