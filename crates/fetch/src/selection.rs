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

/// Returns the skills to take. Fails with `NOT_FOUND` if the source has none, or lacks one that the
/// settings name.
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
    let source = &settings.source;
    if all.is_empty() {
        let place = path.map_or_else(String::new, |path| format!(" in `{path}`"));
        let message = format!("{source} has no skill{place}");
        let help = "a skill is a directory with a `SKILL.md`; name the directory that holds them";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    }
    if settings.skills.is_empty() {
        return Ok(all);
    }
    let files: Vec<&str> = all.iter().map(|unit| unit.skill_file.as_str()).collect();
    let texts = texts(tree, &files)?;
    let name_of = |unit: &Unit| {
        let skill = texts.get(&unit.skill_file).and_then(|text| text.parse::<Skill>().ok());
        skill.map(|skill| skill.name().to_owned()).unwrap_or_default()
    };
    let known: Vec<(String, Unit)> = all.into_iter().map(|unit| (name_of(&unit), unit)).collect();
    let mut chosen = BTreeSet::new();
    for id in &settings.skills {
        let found = positions(&known, id);
        if found.is_empty() {
            return Err(missing(source, id, &known));
        }
        chosen.extend(found);
    }
    let units = known.into_iter().enumerate().filter(|(nth, _)| chosen.contains(nth));
    Ok(units.map(|(_, (_, unit))| unit).collect())
}

/// Returns the indices of the skills that `id` names: literally, or in another form in which skills are
/// named. Only a pattern names several.
fn positions(known: &[(String, Unit)], id: &str) -> Vec<usize> {
    let literal = position(known, id);
    let is_named = |(name, unit): &(String, Unit)| {
        let last = unit.at.rsplit('/').next().unwrap_or_default();
        may_name(id, &[name, &unit.at, last])
    };
    let named = || known.iter().enumerate().filter(|(_, one)| is_named(one)).map(|(nth, _)| nth);
    match literal {
        Some(nth) => vec![nth],
        None if id.contains('*') => named().collect(),
        None => named().take(1).collect(),
    }
}

/// Returns the index of the skill that `id` names literally: by its name, its directory, the last part of that, or its address.
fn position(known: &[(String, Unit)], id: &str) -> Option<usize> {
    known.iter().position(|(name, unit)| {
        name == id
            || unit.at == id
            || unit.at.rsplit('/').next() == Some(id)
            || (id.contains("://") && path_of_skill(id).as_deref() == Some(unit.at.as_str()))
    })
}

/// The error for a skill that cannot be chosen. A skill inside the directory of another one comes with
/// that one.
fn missing(source: &str, id: &str, known: &[(String, Unit)]) -> Error {
    let shown = |(name, unit): &(String, Unit)| {
        if name.is_empty() { unit.at.clone() } else { name.clone() }
    };
    let mut above = id.rmatch_indices('/').filter_map(|(end, _)| position(known, &id[..end]));
    let parent = above.next().map(|nth| shown(&known[nth]));
    if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
        let message = format!("{source} has no skill `{id}` that can be chosen on its own");
        let help = format!("name `{parent}`: the skills in its directory come with it");
        return Error::new(ErrorCode::NotFound, message, help);
    }
    no_skill(source, id, &known.iter().map(shown).collect::<Vec<_>>())
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

    #[test]
    fn skills_are_chosen_in_any_form_in_which_they_are_named() {
        let unit = |at: &str| Unit {
            dir: at.to_owned(),
            at: at.to_owned(),
            skill_file: format!("{at}/SKILL.md"),
        };
        let known = ["skills/acme-doc", "skills/acme-mail", "skills/tdd"]
            .map(|at| (at.rsplit('/').next().unwrap_or_default().to_owned(), unit(at)));
        for (id, wanted) in [
            ("tdd", &[2][..]),
            ("skills/tdd", &[2]),
            ("/tdd", &[2]),
            ("toolkit:TDD", &[2]),
            ("acme-*", &[0, 1]),
            ("acme", &[]),
            ("toolkit:*", &[]),
        ] {
            assert_eq!(positions(&known, id), wanted, "{id}");
        }
    }
}
