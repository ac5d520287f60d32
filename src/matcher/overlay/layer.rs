//! One index of several, and what became of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::Query;
use super::super::index::Index;
use super::super::passed::Passed;
use super::super::tables::LiteralUse;
use super::super::text::fold_trigger;
use super::changes::Changes;
use super::declared::{Declared, OwnedSkill, declared, forms_of_name};
use crate::skill::SkillId;

/// An index and its changes. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub(super) index: Arc<Index>,
    changes: Option<Arc<Changes>>,
}

impl Layer {
    pub(super) fn new(index: Arc<Index>) -> Layer {
        Layer { index, changes: None }
    }

    /// Whether nothing changed since it was compiled.
    pub(super) fn is_unchanged(&self) -> bool {
        self.changes.is_none()
    }

    /// Passes over `query`.
    pub(super) fn passed<'i, 'q>(&'i self, query: &'q Query<'_>) -> Passed<'i, 'q> {
        self.index.passed(self.changes.as_ref(), query)
    }

    /// How many skills are there and not gone.
    pub(super) fn n_skills(&self) -> usize {
        self.index.len() - self.n_gone()
    }

    pub(super) fn n_gone(&self) -> usize {
        self.changes.as_ref().map_or(0, |changes| changes.n_gone())
    }

    /// The place of a skill that is not gone.
    pub(super) fn find(&self, id: &SkillId) -> Option<u32> {
        let skill = self.index.tables.ids.binary_search(id).ok()? as u32;
        (!self.is_gone(skill)).then_some(skill)
    }

    fn is_gone(&self, skill: u32) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.is_gone(skill))
    }

    /// The skills that are not gone.
    pub(super) fn skills(&self) -> impl Iterator<Item = OwnedSkill> {
        let skills = 0..self.index.len() as u32;
        skills.filter(|&skill| !self.is_gone(skill)).map(|skill| self.skill(skill))
    }

    /// All skills it was compiled of, gone or not.
    #[cfg(feature = "snapshot")]
    pub(super) fn ids(&self) -> impl Iterator<Item = &SkillId> {
        self.index.tables.ids.iter()
    }

    #[cfg(feature = "snapshot")]
    pub(super) fn gone(&self) -> impl Iterator<Item = &SkillId> {
        let skills = 0..self.index.len() as u32;
        skills.filter(|&skill| self.is_gone(skill)).map(|skill| self.index.id(skill))
    }

    /// A skill as it was compiled.
    pub(super) fn skill(&self, skill: u32) -> OwnedSkill {
        let tables = &self.index.tables;
        let mut owned = OwnedSkill::new(self.index.id(skill).clone());
        tables.triggers.of(skill).for_each(|(kind, text, _)| owned.add(kind, text));
        let first = tables.excludes.partition_point(|exclude| exclude.0 < skill);
        let excludes = tables.excludes[first..].iter().take_while(|exclude| exclude.0 == skill);
        owned.exclude(excludes.map(|(_, entry)| &**entry));
        owned
    }

    /// Changes that this layer alone has.
    pub(super) fn changes_mut(&mut self) -> &mut Changes {
        let index = &self.index;
        Arc::make_mut(self.changes.get_or_insert_with(|| Arc::new(Changes::new(index))))
    }

    /// All that its skills declare.
    pub(super) fn declared(&self, inflect: bool) -> BTreeSet<Declared> {
        self.skills().flat_map(|skill| declared(&skill.as_indexed(), inflect)).collect()
    }

    /// How many skills declared something when the index was compiled.
    pub(super) fn n_declaring(&self, of: &Declared) -> u32 {
        let tables = &self.index.tables;
        let Declared::Literal(literal) = of else {
            return self.item_of(of).map_or(0, |item| tables.items[item as usize].rarity);
        };
        let mut skills = Vec::new();
        for to in self.index.uses_of(literal) {
            match to {
                // The item of a literal knows.
                LiteralUse::Item(item) if self.is_own(item, literal) => {
                    return tables.items[item as usize].rarity;
                }
                LiteralUse::Item(item) => skills.extend_from_slice(tables.postings.of(item)),
                LiteralUse::Name(name) => skills.push(tables.names[name as usize].skill),
                LiteralUse::Exclude(_) => {}
            }
        }
        skills.sort_unstable();
        skills.dedup();
        skills.len() as u32
    }

    /// Notes how many skills declare something now; `n_declaring` tells.
    pub(super) fn count(&mut self, of: &Declared, n_declaring: &impl Fn(&Declared) -> u32) {
        let index = Arc::clone(&self.index);
        let Declared::Literal(literal) = of else {
            if let Some(item) = self.item_of(of) {
                self.changes_mut().set_rarity(item, n_declaring(of));
            }
            return;
        };
        for to in index.uses_of(literal) {
            match to {
                LiteralUse::Item(item) if self.is_own(item, literal) => {
                    self.changes_mut().set_rarity(item, n_declaring(of));
                }
                LiteralUse::Name(name) => {
                    let item = index.tables.names[name as usize].item;
                    let skill = index.tables.names[name as usize].skill;
                    let text = text_of(&index, item);
                    let is_id = text == index.id(skill).as_str();
                    let forms = forms_of_name(text, is_id).into_iter().map(Declared::Literal);
                    let rarity = forms.map(|form| n_declaring(&form)).max();
                    self.changes_mut().set_rarity(item, rarity.unwrap_or(1));
                }
                LiteralUse::Item(_) | LiteralUse::Exclude(_) => {}
            }
        }
    }

    /// Whether an item stands for a literal itself, rather than for a verb of which the literal is
    /// an inflection.
    fn is_own(&self, item: u32, literal: &str) -> bool {
        fold_trigger(text_of(&self.index, item)) == literal
    }

    fn item_of(&self, of: &Declared) -> Option<u32> {
        let Index { patterns, paths, tables, .. } = &*self.index;
        match of {
            Declared::Pattern(source) => Some(tables.pattern_items[patterns.find_source(source)?]),
            Declared::Glob(glob) => Some(tables.glob_items[paths.find(glob)?]),
            Declared::Literal(_) => None,
        }
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let changes = self.changes.as_ref().map_or(0, |changes| changes.memory_usage());
        self.index.memory_usage() + changes
    }
}

/// The text of an item that is no inflection, as one skill wrote it.
fn text_of(index: &Index, item: u32) -> &str {
    let Some(&skill) = index.tables.postings.of(item).first() else { return "" };
    let mut triggers = index.tables.triggers.of(skill);
    triggers.find(|trigger| trigger.2 == item).map_or("", |(_, text, _)| text)
}
