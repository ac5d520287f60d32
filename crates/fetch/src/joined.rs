//! Settings of a source that is there already, with the skills, agents and keys of an addition.

use super::address::is_same;
use super::provider::no_skill;
use super::selection::excluded_and_wanted;
use super::source_list::SourceList;
use repertoire::catalog::may_name;
use repertoire::{Error, ErrorCode};
use repertoire_config::{FetchSection, FetchSettings};

impl SourceList<'_> {
    pub(super) fn named(&self, name: &str) -> Option<FetchSection> {
        self.sections().into_iter().find(|section| section.name == name)
    }

    /// The section of the same repository, at the same revision if there are several.
    pub(super) fn same(&self, new: &FetchSettings) -> Option<FetchSection> {
        let same = |section: &FetchSection| is_same(&section.settings.source, &new.source);
        let sections: Vec<FetchSection> = self.sections().into_iter().filter(same).collect();
        let fits = |known: &FetchSettings| {
            [(&known.rev, &new.rev), (&known.path, &new.path)]
                .iter()
                .all(|(known, new)| new.is_none() || known == new)
        };
        let nth = sections.iter().position(|section| fits(&section.settings)).unwrap_or(0);
        sections.into_iter().nth(nth)
    }

    /// The settings of a known source with what `new` adds. `is_seen` tells that the revision in `new` is
    /// only the one that a page showed.
    ///
    /// Fails with `INVALID_PARAM` if `new` is another source, or this one at another revision.
    pub(super) fn joined(
        &self,
        section: &FetchSection,
        new: FetchSettings,
        is_seen: bool,
    ) -> Result<FetchSettings, Error> {
        let FetchSection { name, settings: known, .. } = section;
        if !is_same(&known.source, &new.source) {
            let message = format!("`{name}` is the name of another source: {}", known.source);
            let help = "give it a name of its own, or remove the other one first";
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        let differs = |known: &Option<String>, new: &Option<String>| new.is_some() && known != new;
        let is_other_revision = differs(&known.rev, &new.rev)
            && !(is_seen && self.newest(known)? == self.newest(&new)?);
        if is_other_revision || differs(&known.path, &new.path) {
            let message = format!("`{name}` is this source already, with other settings");
            let file = self.config.display();
            let help = format!(
                "change `[fetch.{name}]` in {file}, and update it; or give this one a name of its own"
            );
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        let signed_by =
            if new.signed_by.is_empty() { known.signed_by.clone() } else { new.signed_by };
        let skills = self.joined_skills(section, &new.skills)?;
        let mut agents = known.agents.clone();
        agents.extend(new.agents.into_iter().filter(|agent| !known.agents.contains(agent)));
        let alias = new.alias.or_else(|| known.alias.clone());
        Ok(FetchSettings { signed_by, skills, agents, alias, ..known.clone() })
    }

    fn newest(&self, settings: &FetchSettings) -> Result<Option<String>, Error> {
        self.provider(settings)?.newest()
    }

    /// The skills of a known source with those of `new`. Fails with `NOT_FOUND` if all skills are known,
    /// and this one is not among them.
    fn joined_skills(&self, section: &FetchSection, new: &[String]) -> Result<Vec<String>, Error> {
        let known = &section.settings.skills;
        let (_, wanted) = excluded_and_wanted(new);
        let is_wanted = |id: &str| wanted.iter().any(|wanted| may_name(wanted, &[id]));
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let is_excluded = |id: &&String| id.strip_prefix('!').is_some_and(is_wanted);
        let readmits = known.iter().any(|id| is_excluded(&id));
        let mut skills: Vec<String> = known.iter().filter(|id| !is_excluded(id)).cloned().collect();
        let has_all = excluded_and_wanted(known).1.is_empty();
        if has_all && wanted.iter().all(|id| !id.contains('/')) && !readmits {
            let source = &section.settings.source;
            let have = self.installed(&section.name);
            let missing = wanted.iter().find(|id| !have.iter().any(|skill| skill.is_named(id)));
            if let Some(missing) = missing.filter(|_| !have.is_empty()) {
                let ids: Vec<String> = have.into_iter().map(|skill| skill.id).collect();
                return Err(no_skill(source, missing, &ids));
            }
        }
        let is_of_all = |id: &String| has_all && !id.starts_with('!') && !id.contains('/');
        let more = new.iter().filter(|id| !is_of_all(id) && !known.contains(id));
        let more: Vec<String> = more.cloned().collect();
        if has_all && more.iter().any(|id| !id.starts_with('!')) {
            skills.insert(0, "*".to_owned());
        }
        skills.extend(more);
        Ok(skills)
    }
}
