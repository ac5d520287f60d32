//! Chooses the skills of a source by its settings.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use super::layout::{self, MARKETPLACE, Unit, marketplace_dirs};
use super::mcp::path_of_skill;
use super::objects::io_error;
use super::path_index::{Found, PathIndex};
use super::paths::plain_dir;
use super::provider::{SourceTree, no_skill};
use repertoire::catalog::may_name;
use repertoire::skill::Skill;
use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;

/// The number of bytes that are read of a marketplace file, or of a skill file, to choose skills.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Returns the skills to take: those that `settings` name and those of the source that they require, or all,
/// without those named after a `!`.
///
/// Fails with `NOT_FOUND` if the source has none, or lacks one that the settings name.
pub(super) fn chosen_units(
    names: &PathIndex<'_>,
    tree: &mut dyn SourceTree,
    settings: &FetchSettings,
) -> Result<Vec<Unit>, Error> {
    let path = settings.path.as_deref().map(plain_dir).transpose()?;
    let marketplace = match names.find(MARKETPLACE) {
        Found::Leaf(entry) if path.is_none() => {
            texts(tree, &[&entry.path])?.remove(&entry.path).unwrap_or_default()
        }
        _ => String::new(),
    };
    let all = layout::units(names, path.as_deref(), &marketplace_dirs(&marketplace));
    let (excluded, wanted) = excluded_and_wanted(&settings.skills);
    let source = &settings.source;
    if all.is_empty() && wanted.is_empty() {
        let place = path.map_or_else(String::new, |path| format!(" in `{path}`"));
        let message = format!("{source} has no skill{place}");
        let help = "a skill is a directory with a `SKILL.md`; name the directory that holds them";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    }
    if settings.skills.is_empty() {
        return Ok(all);
    }
    let mut known = Known(Vec::new());
    known.add(all, tree)?;
    let mut chosen = BTreeSet::new();
    for id in &wanted {
        let mut found = known.positions(id);
        if found.is_empty() {
            // The directory need not be one of those in which skills are looked for.
            let n_known = known.0.len();
            known.add(layout::units_in(names, id, known.units()), tree)?;
            found = (n_known..known.0.len()).collect();
        }
        if found.is_empty() {
            return Err(missing(source, id, &known));
        }
        chosen.extend(found);
    }
    if wanted.is_empty() {
        chosen.extend(0..known.0.len());
    }
    known.add_required(&mut chosen);
    for id in excluded {
        let excluded = known.positions(id);
        chosen.retain(|nth| !excluded.contains(nth));
    }
    let units = known.0.into_iter().enumerate().filter(|(nth, _)| chosen.contains(nth));
    Ok(units.map(|(_, skill)| skill.unit).collect())
}

/// The entries of `skills` after a `!`, and the others.
pub(super) fn excluded_and_wanted(skills: &[String]) -> (Vec<&str>, Vec<&str>) {
    let (excluded, wanted): (Vec<&str>, Vec<&str>) =
        skills.iter().map(String::as_str).partition(|id| id.starts_with('!'));
    (excluded.into_iter().map(|id| &id[1..]).collect(), wanted)
}

/// A skill of a source.
struct KnownSkill {
    /// The name in its front matter; empty if that cannot be read.
    name: String,
    /// The skills that it requires.
    requires: Vec<String>,
    unit: Unit,
}

/// The skills of a source.
struct Known(Vec<KnownSkill>);

impl Known {
    fn add(&mut self, units: Vec<Unit>, tree: &mut dyn SourceTree) -> Result<(), Error> {
        let files: Vec<&str> = units.iter().map(|unit| unit.skill_file.as_str()).collect();
        let texts = texts(tree, &files)?;
        self.0.extend(units.into_iter().map(|unit| {
            let skill = texts.get(&unit.skill_file).and_then(|text| text.parse::<Skill>().ok());
            let name = skill.as_ref().map(|skill| skill.name().to_owned()).unwrap_or_default();
            let requires = skill.iter().flat_map(|skill| &skill.manifest().requires_skills);
            KnownSkill { name, requires: requires.map(|name| name.value.clone()).collect(), unit }
        }));
        Ok(())
    }

    fn units(&self) -> Vec<Unit> {
        self.0.iter().map(|skill| skill.unit.clone()).collect()
    }

    /// Adds the skills that the `chosen` ones require, and those that these require. A skill that the source
    /// does not have may be in another one.
    fn add_required(&self, chosen: &mut BTreeSet<usize>) {
        let mut open: Vec<usize> = chosen.iter().copied().collect();
        while let Some(nth) = open.pop() {
            let required = self.0[nth].requires.iter().flat_map(|id| self.positions(id));
            open.extend(required.filter(|required| chosen.insert(*required)));
        }
    }

    /// Returns the indices of the skills that `id` names: literally, in another form in which skills are
    /// named, or by a directory above them. Only a pattern and a directory name several.
    fn positions(&self, id: &str) -> Vec<usize> {
        if let Some(nth) = self.position(id) {
            return vec![nth];
        }
        let all = || self.0.iter().enumerate();
        let is_named = |KnownSkill { name, unit, .. }: &KnownSkill| {
            may_name(id, &[name, &unit.at, last(&unit.at)])
        };
        let named = all().filter(|(_, one)| is_named(one)).map(|(nth, _)| nth);
        let named: Vec<usize> = named.take(if id.contains('*') { usize::MAX } else { 1 }).collect();
        if !named.is_empty() {
            return named;
        }
        let is_below =
            |unit: &Unit| unit.dir.strip_prefix(id).is_some_and(|rest| rest.starts_with('/'));
        all().filter(|(_, skill)| is_below(&skill.unit)).map(|(nth, _)| nth).collect()
    }

    /// Returns the index of the skill that `id` names literally: by its name, its directory in the copy
    /// or in the source, the last part of that, or its address.
    fn position(&self, id: &str) -> Option<usize> {
        self.0.iter().position(|KnownSkill { name, unit, .. }| {
            name == id
                || unit.at == id
                || unit.dir == id
                || last(&unit.at) == id
                || (id.contains("://") && path_of_skill(id).as_deref() == Some(unit.at.as_str()))
        })
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The error for a skill that cannot be chosen. A skill inside the directory of another one comes with
/// that one.
fn missing(source: &str, id: &str, known: &Known) -> Error {
    let shown = |KnownSkill { name, unit, .. }: &KnownSkill| {
        if name.is_empty() { unit.at.clone() } else { name.clone() }
    };
    let mut above = id.rmatch_indices('/').filter_map(|(end, _)| known.position(&id[..end]));
    let parent = above.next().map(|nth| shown(&known.0[nth]));
    if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
        let message = format!("{source} has no skill `{id}` that can be chosen on its own");
        let help = format!("name `{parent}`: the skills in its directory come with it");
        return Error::new(ErrorCode::NotFound, message, help);
    }
    no_skill(source, id, &known.0.iter().map(shown).collect::<Vec<_>>())
}

/// The texts of small files. Invalid UTF-8 is replaced.
fn texts(tree: &mut dyn SourceTree, files: &[&str]) -> Result<BTreeMap<String, String>, Error> {
    let mut texts = BTreeMap::new();
    tree.read(files, &mut |path, content| {
        let mut bytes = Vec::new();
        let read = content.take(MAX_TEXT_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| io_error("read", Path::new(path), &error))?;
        texts.insert(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
        Ok(())
    })?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(skills: &[(&str, &[&str])]) -> Known {
        let skill = |(dir, requires): &(&str, &[&str])| KnownSkill {
            name: last(dir).to_owned(),
            requires: requires.iter().map(|id| (*id).to_owned()).collect(),
            unit: Unit {
                dir: (*dir).to_owned(),
                at: last(dir).to_owned(),
                skill_file: format!("{dir}/SKILL.md"),
            },
        };
        Known(skills.iter().map(skill).collect())
    }

    #[test]
    fn required_skills_come_along() {
        let known = known(&[
            ("s/a", &["b", "elsewhere"]),
            ("s/b", &["/C", "a"]),
            ("s/c", &[]),
            ("s/d", &["c"]),
        ]);
        for (chosen, wanted) in [(0, &[0, 1, 2][..]), (2, &[2]), (3, &[2, 3])] {
            let mut chosen = BTreeSet::from([chosen]);
            known.add_required(&mut chosen);
            assert_eq!(chosen.into_iter().collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn skills_are_chosen_in_any_form_in_which_they_are_named() {
        let known =
            known(&[("skills/acme-doc", &[]), ("skills/acme-mail", &[]), ("skills/tdd", &[])]);
        for (id, wanted) in [
            ("tdd", &[2][..]),
            ("skills/tdd", &[2]),
            ("/tdd", &[2]),
            ("toolkit:TDD", &[2]),
            ("acme-*", &[0, 1]),
            ("*", &[0, 1, 2]),
            ("skills", &[0, 1, 2]),
            ("skill", &[]),
            ("acme", &[]),
            ("toolkit:*", &[]),
        ] {
            assert_eq!(known.positions(id), wanted, "{id}");
        }
    }
}
