//! What a skill declares, as far as it counts for how rare a trigger is.

use std::collections::BTreeSet;

use super::super::inflect;
use super::super::mention::Name;
use super::super::text::fold_trigger;
use super::super::{HitKind, IndexedSkill};
use crate::skill::{SkillId, Spanned, Triggers, glob};

/// Something that triggers look for; each skill counts once for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Declared {
    /// A folded literal: a keyword, a verb or an inflection of it, or a form of a name.
    Literal(String),
    Pattern(String),
    Glob(String),
}

/// A skill that is its own, to be compiled again.
#[derive(Debug, Clone)]
pub(super) struct OwnedSkill {
    pub(super) id: SkillId,
    pub(super) name: String,
    pub(super) triggers: Triggers,
}

impl OwnedSkill {
    /// A skill of which an index knows its name, if that is not its id, and its triggers.
    pub(super) fn new(id: SkillId) -> OwnedSkill {
        let name = id.as_str().to_owned();
        OwnedSkill { id, name, triggers: Triggers { declared: true, ..Triggers::default() } }
    }

    /// Takes in a trigger as an index knows it.
    pub(super) fn add(&mut self, kind: HitKind, text: &str) {
        let list = match kind {
            HitKind::Name if text == self.id.as_str() => return,
            HitKind::Name => {
                text.clone_into(&mut self.name);
                return;
            }
            HitKind::Keyword => &mut self.triggers.keywords,
            HitKind::Verb => &mut self.triggers.verbs,
            HitKind::Pattern => &mut self.triggers.patterns,
            HitKind::Path => &mut self.triggers.paths,
        };
        list.push(Spanned { value: text.to_owned(), span: 0..0 });
    }

    /// Takes in its `exclude` entries.
    pub(super) fn exclude<'a>(&mut self, entries: impl Iterator<Item = &'a str>) {
        let spanned = |entry: &str| Spanned { value: entry.to_owned(), span: 0..0 };
        self.triggers.exclude.extend(entries.map(spanned));
    }

    pub(super) fn as_indexed(&self) -> IndexedSkill<'_> {
        IndexedSkill { id: &self.id, name: &self.name, triggers: &self.triggers }
    }
}

/// All that a skill declares.
pub(super) fn declared(skill: &IndexedSkill<'_>, inflect: bool) -> BTreeSet<Declared> {
    let IndexedSkill { id, name, triggers } = skill;
    let mut literals = forms_of_name(id.as_str(), true);
    if *name != id.as_str() {
        literals.extend(forms_of_name(name, false));
    }
    literals.extend(triggers.keywords.iter().map(|keyword| fold_trigger(&keyword.value)));
    for verb in &triggers.verbs {
        let verb = fold_trigger(&verb.value);
        if inflect {
            literals.extend(inflect::inflections(&verb));
        }
        literals.push(verb);
    }
    literals.retain(|literal| !literal.is_empty());
    let patterns = triggers.patterns.iter().map(|pattern| Declared::Pattern(pattern.value.clone()));
    let globs = triggers.paths.iter().filter(|path| glob(&path.value).is_ok());
    let globs = globs.map(|path| Declared::Glob(path.value.clone()));
    literals.into_iter().map(Declared::Literal).chain(patterns).chain(globs).collect()
}

/// The literals by which a name is found.
pub(super) fn forms_of_name(name: &str, is_id: bool) -> Vec<String> {
    let folded = fold_trigger(name);
    if folded.is_empty() { Vec::new() } else { Name::new(&folded, is_id).1 }
}
