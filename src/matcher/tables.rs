//! What an index knows of its skills, in flat tables.
//!
//! An *item* is one thing that triggers look for: a literal, a name, a pattern, a glob. All
//! skills that declare the same share the item, so that it is looked for, confirmed and counted
//! once. From an item its *postings* lead to the skills, from a skill its triggers lead back.

use super::HitKind;
use super::mention::Name;
use crate::skill::SkillId;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// The flag of a trigger that counts as the one before it, in a word of [`Triggers::items`].
const SAME: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct Tables {
    pub(super) ids: Vec<SkillId>,
    /// What the literals that are words are there for.
    pub(super) word_uses: Lists<LiteralUse>,
    /// What the literals of the automaton are there for.
    pub(super) scanned_uses: Lists<LiteralUse>,
    pub(super) items: Vec<Item>,
    /// The skills that declare each item, in the order of ids.
    pub(super) postings: Lists<u32>,
    pub(super) triggers: Triggers,
    pub(super) names: Vec<NamedSkill>,
    /// Skill and text of each `exclude` entry.
    pub(super) excludes: Vec<(u32, Box<str>)>,
    /// The item of each pattern.
    pub(super) pattern_items: Vec<u32>,
    /// The item of each glob.
    pub(super) glob_items: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// How many skills declare it.
    pub(super) rarity: u32,
    /// Words of a literal, 0 for patterns and paths.
    pub(super) n_words: u32,
    /// Its place among the patterns, if it is one.
    pub(super) pattern: u32,
}

/// A name or an id, and the trigger it makes.
#[derive(Debug)]
pub(super) struct NamedSkill {
    pub(super) name: Name,
    pub(super) skill: u32,
    pub(super) item: u32,
}

/// What a literal is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LiteralUse {
    /// A name, if what stands around the literal says so. These come first, as they are looked
    /// at wherever the literal stands.
    Name(u32),
    /// A keyword or verb, where the literal is a word of its own.
    Item(u32),
    /// An exclude, where the literal is a word of its own.
    Exclude(u32),
    /// A pattern that may match, wherever the literal stands; by its item.
    Gate(u32),
}

/// The triggers of all skills, skill by skill.
#[derive(Debug)]
pub(super) struct Triggers {
    ends: Vec<u32>,
    items: Vec<u32>,
    kinds: Vec<HitKind>,
    text: String,
    text_ends: Vec<u32>,
}

/// A trigger of a skill, as its rank sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TriggerItem {
    pub(super) item: u32,
    /// Whether it looks for the same as the trigger before it.
    pub(super) is_same: bool,
}

impl Triggers {
    /// Room for the triggers of skills; those of skill `i` end before `ends[i]`.
    pub(super) fn new(ends: &[u32]) -> Triggers {
        Triggers {
            ends: ends.to_vec(),
            items: Vec::new(),
            kinds: Vec::new(),
            text: String::new(),
            text_ends: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, kind: HitKind, text: &str, item: u32, is_same: bool) {
        self.items.push(item | if is_same { SAME } else { 0 });
        self.kinds.push(kind);
        self.text.push_str(text);
        self.text_ends.push(self.text.len() as u32);
    }

    fn range(&self, skill: u32) -> std::ops::Range<usize> {
        let start = if skill == 0 { 0 } else { self.ends[skill as usize - 1] };
        start as usize..self.ends[skill as usize] as usize
    }

    /// What the triggers of a skill look for.
    pub(super) fn items_of(&self, skill: u32) -> impl Iterator<Item = TriggerItem> {
        let entries = self.items[self.range(skill)].iter();
        entries.map(|&entry| TriggerItem { item: entry & !SAME, is_same: entry & SAME != 0 })
    }

    /// The triggers of a skill as their author wrote them, with what they look for.
    pub(super) fn of(&self, skill: u32) -> impl Iterator<Item = (HitKind, &str, u32)> {
        self.range(skill).map(|place| {
            let start = if place == 0 { 0 } else { self.text_ends[place - 1] } as usize;
            let text = &self.text[start..self.text_ends[place] as usize];
            (self.kinds[place], text, self.items[place] & !SAME)
        })
    }

    fn memory_usage(&self) -> usize {
        (self.ends.len() + self.items.len() + self.text_ends.len()) * size_of::<u32>()
            + self.kinds.len()
            + self.text.len()
    }
}

/// A list for each of a number of places, one behind the other.
#[derive(Debug)]
pub(super) struct Lists<T> {
    offsets: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Lists<T> {
    pub(super) fn of(&self, place: u32) -> &[T] {
        let place = place as usize;
        &self.entries[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    fn memory_usage(&self) -> usize {
        self.offsets.len() * size_of::<u32>() + self.entries.len() * size_of::<T>()
    }
}

/// Makes [`Lists`] of entries that come in any order.
#[derive(Debug)]
pub(super) struct ListBuilder<T>(Vec<(u32, T)>);

impl<T> Default for ListBuilder<T> {
    fn default() -> Self {
        ListBuilder(Vec::new())
    }
}

impl<T> From<Vec<(u32, T)>> for ListBuilder<T> {
    fn from(entries: Vec<(u32, T)>) -> Self {
        ListBuilder(entries)
    }
}

impl<T: Ord> ListBuilder<T> {
    pub(super) fn push(&mut self, place: u32, entry: T) {
        self.0.push((place, entry));
    }

    /// The lists of `n_places` places, each sorted and without duplicates.
    pub(super) fn finish(mut self, n_places: usize) -> Lists<T> {
        self.0.sort_unstable();
        self.0.dedup();
        let mut offsets = vec![0; n_places + 1];
        for &(place, _) in &self.0 {
            offsets[place as usize + 1] += 1;
        }
        for place in 0..n_places {
            offsets[place + 1] += offsets[place];
        }
        Lists { offsets, entries: self.0.into_iter().map(|(_, entry)| entry).collect() }
    }
}

impl Tables {
    /// Memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let ids: usize = self.ids.iter().map(|id| size_of::<SkillId>() + id.as_str().len()).sum();
        let excludes: usize =
            self.excludes.iter().map(|exclude| size_of_val(exclude) + exclude.1.len()).sum();
        ids + excludes
            + self.word_uses.memory_usage()
            + self.scanned_uses.memory_usage()
            + self.postings.memory_usage()
            + self.triggers.memory_usage()
            + self.items.len() * size_of::<Item>()
            + self.names.len() * size_of::<NamedSkill>()
    }
}
