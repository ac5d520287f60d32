//! Which patterns may match: all that do, those of some skills, or those of one.
//!
//! Nearly all patterns that may match are of skills of which nothing else was found. These come
//! after all others, so for the best few most need not be looked at.

use std::cell::OnceCell;

use super::excerpt::Excerpt;
use super::found::{Found, Presence, Scratch};
use super::gates::{Gated, Opened};
use super::index::Index;
use super::places::Places;

impl Index {
    /// Notes all patterns that may match.
    pub(super) fn open_all(&self, scratch: &mut Scratch) {
        if !std::mem::replace(&mut scratch.all_opened, true) {
            self.open(|_, _| true, scratch);
        }
    }

    /// Notes the patterns that may match of all skills of which a word was found, and perhaps others.
    pub(super) fn open_of_words(&self, scratch: &mut Scratch) {
        let is_word = |&item: &u32| self.tables.items[item as usize].n_words() == 1;
        let marks_of = |found: &Found| {
            let words = found.items().map(|(item, _)| item).filter(is_word);
            self.tables.marks.of_all(words)
        };
        let marks = OnceCell::new();
        let may_matter = |found: &Found, words: Places| {
            words.meet(found.near(), || *marks.get_or_init(|| marks_of(found)))
        };
        self.open(may_matter, scratch);
    }

    fn open(&self, may_matter: impl Fn(&Found, Places) -> bool, scratch: &mut Scratch) {
        let Scratch { occurrences, is_plain, met_gates, found, .. } = scratch;
        let text = Gated { automaton: &self.automaton, occurrences, is_plain: *is_plain };
        self.gates.meet(occurrences, met_gates);
        for &place in &*met_gates {
            let Opened { pattern, words } = self.gates.opened(place);
            if may_matter(found, words)
                && let Some(is_certain) = self.gates.open_one(pattern, text)
            {
                note(found, self.tables.pattern_items[pattern as usize], is_certain);
            }
        }
    }

    /// Notes the patterns of a skill that may match.
    pub(super) fn open_own(&self, skill: u32, scratch: &mut Scratch) {
        let Scratch { occurrences, is_plain, all_opened, found, .. } = scratch;
        if *all_opened || occurrences.is_empty() {
            return;
        }
        let text = Gated { automaton: &self.automaton, occurrences, is_plain: *is_plain };
        for trigger in self.tables.triggers.items_of(skill).iter().filter(|of| of.is_pattern()) {
            let item = trigger.item();
            let Some(pattern) = self.tables.items[item as usize].pattern() else { continue };
            let opened = self.gates.open_one(pattern, text);
            if let Some(is_certain) = opened {
                note(found, item, is_certain);
            }
        }
    }

    /// Runs a pattern that may match.
    pub(super) fn confirm(&self, item: u32, text: &Excerpt<'_>, scratch: &mut Scratch) -> bool {
        let Scratch { excerpt, text: forms, found, .. } = scratch;
        let range = self.tables.items[item as usize].pattern().and_then(|pattern| {
            self.patterns.find(pattern as usize, forms.normalized(text.seen(excerpt)))
        });
        let presence = if range.is_some() { Presence::At } else { Presence::Absent };
        found.settle(item, presence, range.unwrap_or_default());
        presence == Presence::At
    }
}

fn note(found: &mut Found, item: u32, is_certain: bool) {
    found.add_pattern(item, if is_certain { Presence::Somewhere } else { Presence::Possible });
}
