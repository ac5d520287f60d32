//! Opening of patterns whose gates a text passes: of all skills, of some, or of one.
//!
//! Nearly all patterns that may match belong to skills without any other match. These rank after
//! all others, so for the best few most are never opened.

use std::cell::OnceCell;

use super::Search;
use super::scratch::{Found, Presence, Scratch};
use super::small_set::SmallSet;
use crate::matcher::pattern::gates::{Gated, Opened};

impl Search<'_, '_> {
    /// Notes all patterns that may match.
    pub(super) fn open_all(&mut self) {
        if !std::mem::replace(&mut self.scratch.all_opened, true) {
            self.open(|_, _| true);
        }
    }

    /// Notes the patterns that may match of all skills with a word in the message, and perhaps
    /// others.
    pub(super) fn open_of_words(&mut self) {
        let tables = &self.index.tables;
        let is_word = |&item: &u32| tables.items[item as usize].n_words() == 1;
        let signatures_of = |found: &Found| {
            let words = found.items().map(|(item, _)| item).filter(is_word);
            tables.signatures.of_all(words)
        };
        let signatures = OnceCell::new();
        let may_matter = |found: &Found, words: SmallSet| {
            words.meet(found.filter(), || *signatures.get_or_init(|| signatures_of(found)))
        };
        self.open(may_matter);
    }

    fn open(&mut self, may_matter: impl Fn(&Found, SmallSet) -> bool) {
        let Scratch { occurrences, is_plain, met_gates, found, .. } = &mut *self.scratch;
        let text = Gated { automaton: &self.index.automaton, occurrences, is_plain: *is_plain };
        self.index.gates.meet(occurrences, met_gates);
        for &place in &*met_gates {
            let Opened { pattern, words } = self.index.gates.opened(place);
            if may_matter(found, words)
                && let Some(is_certain) = self.index.gates.open_one(pattern, text)
            {
                note(found, self.index.tables.pattern_items[pattern as usize], is_certain);
            }
        }
    }

    /// Notes the patterns of a skill that may match.
    pub(super) fn open_own(&mut self, skill: u32) {
        let Scratch { occurrences, is_plain, all_opened, found, .. } = &mut *self.scratch;
        if *all_opened || occurrences.is_empty() {
            return;
        }
        let text = Gated { automaton: &self.index.automaton, occurrences, is_plain: *is_plain };
        for trigger in
            self.index.tables.triggers.items_of(skill).iter().filter(|of| of.is_pattern())
        {
            let item = trigger.item();
            let Some(pattern) = self.index.tables.items[item as usize].pattern() else { continue };
            let opened = self.index.gates.open_one(pattern, text);
            if let Some(is_certain) = opened {
                note(found, item, is_certain);
            }
        }
    }

    /// Runs a pattern that may match.
    pub(super) fn confirm(&mut self, item: u32) -> bool {
        let Scratch { excerpt, text: forms, found, .. } = &mut *self.scratch;
        let range = self.index.tables.items[item as usize].pattern().and_then(|pattern| {
            self.index.patterns.find(pattern as usize, forms.normalized(self.text.seen(excerpt)))
        });
        let presence = if range.is_some() { Presence::At } else { Presence::Absent };
        found.settle(item, presence, range.unwrap_or_default());
        presence == Presence::At
    }
}

fn note(found: &mut Found, item: u32, is_certain: bool) {
    found.add_pattern(item, if is_certain { Presence::Somewhere } else { Presence::Possible });
}
