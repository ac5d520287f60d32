//! The recorder of a scan's findings: items, excludes, and mentions of names.

use std::ops::Range;

use super::Search;
use super::scan::Report;
use super::scratch::{Found, Scratch};
use crate::matcher::index::Index;
use crate::matcher::tables::{LiteralUse, NamedSkill};
use crate::matcher::text::QueryText;
use crate::matcher::text::mask::Quoted;
use crate::matcher::text::mention::{self, Mention, Strength};

/// The literals that a scan notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them.
    All,
    /// Those outside quoted text, except the required literals of patterns.
    Said,
    /// Those in quoted text: the names in inline code; and all required literals of patterns.
    Quoted,
}

/// The receiver of the literals of a part.
struct Recorder<'s> {
    index: &'s Index,
    part: Part,
    folded: &'s str,
    text: &'s QueryText,
    quoted: &'s Quoted,
    found: &'s mut Found,
}

impl Report for Recorder<'_> {
    #[inline]
    fn item(&mut self, item: u32, range: Range<usize>) {
        if self.part != Part::Quoted {
            self.found.add(item, &range);
        }
    }

    fn literal(&mut self, literal: u32, range: Range<usize>) {
        let counts = self.part != Part::Quoted;
        for &to in self.index.tables.uses.of(literal) {
            match to {
                LiteralUse::Name(name) => self.examine_name(name, &range),
                LiteralUse::Item(item) if counts => self.found.add(item, &range),
                LiteralUse::Exclude(exclude) if counts => self.found.excludes.push(exclude),
                LiteralUse::Item(_) | LiteralUse::Exclude(_) => {}
            }
        }
    }
}

impl Recorder<'_> {
    #[inline(never)] // few literals are names
    fn examine_name(&mut self, name: u32, at: &Range<usize>) {
        let NamedSkill { name, skill, item } = &self.index.tables.names[name as usize];
        let Some(range) = name.locate(self.folded, at.clone()) else { return };
        if self.part == Part::Quoted && !self.is_inline(&range) {
            return;
        }
        let reading = name.read(self.folded, &range);
        // One word of code does not count as a name; several hardly occur by chance.
        let is_code = self.part == Part::Quoted && name.n_words == 1;
        if is_code && reading.strength == Some(Strength::Weak) {
            return;
        }
        let (start, end) = (range.start as u32, range.end as u32);
        let mention = Mention { start, end, skill: *skill, item: *item, reading };
        self.found.mentions.push(mention);
    }

    fn is_inline(&self, range: &Range<usize>) -> bool {
        let span = self.text.span_of_folded(range.clone());
        self.quoted.is_inline(span.start) || self.quoted.is_inline(span.end.saturating_sub(1))
    }
}

impl Search<'_, '_> {
    /// Notes the literals of the query that belong to `part`.
    pub(super) fn scan_part(&mut self, part: Part) {
        let Search { index, scratch, .. } = self;
        let Scratch { text, quoted, covered, occurrences, found, .. } = &mut **scratch;
        let folded = if part == Part::Said { covered } else { text.folded() };
        let mut recorder = Recorder { index, part, folded, text, quoted, found };
        index.scan_literals(folded, occurrences, &mut recorder);
    }

    /// Decides which mentions count: strong ones name their skill, weak ones count as keywords unless there
    /// is a strong one.
    pub(super) fn settle_mentions(&mut self) {
        let found = &mut self.scratch.found;
        let mut mentions = std::mem::take(&mut found.mentions);
        let is_any_strong = mention::resolve(&mut mentions);
        for &Mention { skill, reading, .. } in &mentions {
            if !reading.is_denied && reading.strength == Some(Strength::Strong) {
                found.explicit.push(skill);
            }
        }
        sort_distinct(&mut found.explicit);
        for &Mention { start, end, skill, item, reading, .. } in &mentions {
            if reading.is_denied {
                found.denied.push(skill);
                continue;
            }
            let is_explicit = found.is_explicit(skill);
            if !is_explicit && is_any_strong {
                continue;
            }
            if !is_explicit {
                found.weak.push(skill);
            }
            found.add(item, &(start as usize..end as usize));
        }
        sort_distinct(&mut found.weak);
        sort_distinct(&mut found.denied);
        let Found { explicit, weak, denied, .. } = found;
        let has = |skills: &[u32], skill| skills.binary_search(&skill).is_ok();
        denied.retain(|&skill| !has(explicit, skill) && !has(weak, skill));
        found.mentions = mentions;
        self.settle_vetoes();
    }

    /// Leaves one exclude entry, the first, of each skill that is vetoed; those named are not.
    fn settle_vetoes(&mut self) {
        let found = &mut self.scratch.found;
        if found.excludes.is_empty() {
            return;
        }
        let skill_of = |exclude: u32| self.index.tables.excludes[exclude as usize].0;
        // Entries are in the order of their skills.
        found.excludes.sort_unstable();
        found.excludes.dedup_by_key(|exclude| skill_of(*exclude));
        let explicit = &found.explicit;
        found.excludes.retain(|&exclude| explicit.binary_search(&skill_of(exclude)).is_err());
    }
}

fn sort_distinct(skills: &mut Vec<u32>) {
    skills.sort_unstable();
    skills.dedup();
}
