//! Flat tables of the triggers that skills declare.
//!
//! An *item* is one thing that triggers look for: a literal, a name, a pattern, a glob. All skills that
//! declare the same thing share its item, so that it is looked for, confirmed and counted once. The
//! *postings* of an item list its skills; the triggers of a skill list its items.

use std::ops::Range;

use repertoire_text::mention::Name;
use repertoire_text::row;
use repertoire_text::rows::Row;
use serde::{Deserialize, Serialize};

use super::HitKind;
use super::arena::{Lists, Texts};
use crate::skill::SkillId;

/// The flag of a pattern in [`Item::what`].
const PATTERN: u32 = 1 << 31;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Tables {
    pub(super) ids: Vec<SkillId>,
    /// The uses of each literal by triggers, without the requirements of patterns.
    pub(super) uses: Lists<LiteralUse>,
    #[serde(with = "repertoire_text::rows")]
    pub(super) items: Vec<Item>,
    /// The skills that declare each item, in the order of ids.
    pub(super) postings: Lists<u32>,
    pub(super) triggers: Triggers,
    pub(super) names: Vec<NamedSkill>,
    /// Skill and text of each `exclude` entry.
    pub(super) excludes: Vec<(u32, Box<str>)>,
    /// The item of each pattern.
    #[serde(with = "repertoire_text::rows")]
    pub(super) pattern_items: Vec<u32>,
    /// The item of each glob.
    #[serde(with = "repertoire_text::rows")]
    pub(super) glob_items: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Item {
    /// The number of skills that declare the item.
    pub(super) rarity: u32,
    /// The number of words of a literal, 0 for a path; for a pattern, [`PATTERN`] and its position among
    /// the patterns.
    what: u32,
    /// The first item that looks for the same literal. Triggers of one skill with the same subject count
    /// as one in its rank.
    pub(super) subject: u32,
}

impl Item {
    /// An item that is not a pattern, of `n_words` words.
    pub(super) fn of_words(n_words: u32, subject: u32) -> Item {
        Item { what: n_words, subject, ..Item::default() }
    }

    /// Makes the item the pattern at `place` among the patterns.
    pub(super) fn set_pattern(&mut self, place: u32) {
        self.what = place | PATTERN;
    }

    /// The number of words of a literal; 0 for patterns and paths.
    pub(super) fn n_words(self) -> u32 {
        if self.what & PATTERN == 0 { self.what } else { 0 }
    }

    /// The item's position among the patterns, if it is one.
    pub(super) fn pattern(self) -> Option<u32> {
        (self.what & PATTERN != 0).then_some(self.what & !PATTERN)
    }
}

row!(Item { rarity: u32, what: u32, subject: u32 });

/// A name or an id of a skill, and the item that stands for it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NamedSkill {
    pub(super) name: Name,
    pub(super) skill: u32,
    pub(super) item: u32,
}

/// A use of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum LiteralUse {
    /// A name, where the text around the literal makes it a mention.
    Name(u32),
    /// A keyword or verb, where the literal is a word of its own.
    Item(u32),
    /// An exclude, where the literal is a word of its own.
    Exclude(u32),
}

impl Row for LiteralUse {
    const LEN: usize = 5;

    fn write(&self, bytes: &mut Vec<u8>) {
        let (kind, place) = match *self {
            LiteralUse::Name(name) => (0, name),
            LiteralUse::Item(item) => (1, item),
            LiteralUse::Exclude(exclude) => (2, exclude),
        };
        bytes.push(kind);
        place.write(bytes);
    }

    fn read(bytes: &[u8]) -> Self {
        let place = u32::read(&bytes[1..]);
        match bytes[0] {
            0 => LiteralUse::Name(place),
            1 => LiteralUse::Item(place),
            _ => LiteralUse::Exclude(place),
        }
    }
}

/// The triggers of all skills, skill by skill.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Triggers {
    #[serde(with = "repertoire_text::rows")]
    ends: Vec<u32>,
    #[serde(with = "repertoire_text::rows")]
    items: Vec<u32>,
    #[serde(with = "repertoire_text::rows")]
    kinds: Vec<HitKind>,
    texts: Texts,
}

impl Triggers {
    pub(super) fn push(&mut self, kind: HitKind, text: &str, item: u32) {
        self.items.push(item);
        self.kinds.push(kind);
        self.texts.push(text);
    }

    /// Ends the triggers of one skill; those of the next one follow.
    pub(super) fn end_skill(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    fn range(&self, skill: u32) -> Range<usize> {
        let start = if skill == 0 { 0 } else { self.ends[skill as usize - 1] };
        start as usize..self.ends[skill as usize] as usize
    }

    /// The triggers of a skill as their author wrote them, with their items.
    pub(super) fn of(&self, skill: u32) -> impl Iterator<Item = (HitKind, &str, u32)> {
        let range = self.range(skill);
        range.map(|place| (self.kinds[place], self.texts.get(place as u32), self.items[place]))
    }

    fn is_sound(&self, n_skills: usize, items: &[Item]) -> bool {
        let is_item = |(&item, &kind): (&u32, &HitKind)| {
            let is_pattern = kind == HitKind::Pattern;
            let item = items.get(item as usize);
            item.is_some_and(|item| item.pattern().is_some() == is_pattern)
        };
        self.ends.len() == n_skills
            && self.ends.is_sorted()
            && self.ends.last().is_none_or(|&end| end as usize == self.items.len())
            && self.kinds.len() == self.items.len()
            && self.texts.len() == self.items.len()
            && self.texts.is_sound()
            && self.items.iter().zip(&self.kinds).all(is_item)
    }
}

impl Tables {
    /// Tells whether the deserialised tables fit together, so that no look-up is out of bounds.
    pub(super) fn is_sound(&self, n_literals: usize, n_patterns: usize, n_globs: usize) -> bool {
        let (n_skills, n_items) = (self.ids.len(), self.items.len());
        let is_skill = |&skill: &u32| (skill as usize) < n_skills;
        let is_item = |&item: &u32| (item as usize) < n_items;
        let is_pattern = |item: &u32| {
            let item = self.items.get(*item as usize);
            item.is_some_and(|item| item.pattern().is_some())
        };
        let is_use = |to: &LiteralUse| match to {
            LiteralUse::Name(name) => (*name as usize) < self.names.len(),
            LiteralUse::Item(item) => is_item(item),
            LiteralUse::Exclude(exclude) => (*exclude as usize) < self.excludes.len(),
        };
        let is_known = |item: &Item| {
            let pattern = item.pattern();
            item.rarity as usize <= n_skills
                && pattern.is_none_or(|pattern| (pattern as usize) < n_patterns)
        };
        self.uses.is_sound(n_literals, is_use)
            && self.items.iter().all(is_known)
            && self.postings.is_sound(n_items, is_skill)
            && self.triggers.is_sound(n_skills, &self.items)
            && self.names.iter().all(|name| is_skill(&name.skill) && is_item(&name.item))
            && self.excludes.iter().all(|(skill, _)| is_skill(skill))
            && self.pattern_items.len() == n_patterns
            && self.pattern_items.iter().all(is_pattern)
            && self.glob_items.len() == n_globs
            && self.glob_items.iter().all(is_item)
    }
}

#[cfg(all(test, feature = "snapshot"))]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::matcher::HitKind;

    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    struct Place {
        number: u64,
        kind: HitKind,
        is_last: bool,
        to: LiteralUse,
    }

    row!(Place { number: u64, kind: HitKind, is_last: bool, to: LiteralUse });

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Table(#[serde(with = "repertoire_text::rows")] Vec<Place>);

    fn table() -> Table {
        let kinds =
            [HitKind::Name, HitKind::Keyword, HitKind::Verb, HitKind::Pattern, HitKind::Path];
        let uses = [LiteralUse::Name, LiteralUse::Item, LiteralUse::Exclude];
        let rows = kinds.into_iter().zip(1..).map(|(kind, n): (_, u32)| Place {
            number: u64::MAX / u64::from(n),
            kind,
            is_last: n == 5,
            to: uses[n as usize % 3](u32::MAX / n),
        });
        Table(rows.collect())
    }

    #[test]
    fn a_table_is_the_same_after_it_was_written() {
        let table = table();
        let written = postcard::to_stdvec(&table).unwrap();
        assert_eq!(written.len(), 1 + 5 * (8 + 1 + 1 + 5));
        assert_eq!(postcard::from_bytes::<Table>(&written).unwrap(), table);
        let written = serde_json::to_string(&table).unwrap();
        assert!(
            written.starts_with(r#"[{"number":18446744073709551615,"kind":"name""#),
            "{written}"
        );
        assert_eq!(serde_json::from_str::<Table>(&written).unwrap(), table);
    }

    #[test]
    fn a_part_of_a_row_is_refused() {
        let written = postcard::to_stdvec(&table()).unwrap();
        for missing in 1..15 {
            let mut written = written.clone();
            written.truncate(written.len() - missing);
            written[0] -= missing as u8;
            assert!(postcard::from_bytes::<Table>(&written).is_err(), "{missing} bytes");
        }
    }
}
